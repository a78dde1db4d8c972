package relate

import (
	"context"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/joins"
)

// A Loader loads what belongs to each of many documents. A [Join] is a Loader. [Then] and
// [ParentRef.Loader] return one. A Loader's method Load returns one entry for each
// element of parents, in the same order.
type Loader[P, R any] interface {
	Load(ctx context.Context, db model.DB, parents []P) ([]R, error)
}

// levels is a join of several levels.
type levels[P, PK, C any, CK comparable, R any] struct {
	first *Join[P, PK, C, CK]
	next  Loader[C, R]
}

// Then returns a loader of two levels: product → parts → suppliers. The Join loads each
// product's parts (the children). The Loader loads each part's suppliers. A child that
// several parents share is loaded once.
//
// Cost: one Load for each level.
func Then[P, PK, C any, CK comparable, R any](
	first *Join[P, PK, C, CK], next Loader[C, R],
) Loader[P, Joined[P, R, CK]] {
	if first == nil || next == nil {
		core.Fail("a join is nil", "Then", "give a result of NewJoin or Then")
	}
	return &levels[P, PK, C, CK, R]{first, next}
}

func (l *levels[P, PK, C, CK, R]) Load(ctx context.Context, db model.DB, parents []P) ([]Joined[P, R, CK], error) {
	joined, err := l.first.Load(ctx, db, parents)
	if err != nil {
		return nil, err
	}
	at := map[CK]int{}
	var children []C
	ids := make([][]int, len(joined)) // for each parent, the indexes of its children in children
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
	out := make([]Joined[P, R, CK], len(joined))
	for i, p := range joined {
		out[i] = Joined[P, R, CK]{Parent: p.Parent, Missing: p.Missing}
		for _, n := range ids[i] {
			out[i].Children = append(out[i].Children, loaded[n])
		}
	}
	return out, nil
}

// Loader returns a [Loader] for [Then]. The result loads each parent's n newest children,
// newest first. n = 0 means all children.
//
// Cost: one command for each 10,000 parents, as [ParentRef.Load].
func (r *ParentRef[C, CK, P, PK]) Loader(n int64) Loader[P, Loaded[P, C]] {
	return &childLoader[C, CK, P, PK]{r, n}
}

type childLoader[C, CK, P, PK any] struct {
	ref *ParentRef[C, CK, P, PK]
	n   int64
}

func (l *childLoader[C, CK, P, PK]) Load(ctx context.Context, db model.DB, parents []P) ([]Loaded[P, C], error) {
	out := make([]Loaded[P, C], len(parents))
	places := joins.NewPlaces(l.ref.parents.Docs())
	for i := range parents {
		out[i].Parent = parents[i]
		if err := places.AddPlace(&parents[i], i); err != nil {
			return nil, err
		}
	}
	for filter := places.NextFilter(); filter != nil; filter = places.NextFilter() {
		found, err := l.ref.Load(filter, l.n).All(ctx, db)
		if err != nil {
			return nil, err
		}
		for i := range found {
			at, err := places.FindPlaces(&found[i].Parent)
			if err != nil {
				return nil, err
			}
			for _, place := range at {
				out[place].Children = found[i].Children
			}
		}
	}
	return out, nil
}
