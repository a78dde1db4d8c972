package paths_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
)

// A shop's categories are a tree of parent links, with numbers for ids. Subtrees are asked for more and more, so the
// nodes are to hold all their ancestors. In the end the categories move into another collection, where their ids are
// words, and the words of their paths are what customers see.
type (
	section struct {
		ID        int    `bson:"_id"`
		Title     string `bson:"title"`
		Parent    *int   `bson:"parent"`
		Order     string `bson:"order"`
		Change    int64  `bson:"change"`
		Ancestors []int  `bson:"ancestors,omitempty"`
	}
	page struct {
		ID     string  `bson:"_id"`
		Title  string  `bson:"title"`
		Parent *string `bson:"parent"`
		Order  string  `bson:"order"`
		Change int64   `bson:"change"`
		Path   string  `bson:"path"`
	}
)

var (
	sections  = model.NewCollection[section, int]("sections")
	byParents = paths.NewParentTree(sections, paths.TreeSpec{})
	byAbove   = paths.NewAncestorArray(sections, paths.AncestorArraySpec{})
	pages     = model.NewCollection[page, string]("pages")
	byWords   = paths.NewMaterializedPath(pages, paths.MaterializedPathSpec{})
)

func ExampleConvert() {
	monitor := mongotest.NewMonitor()
	client, stop := mongotest.Start(monitor)
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	for _, tree := range []model.Technique{byParents, byAbove, byWords} { // a model has one tree of a collection
		if err := model.New("pages", tree).Indexes().Ensure(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}
	run := func(c model.Change) {
		if _, err := c.Run(ctx, db); err != nil {
			fmt.Println(err)
		}
	}
	for _, s := range []struct {
		id    int
		title string
		at    paths.Place[int]
	}{
		{1, "Clothing", paths.LastRoot[int]()}, {2, "Men", paths.LastChild(1)}, {3, "Women", paths.FirstChild(1)},
		{4, "Shoes", paths.LastChild(2)},
	} {
		run(byParents.Insert(section{ID: s.id, Title: s.title}, s.at))
	}

	// In place: each document gets its ancestors. Writers that know the parents alone go on; a second run follows them.
	run(paths.Convert(byParents, byAbove))
	run(byParents.Move(4, paths.LastChild(3)))
	run(paths.Convert(byParents, byAbove))
	shoes, err := sections.ByID(4).One(ctx, db)
	fmt.Println(shoes.Ancestors, err)

	// Into another collection: a function makes the new documents; parents and order come along.
	words := paths.ConvertInto(byAbove, byWords, func(s section) (page, error) {
		return page{ID: strings.ToLower(s.Title), Title: s.Title}, nil
	}, paths.IntoSpec[string]{Delete: true})
	show := func() {
		done, err := words.Run(ctx, db, model.JobOptions{})
		fmt.Printf("%d nodes, %d written, %v\n", done.Documents, done.Modified, err)
	}
	show()
	for v, err := range byWords.Dump(ctx, db) {
		fmt.Printf("%s%s %s %v\n", strings.Repeat("  ", v.Depth), v.Doc.Title, v.Doc.Path, err)
	}

	// The shop goes on, and what it changes is brought over until the last reader has changed sides.
	run(byAbove.Delete(2, paths.Restrict))
	run(byAbove.Insert(section{ID: 5, Title: "Sale"}, paths.FirstRoot[int]()))
	show()
	cost, _ := modeltest.Measure(monitor, func() error { show(); return nil })
	fmt.Println(cost.Commands, "commands,", cost.Written, "documents written, where nothing is to be brought over")
	found, err := byWords.Checks()[0].All(ctx, db)
	fmt.Println(len(found), "problems", err)
	// Output:
	// [1 3 4] <nil>
	// 4 nodes, 4 written, <nil>
	// Clothing clothing/ <nil>
	//   Women clothing/women/ <nil>
	//     Shoes clothing/women/shoes/ <nil>
	//   Men clothing/men/ <nil>
	// 4 nodes, 2 written, <nil>
	// 4 nodes, 0 written, <nil>
	// 2 commands, 0 documents written, where nothing is to be brought over
	// 0 problems <nil>
}
