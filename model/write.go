package model

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Expect says what a write must find.
type Expect uint8

const (
	Any Expect = iota // any number of matches is right, none too
	One               // one match, or the plan stops with ErrStale or ErrNotFound (see Write.Expect and Write.Done)
)

func (e Expect) String() string {
	if e == One {
		return "one"
	}
	return "any"
}

// A Write is one write to one collection: the driver's own model, and what it must find. It does nothing until a [Plan]
// runs it, or the caller hands Model to the driver's BulkWrite. The zero Write has no model, and a plan refuses it.
type Write struct {
	Collection string
	Model      mongo.WriteModel

	// Expect One makes a write that matches nothing stop the plan, unless Done holds: with ErrNotFound if no document has the _id that
	// the filter asks for, else with ErrStale. [Reason].If is for documents that are known by other fields. A filter that asks for
	// more than an _id costs a find then. Such a write is sent as a command of its own, since an ordered bulk reports totals only.
	Expect Expect

	// Done is a filter that some document of the collection matches when this very operation was applied before. It is
	// asked only when a write that expects one matched nothing, or met a duplicate key outside a transaction (in one, the
	// duplicate key aborts it). Nil means never.
	Done bson.D

	// Reasons are asked, in order, when a write that expects one matched nothing and was not applied before: the first reason whose
	// filter some document of the collection matches gives its error in the place of ErrStale or ErrNotFound. So a filter says all that the error
	// says.
	//
	// Outside a transaction they are also asked when an insert met a duplicate key. Of an update or upsert that met one, only a
	// reason is asked whose filter equals every field of the violated unique index to a value. Every other duplicate key stays
	// the server's error, which [mongo.IsDuplicateKeyError] recognizes.
	Reasons []Reason

	// Once says that a second run of this write changes nothing although its operators alone don't show it, because its
	// filter carries what was read or the operation's token. [Plan.Guarantee] relies on it.
	Once bool

	// Deleted says that under a [Scope] the write also reaches documents that the
	// scope's Delete has marked, for fields that must be true when the document is
	// restored. The scope's other conditions hold: the write never reaches another
	// tenant's document.
	Deleted bool

	// Final says that a [Scope] doesn't turn this delete into an update that marks the
	// document: the document is stored elsewhere, or was made from others and can be made
	// anew. A marked one would keep its _id from the next one. A delete of a plan's IfStale
	// is final by itself.
	Final bool

	// IfMarked are update operators that are added where a [Scope] turns this delete
	// into an update that marks the document.
	IfMarked bson.D

	// Index names the index that serves the write's filter; "" means not known.
	Index string

	// Err is bad input. Run refuses the whole plan, and sends nothing.
	Err error

	plain, covered mongo.WriteModel // the model before scopes were applied to it, and after
	within         bson.D           // what scopes ask of the documents that it reaches
	tenant         bson.D           // whose the document is that is inserted, as scopes say
	marks          bool             // a scope made it of a delete
	mixed          bool             // Merge made it of writes of which one is Deleted and another isn't
}

// A Reason is why a write can match nothing other than that its document changed: its list is full, it is locked.
type Reason struct {
	// If is the filter of a document of the write's collection, for which the reason holds. Nil always holds, and asks nothing: with
	// [ErrNotFound], for a write whose filter says which document is meant, not by its _id, and nothing else.
	If  bson.D
	Err error // what running the write gives then

	// Instead is sent in the place of [Plan.IfStale] where this reason holds and what the first steps wrote is not to be
	// taken back, or not wholly. Nil means that IfStale is sent.
	Instead []Step
}

// Refused returns a write that carries an error: what methods return for bad input.
func Refused(collection string, err error) Write { return Write{Collection: collection, Err: err} }

func (Write) step() {}

// filter returns the write's filter, or nil for an insert.
func (w Write) filter() any {
	switch m := w.Model.(type) {
	case *mongo.UpdateOneModel:
		return m.Filter
	case *mongo.UpdateManyModel:
		return m.Filter
	case *mongo.ReplaceOneModel:
		return m.Filter
	case *mongo.DeleteOneModel:
		return m.Filter
	case *mongo.DeleteManyModel:
		return m.Filter
	}
	return nil
}

