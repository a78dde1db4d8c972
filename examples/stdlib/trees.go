package main

import (
	"context"
	"iter"
	"slices"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Node is a package or a prefix of import paths. It has the fields of every
// representation, so that one type is enough here. An application has the fields of one.
type Node struct {
	ID     string  `bson:"_id"`   // import path
	Name   string  `bson:"name"`  // the last element of the import path
	Bytes  int64   `bson:"bytes"` // of its own files
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

// packageTree is a tree in any representation.
type packageTree interface {
	model.Technique
	// load stores all nodes. Siblings come in order.
	load(ctx context.Context, db *mongo.Database, all []Node) error
	// move moves a node, with everything below it, to a place.
	move(ctx context.Context, db *mongo.Database, id string, to paths.Place[string]) error
	// below returns a node and everything below it, in order.
	below(ctx context.Context, db *mongo.Database, id string) ([]string, error)
	// above returns a node's ancestors, outermost first.
	above(ctx context.Context, db *mongo.Database, id string) ([]string, error)
	// bytes returns the bytes of all files of a node and of everything below it.
	bytes(ctx context.Context, db *mongo.Database, id string) (int64, error)
	// whole returns the stored tree as a plain tree.
	whole(ctx context.Context, db *mongo.Database) (*paths.Forest[string], error)
}

// A shownTree is a representation with its name and the indexes for descendants and
// ancestors.
type shownTree struct {
	name         string
	below, above string
	tree         packageTree
}

// trees are the representations. A node's name is the last element of its import path, so
// its path in the tree is the import path.
var trees = []shownTree{
	ofDocuments("ParentTree", "byParent", func(c nodes) *paths.Tree[Node, string] { return paths.NewParentTree(c, paths.TreeSpec{}) }),
	ofDocuments("ChildTree", "byChildren", func(c nodes) *paths.Tree[Node, string] { return paths.NewChildTree(c, paths.ChildTreeSpec{}) }),
	ofDocuments("AncestorArray", "byAncestors", func(c nodes) *paths.Tree[Node, string] { return paths.NewAncestorArray(c, paths.AncestorArraySpec{}) }),
	ofDocuments("MaterializedPath", "byPath", func(c nodes) *paths.Tree[Node, string] {
		return paths.NewMaterializedPath(c, paths.MaterializedPathSpec{Segment: "name"})
	}),
	ofDocuments("NestedSet", "byNumbers", func(c nodes) *paths.Tree[Node, string] { return paths.NewNestedSet(c, paths.NestedSetSpec{}) }),
	{"DocumentTree", "_id_", "_id_", inDocument{listing.Parts, "std"}},
}

// nodes is a collection of nodes.
type nodes = *model.Collection[Node, string]

// documentTree is a tree with one document per node.
type documentTree struct {
	*paths.Tree[Node, string]
	all nodes
	sum *paths.RollUp[int64, Node, string]
}

func ofDocuments(name, collection string, declare func(nodes) *paths.Tree[Node, string]) shownTree {
	all := model.NewCollection[Node, string](collection)
	t, root := declare(all), "a"
	n := &Node{ID: "a/b", Name: "b", Parent: &root, Ancestors: []string{root, "a/b"}, Path: "a/b/", Left: 2, Right: 3, Depth: 1}
	return shownTree{name, t.Descendants(n, 0).Index, t.Ancestors(n).Index, documentTree{t, all, paths.NewRollUp[int64](t, "bytes", "")}}
}

func (d documentTree) load(ctx context.Context, db *mongo.Database, all []Node) error {
	_, err := d.Load(all).Run(ctx, db)
	return err
}

func (d documentTree) move(ctx context.Context, db *mongo.Database, id string, to paths.Place[string]) error {
	_, err := d.Move(id, to).Run(ctx, db)
	return err
}

func (d documentTree) below(ctx context.Context, db *mongo.Database, id string) ([]string, error) {
	top, err := d.all.ByID(id).One(ctx, db)
	if err != nil {
		return nil, err
	}
	below, err := d.Descendants(&top, 0).All(ctx, db)
	if err != nil {
		return nil, err
	}
	return visited(d.Arrange(&top, below))
}

func (d documentTree) above(ctx context.Context, db *mongo.Database, id string) (ids []string, _ error) {
	n, err := d.all.ByID(id).One(ctx, db)
	if err != nil {
		return nil, err
	}
	for above, err := range d.Ancestors(&n).Each(ctx, db) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, above.ID)
	}
	return ids, nil
}

func (d documentTree) bytes(ctx context.Context, db *mongo.Database, id string) (int64, error) {
	n, err := d.all.ByID(id).One(ctx, db)
	if err != nil {
		return 0, err
	}
	total, err := d.sum.Total(&n).One(ctx, db)
	return total.Sum, err
}

func (d documentTree) whole(ctx context.Context, db *mongo.Database) (*paths.Forest[string], error) {
	return paths.NewForest(d.Dump(ctx, db), nodeID)
}

// A Listing is a document with all nodes.
type Listing struct {
	ID    string `bson:"_id"`
	Nodes []Node `bson:"nodes,omitempty"`
}

var (
	listings = model.NewCollection[Listing, string]("inDocument")
	listing  = paths.NewDocumentTree[Node, string](listings, "nodes", paths.DocumentTreeSpec{ID: "_id", Max: 5000})
)

// inDocument is a tree in the elements of one document.
type inDocument struct {
	model.Parts // of the tree
	id          string
}

func (d inDocument) load(ctx context.Context, db *mongo.Database, all []Node) error {
	_, err := model.NewPlan(listings.Insert(Listing{ID: d.id}), listing.Load(d.id, all)).Run(ctx, db)
	return err
}

func (d inDocument) move(ctx context.Context, db *mongo.Database, id string, to paths.Place[string]) error {
	_, err := listing.Move(d.id, id, to).Run(ctx, db)
	return err
}

func (d inDocument) below(ctx context.Context, db *mongo.Database, id string) (ids []string, _ error) {
	forest, err := d.whole(ctx, db)
	if err != nil {
		return nil, err
	}
	below, err := forest.Descendants(id, 0)
	return append([]string{id}, below...), err
}

func (d inDocument) above(ctx context.Context, db *mongo.Database, id string) ([]string, error) {
	forest, err := d.whole(ctx, db)
	if err != nil {
		return nil, err
	}
	return forest.Ancestors(id)
}

func (d inDocument) bytes(ctx context.Context, db *mongo.Database, id string) (sum int64, _ error) {
	l, err := listings.ByID(d.id).One(ctx, db)
	if err != nil {
		return 0, err
	}
	forest, err := paths.NewForest(listing.Arrange(l.Nodes), nodeID)
	if err != nil {
		return 0, err
	}
	below, err := forest.Descendants(id, 0)
	for _, n := range l.Nodes {
		if n.ID == id || slices.Contains(below, n.ID) {
			sum += n.Bytes
		}
	}
	return sum, err
}

func (d inDocument) whole(ctx context.Context, db *mongo.Database) (*paths.Forest[string], error) {
	l, err := listings.ByID(d.id).One(ctx, db)
	if err != nil {
		return nil, err
	}
	return paths.NewForest(listing.Arrange(l.Nodes), nodeID)
}

func nodeID(n Node) string { return n.ID }

// visited returns the ids of a walk.
func visited(walk iter.Seq2[paths.Visit[Node], error]) (ids []string, _ error) {
	for v, err := range walk {
		if err != nil {
			return nil, err
		}
		ids = append(ids, v.Doc.ID)
	}
	return ids, nil
}
