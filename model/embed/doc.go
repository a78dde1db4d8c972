// Package embed models one document's contents: arrays of small documents, a version, and
// values of several Go types.
//
// # Choosing
//
//	Small documents inside their parent       [Embedded], [Nested] in its elements, [One]
//	A document that nobody overwrites unseen  [Versioned]
//	Values of several types in one place      [Union], with queries by type [Kinds]
//
// # Limits
//
// With a [Union]'s registry, the fields of nested maps are stored in no fixed order.
package embed
