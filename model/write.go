package model

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Expect says whether a write must match a document: see [One].
type Expect uint8

const (
	Any Expect = iota // any number of matches, including zero
	One               // one match, or the plan stops with ErrStale or ErrNotFound
)

// A Write is one write to one collection. Run a Write by [Write.Run], or in a [Plan]. The
// driver's BulkWrite accepts Model.
type Write struct {
	Collection string
	Model      mongo.WriteModel

	// With [One], the plan stops if the write matches no document. If no document has
	// the filter's _id, the error is [ErrNotFound]. If a document has the _id, or the
	// filter has no _id, the error is [ErrStale].
	Expect Expect

	// Done is a filter that finds a document if an earlier run applied this write. If
	// Done finds a document, the plan continues. Run uses Done if Expect [One] fails, or
	// after a duplicate key error.
	Done bson.D

	// Token is the operation's token, if Done looks for this token. If Done finds a
	// document, an earlier run applied the other writes of its transaction, or of [Merge],
	// too.
	Token bson.ObjectID

	// Reasons explain a failed write. The error of the first [Reason] that applies
	// replaces ErrStale, ErrNotFound or a duplicate key error.
	//
	// Updates and upserts can violate a unique index. Then a Reason applies only if
	// Reason.If compares every index field by equality. In the caller's transaction, a
	// duplicate key error is returned unchanged.
	Reasons []Reason

	// Idempotent says that a second run of the write changes nothing.
	Idempotent bool

	// Deleted lets the write change documents that a [Scope] marked as deleted.
	Deleted bool

	// Final removes a document that a [Scope] would only mark as deleted. A Final insert
	// or replacement stores a copy as it is: the scope adds only its Tenant fields.
	Final bool

	// Keyed says that the _ids of the collection are made of keys, which can be the same
	// for several tenants. Under a [Scope] with a Tenant, the stored _ids carry the
	// tenant: {tenant: "a", of: _id}. Filters, inserts and results have the _ids without
	// the tenant. A technique sets it in the commands of the [Collection] value that its
	// constructor got: use this value for your own commands too. [New] refuses two
	// Collection values of one name if only one of them is keyed. On a database of
	// [Model.On], the model decides, and you needn't set it.
	//
	// An insert or upsert must say its _id, or it gives a [*ValueError].
	Keyed bool

	// If a [Scope] turns a delete into an update, it adds these operators.
	IfMarked bson.D

	// Index is the name of the index that serves the filter. "" means unknown.
	Index string

	// Err reports bad input. Run returns Err.
	Err error

	plain   bool    // made by a Collection, which knows no techniques
	ofStore bool    // a Store writes a document
	asked   string  // the techniques that ask for the write
	mixed   bool    // merged from a Deleted write and another write
	stored  bool    // the _ids are as they are stored, also in a keyed collection
	under   *scoped // nil before a scope or a shard key was applied

	returning *returning // nil for a write that returns nothing
	begins    bson.Raw   // the document of the action that the write begins: see stepsInTurn

	transient map[string]bool // of an insert: see [Reaction].Transient
}

// A Reason replaces a failed write's error by an error that says why the write failed,
// such as [ErrFull].
type Reason struct {
	// If is a filter on the write's collection. The reason applies if a document matches,
	// or if the filter is nil. For a duplicate key error of an update or upsert, a nil
	// filter never applies: see [Write].Reasons.
	If  bson.D
	Err error // the returned error

	// Instead are the steps that undo the plan's earlier steps if this reason applies.
	// Nil means [Plan.IfStale].
	Instead []Step

	onID    bool // applies only to a duplicate key error of an _id
	missing bool // applies if no document matches If
}

// Refused returns a write for bad input. The write's Run sends nothing, and returns err
// in a [*StepError].
func Refused(collection string, err error) Write { return Write{Collection: collection, Err: err} }

func (Write) step() {}

