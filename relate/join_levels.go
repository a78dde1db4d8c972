package relate

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Loader loads, for many documents at once, what belongs to each: a [Join], the result of [Then], or
// [ParentRef.Loader]. The result has one entry for each document, in their order.
type Loader[P, R any] interface {
	Load(ctx context.Context, db *mongo.Database, parents []P) ([]R, error)
}

// Nested is a parent with its children, each loaded with what belongs to it.
type Nested[P, R any, CK comparable] struct {
	Parent   P
	Children []R
	Missing  []CK // as in Joined
}

// Levels is a join of several levels. Make it with [Then].
type Levels[P, PK, C any, CK comparable, R any] struct {
	first *Join[P, PK, C, CK]
	next  Loader[C, R]
}

// Then continues a join with what belongs to the children: product → parts → suppliers. What it returns is a Loader, which
// can be the next of another Then, to any depth.
func Then[P, PK, C any, CK comparable, R any](first *Join[P, PK, C, CK], next Loader[C, R]) *Levels[P, PK, C, CK, R] {
	return &Levels[P, PK, C, CK, R]{first, next}
}

// Load joins parents that are in memory. A child that several parents share is fetched, and continued, once.
//
// Cost: that of each level's Load.
func (l *Levels[P, PK, C, CK, R]) Load(ctx context.Context, db *mongo.Database, parents []P) ([]Nested[P, R, CK], error) {
	joined, err := l.first.Load(ctx, db, parents)
	if err != nil {
		return nil, err
	}
	at := map[CK]int{}
	var children []C
	ids := make([][]int, len(joined)) // of each parent's children, in children
	for i, p := range joined {
		for j := range p.Children {
			id, err := l.first.children.ID(&p.Children[j])
			if err != nil {
				return nil, err
			}
			n, ok := at[id]
			if !ok {
				n = len(children)
				at[id] = n
				children = append(children, p.Children[j])
			}
			ids[i] = append(ids[i], n)
		}
	}
	var loaded []R
	if len(children) > 0 {
		if loaded, err = l.next.Load(ctx, db, children); err != nil {
			return nil, err
		}
	}
	out := make([]Nested[P, R, CK], len(joined))
	for i, p := range joined {
		out[i] = Nested[P, R, CK]{Parent: p.Parent, Missing: p.Missing}
		for _, n := range ids[i] {
			out[i].Children = append(out[i].Children, loaded[n])
		}
	}
	return out, nil
}

// Loader returns the loader of the n newest children of parents in memory, newest first; n 0 loads all. The limit is each
// parent's own.
//
// Cost: one command for each 10,000 parents, as [ParentRef.Load].
func (r *ParentRef[C, CK, P, PK]) Loader(n int64) Loader[P, Loaded[P, C]] {
	return &childLoader[C, CK, P, PK]{r, n}
}

type childLoader[C, CK, P, PK any] struct {
	ref *ParentRef[C, CK, P, PK]
	n   int64
}

func (l *childLoader[C, CK, P, PK]) Load(ctx context.Context, db *mongo.Database, parents []P) ([]Loaded[P, C], error) {
	out := make([]Loaded[P, C], len(parents))
	at := make(map[string][]int, len(parents))
	ids := make(bson.A, 0, len(parents))
	for i := range parents {
		out[i].Parent = parents[i]
		id, err := l.ref.parents.ID(&parents[i])
		if err != nil {
			return nil, err
		}
		v, err := encodeID(l.ref.parents, l.ref.parents.Name(), "_id", id)
		if err != nil {
			return nil, err
		}
		key := model.Shell(v)
		if _, ok := at[key]; !ok {
			ids = append(ids, v)
		}
		at[key] = append(at[key], i)
	}
	const chunk = 10_000
	for len(ids) > 0 {
		n := min(chunk, len(ids))
		load := l.ref.Load(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids[:n]}}}}, l.n)
		for found, err := range load.Each(ctx, db) {
			if err != nil {
				return nil, err
			}
			id, err := l.ref.parents.ID(&found.Parent)
			if err != nil {
				return nil, err
			}
			for _, i := range at[model.Shell(id)] {
				out[i].Children = found.Children
			}
		}
		ids = ids[n:]
	}
	return out, nil
}
