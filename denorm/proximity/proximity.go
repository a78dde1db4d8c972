// Package proximity finds words that occur together in one element of a list: see [Proximity].
package proximity

import (
	"github.com/docmodel/docmodel/denorm/internal/flat"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Spec says how a [Proximity] writes a list as one string. Text is required.
type Spec struct {
	// Text names the document's field for the string. The Go type can omit this field.
	Text string

	// Fields are the elements' string fields to write, in this order. For a list of
	// strings, leave Fields empty.
	Fields []string

	// IgnoreCase makes queries ignore case.
	IgnoreCase bool
}

// Proximity stores a list of small documents, and the same list as one text:
// "|Math,Poor|Poetry,Excellent|". Queries find documents with given values or two nearby
// words in one element. A [model.Store] of the documents computes the text, without another
// command. Its Set of the whole list is one command, without a read. Add and Remove change
// single elements.
//
// Spaces, tabs and line ends separate words. Commas and hyphens don't.
//
// A query reads every text. For many thousands of documents, add a condition on an
// indexed field, or use numbered.Numbered.
//
// Source: "Nested Documents Flattening: Proximity Queries" ("NoSQL Data Modeling
// Techniques", §16); https://www.mongodb.com/docs/manual/reference/operator/query/regex/.
//
// # Indexes and checks
//
// Indexes returns an optional index on the text: queries scan it, not all documents.
//
// Checks returns the check that compares each document's text with its list. The repair
// rewrites wrong texts.
type Proximity[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	p    *untypedProximity
}

// New declares that the list at path is also stored as text. The list can't be
// inside another array. New panics with a [*model.DeclarationError] if path or
// spec doesn't fit the type D. Spec.Text can't overlap the list or _id.
func New[D, K any](docs *model.Collection[D, K], path string, spec Spec) *Proximity[D, K] {
	p := declareProximity(flat.List{Docs: docs.Docs(), Path: path, Fields: spec.Fields, Beside: true},
		spec.Text, spec.IgnoreCase)
	return &Proximity[D, K]{model.NewParts(p.listIndexes, nil, p.listChecks, p.listFootprints).
		WithDocs(docs.Docs()).WithReactions(p.makeReactions), docs, p}
}

// Text computes the text that is stored for these elements. Each element, or each of
// its Spec.Fields, must be a UTF-8 string, null or missing. Another type gives
// a [*model.ValueError]. In a string, "%", "|", ",", ";" and NUL become %25, %7C, %2C,
// %3B and %00. An empty list gives "|".
func (x *Proximity[D, K]) Text(elements ...any) (string, error) { return x.p.makeText(elements) }

// Back decodes a stored text into a slice. As list, pass a pointer to the slice. If
// elements are documents, Back sets only Spec.Fields. A malformed text
// gives a [*model.ValueError].
func (x *Proximity[D, K]) Back(text string, list any) error { return x.p.decodeText(text, list) }

// Add returns the write that appends an element to a document's list and to the
// list's text ([Spec].Text). If the list has an equal element (same fields, same
// order), the status is [model.Already]. A missing document gives [model.ErrNotFound].
//
// Cost: one command, one document, by _id. If nothing is written, up to two reads more.
func (x *Proximity[D, K]) Add(id K, element any) model.Write {
	f := x.docs.ByID(id)
	return x.p.addElement(f.Filter, element, f.Err)
}

// Remove returns the write that removes elements and their duplicates from a document's
// list and the list's text. Pass each element with its fields in the stored order.
// Missing elements and documents are ignored.
//
// Cost: one command, one document.
func (x *Proximity[D, K]) Remove(id K, elements ...any) model.Write {
	f := x.docs.ByID(id)
	return x.p.removeElements(f.Filter, elements, f.Err)
}

// Equal returns the query of the documents with an element that has all these fields and
// values. A value is a string, or nil for null or missing. If the list "post.tags"
// contains strings, pass {tags: value}.
//
// Cost: one command. The server reads all keys of the index, if any, or all documents.
func (x *Proximity[D, K]) Equal(fields bson.D) *model.Find[D] {
	filter, err := x.p.matchEqual(fields)
	return x.find(filter, err)
}

// A WordOrder is the order of two words in [Proximity.Near].
type WordOrder uint8

const (
	AnyOrder WordOrder = iota // in either order
	InOrder                   // the first word before the second
)

// Near returns the query of the documents with an element that contains two words close
// together. The parameter between is the maximum number of words between the two: 0
// (adjacent) to 100.
//
// Cost: as [Proximity.Equal].
func (x *Proximity[D, K]) Near(word, other string, between int, order WordOrder) *model.Find[D] {
	filter, err := x.p.matchNear(word, other, between, order)
	return x.find(filter, err)
}

func (x *Proximity[D, K]) find(filter bson.D, err error) *model.Find[D] {
	return commands.ServeFind(x.docs.Find(filter), "", err)
}
