package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// start is the source of the distances.
const start = "net/http"

func (t *tour) graph(ctx context.Context) error {
	computations := []struct {
		name string
		s    *paths.Supersteps
		show func(context.Context) error
	}{
		{"which packages important packages import: PageRank", ranks.PageRank(paths.RankSpec{}), t.important},
		{"how far each package is from " + start, near.Distances(start), t.distances},
		{"which packages hang together", groups.Components(), t.components},
		{"the longest chain of imports up to each package, and none of them in a circle", layering, t.layers},
	}
	var all []model.Technique
	for _, c := range computations {
		all = append(all, c.s)
	}
	set := model.New("stdlib", all...).Indexes()
	if err := t.step("create the indexes", set, "", func() (string, error) {
		return fmt.Sprintf("%d indexes", len(set.Needed)), set.Ensure(ctx, t.db)
	}); err != nil {
		return err
	}
	for _, c := range computations {
		if err := t.sent(c.name, "", func() (string, error) {
			if _, err := c.s.Job().Run(ctx, t.db, model.JobOptions{}); err != nil {
				return "", err
			}
			last, err := c.s.Steps().Sorted(bson.D{{Key: "_id", Value: -1}}).One(ctx, t.db)
			return fmt.Sprintf("over after %d supersteps", last.Step), err
		}); err != nil {
			return err
		}
		if err := c.show(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (t *tour) important(ctx context.Context) error {
	_, err := read(ctx, t, "the five of the highest rank", ranks.Top(5), func(v paths.VertexState[string]) string {
		return fmt.Sprintf("%s %.4f", v.ID, v.Rank)
	})
	return err
}

// distances compares the distances with go list's dependencies. Go list can have more:
// packages with C parts depend on packages that they don't import (runtime/cgo).
func (t *tour) distances(ctx context.Context) error {
	if _, err := read(ctx, t, "itself, and the packages that it imports", near.Within(1), vertexID); err != nil {
		return err
	}
	reached, err := read(ctx, t, "all that it depends on", near.Within(1<<20), func(v paths.VertexState[string]) string {
		return fmt.Sprint(v.ID, " ", v.Step)
	})
	if err != nil {
		return err
	}
	others := slices.Clone(t.std.deps[start])
	for _, v := range reached[1:] {
		at := slices.Index(others, v.ID)
		if at < 0 {
			return fmt.Errorf("stdlib: %s reaches %s, and go list doesn't say that it depends on that", start, v.ID)
		}
		others = slices.Delete(others, at, at+1)
	}
	fmt.Fprintf(t.out, "  go list names the same, and %d that no import names %v\n", len(others), others)
	return nil
}

func (t *tour) components(ctx context.Context) error {
	all, err := groups.States().All(ctx, t.db)
	if err != nil {
		return err
	}
	sizes := map[string]int{}
	for _, v := range all {
		sizes[v.Component]++
	}
	first := all[0].Component
	_, err = read(ctx, t, fmt.Sprintf("the component of %s, of %d components", first, len(sizes)), groups.Component(first), vertexID)
	return err
}

// A layer is a package's state while layers are computed: the number of importers that
// haven't reported yet, and the length of the longest chain of imports that ends at the
// package.
type layer struct {
	Waiting int `bson:"waiting"`
	Chain   int `bson:"chain"`
}

// layering computes a package's layer. A package first announces itself to its imports.
// After all its importers reported their longest chain, it reports its own, one longer.
// Packages in a circle of imports would wait forever: they halt, and still wait at the
// end.
var layering = paths.NewProgram(layers, func(v *paths.GraphVertex[Package, string, layer, int]) error {
	const there = -1
	tell := func(m int) {
		for _, imp := range v.Edges {
			v.Send(imp, m)
		}
	}
	switch v.Step {
	case 1:
		tell(there)
		return nil // and runs in the next superstep, with or without messages
	case 2:
		v.State.Waiting = len(v.Messages)
	default:
		v.State.Waiting -= len(v.Messages)
		for _, m := range v.Messages {
			v.State.Chain = max(v.State.Chain, m.M)
		}
	}
	if v.State.Waiting == 0 {
		tell(v.State.Chain + 1)
	}
	v.Halt = true // until a message comes
	return nil
})

// layers reads the longest chain, and checks that no package still waits.
func (t *tour) layers(ctx context.Context) error {
	all, err := layers.States().All(ctx, t.db)
	if err != nil {
		return err
	}
	chains := map[string]int{}
	for _, v := range all {
		var l layer
		if err := v.Value.Unmarshal(&l); err != nil {
			return err
		}
		if l.Waiting > 0 {
			return fmt.Errorf("stdlib: %s waits for %d packages that import it, in a circle", v.ID, l.Waiting)
		}
		chains[v.ID] = l.Chain
	}
	deepest := slices.MaxFunc(all, func(a, b paths.VertexState[string]) int { return chains[a.ID] - chains[b.ID] })
	_, err = read(ctx, t, "the package at the end of the longest", layers.States(deepest.ID), func(v paths.VertexState[string]) string {
		return fmt.Sprintf("%s, %d imports deep", v.ID, chains[v.ID])
	})
	return err
}

func vertexID(v paths.VertexState[string]) string { return v.ID }
