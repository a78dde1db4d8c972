package keys

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/composite"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Composite is an _id that joins several values (the parts) in one string, such as
// State:City:UserID. The _ids sort by the parts.
//
// # Keys
//
// The separator of parts is ":", or " :" after a text. Texts sort by bytes, and integers
// by value.
//
//	CA :San Francisco :b42
//
//	text      A space becomes " <" at the text's end, or if a digit or another byte
//	          ≤ "<" follows: "a 1" is "a <1". A control character becomes " ;" and a
//	          letter: a tab is " ;I".
//	integer   A letter tells the number of digits: a7, b42, c100. For negative numbers,
//	          S means 1 digit, R 2, …. Each digit d becomes 9-d: -42 is R57.
//	time      2014-03-28T09:00:00.000Z, in UTC
//	ObjectID  in hexadecimal
//
// # Consistency
//
// The collection must not have a collation. Change a part's field only by
// [Composite.Move]. After any other change of the field, run [Composite.Rekey].
//
// Move needs a transaction or [model.PlanOptions].AllowPartial. If the old document
// changes during the move, Move gives [model.ErrStale].
//
// A crash of Rekey, or of Move without a transaction, can leave the old and the new
// document. Run the job or plan again.
//
// # In a store
//
// A [model.Store] makes the _id of a new document: leave it empty. With [Part.KeyOnly], set
// the _id to the key. Another _id gives a [*model.ValueError]. The store refuses to change a
// part: use Move. With all parts in the filter, DeleteOne and its like find the document by
// its _id.
//
// # Scopes
//
// Under a [model.Scope] with a Tenant, the documents' _ids carry the tenant, so two tenants
// can have the same parts. Results have the _ids without the tenant. Because other
// techniques use the documents too, use a database of [model.Model.On] with all techniques.
// On another database under a Tenant, each command on the documents gives a
// [*model.ConflictError]. To move the documents of an older version, run [model.MoveKeys]
// once for each tenant.
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
	Key string `bson:"_id"` // the key's first parts: see [Composite.Scan]
	N   int64  `bson:"n"`
}

// NewComposite declares that documents have an _id made of their fields, in the order of
// the parts. It panics with a [*model.DeclarationError] on invalid parts, or fewer than
// two. For values that only the key contains, use [Part.KeyOnly].
func NewComposite[D any](docs *model.Collection[D, string], parts ...Part) *Composite[D] {
	c := declareKey(docs.Docs(), core.Place("NewComposite of "+docs.Name()), parts, "")
	need := model.Need{Feature: "transactions", Why: "Move of " + docs.Name()}
	return &Composite[D]{model.NewParts(nil, nil, nil, c.ListFootprints, need).
		WithDocs(docs.Docs()).WithKeys(c.DescribeKeyed()).WithReactions(c.MakeReactions), docs, c}
}

// Key computes a document's key from the fields. If the _id is set to another key, Key
// returns a [*model.ValueError]. The values of [Part.KeyOnly] parts come from the _id.
// With KeyOnly parts, the _id must not be empty.
func (x *Composite[D]) Key(doc *D) (string, error) {
	if doc == nil {
		return "", x.c.Refuse("document", nil, "is nil")
	}
	_, key, err := x.c.EncodeUnderKey(*doc)
	return key, err
}

// KeyOf computes an _id from one value for each part, in order. Pass the _id to
// [model.Collection.ByID]. Invalid values give a [*model.ValueError].
func (x *Composite[D]) KeyOf(values ...any) (string, error) { return x.c.MakeKey(values) }

// Scan decodes a key's first parts, one part into each pointer. The key can be a
// [PartCount].Key. Pass *string, *int64, *time.Time, *bson.ObjectID, or a pointer to
// another type that the driver can decode. An invalid key, a wrong type and an overflow
// give an error.
func (x *Composite[D]) Scan(key string, into ...any) error { return x.c.Scan(key, into) }

// Move returns the plan that replaces oldDoc by newDoc, under the key of newDoc's fields.
//
// Pass oldDoc as you read it. Leave newDoc's _id empty. With [Part.KeyOnly], set newDoc's
// _id to the new key. Stored fields that D lacks are lost.
//
// Errors:
//   - model.ErrNotFound: the old document is missing
//   - model.ErrStale: a field of D isn't stored as in oldDoc
//   - the server's duplicate key error: the new key is taken
//
// A plan with a new key is transactional: see [Composite].
//
// Cost: two commands, two documents, by _id. An unchanged key costs one command.
func (x *Composite[D]) Move(oldDoc *D, newDoc D) model.Plan {
	if oldDoc == nil {
		return model.NewPlan(model.Refused(x.c.Name(), x.c.Refuse("document", nil, "is nil")))
	}
	return x.c.PlanMove(*oldDoc, newDoc)
}

// Rekey returns the job that corrects each _id that differs from the document's fields.
// If another document has the right _id, the job stops with the server's duplicate key
// error. A document without a part's field stops it with a [*model.ValueError]. A key
// with [Part.KeyOnly] gives an error. After a crash, run the job again: see [Composite].
//
// Cost: one command per batch of 500 documents, and two at the end. Wrong _ids cost one
// insert command per batch, and one delete command each.
func (x *Composite[D]) Rekey() model.Job { return x.c.MakeRekeyJob() }

// Prefix returns the query of documents whose first key parts equal the given values. The
// query sorts by _id. "San" doesn't find "San Francisco". Without values, the query
// returns all documents. To page in both directions:
//
//	inCity := byPlace.Prefix("CA", "San Francisco")
//	next := inCity.After(doc.ID).Limited(1)
//	previous := inCity.Sorted(bson.D{{Key: "_id", Value: -1}}).After(doc.ID).Limited(1)
//
// Cost: one command per batch, by _id.
func (x *Composite[D]) Prefix(values ...any) *model.Find[D] {
	filter, err := x.c.MatchPrefix(values)
	return x.ordered(filter, err)
}

// Range returns the query of the documents whose keys begin with the values in prefix.
// The key's next [Part] must be at least start, and less than end. A nil value means no
// bound. An end before the start gives an error.
//
//	byDevice.Range([]any{"dev1"}, yesterday, nil)
//
// Cost: as [Composite.Prefix].
func (x *Composite[D]) Range(prefix []any, start, end any) *model.Find[D] {
	filter, err := x.c.MatchRange(prefix, start, end)
	return x.ordered(filter, err)
}

// StartingWith returns the query of the documents whose first parts equal the values in
// prefix, and whose next part begins with the string in text, case-sensitive.
//
// Cost: as [Composite.Prefix].
func (x *Composite[D]) StartingWith(prefix []any, text string) *model.Find[D] {
	filter, err := x.c.MatchStarting(prefix, text)
	return x.ordered(filter, err)
}

func (x *Composite[D]) ordered(filter bson.D, err error) *model.Find[D] {
	return inKeyOrder(x.docs.Find(filter), 1, err)
}

// Counts returns the pipeline that counts documents whose key begins with prefix. The
// counts are by the key's next part, in key order. With keys State:City:UserID,
// Counts("CA") counts users per city. Decode PartCount.Key by [Composite.Scan]. Counts
// can't count by the last part.
//
// Cost: one command, which reads all counted keys, from the _id index alone.
func (x *Composite[D]) Counts(prefix ...any) *model.Aggregate[PartCount] {
	pipeline, err := x.c.CountByPart(prefix)
	a := model.AggregateAs[PartCount](x.docs, pipeline)
	a.Index = model.IDIndex
	if err != nil {
		a.Err = err
	}
	return a
}
