// Package embed models one document's contents: arrays of small documents, a version, and
// values of several Go types.
//
// # Choosing
//
//	An array of small documents in a parent  [Embedded], and [Nested] for inner arrays
//	One small document in a parent           [One]
//	A document without lost updates          [Versioned]
//	Values of several types in one place     [Union], and [Kinds] for queries by type
//
// # Limits
//
// With a [Union], use bson.D in filters and updates: Go maps get a random order.
package embed
