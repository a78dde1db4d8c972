package keys

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/composite"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Composite is an _id that consists of several values, the parts: State:City:UserID as
// one string. It sorts by the parts, so all documents of a state or city are neighbours
// in the index on _id. A document that changes a part gets another _id
// ([Composite.Move]).
//
// # Keys
//
// Each part but the last has an end: " :" after a text, ":" after an integer, time or
// ObjectID:
//
//	CA :San Francisco :b42
//
// Texts compare bytewise. Integers compare by number, times and ObjectIDs as in BSON. The
// encoding is:
//
//   - text: a space is written " <" at the end of the text, and before "<" or a character
//     that sorts below "<", such as a digit. So "a " is "a <". A control character is
//     " ;" and a letter, so a tab is " ;I"
//   - integer: a letter for the number of digits comes first (a7, b42, c100). Negative
//     numbers begin with S for one digit, R for two, and so on, with each digit
//     subtracted from 9: R57 is -42
//   - time: 2014-03-28T09:00:00.000Z, in UTC
//
// Texts that aren't UTF-8, times outside the years 0 to 9999, empty ObjectIDs, values of
// another type, and strings that aren't keys give a [*model.ValueError].
//
// # Consistency
//
// A write that changes a part's field without [Composite.Move] leaves a document under a
// wrong key. [Composite.Key] refuses such a document, and [Composite.Rekey] moves it. The
// collection must not have a collation.
//
// Source: "Composite Key Index", "NoSQL Data Modeling Techniques", §8.
type Composite[D any] struct {
	model.Parts

	docs *model.Collection[D, string]
	c    *composite.Key
}

// PartCount is the number of documents whose keys begin with the same parts: see
// [Composite.Counts].
type PartCount struct {
	Key string `bson:"_id"` // the first parts, for [Composite.Scan]
	N   int64  `bson:"n"`
}

// NewComposite declares that documents have an _id made of their fields, in the order of
// the parts. It panics with a [*model.DeclarationError] on invalid parts, or fewer than
// two. For values that only the key contains, use [Part.KeyOnly].
func NewComposite[D any](docs *model.Collection[D, string], parts ...Part) *Composite[D] {
	c := declareKey(docs.Docs(), core.Place("NewComposite of "+docs.Name()), parts, "")
	need := model.Need{Feature: "transactions", Why: "Move of " + docs.Name()}
	return &Composite[D]{model.NewParts(nil, nil, nil, c.Footprints, need), docs, c}
}

// Key returns the key of a document's fields. It returns a [*model.ValueError] if the _id
// is set and isn't that key. Parts with [Part.KeyOnly] are read from the _id, which then
// must not be empty.
func (x *Composite[D]) Key(doc *D) (string, error) {
	if doc == nil {
		return "", x.c.Refuse("document", nil, "is nil")
	}
	_, key, err := x.c.Keyed(*doc)
	return key, err
}

// KeyOf returns the _id for the given values, one for each part in order. Pass it to the
// collection's ByID. Invalid values give a [*model.ValueError].
func (x *Composite[D]) KeyOf(values ...any) (string, error) { return x.c.Key(values) }

// Scan decodes the first parts of a key, or of a [PartCount].Key, into pointers, one for
// each of these parts: *string, *int64, *time.Time, *bson.ObjectID, or a type that the
// driver decodes from these. It returns an error if the string isn't a key or a number
// overflows.
func (x *Composite[D]) Scan(key string, into ...any) error { return x.c.Scan(key, into) }

// Insert returns the write that stores a new document under its key. The document's _id
// must be empty or the key. If an equal document has the key already, the write counts as
// applied. A different document with the key gives the server's duplicate key error.
//
// Cost: one command, one document. If the key is taken, one more command compares the
// documents.
func (x *Composite[D]) Insert(doc D) model.Write { return x.c.Insert(doc) }

// InsertMany returns the plan that stores documents in order, as [Composite.Insert] does.
// If one document is invalid, running the plan returns a [*model.ValueError] and stores
// nothing. The plan can be run again after a crash.
//
// Cost: one command for each 25,000 documents or 16 MiB.
func (x *Composite[D]) InsertMany(docs []D) model.Plan {
	return x.c.InsertMany(len(docs), func(i int) any { return docs[i] })
}

