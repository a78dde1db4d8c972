package main

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Category has the fields of every representation, so that one type will do here; an application has those of one.
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

// Categories is what the shop does with its categories: the repository of an application, which has one implementation.
type Categories interface {
	model.Technique // its indexes and relations

	// Begin is run once.
	Begin(ctx context.Context, db *mongo.Database) error
	// Put stores a category as the last one in another, or as a root in "".
	Put(ctx context.Context, db *mongo.Database, c Category, in string) error
	// Move takes a category, with all below it, into another.
	Move(ctx context.Context, db *mongo.Database, id, in string) error
	// Show is a category and all below it, in order.
	Show(ctx context.Context, db *mongo.Database, id string) ([]paths.Visit[Category], error)
	// Above are the categories that one is in, the outermost first.
	Above(ctx context.Context, db *mongo.Database, id string) ([]Category, error)
	// Items is how many items there are in a category and all below it.
	Items(ctx context.Context, db *mongo.Database, id string) (int64, error)
}

// place is the place of a category that comes last in another.
func place(in string) paths.Place[string] {
	if in == "" {
		return paths.LastRoot[string]()
	}
	return paths.LastChild(in)
}

// documents are categories that are documents.
type documents struct {
	*paths.Tree[Category, string]
	items *paths.RollUp[int64, Category, string]
}

// representation is any of those that paths has.
type representation interface {
	Tree(paths.TreeSpec) *paths.Tree[Category, string]
}

func categories(r representation) documents {
	t := r.Tree(paths.TreeSpec{})
	return documents{t, paths.NewRollUp[int64](t, "items", "")}
}

// Begin has nothing to do: a tree begins with its first node.
func (d documents) Begin(context.Context, *mongo.Database) error { return nil }

func (d documents) Put(ctx context.Context, db *mongo.Database, c Category, in string) error {
	_, _, err := d.Insert(c, place(in)).Run(ctx, db)
	return err
}

func (d documents) Move(ctx context.Context, db *mongo.Database, id, in string) error {
	_, _, err := d.Tree.Move(id, place(in)).Run(ctx, db)
	return err
}

func (d documents) Show(ctx context.Context, db *mongo.Database, id string) (out []paths.Visit[Category], _ error) {
	for v, err := range d.Walk(ctx, db, id) {
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (d documents) Above(ctx context.Context, db *mongo.Database, id string) ([]Category, error) {
	return d.Ancestors(ctx, db, id)
}

func (d documents) Items(ctx context.Context, db *mongo.Database, id string) (int64, error) {
	total, err := d.items.Of(ctx, db, id)
	return total.Sum, err
}

// A Menu is a document that holds all categories.
type Menu struct {
	ID         string     `bson:"_id"`
	Categories []Category `bson:"categories,omitempty"`
}

var (
	menus = model.NewCollection[Menu, string]("menus")
	menu  = paths.NewDocumentTree[Category, string](menus, "categories", paths.DocumentTreeSpec{ID: "_id", Max: 2000})
)

// inMenu are categories that are elements of one document.
type inMenu struct{ id string }

func (m inMenu) Indexes() []model.Index      { return menu.Indexes() }
func (m inMenu) Relations() []model.Relation { return menu.Relations() }

func (m inMenu) Begin(ctx context.Context, db *mongo.Database) error {
	_, err := menus.Insert(Menu{ID: m.id}).Run(ctx, db)
	return err
}

func (m inMenu) Put(ctx context.Context, db *mongo.Database, c Category, in string) error {
	_, err := menu.Push(m.id, c, place(in)).Run(ctx, db)
	return err
}

func (m inMenu) Move(ctx context.Context, db *mongo.Database, id, in string) error {
	_, _, err := menu.Move(m.id, id, place(in)).Run(ctx, db)
	return err
}

func (m inMenu) Show(ctx context.Context, db *mongo.Database, id string) ([]paths.Visit[Category], error) {
	return menu.Subtree(ctx, db, m.id, id)
}

func (m inMenu) Above(ctx context.Context, db *mongo.Database, id string) ([]Category, error) {
	return menu.Ancestors(ctx, db, m.id, id)
}

func (m inMenu) Items(ctx context.Context, db *mongo.Database, id string) (sum int64, _ error) {
	all, err := m.Show(ctx, db, id)
	for _, v := range all {
		sum += v.Doc.Items
	}
	return sum, err
}
