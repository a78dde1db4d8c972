package paths

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Dump goes through all nodes of the tree in preorder: roots in order, parents before their children, siblings in order. Depths are
// below the roots. [Tree.Load] of the documents, in any order, makes the same tree; [NewForestOf] makes a [Forest] of them. It can be
// ranged over again, and reads again then.
//
// A tree that has to be repaired first gives [ErrDamaged], as far as it is seen, and so may one that is changed meanwhile: go on in
// [Tree.Settled], or begin anew. A node that is deleted while others are read is left out, with what was below it.
//
// Cost: for a [NestedSet] one command, in batches, by the index on the left number; it holds one node for each depth. For others one
// command, in batches, that reads the links of all nodes, which are held in memory, some 600 bytes for each, and one for each 500
// nodes that reads them by _id.
func (t *Tree[D, K]) Dump(ctx context.Context, db *mongo.Database) iter.Seq2[Visit[D], error] {
	return func(yield func(Visit[D], error) bool) {
		more := true
		err := t.t.dump(ctx, db, func(n node, depth int) (bool, error) {
			v := Visit[D]{Depth: depth}
			if err := t.docs.Decode(n.raw, &v.Doc); err != nil {
				return false, err
			}
			more = yield(v, nil)
			return more, nil
		})
		if err != nil && more {
			yield(Visit[D]{}, err)
		}
	}
}

// NewForestOf makes a forest of what a walk through all nodes gives, such as [Tree.Dump]: nodes in preorder, with their depths. It
// returns the walk's error, [ErrExists] for an id that comes twice, and a [*model.ValueError] for a depth that doesn't follow.
func NewForestOf[D any, K comparable](walk iter.Seq2[Visit[D], error], id func(D) K) (*Forest[K], error) {
	f := &Forest[K]{}
	if walk == nil || id == nil {
		return nil, &model.ValueError{Field: "walk", Reason: "needs a sequence of nodes, and a function that gives their ids"}
	}
	var above []K
	for v, err := range walk {
		if err != nil {
			return nil, err
		}
		if v.Depth < 0 || v.Depth > len(above) {
			return nil, &model.ValueError{Field: "depth", Value: v.Depth, Reason: fmt.Sprintf("doesn't follow a node of depth %d: preorder goes down by one", len(above)-1)}
		}
		k, at := id(v.Doc), LastRoot[K]()
		if above = above[:v.Depth]; v.Depth > 0 {
			at = LastChild(above[v.Depth-1])
		}
		if err := f.Insert(k, at); err != nil {
			return nil, err
		}
		above = append(above, k)
	}
	return f, nil
}

// A streamer is a representation by one of whose indexes all nodes come in preorder.
type streamer interface{ stream() source }

// stream is the query of all nodes, in preorder.
func (t *nestedSet) stream() source {
	return match(t.byLeft(), bson.D{between(t.left, 1, end)}, sortBy(t.left, 1))
}

// dump goes through all nodes in preorder, until each says that it is enough.
func (t *tree) dump(ctx context.Context, db *mongo.Database, each func(n node, depth int) (bool, error)) error {
	if s, ok := t.rep.(streamer); ok {
		return t.dumpStream(ctx, db, s.stream(), each)
	}
	f, err := t.skeleton(ctx, db, nil, nil)
	if err != nil {
		return err
	}
	var ids []bson.RawValue
	depths := map[string]int{}
	more, left := true, math.MaxInt // the depth of a node that has vanished
	flush := func() error {
		found, err := t.nodes(ctx, db, t.byID(ids...))
		if err != nil {
			return err
		}
		byKey := make(map[string]node, len(found))
		for _, n := range found {
			byKey[n.key()] = n
		}
		for _, id := range ids {
			n, ok := byKey[bsonval.Key(id)]
			depth := depths[bsonval.Key(id)]
			switch {
			case depth > left || !more:
				continue
			case !ok:
				left = depth
				continue
			}
			left = math.MaxInt
			if more, err = each(n, depth); err != nil {
				return err
			}
		}
		ids = ids[:0]
		clear(depths)
		return nil
	}
	for key, depth := range f.forest.All() {
		ids, depths[key] = append(ids, f.nodes[key].id), depth
		if len(ids) == 500 {
			if err := flush(); err != nil || !more {
				return err
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return flush()
}

// dumpStream goes through nodes that come in preorder.
func (t *tree) dumpStream(ctx context.Context, db *mongo.Database, s source, each func(n node, depth int) (bool, error)) error {
	var above []string
	for doc, err := range t.aggregate(s).Each(ctx, db) {
		if err != nil {
			return err
		}
		n, err := t.read(doc)
		if err != nil {
			return err
		}
		depth := 0
		if !n.root() {
			parent := bsonval.Key(n.parent)
			for depth = len(above); depth > 0 && above[depth-1] != parent; {
				depth--
			}
			if depth == 0 {
				return fmt.Errorf("%w: %s of %s doesn't come below its parent", ErrDamaged, text(n.id), t.docs)
			}
		}
		above = append(above[:depth], n.key())
		if more, err := each(n, depth); err != nil || !more {
			return err
		}
	}
	return nil
}

// skeleton reads the links of nodes, nil for all, and some fields. What has no place in five readings is [ErrDamaged].
func (t *tree) skeleton(ctx context.Context, db *mongo.Database, of mongo.Pipeline, fields []string) (family, error) {
	project := bson.D{{Key: t.links.Parent, Value: 1}, {Key: t.links.Order, Value: 1}}
	for _, f := range fields {
		project = append(project, bson.E{Key: f, Value: 1})
	}
	for n := 1; ; n++ {
		all, err := t.nodes(ctx, db, source{pipeline: append(slices.Clone(of), bson.D{{Key: "$project", Value: project}})})
		if err != nil {
			return family{}, err
		}
		f := familyOf(all, "")
		if len(f.lost) == 0 {
			return f, nil
		}
		if n == 5 {
			return family{}, fmt.Errorf("%w: %d nodes of %s have no place", ErrDamaged, len(f.lost), t.docs)
		}
		if err := pause(ctx, n); err != nil {
			return family{}, err
		}
	}
}