// Move returns the plan that replaces a document, and stores it under the key of its new
// fields. The parameter oldDoc is the old document, unmodified since it was read. The
// parameter newDoc is the new document, whose _id must be empty or the new key. Stored
// fields that D doesn't have are lost.
//
// Running the plan returns model.ErrNotFound if the old document is gone. It returns
// model.ErrStale if a field that D has was changed meanwhile, or if a stored subdocument
// differs from D's encoding of it.
//
// The plan is transactional. With model.PlanOptions.AllowPartial it inserts and then
// deletes without a transaction: a crash, or a concurrent change of the old document,
// leaves the document under both keys. After a crash, run it again. After a change,
// compare both and delete one. If the key stays the same, the plan is one guarded
// replacement, which can be run again.
//
// Cost: two commands, two documents, by _id. If the key stays the same, one of each.
func (x *Composite[D]) Move(oldDoc *D, newDoc D) model.Plan {
	if oldDoc == nil {
		return model.RefusedPlan(x.c.Name(), x.c.Refuse("document", nil, "is nil"))
	}
	return x.c.Move(*oldDoc, newDoc)
}

// Rekey returns the job that moves every document whose _id isn't the key of its fields.
// The job stops with a [*model.ValueError] at a document that can't have a key. It stops
// with the server's duplicate key error if another document has the key. If the key has
// parts with [Part.KeyOnly], running the job gives an error.
//
// The job inserts a document under its key, and then deletes the old document if it is
// unchanged. After a crash, run the job again. A document that another write changes in
// between stays under both keys, and the next run stops at it: compare both, and delete
// one.
//
// Cost: one command for a batch of 500 documents, and two at the end. For documents that
// move, one insert command for a batch, and one delete command each.
func (x *Composite[D]) Rekey() model.Job { return x.c.Rekey() }

// Prefix returns the query of the documents whose first parts equal the given values, in
// the order of keys. "San" doesn't find "San Francisco". Without values it returns all
// documents. Page it in both directions:
//
//	inCity := byPlace.Prefix("CA", "San")
//	next := inCity.After(doc.ID).Limited(1)
//	previous := inCity.Sorted(bson.D{{Key: "_id", Value: -1}}).After(doc.ID).Limited(1)
//
// Cost: one command, and one for each further batch; served by _id.
func (x *Composite[D]) Prefix(values ...any) *model.Find[D] {
	filter, err := x.c.Under(values)
	return x.ordered(filter, err)
}

// Range returns the query of the documents whose first parts equal the values in prefix,
// and whose next part is at least start and less than end. A nil bound
// means no bound. Bounds in the wrong order give a query with an error.
//
//	byDevice.Range([]any{"dev1"}, yesterday, nil)
//
// Cost: as [Composite.Prefix].
func (x *Composite[D]) Range(prefix []any, start, end any) *model.Find[D] {
	filter, err := x.c.Within(prefix, start, end)
	return x.ordered(filter, err)
}

// StartingWith returns the query of the documents whose first parts equal the values in
// prefix, and whose next part begins with the string in text, case-sensitive.
//
// Cost: as [Composite.Prefix].
func (x *Composite[D]) StartingWith(prefix []any, text string) *model.Find[D] {
	filter, err := x.c.Starting(prefix, text)
	return x.ordered(filter, err)
}

func (x *Composite[D]) ordered(filter bson.D, err error) *model.Find[D] {
	return inKeyOrder(x.docs.Find(filter), 1, err)
}

// Counts groups the documents whose first parts equal the values in prefix by their next
// part, and returns the size of each group, in order: users per state. [Composite.Scan]
// reads the parts of each result. The last part can't be counted.
//
// Cost: one command that reads the keys under the prefix, from the index on _id alone.
func (x *Composite[D]) Counts(prefix ...any) *model.Aggregate[PartCount] {
	pipeline, err := x.c.Counts(prefix)
	a := model.AggregateAs[PartCount](x.docs, pipeline)
	a.Index = model.IDIndex
	if err != nil {
		a.Err = err
	}
	return a
}
