// Package tree has what the packages of the differential test do with documents as values: make them, look up a
// field, walk over all fields, map all values, and encode.
//
// A tree is a value in the types that the driver decodes to: a [bson.D] is a document, a [bson.A] an array, and
// anything else a leaf. Lists of documents may also be a []bson.D, as in [cases.Case]; [Walk] and [WalkValues] enter
// those too. [Map] doesn't: it returns a []bson.D as it is.
//
// Invariants:
//
//   - [Walk] and [WalkValues] visit a value before what is inside it, in the order of the fields. Rules rely on this
//     where the first match decides.
//   - [Map] calls its function for the inner values first, so the function sees a document whose values are done. Map
//     makes new documents and arrays on its way. The function may therefore change the document or array that it is
//     given, and the caller's tree stays as it was.
//   - [Lookup] reads one level and doesn't split a dotted path. It returns nil both for a field that is missing and for
//     one that is null. Use [HasField] where that matters.
//   - [D] makes an int32 of an int, because a literal number in a mongosh command of the manual is small, and an int
//     would be encoded by its size.
//   - [Encode] gives equal bytes for equal values of equal types. It is how outcomes are compared, so 1, 1.0 and
//     NumberLong(1) are three different values there, as they are for a client.
//
// The functions never fail: what isn't a document has no fields. That keeps rules short, as they look at commands
// whose shape the generator chose. [ParseDecimal] panics for a text that isn't a decimal, since all callers pass a
// constant or a text that they made themselves.
//
// The packages cases, grammar, outcome and rules and the runner above them call this package; it knows none of them.
package tree
