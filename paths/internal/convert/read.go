package convert

// Origins: what a conversion reads, in one form for trees and lists.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/document"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"github.com/docmodel/docmodel/paths/internal/tree"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An Origin is a source of nodes.
type Origin struct {
	name string

	// scan calls each for all nodes. If byID is true, siblings with equal order keys are
	// sorted by _id, as queries of a tree return them.
	scan func(ctx context.Context, db model.DB, each func(piece) error) error
	byID bool

	// fetch returns the nodes with some ids that still exist.
	fetch func(ctx context.Context, db model.DB, ids []bson.RawValue) ([]piece, error)
}

// A piece is a node of an origin, and the document that the caller's function made of it.
type piece struct {
	id   bson.RawValue
	link forest.Link[string]
	made bson.Raw
}

// MakeTreeOrigin makes an origin of a tree: the whole tree if top has type 0, otherwise
// the node top, as a root, and its descendants.
func MakeTreeOrigin(t *tree.Tree, made func(bson.Raw) (bson.Raw, error), top bson.RawValue) Origin {
	pieceOf := func(doc bson.Raw) (piece, error) {
		n, err := t.ReadNode(doc)
		if err != nil {
			return piece{}, err
		}
		p := piece{id: bsonval.Clone(n.ID), link: n.MakeLink()}
		if p.made, err = made(doc); err != nil {
			err = fmt.Errorf("docmodel: %s of %s: %w", model.Shell(n.ID), t.Collection, err)
		}
		return p, err
	}
	stream := func(ctx context.Context, db model.DB, s tree.Source, each func(piece) error) error {
		for doc, err := range t.Aggregate(s).Each(ctx, db) {
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
	scan := func(ctx context.Context, db model.DB, each func(piece) error) error {
		if top.Type == 0 {
			return stream(ctx, db, tree.Source{Pipeline: mongo.Pipeline{}}, each)
		}
		n, err := t.ReadWholeNode(ctx, db, top)
		if err != nil {
			return err
		}
		p, err := pieceOf(n.Raw)
		if err == nil {
			// The top's parent isn't among the nodes.
			p.link.Root, p.link.Parent = true, ""
			err = each(p)
		}
		if err != nil {
			return err
		}
		return stream(ctx, db, t.Rep.FindDescendants(n, 0), each)
	}
	fetch := func(ctx context.Context, db model.DB, ids []bson.RawValue) (out []piece, err error) {
		err = stream(ctx, db, t.FindByID(ids...), func(p piece) error { out = append(out, p); return nil })
		return out, err
	}
	return Origin{name: t.Collection, scan: scan, byID: true, fetch: fetch}
}

// MakeListOrigin makes an origin of the list in an owner's document.
func MakeListOrigin(t *document.Tree, owner bson.RawValue, made func(bson.Raw) (bson.Raw, error)) Origin {
	scan := func(ctx context.Context, db model.DB, each func(piece) error) error {
		nodes, err := t.ReadWholeList(ctx, db, owner)
		for i := 0; err == nil && i < len(nodes); i++ {
			n := nodes[i]
			p := piece{id: n.ID, link: n.Link}
			if p.made, err = made(n.Doc); err != nil {
				return fmt.Errorf("docmodel: %s in %s of %s: %w", model.Shell(n.ID), t.Path, t.NameOwner(owner), err)
			}
			err = each(p)
		}
		return err
	}
	fetch := func(ctx context.Context, db model.DB, ids []bson.RawValue) (out []piece, err error) {
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
	return Origin{name: t.Owners + "." + t.Path, scan: scan, fetch: fetch}
}

// gatherNodes reads all nodes of an origin, and returns their forest. keep gets each node
// once and must copy what it needs. Nodes without a place give [forest.ErrDamaged] and
// also [model.ErrStale], because other clients may have moved nodes during the read.
func (o Origin) gatherNodes(ctx context.Context, db model.DB, keep func(piece) error) (*forest.Forest[string], error) {
	var links []forest.Link[string]
	seen := map[string]bson.RawValue{}
	note := func(p piece) error {
		if _, twice := seen[p.link.ID]; twice {
			// A cursor can return a document twice if it was written meanwhile.
			return nil
		}
		// A clone, so that the whole document isn't kept in memory.
		seen[p.link.ID] = bsonval.Clone(p.id)
		links = append(links, p.link)
		return keep(p)
	}
	err := o.scan(ctx, db, note)
	if err != nil {
		return nil, err
	}
	if o.byID {
		slices.SortFunc(links, func(a, b forest.Link[string]) int { return bsonval.CompareIDs(seen[a.ID], seen[b.ID]) })
	}
	f, lost := forest.BuildForest(links)
	if len(lost) > 0 {
		return nil, fmt.Errorf(
			"%w: %d nodes of %s have a missing parent or are in a cycle; perhaps another client writes them now: %w",
			forest.ErrDamaged, len(lost), o.name, model.ErrStale,
		)
	}
	return f, nil
}

// stripDocument returns a document with only its _id and some fields.
func stripDocument(doc bson.Raw, fields ...[]string) (bson.Raw, error) {
	out, err := bson.Marshal(bson.D{{Key: "_id", Value: doc.Lookup("_id")}})
	if err != nil {
		return nil, err
	}
	var set bson.D
	for _, path := range slices.Concat(fields...) {
		if v, _ := core.ValueAt(doc, path); v.Type != 0 {
			set = append(set, mql.E(path, v))
		}
	}
	return core.SetFields(out, set)
}

// hashContent returns a hash by which documents are compared. It leaves out the tree's
// fields and the fields that a scope added, and doesn't depend on the order of fields,
// because updates append fields at the end.
func hashContent(t *tree.Tree, doc bson.Raw, added []string) (sum [16]byte, err error) {
	var blank bson.D
	for _, path := range t.ListTreePaths() {
		blank = append(blank, mql.E(path, nil))
	}
	doc, err = core.SetFields(doc, blank)
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
		if !slices.Contains(added, e.Key()) {
			_, _ = h.Write(e)
		}
	}
	copy(sum[:], h.Sum(nil))
	return sum, nil
}
