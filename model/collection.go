package model

import (
	"context"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A Collection declares a collection's name, the Go type D of the documents, and the Go
// type K of the _id. Make it once with [NewCollection], usually as a package variable. A
// Collection is immutable and safe to share. Constructors panic for a nil or zero
// Collection.
type Collection[D, K any] struct{ docs *core.Docs }

// CollectionOptions are options of a collection. BSON and Registry are the encoding options
// of your mongo.Client: if you set such options on the client, repeat them here.
type CollectionOptions struct {
	BSON     *options.BSONOptions // nil means the driver's default
	Registry *bson.Registry       // nil means the driver's default

	// StoreField is the field of each document in which stores keep their own data. "" means
	// "_m": see [Store]. Name another one if the documents have a field _m already.
	StoreField string
}

// NewCollection declares a collection. It panics with a [*DeclarationError] if the name
// isn't valid, D isn't stored as a document, K is an array, or D has no _id of type K.
// For bson.D, bson.M, bson.Raw and custom marshalers, the last check isn't possible.
func NewCollection[D, K any](name string) *Collection[D, K] {
	return NewCollectionWith[D, K](name, CollectionOptions{})
}

// NewCollectionWith is [NewCollection] with options.
func NewCollectionWith[D, K any](name string, o CollectionOptions) *Collection[D, K] {
	docs := core.Declare[D, K](name, core.NewCodec(o.BSON, o.Registry))
	return &Collection[D, K]{docs.WithStoreField(o.StoreField)}
}

// Docs returns the collection without its Go types. This library's packages use it.
func (c *Collection[D, K]) Docs() *core.Docs {
	if c == nil || c.docs == nil {
		return &zeroDocs
	}
	return c.docs
}

var zeroDocs core.Docs

// Name returns the collection's name.
func (c *Collection[D, K]) Name() string { return c.Docs().Name() }

// Named returns the declaration under another name, such as one per tenant or month. It
// panics with a [*DeclarationError] if the name isn't valid.
func (c *Collection[D, K]) Named(name string) *Collection[D, K] {
	if c == nil {
		core.Fail("the collection is nil", "Named "+name, "declare it with NewCollection")
	}
	return &Collection[D, K]{c.Docs().WithName(name)}
}

// Unchecked returns the Collection without the checks of paths and values (see
// [Collection.Find]). Use it for fields that D lacks.
func (c *Collection[D, K]) Unchecked() *Collection[D, K] {
	return &Collection[D, K]{c.Docs().WithoutChecks()}
}

// Of returns the driver's collection with the [CollectionOptions], without any [Scope].
func (c *Collection[D, K]) Of(db *mongo.Database) *mongo.Collection { return declOf(c).of(db) }

// ID returns the document's _id. If the _id is missing, nil, a zero value (except 0 and
// false) or refused by MongoDB, ID returns a [*ValueError].
func (c *Collection[D, K]) ID(doc *D) (id K, err error) {
	v, err := c.Docs().ID(doc)
	id, _ = v.(K)
	return id, err
}

// A declaration is a collection without its Go types, and makes its queries and writes.
// Methods of generic types would be compiled for each document type of a program.
type declaration struct{ *core.Docs }

func declOf[D, K any](c *Collection[D, K]) declaration { return declaration{c.Docs()} }

func (c declaration) of(db *mongo.Database) *mongo.Collection {
	if db == nil {
		core.Fail("the database is nil", "Collection.Of of "+c.Name(), "give the database of the collection")
	}
	return openCollection(context.Background(), db, c.Codec(), c.Name())
}

// Package core can't import this package, so it makes these errors by functions.
func init() {
	core.ValueError = func(collection, field string, value any, reason string) error {
		return &ValueError{Collection: collection, Field: field, Value: value, Reason: reason}
	}
	core.DeclarationError = func(problem, place, remedy string) error {
		return &DeclarationError{problem, place, remedy}
	}
}
