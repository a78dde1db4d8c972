// Trees stores a shop's categories as a tree in six representations. Each representation
// gives the same answers at another cost. It runs on an embedded engine, or on the server
// of MONGODB_URI.
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
	"github.com/docmodel/docmodel/mongotest"
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

// stock lists each category with its parent and its own number of items.
var stock = []struct {
	id, in string
	items  int64
}{
	{"Clothing", "", 0}, {"Men's", "Clothing", 4}, {"Shoes", "Men's", 12}, {"Boots", "Shoes", 7}, {"Hats", "Men's", 3},
	{"Women's", "Clothing", 5}, {"Books", "", 9}, {"Sale", "", 0},
}

func main() {
	monitor := mongotest.NewMonitor()
	connect.Main("trees", func(ctx context.Context, out io.Writer, db *mongo.Database) error { return run(ctx, db, monitor, out) }, monitor)
}

// run asks all representations the same questions and prints each cost, then the answers,
// which must be equal.
func run(ctx context.Context, db *mongo.Database, monitor *mongotest.Monitor, out io.Writer) error {
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

// store stores the shop, one category at a time, and the indexes.
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

// shown prints categories, indented by depth.
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
