package advise

import (
	"math"

	"github.com/docmodel/docmodel/model"
)

// checkTree refuses fields that a tree can't have, and fills in defaults.
func (f *facts) checkTree(r Relation) error {
	t := &f.Tree
	if r.Child != (End{}) {
		return refuse("Child", r.Child.Name, "a tree's nodes are all of one kind: describe them by Parent")
	}
	if r.ReadsPerAdd != 0 || r.LinkBytes != 0 {
		return refuse("ReadsPerAdd", r.ReadsPerAdd, "is not for trees, nor is LinkBytes: use Tree.ReadsPerMove")
	}
	if p := r.Parent; p != (End{Name: p.Name, Has: p.Has, Bytes: p.Bytes, IDBytes: p.IDBytes}) {
		return refuse("Parent", p.Name, "of a tree's nodes only Name, Has, Bytes and IDBytes are of use")
	}
	switch {
	case t.Nodes < 1:
		return refuse("Tree.Nodes", t.Nodes, "how many nodes a tree has is the first question: give at least 1")
	case t.Levels < 0:
		return refuse("Tree.Levels", t.Levels, "must be at least 1")
	case t.Levels == 0:
		t.Levels = defaultLevels
		f.assume("Tree.Levels", defaultLevels)
	}
	if f.Parent.Has == (Count{}) {
		f.Parent.Has.Max = min(t.Nodes, FewLimit)
		f.assume("Parent.Has.Max", float64(f.Parent.Has.Max))
	}
	w, err := f.count("Parent.Has", &f.Parent.Has)
	if err != nil {
		return err
	}
	f.n, f.typical = w.most, w.typical
	if err := f.checkSizes(); err != nil {
		return err
	}
	for _, s := range []struct {
		field     string
		v         *float64
		most      float64
		otherwise float64
	}{
		{"Tree.Whole", &t.Whole, 1, 0}, {"Tree.Below", &t.Below, 1, 0}, {"Tree.Above", &t.Above, 1, 0},
		{"Tree.ReadsPerMove", &t.ReadsPerMove, math.Inf(1), defaultReads},
	} {
		if err := f.ratio(s.field, s.v, s.most, s.otherwise); err != nil {
			return err
		}
	}
	return nil
}

// tree decides how a tree is stored.
func (d *decision) tree() {
	t, nodes := d.Tree, d.Parent.Name
	bytes := arrayBytes(t.Nodes, d.Parent.Bytes)
	whole := t.Whole >= AccessLimit
	if (whole || d.Atomic) && t.Nodes <= FewLimit && bytes <= ArrayLimit {
		d.choice = DocumentTree
		d.say(ruleEmbed,
			d.text("%s × %s = %s ≤ %s", countText(t.Nodes), d.mark(bytesText(d.Parent.Bytes), "Parent.Bytes"),
				bytesText(bytes), bytesText(ArrayLimit)),
			"a tree of few %s is one document, read and changed whole", nodes)
		return
	}
	if d.Atomic {
		d.explain("Atomic", ruleAtomic, d.text("%s nodes, %s", countText(t.Nodes), bytesText(bytes)),
			"a tree is too large for one document: moves are finished by the next one that meets them")
	}
	below := t.Below >= AccessLimit || whole
	d.choice = d.nodes(below, t.Above >= AccessLimit)
	if t.Ordered && d.choice != ChildTree && d.choice != NestedSet {
		d.explain("Tree.Ordered", ruleOrdered, "", "a fractional key in each of the %s keeps the order: TreeSpec.Rank", nodes)
	}
	if t.Preorder && d.choice != NestedSet {
		d.explain("Tree.Preorder", ruleTree, "", "the order is made from the links after reading")
	}
}

// nodes decides the form of a tree with a document for each node.
func (d *decision) nodes(below, above bool) Choice {
	t, nodes := d.Tree, d.Parent.Name
	still := d.mark("reads/change "+ratioText(t.ReadsPerMove), "Tree.ReadsPerMove")
	ancestors := arrayBytes(t.Levels, d.Parent.IDBytes)
	switch {
	case below && (t.Preorder && t.ReadsPerMove >= NestedLimit || math.IsInf(t.ReadsPerMove, 1)):
		d.say(ruleTree, still+d.text(" ≥ %d", NestedLimit), "a tree that seldom changes is read by one range, in its order")
		d.but(ruleTree, d.text("up to %s documents", countText(t.Nodes)), "whatever is added or moved renumbers others")
		return NestedSet
	case t.Levels > ManyLimit || plus(d.Parent.Bytes, ancestors) > model.MaxDocument:
		d.say(ruleTree, d.text("%s levels > %s", countText(t.Levels), countText(ManyLimit)),
			"what lies above would outgrow one of the %s: each holds its parent's id", nodes)
		return d.children()
	case above && t.ReadsPerMove >= WriteLimit:
		d.say(ruleTree, d.mark(percent(t.Above)+" of reads", "Tree.Above"),
			"each of the %s lists what lies above it: both ways are one query", nodes)
		return AncestorArray
	case below && t.ReadsPerMove >= WriteLimit:
		d.say(ruleTree, d.mark(percent(max(t.Below, t.Whole))+" of reads", "Tree.Below"),
			"each of the %s holds its path: what lies below is one range of an index", nodes)
		return MaterializedPath
	case below || above:
		d.say(ruleTree, still+" < 1", "a move writes one document: the tree changes more often than it is read in depth")
		return d.children()
	}
	d.say(ruleTree, "1 index",
		"each of the %s holds its parent's id: nodes are read with their children, and seldom in depth", nodes)
	return d.children()
}

// children decides whether nodes also list their children.
func (d *decision) children() Choice {
	if d.Tree.Ordered && d.listed(d.n, d.Parent.IDBytes) {
		d.say(ruleOrdered, d.listFigure(d.n, d.Parent.IDBytes), "a list in each node keeps the order of its children")
		return ChildTree
	}
	return ParentTree
}