// filter returns the write's filter, or nil for an insert.
func (w Write) filter() any {
	if core.IsNilModel(w.Model) {
		return nil
	}
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

// String returns the write as a mongosh command, or as a comment if Err is set. In a plan of
// a [Store], a comment names the techniques that ask for the write.
func (w Write) String() string {
	if w.Err != nil {
		return "// refused: " + w.Err.Error()
	}
	if w.asked != "" {
		asked := w.asked
		w.asked = ""
		return w.String() + " // " + asked
	}
	if core.IsNilModel(w.Model) {
		return fmt.Sprintf("// %s: a write without a model", w.Collection)
	}
	o := bson.D{}
	flag := func(key string, v any) { o = append(o, bson.E{Key: key, Value: v}) }
	update :=
		func(method string, filter, update any, upsert *bool, af []any, collation *options.Collation, hint, sort any) string {
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
		if w.returning != nil {
			flag("returnDocument", pick(w.returning.before, "before", "after"))
		}
		return update(pick(w.returning == nil, "updateOne", "findOneAndUpdate"), m.Filter, m.Update, m.Upsert, m.ArrayFilters,
			m.Collation, m.Hint, m.Sort)
	case *mongo.UpdateManyModel:
		return update("updateMany", m.Filter, m.Update, m.Upsert, m.ArrayFilters, m.Collation, m.Hint, nil)
	case *mongo.ReplaceOneModel:
		return update("replaceOne", m.Filter, m.Replacement, m.Upsert, nil, m.Collation, m.Hint, m.Sort)
	case *mongo.DeleteOneModel:
		appendShared(&o, m.Collation, m.Hint, nil)
		return call(w.Collection, pick(w.returning == nil, "deleteOne", "findOneAndDelete"), o, m.Filter)
	case *mongo.DeleteManyModel:
		appendShared(&o, m.Collation, m.Hint, nil)
		return call(w.Collection, "deleteMany", o, m.Filter)
	}
	return fmt.Sprintf("// %s: a write without a model", w.Collection)
}

// call renders a command, without options if it has none.
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

// A MergeInto is a step of a [Plan]: an aggregation that ends in $merge or $out.
//
// Under a [Scope], reads get the scope's filter, the written documents get the scope's
// fields, and a target with a database name gives a [*ConflictError].
//
// A scope that filters the target collection refuses $out. It allows $merge only if
//
//   - whenMatched is "fail", or
//   - Keyed names the target, and neither Filter nor Delete is set, or
//   - "on" lists all fields of [Scope.Tenant], and neither Filter nor Delete is set.
type MergeInto struct {
	Collection string // the collection that the pipeline reads
	Pipeline   mongo.Pipeline
	Idempotent bool     // set it if a second run changes nothing
	Keyed      []string // the collections, also the written one, whose _ids carry the tenant: see Aggregation.Keyed
	Err        error    // error for bad input: see Write.Err

	used []use
}

func (MergeInto) step() {}

// String returns the step as a mongosh command.
func (m MergeInto) String() string {
	if m.Err != nil {
		return "// refused: " + m.Err.Error()
	}
	return shellCall(m.Collection, "aggregate", m.Pipeline)
}

// check returns an error unless the pipeline ends in $merge or $out.
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

// returning makes a plan's only write a findAndModify command, which also returns the
// document. Then a [Store] needs no read.
type returning struct {
	before bool     // return the document from before the write
	doc    bson.Raw // the returned document
}

// mergeTarget returns the collection that a MergeInto writes.
func mergeTarget(m MergeInto) string {
	if len(m.Pipeline) == 0 {
		return ""
	}
	last := m.Pipeline[len(m.Pipeline)-1][0].Value
	if d, ok := last.(bson.D); ok {
		for _, key := range []string{"into", "coll"} {
			if v := bsondoc.Value(d, key); v != nil {
				last = v
				break
			}
		}
	}
	if d, ok := last.(bson.D); ok {
		last = bsondoc.Value(d, "coll")
	}
	name, _ := last.(string)
	return name
}
