package main

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The tour moves one package into another, and back.
const (
	branch = "net"
	leaf   = "net/http/httputil"
	moved  = "net/http"
	target = "internal"
)

// treeAnswers are a tree's answers before the move, after it, and after the move back.
type treeAnswers struct {
	Below, MovedBelow []string // of branch, of target
	Above, MovedAbove []string // of leaf
	Bytes, MovedBytes int64    // of branch
	Whole             []string // at the end: all nodes in order, with depths
}

// trees asks each representation, and a plain tree in memory, the same. All answers must
// be equal.
func (t *tour) trees(ctx context.Context) error {
	all := packageNodes(t.std)
	want, back, err := plainAnswers(all)
	if err != nil {
		return err
	}
	var kinds []model.Technique
	for _, r := range trees {
		kinds = append(kinds, r.tree)
	}
	set := model.New("stdlib", kinds...).Indexes()
	if err := t.step("create the indexes", set, "", func() (string, error) {
		return fmt.Sprintf("%d indexes", len(set.Needed)), set.Ensure(ctx, t.db)
	}); err != nil {
		return err
	}
	for _, r := range trees {
		got, err := t.ask(ctx, r, all, back)
		if err != nil {
			return err
		}
		if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
			return fmt.Errorf("stdlib: %s answers\n%s\nand the tree in memory\n%s", r.name, g, w)
		}
	}
	fmt.Fprintf(t.out, "\n%d representations gave the same answers, which are those of a paths.Forest in memory\n", len(trees))
	return nil
}

// ask runs the steps of one representation. It reads the answers after the move, and the
// whole tree after the move back, outside the steps.
func (t *tour) ask(ctx context.Context, r shownTree, all []Node, back paths.Place[string]) (a treeAnswers, err error) {
	show := func(ids []string, err error) (string, error) {
		return names(ids, func(id string) string { return id }), err
	}
	move := func(to paths.Place[string]) func() (string, error) {
		return func() (string, error) { return "moved", r.tree.move(ctx, t.db, moved, to) }
	}
	for _, s := range []struct {
		what, index string
		do          func() (string, error)
	}{
		{"load", "_id_", func() (string, error) { return "stored " + count(int64(len(all))), r.tree.load(ctx, t.db, all) }},
		{branch + " and all below", r.below, func() (string, error) {
			a.Below, err = r.tree.below(ctx, t.db, branch)
			return show(a.Below, err)
		}},
		{"bytes of " + branch + " and all below", r.below, func() (string, error) {
			a.Bytes, err = r.tree.bytes(ctx, t.db, branch)
			return fmt.Sprint(a.Bytes, " bytes"), err
		}},
		{"above " + leaf, r.above, func() (string, error) {
			a.Above, err = r.tree.above(ctx, t.db, leaf)
			return show(a.Above, err)
		}},
		{"move " + moved + " into " + target, "", move(paths.LastChild(target))},
	} {
		if err := t.sent(r.name+": "+s.what, s.index, s.do); err != nil {
			return a, err
		}
	}
	if err := a.moved(ctx, t.db, r.tree); err != nil {
		return a, err
	}
	if err := t.sent(r.name+": move "+moved+" back", "", move(back)); err != nil {
		return a, err
	}
	forest, err := r.tree.whole(ctx, t.db)
	if err == nil {
		a.Whole = outline(forest)
	}
	return a, err
}

func (a *treeAnswers) moved(ctx context.Context, db *mongo.Database, tree packageTree) (err error) {
	if a.MovedBelow, err = tree.below(ctx, db, target); err != nil {
		return err
	}
	if a.MovedAbove, err = tree.above(ctx, db, leaf); err != nil {
		return err
	}
	a.MovedBytes, err = tree.bytes(ctx, db, branch)
	return err
}

// plainAnswers returns the answers of the tree in memory, and the place for the move
// back.
func plainAnswers(all []Node) (a treeAnswers, back paths.Place[string], err error) {
	var f paths.Forest[string]
	bytes := map[string]int64{}
	for _, n := range all {
		place := paths.LastRoot[string]()
		if n.Parent != nil {
			place = paths.LastChild(*n.Parent)
		}
		if err := f.Insert(n.ID, place); err != nil {
			return a, back, err
		}
		bytes[n.ID] = n.Bytes
	}
	below := func(id string) (ids []string, sum int64) {
		below, _ := f.Descendants(id, 0)
		ids = append([]string{id}, below...)
		for _, id := range ids {
			sum += bytes[id]
		}
		return ids, sum
	}
	back = paths.FirstChild(branch)
	siblings, err := f.Children(branch)
	if err != nil {
		return a, back, err
	}
	if siblings[0] != moved {
		back = paths.After(siblings[slices.Index(siblings, moved)-1])
	}
	a.Whole = outline(&f)
	a.Below, a.Bytes = below(branch)
	if a.Above, err = f.Ancestors(leaf); err != nil {
		return a, back, err
	}
	if err := f.Move(moved, paths.LastChild(target)); err != nil {
		return a, back, err
	}
	a.MovedBelow, _ = below(target)
	_, a.MovedBytes = below(branch)
	a.MovedAbove, err = f.Ancestors(leaf)
	return a, back, err
}

// outline returns all nodes of a tree with their depths.
func outline(f *paths.Forest[string]) (out []string) {
	for id, depth := range f.All() {
		out = append(out, fmt.Sprint(depth, " ", id))
	}
	return out
}

// packageNodes returns nodes for packages and for prefixes of import paths without a
// package (internal), in the order of import paths.
func packageNodes(std *library) []Node {
	all := map[string]*Node{}
	for _, p := range std.packages {
		for id := p.ID; id != "." && all[id] == nil; id = path.Dir(id) {
			all[id] = &Node{ID: id, Name: path.Base(id)}
			if parent := path.Dir(id); parent != "." {
				all[id].Parent = &parent
			}
		}
	}
	for _, f := range std.files {
		all[f.Package].Bytes += f.Bytes
	}
	out := make([]Node, 0, len(all))
	for _, n := range all {
		out = append(out, *n)
	}
	slices.SortFunc(out, func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })
	return out
}
