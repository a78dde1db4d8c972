// Package embed models what one document holds: arrays of small documents, versions, and values of many Go types. Each write is
// one atomic update of one document, by its _id.
//
// # Choosing
//
//	Small documents inside their parent       [Embedded], [Nested] in its elements, [One]
//	A document nobody overwrites unseen       [Versioned]
//	Values of many types in one place         [Union], and asked for by type [Kinds]
//
// # Tasks
//
//   - Write one element of an array, known by its key: [Embedded.Add], [Embedded.Put], [Embedded.Update], [Embedded.Remove],
//     [Embedded.Move]; an element of an inner array: [Nested.Add], [Nested.Update]
//   - Find parents by an element, and elements of one parent or of all: [Embedded.Having], [Embedded.Element], [Embedded.Elements]
//   - Find and mend arrays that other code wrote to: the checks of [Embedded] and [Nested]
//   - Write what was read only if it is still so: [Versioned.Replace], [Versioned.Update]; with retries: [Versioned.Change]; while
//     a condition holds: [Versioned.Guarded], [Versioned.Take]
//   - Store values of several Go types, and get them back as what they are: [Case], [Union.Options]; by type: [Kinds.Of], [Only]
//
// # Limits
//
// An element of an [Embedded] array is known by one key. A bound counts elements, not bytes. A [Versioned] document remembers as
// many operations as Keep says. It doesn't see plain writes that don't count the version up. Under a [Union]'s registry, nested
// maps are written in no particular order.
package embed
