package paths

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An origin is where nodes are taken from.
type origin struct {
	name string

	// scan gives all nodes, each once; byID says that siblings with one order key come by their ids.
	scan func(ctx context.Context, db *mongo.Database, each func(piece) error) error
	byID bool

	// fetch gives those nodes of some ids that are there.
	fetch func(ctx context.Context, db *mongo.Database, ids []bson.RawValue) ([]piece, error)
}

// piece is a node of an origin, and the document that is made of it.
type piece struct {
	id   bson.RawValue
	link Link[string]
	made bson.Raw
}

// origin is a tree as an origin: all of it, or a node and what is below it.
func (t *tree) origin(made func(bson.Raw) (bson.Raw, error), top bson.RawValue) origin {
	pieceOf := func(doc bson.Raw) (piece, error) {
		n, err := t.read(doc)
		if err != nil {
			return piece{}, err
		}
		p := piece{id: cloned(n.id), link: n.link()}
		if p.made, err = made(doc); err != nil {
			err = fmt.Errorf("docmodel: %s of %s: %w", text(n.id), t.docs, err)
		}
		return p, err
	}
	stream := func(ctx context.Context, db *mongo.Database, s source, each func(piece) error) error {
		for doc, err := range t.aggregate(s).Each(ctx, db) {
			if err != nil {
				return err
			}
			p, err := pieceOf(doc)
			if err == nil {
				err = each(p)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	scan := func(ctx context.Context, db *mongo.Database, each func(piece) error) error {
		if top.Type == 0 {
			return stream(ctx, db, source{pipeline: mongo.Pipeline{}}, each)
		}
		n, err := t.one(ctx, db, top)
		if err != nil {
			return err
		}
		p, err := pieceOf(n.raw)
		if err == nil {
			p.link.Root, p.link.Parent = true, ""
			err = each(p)
		}
		if err != nil {
			return err
		}
		return stream(ctx, db, t.rep.below(n, 0), each)
	}
	fetch := func(ctx context.Context, db *mongo.Database, ids []bson.RawValue) (out []piece, err error) {
		err = stream(ctx, db, t.byID(ids...), func(p piece) error { out = append(out, p); return nil })
		return out, err
	}
	return origin{name: t.docs, scan: scan, byID: true, fetch: fetch}
}

// origin is an owner's list as an origin.
func (t *documentTree) origin(owner bson.RawValue, made func(bson.Raw) (bson.Raw, error)) origin {
	scan := func(ctx context.Context, db *mongo.Database, each func(piece) error) error {
		s, err := t.state(ctx, db, owner)
		if err != nil {
			return err
		}
		g, err := t.grove(s.List)
		if err != nil {
			return err
		}
		if len(g.lost)+g.bad > 0 {
			return fmt.Errorf("%w: %s of %s %s", ErrDamaged, t.path, t.owners, text(owner))
		}
		for key := range g.forest.All() {
			e := g.all[g.at[key]]
			p := piece{id: cloned(e.id), link: e.link()}
			if p.made, err = made(e.doc()); err != nil {
				return fmt.Errorf("docmodel: %s in %s of %s %s: %w", text(e.id), t.path, t.owners, text(owner), err)
			}
			if err := each(p); err != nil {
				return err
			}
		}
		return nil
	}
	fetch := func(ctx context.Context, db *mongo.Database, ids []bson.RawValue) (out []piece, err error) {
		asked := make(map[string]bool, len(ids))
		for _, id := range ids {
			asked[bsonval.Key(id)] = true
		}
		err = scan(ctx, db, func(p piece) error {
			if asked[p.link.ID] {
				out = append(out, p)
			}
			return nil
		})
		return out, err
	}
	return origin{name: t.owners + "." + t.path, scan: scan, fetch: fetch}
}

// cloned is a value that holds no document in memory.
func cloned(v bson.RawValue) bson.RawValue {
	return bson.RawValue{Type: v.Type, Value: bytes.Clone(v.Value)}
}

// gather reads all nodes of an origin, without what is made of them but for what keep takes from it, and puts them in order. What
// fits together in no attempt is [ErrDamaged].
func (o origin) gather(ctx context.Context, db *mongo.Database, keep func(piece) error, begin func()) (*Forest[string], error) {
	for n := 1; ; n++ {
		begin()
		var links []Link[string]
		seen := map[string]bson.RawValue{}
		err := o.scan(ctx, db, func(p piece) error {
			if _, twice := seen[p.link.ID]; twice {
				return nil // a cursor may come to a document again that was written meanwhile
			}
			seen[p.link.ID] = bson.RawValue{Type: p.id.Type, Value: slices.Clone(p.id.Value)} // without the document around it
			links = append(links, p.link)
			return keep(p)
		})
		if err != nil {
			return nil, err
		}
		if o.byID {
			slices.SortFunc(links, func(a, b Link[string]) int { return bsonval.CompareIDs(seen[a.ID], seen[b.ID]) })
		}
		f, lost := NewForest(links)
		if len(lost) == 0 {
			return f, nil
		}
		if n == 5 {
			return nil, fmt.Errorf("%w: %d nodes of %s have no place, their parents being missing or below them", ErrDamaged, len(lost), o.name)
		}
		if err := pause(ctx, n); err != nil {
			return nil, err
		}
	}
}

// tied are the paths of the fields that the tree keeps in a document.
func (t *tree) tied() []string {
	return append([]string{t.links.Parent, t.links.Order, t.links.Change}, t.fields...)
}

// stripped is a document with its _id and some fields alone.
func stripped(doc bson.Raw, fields ...[]string) (bson.Raw, error) {
	out, err := bson.Marshal(bson.D{{Key: "_id", Value: doc.Lookup("_id")}})
	if err != nil {
		return nil, err
	}
	var set bson.D
	for _, path := range slices.Concat(fields...) {
		if v, _ := model.ValueAt(doc, path); v.Type != 0 {
			set = append(set, bson.E{Key: path, Value: v})
		}
	}
	return model.SetFields(out, set)
}

// sum tells documents apart by all but the fields of the tree, and the order of their fields.
func (t *tree) sum(doc bson.Raw) (sum [16]byte, err error) {
	var blank bson.D
	for _, path := range t.tied() {
		blank = append(blank, bson.E{Key: path, Value: nil})
	}
	doc, err = model.SetFields(doc, blank)
	if err != nil {
		return sum, err
	}
	elems, err := doc.Elements()
	if err != nil {
		return sum, err
	}
	slices.SortFunc(elems, func(a, b bson.RawElement) int { return bytes.Compare([]byte(a.Key()), []byte(b.Key())) })
	h := sha256.New()
	for _, e := range elems {
		_, _ = h.Write(e)
	}
	copy(sum[:], h.Sum(nil))
	return sum, nil
}
