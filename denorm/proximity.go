package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/flat"
	"github.com/docmodel/docmodel/denorm/internal/proximity"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ProximitySpec says how a list is written as text. Text is required.
type ProximitySpec struct {
	// Text is the name of the field, of the document itself, that holds the text. The documents' Go type may have it, as a
	// string, or not.
	Text string

	// Fields are the names of the elements' fields that go into the text, in this order; each is a string. They are required
	// when elements are documents, and left out for a list of strings.
	Fields []string

	// IgnoreCase lets queries match letters of either case, as the server's regular expressions do with the option i.
	IgnoreCase bool
}

// Proximity keeps a list of small documents as one text beside it: "|Math,Poor|Poetry,Excellent|". That two words belong to
// one element is then that they stand together in the text, with no end of an element between: a query by one regular
// expression. Make it with [NewProximity].
//
// An element is its fields' values with a comma between, and ends with "|". Within values "%", "|", ",", ";" and NUL are
// written as %25, %7C, %2C, %3B and %00, so that the text can be read back ([Proximity.Back]); a field that an element
// hasn't is ";", a null ";;", and ";;;" something that other code stored and is no text. An empty list is "|"; a document
// without a list has no text.
//
// Words are what spaces, tabs, line ends and the ends of values separate; a comma or a hyphen within a value doesn't. Case
// counts, unless IgnoreCase is set.
//
// List and text are written by one atomic update. Writes that don't go through here leave the text as it was:
// [Proximity.Checks] finds that, and mends it.
//
// No bounds on an index serve a word in the middle of a text: a query reads every text. It is for collections of some
// thousands, and for conditions beside one that an index serves; else use [Numbered], $elemMatch, or a search engine.
//
// Source: "Nested Documents Flattening: Proximity Queries", the skills of a résumé in one field (seed 002 §16);
// https://www.mongodb.com/docs/manual/reference/operator/query/regex/.
//
// Indexes returns an index on the text. It bounds no query; it lets the server read the texts in place of the documents.
// Leave it out where that is not worth its room.
//
// Checks returns one check, of texts that differ from their list: other code changed the list, or the document is older than the
// declaration. Mending writes the text anew on the server, from what the list holds at that moment. A value of the list that
// isn't text becomes ";;;", which no query finds.
//
// Cost: see [model.Check]; mending writes one document each, by _id.
type Proximity[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	p    *proximity.List
}

// NewProximity declares that the list at a path is kept as text too. It panics with a [*model.DeclarationError] when the
// path doesn't exist, or is not an array of strings or of documents with such fields, or lies inside another array, and when
// Text is not a name, is that of the list, or is a field of another type.
func NewProximity[D, K any](docs *model.Collection[D, K], path string, spec ProximitySpec) *Proximity[D, K] {
	p := proximity.Declare(flat.List{Docs: docs.Docs(), Path: path, Fields: spec.Fields, Beside: true}, spec.Text, spec.IgnoreCase)
	return &Proximity[D, K]{model.NewParts(p.Indexes, nil, p.Checks, p.Footprints), docs, p}
}

// Text returns the text of a list of elements. A value that is not text, and one that is not UTF-8, is refused with a
// [*model.ValueError]; null and missing fields are not.
func (x *Proximity[D, K]) Text(elements ...any) (string, error) { return x.p.Text(elements) }

// Back decodes the list that a text was made of into what a pointer points at, a slice. Each element has the declared
// Fields, and no other. A text that no list has is refused with a [*model.ValueError].
func (x *Proximity[D, K]) Back(text string, list any) error { return x.p.Back(text, list) }

// Insert returns the write that stores a new document with its text, whatever it holds in the text's place.
//
// Cost: one command, one document.
func (x *Proximity[D, K]) Insert(doc D) model.Write {
	return flat.StoredAs(x.docs.Insert(doc), x.p.WithText)
}

// Replace returns the write that stores a whole document with its text over the one with its _id, which must exist: else
// running it gives model.ErrNotFound.
//
// Cost: one command, one document, found by _id.
func (x *Proximity[D, K]) Replace(doc D) model.Write {
	return flat.StoredAs(x.docs.Replace(doc), x.p.WithText)
}

// Set returns the write that gives a document's list these elements, and its text. No element empties the list. The document
// must exist: else running it gives model.ErrNotFound. It is idempotent.
//
// Cost: one command, one document, found by _id; one atomic update.
func (x *Proximity[D, K]) Set(id K, elements ...any) model.Write {
	update, err := x.p.Update(elements)
	if err != nil {
		return model.Refused(x.p.Docs.Name(), err)
	}
	return x.docs.Update(id, update)
}

// Add returns the write that adds an element to a document's list, and to its text, unless the list holds an equal one, with
// the same fields in the same order: running it then gives the status Already. The document must exist: else model.ErrNotFound.
// It is idempotent, and takes part in races safely: one atomic update, whatever others add at the same time.
//
// Cost: one command, one document, found by _id; when it matches nothing, one or two more that ask why.
func (x *Proximity[D, K]) Add(id K, element any) model.Write {
	f := x.docs.ByID(id)
	return x.p.Add(f.Filter, element, f.Err)
}

// Remove returns the write that takes elements out of a document's list, and writes its text anew on the server. Elements
// that the list doesn't hold are passed over, and so is a document that isn't there. It is idempotent.
//
// Cost: one command, one document, found by _id; one atomic update.
func (x *Proximity[D, K]) Remove(id K, elements ...any) model.Write {
	f := x.docs.ByID(id)
	return x.p.Remove(f.Filter, elements, f.Err)
}

// Equal returns the query of the documents with an element whose fields are just these strings, all in one element; a nil is
// a field that is null or missing. It is refused when the pattern has more than 32,000 bytes, the server's bound.
//
// Cost: one command; the server reads every text, or every key of the index of [Proximity.Indexes].
func (x *Proximity[D, K]) Equal(fields bson.D) *model.Find[D] {
	filter, err := x.p.Equal(fields)
	return x.find(filter, err)
}

// A WordOrder says in which order two words stand.
type WordOrder uint8

const (
	AnyOrder WordOrder = iota // one before the other, or after
	InOrder                   // the first before the second
)

// Near returns the query of the documents with an element in which two words stand together: with at most so many other
// words between, from 0, for next to each other, to 100. The order is InOrder for the first word before the second, in the
// order of Fields, or AnyOrder. A word is refused when it is empty or holds a space, tab or line end.
//
// Cost: as [Proximity.Equal].
func (x *Proximity[D, K]) Near(word, other string, between int, order WordOrder) *model.Find[D] {
	filter, err := x.p.Near(word, other, between, proximity.Order(order))
	return x.find(filter, err)
}

func (x *Proximity[D, K]) find(filter bson.D, err error) *model.Find[D] {
	return commands.Served(x.docs.Find(filter), "", err)
}