// String is the write as a mongosh command; a refused write is a comment that says why.
func (w Write) String() string {
	if w.Err != nil {
		return "// refused: " + w.Err.Error()
	}
	o := bson.D{}
	flag := func(key string, v any) { o = append(o, bson.E{Key: key, Value: v}) }
	update := func(method string, filter, update any, upsert *bool, af []any, collation *options.Collation, hint, sort any) string {
		if upsert != nil && *upsert {
			flag("upsert", true)
		}
		if len(af) > 0 {
			flag("arrayFilters", bson.A(af))
		}
		appendShared(&o, collation, hint, sort)
		return call(w.Collection, method, o, filter, update)
	}
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		return shellCall(w.Collection, "insertOne", m.Document)
	case *mongo.UpdateOneModel:
		return update("updateOne", m.Filter, m.Update, m.Upsert, m.ArrayFilters, m.Collation, m.Hint, m.Sort)
	case *mongo.UpdateManyModel:
		return update("updateMany", m.Filter, m.Update, m.Upsert, m.ArrayFilters, m.Collation, m.Hint, nil)
	case *mongo.ReplaceOneModel:
		return update("replaceOne", m.Filter, m.Replacement, m.Upsert, nil, m.Collation, m.Hint, m.Sort)
	case *mongo.DeleteOneModel:
		appendShared(&o, m.Collation, m.Hint, nil)
		return call(w.Collection, "deleteOne", o, m.Filter)
	case *mongo.DeleteManyModel:
		appendShared(&o, m.Collation, m.Hint, nil)
		return call(w.Collection, "deleteMany", o, m.Filter)
	}
	return fmt.Sprintf("// %s: a write without a model", w.Collection)
}

// call renders a command whose options are left out when there are none.
func call(collection, method string, o bson.D, args ...any) string {
	if len(o) > 0 {
		args = append(args, o)
	}
	return shellCall(collection, method, args...)
}

func appendShared(o *bson.D, collation *options.Collation, hint, sort any) {
	if collation != nil {
		*o = append(*o, bson.E{Key: "collation", Value: collationD(collation)})
	}
	if hint != nil {
		*o = append(*o, bson.E{Key: "hint", Value: hint})
	}
	if sort != nil {
		*o = append(*o, bson.E{Key: "sort", Value: sort})
	}
}

// A MergeInto is a step that the server runs by itself: an aggregation that ends in $merge or $out and returns nothing.
// How many documents it writes is not known.
//
// On a database under a [Scope], the scope's filter holds for what it reads, and its fields are given to what it writes. It is refused
// with a [*ConflictError] where it could write to a document that the scope hides: an $out, a $merge that finds its documents by _id
// alone, for another tenant's document may have that _id, and what writes into another database. A $merge that fails at a document that
// is there is kept. So is one on the tenant's field too, if the scope has no Delete or Filter, which hide documents of the tenant.
type MergeInto struct {
	Collection string // the source; the target is named in the last stage
	Pipeline   mongo.Pipeline
	Once       bool  // a second run leaves what the first left
	Err        error // as Write.Err
}

func (MergeInto) step() {}

// String is the step as a mongosh command.
func (m MergeInto) String() string {
	if m.Err != nil {
		return "// refused: " + m.Err.Error()
	}
	return shellCall(m.Collection, "aggregate", m.Pipeline)
}

// check says why the pipeline is not one that writes.
func (m MergeInto) check() error {
	if m.Err != nil {
		return m.Err
	}
	if m.Collection == "" {
		return &ValueError{Field: "Collection", Reason: "a step needs a collection"}
	}
	if n := len(m.Pipeline); n > 0 && len(m.Pipeline[n-1]) == 1 {
		switch m.Pipeline[n-1][0].Key {
		case "$merge", "$out":
			return nil
		}
	}
	return &ValueError{Collection: m.Collection, Field: "Pipeline", Reason: "must end in $merge or $out"}
}
