package main

import (
	"time"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Category has the path of all categories above it. Folder trees shows the costs of
// other representations.
type Category struct {
	ID     string  `bson:"_id"`
	Parent *string `bson:"parent"` // tree, like the next fields
	Path   string  `bson:"path"`
	Order  string  `bson:"order"`
	Change int64   `bson:"change"`
}

// A Product has the common fields, and the details of its kind.
type Product struct {
	ID       string          `bson:"_id"`
	Name     string          `bson:"name"`
	Category string          `bson:"category"`
	Price    int64           `bson:"price"` // in cents
	Parts    []PartName      `bson:"parts,omitempty"`
	Details  Details         `bson:"details"`
	Qty      int64           `bson:"qty"` // in stock
	Version  int64           `bson:"version"`
	Takes    []bson.ObjectID `bson:"takes,omitempty"` // tokens of the last orders that took from the stock
}

// A PartName is the copy of a part in products.
type PartName struct {
	ID   string `bson:"id"`
	Name string `bson:"name"`
}

// A Part is a component of products.
type Part struct {
	ID   string `bson:"_id"`
	Name string `bson:"name"`
}

// Details are the fields of one kind: a Book's author, a Tool's power.
type Details interface{ kind() string }

type Book struct {
	Author string `bson:"author"`
	Pages  int    `bson:"pages"`
}

type Tool struct {
	Watts int `bson:"watts"`
}

func (Book) kind() string { return "book" }
func (Tool) kind() string { return "tool" }

// A Customer contains the number and sum of its orders.
type Customer struct {
	ID     string `bson:"_id"`
	Name   string `bson:"name"`
	Orders int64  `bson:"orders"`
	Spent  int64  `bson:"spent"`
}

// An Order has its customer and number as its key. Names and prices in its lines never
// change.
type Order struct {
	ID       string        `bson:"_id"`
	Customer string        `bson:"customer"`
	Number   int64         `bson:"number"`
	At       time.Time     `bson:"at"`
	Lines    []Line        `bson:"lines"`
	Total    int64         `bson:"total"`
	State    State         `bson:"state"`
	Op       bson.ObjectID `bson:"op"`   // takes from the stock
	Undo     bson.ObjectID `bson:"undo"` // gives back
}

type Line struct {
	Product string `bson:"product"`
	Name    string `bson:"name"`
	Price   int64  `bson:"price"`
	Qty     int64  `bson:"qty"`
}

// State is an order's progress.
type State string

const (
	New      State = "new"      // stock may have been taken
	Placed   State = "placed"   // all stock was taken
	Refusing State = "refusing" // something is sold out; the rest is being given back
	Refused  State = "refused"  // the rest was given back
)

var (
	details = embed.NewUnion[Details]("kind", embed.Case[Book]("book"), embed.Case[Tool]("tool"))

	categories = model.NewCollection[Category, string]("categories")
	parts      = model.NewCollection[Part, string]("parts")
	products   = model.NewCollectionWith[Product, string]("products", details.Options())
	customers  = model.NewCollection[Customer, string]("customers")
	orders     = model.NewCollection[Order, string]("orders")
	counters   = model.NewCollection[keys.SequenceCounter[string], string]("orderNumbers")

	tree       = paths.NewMaterializedPath(categories, paths.MaterializedPathSpec{})
	inCategory = parentref.New(products, "category", categories, parentref.Spec{By: "name", CountUp: "version"})
	kinds      = embed.NewKinds(products, details, embed.KindsSpec{Path: "details", Indexes: []embed.KindIndex{{Tag: "book", Keys: bson.D{{Key: "author", Value: 1}}}}})
	partNames  = copies.New(parts, products, copies.Spec{KeyPath: "parts.id", Fields: []copies.Field{{From: "name", To: "parts.name"}}, CountUp: "version"})
	stock      = embed.NewVersioned(products, embed.VersionedSpec{Tokens: "takes"})
	numbers    = keys.NewSequence(orders, counters, keys.SequenceSpec{Digits: 6})
	totals     = counter.New(orders, "customer", customers, counter.Spec{
		Count: "orders", Sums: []counter.Field{{From: "total", To: "spent"}}, Where: bson.D{{Key: "state", Value: Placed}},
	})

	byState = model.NewIndex("orders", bson.D{{Key: "state", Value: 1}, {Key: "at", Value: 1}}) // for our own query

	everything = model.New("shop", tree, inCategory, kinds, partNames, stock, numbers, totals, model.Entity(orders, byState))

	partStore     = model.NewStore(everything, parts)
	productStore  = model.NewStore(everything, products)
	orderStore    = model.NewStore(everything, orders)
	customerStore = model.NewStore(everything, customers)
)
