// Package forms reads and shows the kinds of collections and their options, as create and collMod get them and
// listCollections shows them.
//
// A file is one kind or option: capped collections, clustered collections, time series collections, views, validators
// (validation.go), and images of documents for change streams (images.go). Each has the same parts:
//
//   - Read… reads the fields of the command. It returns nil if the command has none of them, and notes what MongoDB
//     refuses with the args.Reader.
//   - Show… returns the options as they are stored with the collection (store.Collection's Options). listCollections
//     shows the stored options, and create compares them with those of a collection that exists.
//
// The commands create, collMod, convertToCapped and drop call this package, and so do commands that read views or write
// to time series. It knows no request: views are resolved in a store.State, and put by a store.Writer. The store
// enforces a capped collection's size, and calls the function of [Validation.NewCheck] before it stores a document.
//
// # Stored forms
//
// A collection has options of one kind of the first four, and of any of the others:
//
//	{viewOn: "orders", pipeline: [{$match: {open: true}}]}
//	{capped: true, size: 4096, max: 10}
//	{clusteredIndex: {v: 2, key: {_id: 1}, name: "_id_", unique: true}, expireAfterSeconds: 60}
//	{timeseries: {timeField: "t", metaField: "m", granularity: "seconds", bucketMaxSpanSeconds: 3600}}
//	{validator: {n: {$gt: 0}}, validationLevel: "strict", validationAction: "error"}
//	{changeStreamPreAndPostImages: {enabled: true}}
//
// # Views
//
// A view is stored as the name of the collection that it is on, and stages. ResolveView follows views over views down
// to a collection, at most 20. PutView refuses a view that would stand on itself. UpdateViewList keeps a document for
// each view in the collection system.views.
//
// # Time series
//
// Measurements are stored as documents. Options for buckets are only shown. An update or an index of measurements may
// have conditions on the metaField alone, which HasOnlyConditionsOn checks.
package forms

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// RemoveOptions returns the options without those of the names. It doesn't change the slice, which a stored collection
// may share.
func RemoveOptions(options bson.D, names ...string) bson.D {
	return slices.DeleteFunc(slices.Clone(options), func(e bson.E) bool { return slices.Contains(names, e.Key) })
}

// InternalDatabases have no change streams.
var InternalDatabases = []string{"admin", "config", "local"}
