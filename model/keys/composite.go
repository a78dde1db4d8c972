package keys

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/composite"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Composite is an _id that is made of several values: State:City:UserID as one string, whose order is that of the values. Make
// it with [NewComposite].
//
// All documents of a state, or of a city in it, stand side by side in the index that every collection has on _id, in the order
// of the next part. So they are found, counted, paged through and walked from one to the next by that index, and no other is
// needed; the key can be read; and it is unique. What it costs is that a document whose state or city changes gets another _id
// ([Composite.Move]), and that there is one order: for another, declare an index.
//
// # Keys
//
// Texts end with " :", integers, times and ObjectIDs with ":":
//
//	CA :San Francisco :b42
//
// Keys compare as their parts do, one after the other: texts bytewise, which is the order of code points, and "San" before
// "San Francisco"; integers by number, the negative ones too; times and ObjectIDs as in BSON. For that a text's space is
// written " <" before anything that isn't above "<", and at the end; a control character (NUL too) is " ;" and a letter, so that
// a tab is " ;I". An integer is preceded by a letter for the number of its digits: a7, b42, c100; below zero the letters are
// capital and each digit is what it lacks to 9: S8 is -1, R57 is -42. A time is 2014-03-28T09:00:00.000Z in UTC. Each key has
// one reading, and each list of values one key.
//
// Refused, with a [*model.ValueError] that names the part and the value: texts that are not UTF-8, times outside of the years 0
// to 9999, empty ObjectIDs, values of another type, and what is no key.
//
// There are no descending parts: the complement of a number or time can't be read. The index is walked backwards as well as
// forwards, by Sorted(bson.D{{Key: "_id", Value: -1}}). What must ascend by one part and descend by the next takes an index of its own.
//
// # Consistency
//
// A key and the fields that it is made of are in one document, stored at once. A write that changes a field past
// [Composite.Move] leaves a document under a key that is not its own: [Composite.Key] refuses it, and [Composite.Rekey] finds and
// moves all of them.
//
// Comparisons are bytewise: the collection must not have a collation.
//
// Source: "Composite Key Index", users by state and city (seed 002 §8).
type Composite[D any] struct {
	model.Parts

	docs *model.Collection[D, string]
	c    *composite.Key
}

// PartCount says how many keys begin with some parts, as [Composite.Counts] returns it.
type PartCount struct {
	Key string `bson:"_id"` // the first parts, up to the one that was counted by: for [Composite.Scan]
	N   int64  `bson:"n"`
}

// NewComposite declares that documents have an _id made of fields of theirs, in the order of the parts. It panics with a
// [*model.DeclarationError] when there are less than two parts, when one is there twice, doesn't exist, lies in an array, or is
// of another type than it is declared as. Parts that documents hold in their key alone are declared so: [Part.KeyOnly].
func NewComposite[D any](docs *model.Collection[D, string], parts ...Part) *Composite[D] {
	c := declareKey(docs.Docs(), core.Place("NewComposite of "+docs.Name()), parts, "")
	need := model.Need{Feature: "transactions", Why: "Move of " + docs.Name()}
	return &Composite[D]{model.NewParts(nil, nil, nil, c.Footprints, need), docs, c}
}

// Key returns the key of a document, by its fields. A document whose _id is set, and isn't that key, is refused with a
// [*model.ValueError]: so Key also checks a document that was read. For parts that are in the key alone the document must have its
// _id.
func (x *Composite[D]) Key(doc *D) (string, error) {
	if doc == nil {
		return "", x.c.Refuse("document", nil, "is nil")
	}
	_, key, err := x.c.Keyed(*doc)
	return key, err
}

// KeyOf returns the key of values, one for each part, in their order: for the collection's ByID.
func (x *Composite[D]) KeyOf(values ...any) (string, error) { return x.c.Key(values) }

// Scan reads the first parts of a key into what pointers point at, one for each: a *string, an *int64, a *time.Time, a
// *bson.ObjectID, or a pointer to a type that the driver reads from these. It reads the keys of [PartCount] too. What is no
// key, as far as it is read, is refused; and so is a number that the type can't hold.
func (x *Composite[D]) Scan(key string, into ...any) error { return x.c.Scan(key, into) }

// Insert returns the write that stores a new document under its key. Its _id may be empty; if not, it must be the key.
// Otherwise it is as model.Collection.Insert: what another document's key is already is the server's duplicate-key error.
//
// Cost: one command, one document; one more to compare where the key is taken.
func (x *Composite[D]) Insert(doc D) model.Write { return x.c.Insert(doc) }

