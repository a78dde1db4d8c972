package advise_test

import (
	"fmt"

	"github.com/docmodel/docmodel/model/advise"
)

// categories of a shop are a tree of five levels, whose pages show what lies below a category.
var categories = advise.Relation{
	Parent: advise.End{Name: "categories"},
	Tree:   advise.Tree{Nodes: 4000, Below: 0.4, Above: advise.None, Whole: advise.None},
}

// A tree is a relation of a collection to itself.
func ExampleChoose_tree() {
	fmt.Print(advise.Choose(categories))
	// Output:
	// categories: materialized paths
	//   paths.NewMaterializedPath: paths.NewMaterializedPath(categories, paths.MaterializedPathSpec{})
	//     field categories.parent: the _id of the parent, or null
	//     field categories.order: a string
	//     field categories.change: an int64
	//     field categories.path: a string
	//     index categories {parent: 1, order: 1}
	//     index categories {path: 1} unique
	//     commands: nodes below one 1
	//   because each of the categories holds its path: what lies below is one range of an index: 40 % of reads [manual tree structures]
	//   runner-up: nested sets (paths.NewNestedSet), if
	//     Tree.ReadsPerMove not given → ∞
	//   runner-up: ancestor arrays (paths.NewAncestorArray), if
	//     Tree.Above none → 0.1
	//   runner-up: parent links (paths.NewParentTree), if
	//     Tree.Below 0.4 → below 0.1
	//     Parent.Bytes not given → 16,777,137
	//     Parent.IDBytes not given → 3,355,337
	//     Tree.Levels not given → 3,001
	//     Tree.ReadsPerMove not given → below 1
	//   assumed: Tree.Levels 5, Parent.Has.Max 300, Parent.Has.Typical 300, Parent.Has.PerDay none, Parent.Bytes 512, Parent.IDBytes 12, Tree.ReadsPerMove 100
}
