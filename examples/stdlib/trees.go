package main

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Node is a package, or the beginning of the import paths of some. It has the fields of every representation, so that one type
// will do here; an application has those of one.
type Node struct {
	ID     string  `bson:"_id"`   // import path
	Name   string  `bson:"name"`  // its last element
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

// packageTree is what the tour asks of a tree, however it is stored.
type packageTree interface {
	model.Technique
	// load stores all nodes, which come in the order of siblings.
	load(ctx context.Context, db *mongo.Database, all []Node) error
	// move takes a node, with all below it, to a place.
	move(ctx context.Context, db *mongo.Database, id string, to paths.Place[string]) error
	// below is a node and all below it, in order.
	below(ctx context.Context, db *mongo.Database, id string) ([]string, error)
	// above are the nodes that a node is in, the outermost first.
	above(ctx context.Context, db *mongo.Database, id string) ([]string, error)
	// bytes are those of all files of a node and all below it.
	bytes(ctx context.Context, db *mongo.Database, id string) (int64, error)
	// whole is the plain tree that is stored.
	whole(ctx context.Context, db *mongo.Database) (*paths.Forest[string], error)
}

// A shownTree is a representation with its name, and the indexes that serve what is below a node and what is above.
type shownTree struct {
	name         string
	below, above string
	tree         packageTree
}

// trees are the representations. The path of a node that is named by the last element of its import path is that import path.
var trees = []shownTree{
	ofDocuments("ParentTree", paths.NewParentTree(nodes("byParent"), paths.Links{})),
	ofDocuments("ChildTree", paths.NewChildTree(nodes("byChildren"), paths.ChildTreeSpec{})),
	ofDocuments("AncestorArray", paths.NewAncestorArray(nodes("byAncestors"), paths.AncestorArraySpec{})),
	ofDocuments("MaterializedPath", paths.NewMaterializedPath(nodes("byPath"), paths.MaterializedPathSpec{Segment: "name"})),
	ofDocuments("NestedSet", paths.NewNestedSet(nodes("byNumbers"), paths.NestedSetSpec{})),
	{"DocumentTree", "_id_", "_id_", inDocument{"std"}},
}

func nodes(name string) *model.Collection[Node, string] {
	return model.NewCollection[Node, string](name)
}

// documentTree is a tree whose nodes are documents.
type documentTree struct {
	*paths.Tree[Node, string]
	sum *paths.RollUp[int64, Node, string]
}

// representation is any of those of documents.
type representation interface {
	Tree(paths.TreeSpec) *paths.Tree[Node, string]
	Descendants(n *Node, depth int) model.Aggregate[Node]
	Ancestors(n *Node) model.Aggregate[Node]
}

func ofDocuments(name string, r representation) shownTree {
	t := r.Tree(paths.TreeSpec{})
	root := "a"
	n := &Node{ID: "a/b", Name: "b", Parent: &root, Ancestors: []string{root, "a/b"}, Path: "a/b/", Left: 2, Right: 3, Depth: 1}
	return shownTree{name, r.Descendants(n, 0).Index, r.Ancestors(n).Index, documentTree{t, paths.NewRollUp[int64](t, "bytes", "")}}
}

func (d documentTree) load(ctx context.Context, db *mongo.Database, all []Node) error {
	_, _, err := d.Load(all).Run(ctx, db)
	return err
}

func (d documentTree) move(ctx context.Context, db *mongo.Database, id string, to paths.Place[string]) error {
	_, _, err := d.Move(id, to).Run(ctx, db)
	return err
}

func (d documentTree) below(ctx context.Context, db *mongo.Database, id string) (ids []string, _ error) {
	for v, err := range d.Walk(ctx, db, id) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, v.Doc.ID)
	}
	return ids, nil
}

func (d documentTree) above(ctx context.Context, db *mongo.Database, id string) ([]string, error) {
	return nodeIDs(d.Ancestors(ctx, db, id))
}

func (d documentTree) bytes(ctx context.Context, db *mongo.Database, id string) (int64, error) {
	total, err := d.sum.Of(ctx, db, id)
	return total.Sum, err
}

func (d documentTree) whole(ctx context.Context, db *mongo.Database) (*paths.Forest[string], error) {
	return paths.NewForestOf(d.Dump(ctx, db), nodeID)
}

// A Listing is a document that holds all nodes.
type Listing struct {
	ID    string `bson:"_id"`
	Nodes []Node `bson:"nodes,omitempty"`
}

var (
	listings = model.NewCollection[Listing, string]("inDocument")
	listing  = paths.NewDocumentTree[Node, string](listings, "nodes", paths.DocumentTreeSpec{ID: "_id", Max: 5000})
)

// inDocument is a tree whose nodes are elements of one document.
type inDocument struct{ id string }

func (d inDocument) Indexes() []model.Index      { return listing.Indexes() }
func (d inDocument) Relations() []model.Relation { return listing.Relations() }

func (d inDocument) load(ctx context.Context, db *mongo.Database, all []Node) error {
	_, err := model.NewPlan(listings.Insert(Listing{ID: d.id}), listing.Load(d.id, all)).Run(ctx, db)
	return err
}

func (d inDocument) move(ctx context.Context, db *mongo.Database, id string, to paths.Place[string]) error {
	_, _, err := listing.Move(d.id, id, to).Run(ctx, db)
	return err
}

func (d inDocument) below(ctx context.Context, db *mongo.Database, id string) (ids []string, _ error) {
	all, err := listing.Subtree(ctx, db, d.id, id)
	for _, v := range all {
		ids = append(ids, v.Doc.ID)
	}
	return ids, err
}

func (d inDocument) above(ctx context.Context, db *mongo.Database, id string) ([]string, error) {
	return nodeIDs(listing.Ancestors(ctx, db, d.id, id))
}

func (d inDocument) bytes(ctx context.Context, db *mongo.Database, id string) (sum int64, _ error) {
	all, err := listing.Subtree(ctx, db, d.id, id)
	for _, v := range all {
		sum += v.Doc.Bytes
	}
	return sum, err
}

func (d inDocument) whole(ctx context.Context, db *mongo.Database) (*paths.Forest[string], error) {
	all, err := listing.All(ctx, db, d.id)
	if err != nil {
		return nil, err
	}
	return paths.NewForestOf(func(yield func(paths.Visit[Node], error) bool) {
		for _, v := range all {
			if !yield(v, nil) {
				return
			}
		}
	}, nodeID)
}

func nodeID(n Node) string { return n.ID }

func nodeIDs(list []Node, err error) (ids []string, _ error) {
	for _, n := range list {
		ids = append(ids, n.ID)
	}
	return ids, err
}
