// Trees keeps the categories of a shop as a tree, in six representations side by side: each answers the same questions with
// the same answers, and each pays another price. It runs on an engine in its own process, or on the server that MONGODB_URI
// names.
package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var shops = []struct {
	name string
	Categories
}{
	{"DocumentTree", inMenu{menu.Parts, "main"}},
	{"ParentTree", categories(collection("parents"), func(c stored) *paths.Tree[Category, string] { return paths.NewParentTree(c, paths.TreeSpec{}) })},
	{"ChildTree", categories(collection("children"), func(c stored) *paths.Tree[Category, string] { return paths.NewChildTree(c, paths.ChildTreeSpec{}) })},
	{"AncestorArray", categories(collection("ancestors"), func(c stored) *paths.Tree[Category, string] {
		return paths.NewAncestorArray(c, paths.AncestorArraySpec{})
	})},
	{"MaterializedPath", categories(collection("paths"), func(c stored) *paths.Tree[Category, string] {
		return paths.NewMaterializedPath(c, paths.MaterializedPathSpec{})
	})},
	{"NestedSet", categories(collection("sets"), func(c stored) *paths.Tree[Category, string] { return paths.NewNestedSet(c, paths.NestedSetSpec{}) })},
}

// stored is a collection of categories.
type stored = *model.Collection[Category, string]

func collection(name string) *model.Collection[Category, string] {
	return model.NewCollection[Category, string](name)
}

// What is in what, and how many items it has itself.
var stock = []struct {
	id, in string
	items  int64
}{
	{"Clothing", "", 0}, {"Men's", "Clothing", 4}, {"Shoes", "Men's", 12}, {"Boots", "Shoes", 7}, {"Hats", "Men's", 3},
	{"Women's", "Clothing", 5}, {"Books", "", 9}, {"Sale", "", 0},
}

func main() {
	monitor := modeltest.NewMonitor()
	connect.Main("trees", func(ctx context.Context, out io.Writer, db *mongo.Database) error { return run(ctx, db, monitor, out) }, monitor)
}

// run puts the same questions to all, and prints what each answer costs; and the answers, of which there is to be one of each.
func run(ctx context.Context, db *mongo.Database, monitor *modeltest.Monitor, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tmove Shoes into Sale\tshow Sale\tabove Boots\titems of Clothing")
	answers := map[string][]string{}
	for _, s := range shops {
		if err := store(ctx, db, s); err != nil {
			return err
		}
		row, said := s.name, ""
		for _, ask := range []func() (string, error){
			func() (string, error) { return "Shoes are moved", s.Move(ctx, db, "Shoes", "Sale") },
			func() (string, error) { return shown(s.Show(ctx, db, "Sale")) },
			func() (string, error) { return names(s.Above(ctx, db, "Boots")) },
			func() (string, error) { n, err := s.Items(ctx, db, "Clothing"); return fmt.Sprint(n, " items"), err },
		} {
			cost, err := modeltest.Measure(monitor, func() error {
				answer, err := ask()
				said += answer + "\n"
				return err
			})
			if err != nil {
				return err
			}
			row += "\t" + price(cost)
		}
		answers[said] = append(answers[said], s.name)
		fmt.Fprintln(table, row)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for answer, names := range answers {
		fmt.Fprintf(out, "%d say:\n%s", len(names), answer)
	}
	return nil
}

// store stores the shop, a category at a time, and the indexes.
func store(ctx context.Context, db *mongo.Database, c Categories) error {
	if err := model.New("trees", c).Indexes().Ensure(ctx, db); err != nil {
		return err
	}
	if err := c.Begin(ctx, db); err != nil {
		return err
	}
	for _, s := range stock {
		if err := c.Put(ctx, db, Category{ID: s.id, Items: s.items}, s.in); err != nil {
			return err
		}
	}
	return nil
}

func price(c model.Cost) string {
	text := fmt.Sprintf("%d commands", c.Commands)
	if c.Commands == 1 {
		text = "1 command"
	}
	if c.Written > 0 {
		text += fmt.Sprintf(", %d written", c.Written)
	}
	return text
}

// shown are categories, each indented by its depth.
func shown(visits []paths.Visit[Category], err error) (string, error) {
	var out []string
	for _, v := range visits {
		out = append(out, strings.Repeat(">", v.Depth)+v.Doc.ID)
	}
	return strings.Join(out, " "), err
}

func names(found []Category, err error) (string, error) {
	var out []string
	for _, c := range found {
		out = append(out, c.ID)
	}
	return strings.Join(out, ", "), err
}
