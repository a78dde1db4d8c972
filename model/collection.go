package model

import (
	"context"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A Collection names a collection and fixes the Go type D of its documents and K of their _id. Declare it once with
// [NewCollection], usually as a package variable; it is immutable, and safe to share. A nil or zero Collection is not
// valid: constructors that are handed one panic.
type Collection[D, K any] struct{ docs *core.Docs }

// CollectionOptions are the driver's options under which the collection's documents are written and read. They must
// be the client's own, where the client has any: they decide how fields are named.
type CollectionOptions struct {
	BSON     *options.BSONOptions // nil means the driver's defaults
	Registry *bson.Registry       // nil means the driver's default registry
}

// NewCollection declares a collection. It panics with a [*DeclarationError] when the name can't be a collection's, when
// D is not stored as a document, or when D's _id is missing or not a K. For a D whose fields are not known (bson.D,
// bson.M, bson.Raw, a custom marshaler) the checks are skipped.
func NewCollection[D, K any](name string) *Collection[D, K] {
	return NewCollectionWith[D, K](name, CollectionOptions{})
}

// NewCollectionWith is [NewCollection] for documents that are written and read under options.
func NewCollectionWith[D, K any](name string, o CollectionOptions) *Collection[D, K] {
	return &Collection[D, K]{core.Declare[D, K](name, core.NewCodec(o.BSON, o.Registry))}
}

// Docs is the collection without its Go types, for the library's techniques.
func (c *Collection[D, K]) Docs() *core.Docs {
	if c == nil || c.docs == nil {
		return &zeroDocs
	}
	return c.docs
}

var zeroDocs core.Docs

// Name returns the collection's name.
func (c *Collection[D, K]) Name() string { return c.Docs().Name() }

// Named returns the same declaration under another name, for collections that come one per tenant or per month. It
// panics for a name that MongoDB refuses.
func (c *Collection[D, K]) Named(name string) *Collection[D, K] {
	if c == nil {
		core.Fail("the collection is nil", "Named "+name, "declare it with NewCollection")
	}
	return &Collection[D, K]{c.Docs().Named(name)}
}

// Unchecked returns the same declaration, whose filters, sorts and updates are not held against D: for fields that documents still
// have, or don't have yet.
func (c *Collection[D, K]) Unchecked() *Collection[D, K] {
	return &Collection[D, K]{c.Docs().Unchecked()}
}

// Of opens the driver's collection, with the declaration's [CollectionOptions]. No [Scope] holds for it.
func (c *Collection[D, K]) Of(db *mongo.Database) *mongo.Collection { return declOf(c).of(db) }

// ID reads the document's _id. It returns a [*ValueError] when there is none or it can't be one: it is nil, or the zero
// value of a type that is neither a number nor a boolean, or a value that MongoDB refuses.
func (c *Collection[D, K]) ID(doc *D) (id K, err error) {
	v, err := c.Docs().ID(doc)
	id, _ = v.(K)
	return id, err
}

// A declaration is a collection without its Go types, with what makes queries and writes of it. Methods of generic types,
// promoted ones too, are compiled for each document type of a program.
type declaration struct{ *core.Docs }

func declOf[D, K any](c *Collection[D, K]) declaration { return declaration{c.Docs()} }

func (c declaration) of(db *mongo.Database) *mongo.Collection {
	if db == nil {
		core.Fail("the database is nil", "Collection.Of of "+c.Name(), "give the database of the collection")
	}
	return openCollection(context.Background(), db, c.Codec(), c.Name())
}

func init() {
	core.ValueError = func(collection, field string, value any, reason string) error {
		return &ValueError{Collection: collection, Field: field, Value: value, Reason: reason}
	}
	core.DeclarationError = func(problem, place, remedy string) error {
		return &DeclarationError{problem, place, remedy}
	}
}
