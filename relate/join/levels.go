package join

import (
	"context"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
)

// levels is a join of several levels.
type levels[P, PK, C any, CK comparable, R any] struct {
	first *Join[P, PK, C, CK]
	next  relate.Loader[C, R]
}

// Then returns a loader of two levels: product → parts → suppliers. The Join loads each
// product's parts (the children). The Loader loads each part's suppliers. A child that
// several parents share is loaded once.
//
// Cost: one Load for each level.
func Then[P, PK, C any, CK comparable, R any](
	first *Join[P, PK, C, CK], next relate.Loader[C, R],
) relate.Loader[P, Joined[P, R, CK]] {
	if first == nil || next == nil {
		core.Fail("a join is nil", "Then", "give a result of join.New or join.Then")
	}
	return &levels[P, PK, C, CK, R]{first, next}
}

// Load joins the first level, gives each child to the next Loader once, and puts its results
// in the children's places.
func (l *levels[P, PK, C, CK, R]) Load(ctx context.Context, db model.DB, parents []P) ([]Joined[P, R, CK], error) {
	joined, err := l.first.Load(ctx, db, parents)
	if err != nil {
		return nil, err
	}
	at := map[CK]int{} // by a child's id: its index in children
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
