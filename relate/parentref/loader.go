package parentref

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
)

// Loader returns a [relate.Loader] for join.Then. The result loads each parent's n newest children,
// newest first. n = 0 means all children.
//
// Cost: one command for each 10,000 parents, as [ParentRef.Load].
func (r *ParentRef[C, CK, P, PK]) Loader(n int64) relate.Loader[P, relate.Loaded[P, C]] {
	return &childLoader[C, CK, P, PK]{r, n}
}

type childLoader[C, CK, P, PK any] struct {
	ref *ParentRef[C, CK, P, PK]
	n   int64
}

func (l *childLoader[C, CK, P, PK]) Load(ctx context.Context, db model.DB, parents []P) ([]relate.Loaded[P, C], error) {
	out := make([]relate.Loaded[P, C], len(parents))
	places := newPlaces(l.ref.parents.Docs())
	for i := range parents {
		out[i].Parent = parents[i]
		if err := places.addPlace(&parents[i], i); err != nil {
			return nil, err
		}
	}
	for filter := places.nextFilter(); filter != nil; filter = places.nextFilter() {
		found, err := l.ref.Load(filter, l.n).All(ctx, db)
		if err != nil {
			return nil, err
		}
		for i := range found {
			at, err := places.findPlaces(&found[i].Parent)
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
