// Package uniquecount counts how many distinct members a group has: see [UniqueCount].
package uniquecount

import (
	"reflect"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Spec configures a [UniqueCount]. The zero value counts each member of a group
// only once.
type Spec struct {
	// Period Daily or Monthly counts a member once per day or month.
	Period   denorm.Period
	Location *time.Location // time zone of days; nil means UTC

	// For is a document's lifetime after its period began (TTL index). Set Period too.
	// The lifetime must be at least one period. 0 keeps all documents.
	For time.Duration
}

// A Doc says that a group (type G) saw a member (type M) in a period. G and M are
// strings, integers or bson.ObjectIDs.
type Doc[G, M any] struct {
	ID     string    `bson:"_id"` // group#period#member, or group#member without a Period
	Group  G         `bson:"group"`
	Member M         `bson:"member"`
	Period string    `bson:"period,omitempty"` // day or month, such as "2014-03"; "" without Spec.Period
	From   time.Time `bson:"from,omitempty"`   // start of the period
}

// UniqueCount counts a group's distinct members exactly, such as a site's visitors. The
// collection must not have a collation.
//
// A query's time range includes start but not end. A zero time means no bound. If a day
// or month (Spec.Period) is partly in the range, the whole period counts. Without a
// Period, both times must be zero.
//
// # In a store
//
// A [model.Store] makes Doc.ID and Doc.Period. Doc.From of a new document
// is the time of the visit: the store stores the start of the period instead. Use
// [model.Store.Ensure] if the member may be stored already. Group, Member and the period
// can't change.
//
// Source: "Aggregation with Composite Keys" and "Composite Key Index", "NoSQL Data
// Modeling Techniques", §9 and §8.
//
// # Indexes
//
// Indexes returns the index for [UniqueCount.Counts], if Spec.Period is set. With
// Spec.For, Indexes also returns the TTL index.
type UniqueCount[G, M any] struct {
	model.Parts

	docs *model.Collection[Doc[G, M], string]
	u    *untypedCount
}

// New declares that the collection docs stores each group's different members
// for each Spec.Period. It panics with a [*model.DeclarationError] if G or M can't
// be written into an _id, or if the spec is invalid.
func New[G, M any](docs *model.Collection[Doc[G, M], string], spec Spec) *UniqueCount[G, M] {
	out := &UniqueCount[G, M]{
		Parts: model.Parts{}, docs: docs,
		u: declareCount(docs.Docs(), reflect.TypeFor[G](), reflect.TypeFor[M](), spec),
	}
	out.Parts = model.NewParts(out.u.listIndexes, nil, nil, out.u.listFootprints).
		WithDocs(docs.Docs()).WithKeys(model.KeyedDocs{
		Collection: docs.Name(), Join: func(_, _ bson.Raw) (bson.D, bool) { return nil, true }, // both say the same
	}).WithReactions(out.u.makeReactions)
	return out
}

// Visit returns the upsert of a member's visit to a group at time t.
//
// Cost: one command. It writes one document, by _id, at the member's first visit in this
// period (Spec.Period).
func (x *UniqueCount[G, M]) Visit(group G, member M, t time.Time) model.Write {
	return x.u.visitMember(group, member, t)
}

// VisitAll returns the plan that stores many visits, the results of [UniqueCount.Visit].
// It sends equal visits once.
//
// Cost: one command per 25,000 visits; one document for each new visit. After a crash
// only some visits are counted: run the plan again.
func (x *UniqueCount[G, M]) VisitAll(visits []model.Write) model.Plan {
	return x.u.visitMembers(visits)
}

// Seen returns the query that checks if a group saw a member. It checks the period that
// contains the time t. For an unseen member, Find.One returns [model.ErrNotFound].
//
// Cost: one command, one document by _id.
func (x *UniqueCount[G, M]) Seen(group G, member M, t time.Time) *model.Find[Doc[G, M]] {
	id, err := x.u.makeID(group, member, t)
	return commands.ServeFind(x.docs.ByID(id), model.IDIndex, err)
}

// Visits returns the query of a group's documents, ordered by period and member. The
// query covers the periods that overlap the time from start up to, but not including,
// end. For the next page, pass the last document's ID to [model.Find.After].
//
// Cost: one command per batch, served by _id.
func (x *UniqueCount[G, M]) Visits(group G, start, end time.Time) *model.Find[Doc[G, M]] {
	filter, err := x.u.matchGroup(group, start, end)
	f := x.docs.Find(filter)
	f.Sort = bson.D{{Key: "_id", Value: 1}}
	return commands.ServeFind(f, model.IDIndex, err)
}

// Count returns the pipeline that counts a group's different members. Count reads the
// periods that overlap the time from start up to, but not including, end. Without
// members, the result is 0.
//
// Cost: one command, served by _id; it reads the group's keys of these periods.
func (x *UniqueCount[G, M]) Count(group G, start, end time.Time) *model.Aggregate[denorm.Count] {
	pipeline, err := x.u.countGroup(group, start, end)
	return commands.ServeAggregate(model.AggregateAs[denorm.Count](x.docs, pipeline), model.IDIndex, err)
}

// PerPeriod returns the pipeline that counts a group's different members in each period,
// oldest period first. PerPeriod counts each period that overlaps the time from start up
// to, but not including, end. Each period counts in full. Periods without members are
// left out. Spec.Period is required.
//
// Cost: as [UniqueCount.Count].
func (x *UniqueCount[G, M]) PerPeriod(group G, start, end time.Time) *model.Aggregate[denorm.Counted[string]] {
	pipeline, err := x.u.countPerPeriod(group, start, end)
	return commands.ServeAggregate(model.AggregateAs[denorm.Counted[string]](x.docs, pipeline), model.IDIndex, err)
}

// Counts returns the pipeline that counts each group's different members, in the order of
// groups. Counts reads the periods that overlap the time from start up to, but not
// including, end. The result omits groups without members.
//
// Cost: one command, served by [UniqueCount].Indexes. The command reads all index keys of
// these periods, or the whole collection if both times are zero.
func (x *UniqueCount[G, M]) Counts(start, end time.Time) *model.Aggregate[denorm.Counted[G]] {
	pipeline, index, err := x.u.countGroups(start, end)
	return commands.ServeAggregate(model.AggregateAs[denorm.Counted[G]](x.docs, pipeline), index, err)
}

// Rollup returns the plan that copies members into target, which has a longer Period
// (months instead of days) or no Period. The plan copies x's periods that overlap the
// time from start up to, but not including, end. More than 120 periods of target give a
// [*model.ValueError]. After a crash, run the plan again.
//
// Cost: one command per period of target, served by [UniqueCount].Indexes.
func (x *UniqueCount[G, M]) Rollup(target *UniqueCount[G, M], start, end time.Time) model.Plan {
	if target == nil {
		return model.NewPlan(model.Refused(x.docs.Name(),
			x.docs.Docs().Refuse("target", nil, "is nil: give a result of uniquecount.New")))
	}
	return x.u.planRollup(target.u, start, end)
}

// Expire returns the write that deletes the documents of all periods that are over at the
// cutoff. Without Spec.Period it gives a [*model.ValueError].
//
// Cost: one command, served by [UniqueCount].Indexes. After an interruption, counts of
// these periods can be too low.
func (x *UniqueCount[G, M]) Expire(cutoff time.Time) model.Write { return x.u.expirePeriods(cutoff) }
