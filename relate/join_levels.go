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
	if first == nil || next == nil {
		panic(&model.DeclarationError{Problem: "a join, or what continues it, is nil", Place: "Then", Remedy: "give what NewJoin or Then returned"})
	}
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
	var places idPlaces
	for i := range parents {
		out[i].Parent = parents[i]
		id, err := l.ref.parents.ID(&parents[i])
		var v any
		if err == nil {
			v, err = encodeID(l.ref.parents, l.ref.in.parents, "_id", id)
		}
		if err != nil {
			return nil, err
		}
		places.add(v, i)
	}
	for filter := places.next(); filter != nil; filter = places.next() {
		found, err := l.ref.Load(filter, l.n).All(ctx, db)
		if err != nil {
			return nil, err
		}
		for i := range found {
			id, err := l.ref.parents.ID(&found[i].Parent)
			if err != nil {
				return nil, err
			}
			for _, place := range places.of(id) {
				out[place].Children = found[i].Children
			}
		}
	}
	return out, nil
}

// idPlaces are ids, and where in a list each stands.
type idPlaces struct {
	at  map[string][]int
	ids bson.A
}

func (p *idPlaces) add(id any, place int) {
	if p.at == nil {
		p.at = map[string][]int{}
	}
	key := model.Shell(id)
	if _, ok := p.at[key]; !ok {
		p.ids = append(p.ids, id)
	}
	p.at[key] = append(p.at[key], place)
}

// next is the filter of the next ids that one command holds, or nil after the last.
func (p *idPlaces) next() bson.D {
	if len(p.ids) == 0 {
		return nil
	}
	n := min(maxIDs, len(p.ids))
	filter := withIDs(p.ids[:n])
	p.ids = p.ids[n:]
	return filter
}

func (p *idPlaces) of(id any) []int { return p.at[model.Shell(id)] }