// InsertMany returns the plan that stores documents in order, each as [Composite.Insert] does. A bad one refuses all.
//
// Cost: one command for each 25,000 documents or 16 MiB. A plan that was cut can be run again.
func (x *Composite[D]) InsertMany(docs []D) model.Plan {
	return x.c.InsertMany(len(docs), func(i int) any { return docs[i] })
}

// Move returns the plan that stores a document as it shall be in the place of one that was read, under its own key: the way to
// change a part, since an _id can't be changed. The _id of now must be empty or its key. Fields of the stored document that D
// doesn't know are not carried over.
//
// The old one must still be as it was read, in all fields that D knows, those that weren't there too: else running the plan gives
// model.ErrStale, or model.ErrNotFound when it is gone. Missing, null and empty are one there, where D reads them as one; a document within it must be stored as D stores
// it.
//
// It is one document inserted and one deleted, and makes sense as both: a transactional plan. Run without a transaction
// (model.PlanOptions.AllowPartial), the new one is there first, so that nothing is lost; a cut, or an old one that changed
// meanwhile, leaves the document under both keys, and after a cut it can be run again. Where the key stays the same, it is one
// guarded replacement, which can be run again.
//
// Cost: two commands, two documents, by _id; one for the same key.
func (x *Composite[D]) Move(was *D, now D) model.Plan {
	if was == nil {
		return model.RefusedPlan(x.c.Name(), x.c.Refuse("document", nil, "is nil"))
	}
	return x.c.Move(*was, now)
}

// Rekey returns the job that brings every document under the key of its fields: those that somebody changed past
// [Composite.Move], and those of a collection whose _ids are something else so far. A document that lacks a part, or can't have a
// key, stops it with a [*model.ValueError]; one whose key another document has, with the server's duplicate-key error. It is
// refused where parts are in the key alone.
//
// Each document is stored under its key before the old one is deleted, as it was read; so nothing is lost, and a run that was cut
// is completed by the next. A document that changes in between is left under both keys, and the next run stops at it with the
// duplicate key: compare the two, and delete one.
//
// Cost: one command for a batch of 500 documents, and two to find the end; where documents move, one more to insert those of a
// batch, and one to delete each. Documents written: two for each that moves.
func (x *Composite[D]) Rekey() model.Job { return x.c.Rekey() }

// Prefix returns the documents whose first parts are the values, in the order of keys: all users of a state, or of a city in
// it. Nothing else begins with their parts: "CA" doesn't find "CAX", nor "San" "San Francisco". Without values it is all
// documents. Page it with Limited and After(doc.ID). The last ones come first, and the one before a document is found, by
// Sorted:
//
//	inCity := byPlace.Prefix("CA", "San")
//	next := inCity.After(doc.ID).Limited(1)
//	previous := inCity.Sorted(bson.D{{Key: "_id", Value: -1}}).After(doc.ID).Limited(1)
//
// Cost: one command, and one per further batch; served by _id.
func (x *Composite[D]) Prefix(values ...any) *model.Find[D] {
	filter, err := x.c.Under(values)
	return x.ordered(filter, err)
}

// Range returns the documents whose first parts are those of prefix, and whose next part is from ≤ part < to, in the order of
// keys; nil is no bound. Bounds in the wrong order are refused.
//
//	byDevice.Range([]any{"dev1"}, yesterday, nil)
//
// Cost: as [Composite.Prefix].
func (x *Composite[D]) Range(prefix []any, from, to any) *model.Find[D] {
	filter, err := x.c.Within(prefix, from, to)
	return x.ordered(filter, err)
}

// StartingWith returns the documents whose first parts are those of prefix, and whose next part, a text, begins with another:
// the cities of California that begin with "San". It compares bytes, upper and lower case apart.
//
// Cost: as [Composite.Prefix].
func (x *Composite[D]) StartingWith(prefix []any, text string) *model.Find[D] {
	filter, err := x.c.Starting(prefix, text)
	return x.ordered(filter, err)
}

func (x *Composite[D]) ordered(filter bson.D, err error) *model.Find[D] {
	return inKeyOrder(x.docs.Find(filter), 1, err)
}

// Counts returns the pipeline of how many documents there are for each value of the part after the given ones, in its order:
// users per state, or per city of a state. [Composite.Scan] reads the parts of each result. The last part is another for each
// key, and can't be counted by.
//
// Cost: one command, answered from the index on _id alone; it reads the keys under the prefix.
func (x *Composite[D]) Counts(prefix ...any) *model.Aggregate[PartCount] {
	pipeline, err := x.c.Counts(prefix)
	a := model.AggregateAs[PartCount](x.docs, pipeline)
	a.Index = model.IDIndex
	if err != nil {
		a.Err = err
	}
	return a
}
