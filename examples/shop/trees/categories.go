package main

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Category has the fields of every representation, so that one type is enough here. An
// application has the fields of one.
type Category struct {
	ID     string  `bson:"_id"`
	Items  int64   `bson:"items,omitempty"`
	Parent *string `bson:"parent"`
	Order  string  `bson:"order,omitempty"`
	Change int64   `bson:"change,omitempty"`

	Children  []string `bson:"children,omitempty"`
	Ancestors []string `bson:"ancestors,omitempty"`
	Path      string   `bson:"path,omitempty"`
	Left      int64    `bson:"left,omitempty"`
	Right     int64    `bson:"right,omitempty"`
	Depth     int      `bson:"depth,omitempty"`
}

// Categories is the repository of the categories, with one implementation per
// representation.
type Categories interface {
	model.Technique // its indexes and relations

	// Begin runs once.
	Begin(ctx context.Context, db *mongo.Database) error
	// Put stores a category as the last child of in, or as a root if in is "".
	Put(ctx context.Context, db *mongo.Database, c Category, in string) error
	// Move moves a category, with everything below it, into another category.
	Move(ctx context.Context, db *mongo.Database, id, in string) error
	// Show returns a category and everything below it, in order.
	Show(ctx context.Context, db *mongo.Database, id string) ([]paths.Visit[Category], error)
	// Above returns the ancestors of a category, outermost first.
	Above(ctx context.Context, db *mongo.Database, id string) ([]Category, error)
	// Items returns the number of items in a category and everything below it.
	Items(ctx context.Context, db *mongo.Database, id string) (int64, error)
}

// place returns the last place in a category.
func place(in string) paths.Place[string] {
	if in == "" {
		return paths.LastRoot[string]()
	}
	return paths.LastChild(in)
}

// documents implements Categories with one document per category.
type documents struct {
	*paths.Tree[Category, string]
	all   stored
	items *paths.RollUp[int64, Category, string]
}

func categories(c stored, declare func(stored) *paths.Tree[Category, string]) documents {
	t := declare(c)
	return documents{t, c, paths.NewRollUp[int64](t, "items", "")}
}

// Begin does nothing: the first node starts a tree.
func (d documents) Begin(context.Context, *mongo.Database) error { return nil }

func (d documents) Put(ctx context.Context, db *mongo.Database, c Category, in string) error {
	_, err := d.Insert(c, place(in)).Run(ctx, db)
	return err
}

func (d documents) Move(ctx context.Context, db *mongo.Database, id, in string) error {
	_, err := d.Tree.Move(id, place(in)).Run(ctx, db)
	return err
}

func (d documents) Show(ctx context.Context, db *mongo.Database, id string) ([]paths.Visit[Category], error) {
	top, err := d.all.ByID(id).One(ctx, db)
	if err != nil {
		return nil, err
	}
	below, err := d.Descendants(&top, 0).All(ctx, db)
	if err != nil {
		return nil, err
	}
	return listed(d.Arrange(&top, below))
}

// listed returns the categories of a walk.
func listed(walk iter.Seq2[paths.Visit[Category], error]) (out []paths.Visit[Category], _ error) {
	for v, err := range walk {
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (d documents) Above(ctx context.Context, db *mongo.Database, id string) ([]Category, error) {
	c, err := d.all.ByID(id).One(ctx, db)
	if err != nil {
		return nil, err
	}
	return d.Ancestors(&c).All(ctx, db)
}

func (d documents) Items(ctx context.Context, db *mongo.Database, id string) (int64, error) {
	c, err := d.all.ByID(id).One(ctx, db)
	if err != nil {
		return 0, err
	}
	total, err := d.items.Total(&c).One(ctx, db)
	return total.Sum, err
}

// A Menu is a document with all categories.
type Menu struct {
	ID         string     `bson:"_id"`
	Categories []Category `bson:"categories,omitempty"`
}

var (
	menus = model.NewCollection[Menu, string]("menus")
	menu  = paths.NewDocumentTree[Category, string](menus, "categories", paths.DocumentTreeSpec{ID: "_id", Max: 2000})
)

// inMenu implements Categories with the elements of one document.
type inMenu struct {
	model.Parts // of the tree
	id          string
}

func (m inMenu) Begin(ctx context.Context, db *mongo.Database) error {
	_, err := menus.Insert(Menu{ID: m.id}).Run(ctx, db)
	return err
}

func (m inMenu) Put(ctx context.Context, db *mongo.Database, c Category, in string) error {
	_, err := menu.Push(m.id, c, place(in)).Run(ctx, db)
	return err
}

func (m inMenu) Move(ctx context.Context, db *mongo.Database, id, in string) error {
	_, err := menu.Move(m.id, id, place(in)).Run(ctx, db)
	return err
}

func (m inMenu) Show(ctx context.Context, db *mongo.Database, id string) ([]paths.Visit[Category], error) {
	all, err := m.read(ctx, db)
	if err != nil {
		return nil, err
	}
	from := slices.IndexFunc(all, func(v paths.Visit[Category]) bool { return v.Doc.ID == id })
	if from < 0 {
		return nil, model.ErrNotFound
	}
	out, depth := all[from:from+1], all[from].Depth
	for _, v := range all[from+1:] {
		if v.Depth <= depth {
			break
		}
		out = append(out, v)
	}
	for i := range out {
		out[i].Depth -= depth
	}
	return out, nil
}

// read returns all categories, in order.
func (m inMenu) read(ctx context.Context, db *mongo.Database) ([]paths.Visit[Category], error) {
	all, err := menus.ByID(m.id).One(ctx, db)
	if err != nil {
		return nil, err
	}
	return listed(menu.Arrange(all.Categories))
}

func (m inMenu) Above(ctx context.Context, db *mongo.Database, id string) ([]Category, error) {
	all, err := m.read(ctx, db)
	var above []Category
	for _, v := range all {
		if above = append(above[:v.Depth], v.Doc); v.Doc.ID == id {
			return above[:v.Depth], err
		}
	}
	return nil, cmp.Or(err, model.ErrNotFound)
}

func (m inMenu) Items(ctx context.Context, db *mongo.Database, id string) (sum int64, _ error) {
	all, err := m.Show(ctx, db, id)
	for _, v := range all {
		sum += v.Doc.Items
	}
	return sum, err
}
