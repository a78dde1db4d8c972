// Package embed models one document's contents: arrays of small documents, a version, and
// values of several Go types. Each write is one atomic update of one document, by its
// _id.
//
// # Choosing
//
//	Small documents inside their parent       [Embedded], [Nested] in its elements, [One]
//	A document that nobody overwrites unseen  [Versioned]
//	Values of several types in one place      [Union], with queries by type [Kinds]
//
// # Tasks
//
//   - Write an element of an array by key: [Embedded.Add], [Embedded.Put],
//     [Embedded.Update], [Embedded.Remove], [Embedded.Move]; of an inner array:
//     [Nested.Add], [Nested.Update]
//   - Find parents and elements: [Embedded.Having], [Embedded.Element],
//     [Embedded.Elements]
//   - Write a document only if unchanged since the read: [Versioned.Replace],
//     [Versioned.Update]; with retries: [Versioned.Change]; while a condition is true:
//     [Versioned.Guarded], [Versioned.Take]
//   - Store values of several Go types: [Case], [Union.Options]; query by type:
//     [Kinds.Of], [Only]
//
// # Limits
//
// With a [Union]'s registry, the fields of nested maps are stored in no fixed order.
package embed
