// Shop keeps the categories of a shop as a tree, in five representations side by side: each answers the same questions with the
// same answers, and each pays another price. It needs no server.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Category has the fields of every representation, so that one type will do here; an application has those of one.
type Category struct {
	ID     string  `bson:"_id"`
	Items  int64   `bson:"items,omitempty"`
	Parent *string `bson:"parent"`
	Order  string  `bson:"order"`
	Change int64   `bson:"change"`

	Children  []string `bson:"children,omitempty"`
	Ancestors []string `bson:"ancestors,omitempty"`
	Path      string   `bson:"path,omitempty"`
	Left      int64    `bson:"left,omitempty"`
	Right     int64    `bson:"right,omitempty"`
	Depth     int      `bson:"depth,omitempty"`
}

// Tree is a tree of categories.
type Tree = paths.Tree[Category, string]

func collection(name string) *model.Collection[Category, string] {
	return model.NewCollection[Category, string](name)
}

var trees = []struct {
	name string
	tree *Tree
}{
	{"ParentTree", paths.NewParentTree(collection("parents"), paths.Links{}).Tree(paths.TreeSpec{})},
	{"ChildTree", paths.NewChildTree(collection("children"), paths.ChildTreeSpec{}).Tree(paths.TreeSpec{})},
	{"AncestorArray", paths.NewAncestorArray(collection("ancestors"), paths.AncestorArraySpec{}).Tree(paths.TreeSpec{})},
	{"MaterializedPath", paths.NewMaterializedPath(collection("paths"), paths.MaterializedPathSpec{}).Tree(paths.TreeSpec{})},
	{"NestedSet", paths.NewNestedSet(collection("sets"), paths.NestedSetSpec{}).Tree(paths.TreeSpec{})},
}

// The shop: what is in what, and how many items it has itself.
var shop = []struct {
	id, in string
	items  int64
}{
	{"Clothing", "", 0}, {"Men's", "Clothing", 4}, {"Shoes", "Men's", 12}, {"Boots", "Shoes", 7}, {"Hats", "Men's", 3},
	{"Women's", "Clothing", 5}, {"Books", "", 9}, {"Sale", "", 0},
}

func main() {
	monitor := modeltest.NewMonitor()
	client, stop := modeltest.Start(modeltest.WithMonitor(monitor)) // an engine in this process; mongo.Connect reaches a server
	defer stop()
	if err := run(context.Background(), client.Database("shop"), monitor, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, db *mongo.Database, monitor *modeltest.Monitor, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tmove Shoes under Sale\twalk Sale\tbelow Clothing\tabove Boots\titems of Clothing")
	answers := map[string]string{}
	for _, t := range trees {
		if err := store(ctx, db, t.tree); err != nil {
			return err
		}
		row := t.name
		var said strings.Builder
		for _, ask := range []func() (string, error){
			func() (string, error) {
				_, _, err := t.tree.Move("Shoes", paths.LastChild("Sale")).Run(ctx, db)
				return "Shoes are moved", err
			},
			func() (string, error) { return walk(ctx, db, t.tree, "Sale") },
			func() (string, error) { return names(t.tree.Descendants(ctx, db, "Clothing", 0)) },
			func() (string, error) { return names(t.tree.Ancestors(ctx, db, "Boots")) },
			func() (string, error) { return items(ctx, db, t.tree) },
		} {
			cost, err := modeltest.Measure(monitor, func() error {
				answer, err := ask()
				fmt.Fprintln(&said, answer)
				return err
			})
			if err != nil {
				return err
			}
			row += fmt.Sprintf("\t%d commands", cost.Commands)
			if cost.Written > 0 {
				row += fmt.Sprintf(", %d written", cost.Written)
			}
		}
		answers[said.String()] = t.name
		fmt.Fprintln(table, row)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for answer, name := range answers {
		if len(answers) > 1 {
			fmt.Fprintln(out, name, "answers otherwise:")
		}
		fmt.Fprint(out, answer)
	}
	return nil
}

// store stores the shop, a category at a time, and the indexes of the tree.
func store(ctx context.Context, db *mongo.Database, t *Tree) error {
	if err := model.Indexes(t).Ensure(ctx, db); err != nil {
		return err
	}
	for _, c := range shop {
		at := paths.LastRoot[string]()
		if c.in != "" {
			at = paths.LastChild(c.in)
		}
		if _, _, err := t.Insert(Category{ID: c.id, Items: c.items}, at).Run(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

// walk is a category with all below it, each indented by its depth.
func walk(ctx context.Context, db *mongo.Database, t *Tree, id string) (string, error) {
	var out []string
	for v, err := range t.Walk(ctx, db, id) {
		if err != nil {
			return "", err
		}
		out = append(out, strings.Repeat(">", v.Depth)+v.Doc.ID)
	}
	return strings.Join(out, " "), nil
}

// names are the categories that a query gave.
func names(found []Category, err error) (string, error) {
	var out []string
	for _, c := range found {
		out = append(out, c.ID)
	}
	return strings.Join(out, ", "), err
}

// items adds up what is in a category and all below it.
func items(ctx context.Context, db *mongo.Database, t *Tree) (string, error) {
	sum := int64(0)
	for v, err := range t.Walk(ctx, db, "Clothing") {
		if err != nil {
			return "", err
		}
		sum += v.Doc.Items
	}
	return fmt.Sprint(sum, " items"), nil
}
