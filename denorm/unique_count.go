package denorm

import (
	"reflect"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/denorm/internal/uniquecount"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// UniqueSpec says how members are counted. The zero value counts each once, for ever.
type UniqueSpec struct {
	// Period counts members anew each day or month. By default there is none.
	Period   Period
	Location *time.Location // where a day begins; nil means UTC

	// For is how long documents stay after their period has begun: an index lets the server delete them
	// ([UniqueCount.Indexes]), within some minutes. At least the period's length; 0 means for ever. It needs a Period.
	For time.Duration
}

// UniqueDoc says that a member was seen in a group, in a period. G and M are kinds of string or integer, or bson.ObjectID.
type UniqueDoc[G, M any] struct {
	ID     string    `bson:"_id"` // the group, the period and the member
	Group  G         `bson:"group"`
	Member M         `bson:"member"`
	Period string    `bson:"period,omitempty"` // "2014-03-28" or "2014-03"; "" without a Period
	From   time.Time `bson:"from,omitempty"`   // when the period begins
}

// UniqueCount counts the different members of groups, exactly: the visitors of each site, each once, however often they
// come. There is one document for each group, period and member, whose _id holds all three; so seeing a member again writes
// the same document, and a group's count is that of a range of _id. Make it with [NewUniqueCount].
//
// The _id is the group, the period if there is one, and the member, with "#" between; "#" and "%" within them are written as
// %23 and %25, and integers in 20 digits. So the ranges of "CA:San" and "CA:San Francisco" don't meet. Ranges are bytewise:
// the collection must not have a collation.
//
// Times of a query are from ≤ t < to; periods that they touch count whole. A zero time is no bound. Over several periods a
// member counts once. Without a Period both times must be zero.
//
// A visit is one atomic upsert that can be sent again; there is nothing to go stale. For counts that may be wrong by a few
// in a thousand at a fraction of the room there are sketches, which this is not.
//
// Source: "Aggregation with Composite Keys", unique visitors per site, and "Composite Key Index" (seed 002 §9 and §8).
//
// Indexes returns the index of periods, groups and members, which [UniqueCount.Counts] is answered from, and with For the
// one by which the server deletes what is old. Without a Period there is none.
type UniqueCount[G, M any] struct {
	model.Parts

	docs *model.Collection[UniqueDoc[G, M], string]
	u    *uniquecount.Members
}

// NewUniqueCount declares that a collection counts members. It panics with a [*model.DeclarationError] when groups or
// members can't be written into an _id, when Period is none of the three, when Location or For come without a Period, and
// when For is shorter than a period.
func NewUniqueCount[G, M any](docs *model.Collection[UniqueDoc[G, M], string], spec UniqueSpec) *UniqueCount[G, M] {
	out := &UniqueCount[G, M]{model.Parts{}, docs, uniquecount.Declare(docs.Docs(), reflect.TypeFor[G](), reflect.TypeFor[M](), uniquecount.Spec{
		Period: keytext.Period(spec.Period), Location: spec.Location, For: spec.For,
	})}
	out.Parts = model.NewParts(out.u.Indexes, nil, nil, out.u.Footprints)
	return out
}

// Visit returns the write that says that a member was seen in a group at a time. It is idempotent.
//
// Cost: one command, one document by _id when the member is new in its period, none otherwise.
func (x *UniqueCount[G, M]) Visit(group G, member M, at time.Time) model.Write {
	return x.u.Visit(group, member, at)
}

// VisitAll returns the plan of many visits, each of which [UniqueCount.Visit] made. It sends them in the order of their keys, so that no
// two plans block each other, and one of those that are equal. It can be run again.
//
// Cost: one command for each 25,000 visits; one document for each that is new. Cut, it leaves the first ones counted.
func (x *UniqueCount[G, M]) VisitAll(visits []model.Write) model.Plan { return x.u.VisitAll(visits) }

// Seen returns the query of the document that says that a member was seen in a group in the period of a time; none is
// model.ErrNotFound.
//
// Cost: one command, one document by _id.
func (x *UniqueCount[G, M]) Seen(group G, member M, at time.Time) *model.Find[UniqueDoc[G, M]] {
	id, err := x.u.ID(group, member, at)
	return commands.Served(x.docs.ByID(id), model.IDIndex, err)
}

// Visits returns the query of a group's documents, in the order of periods and members. Page it with Limited and
// After(doc.ID).
//
// Cost: one command, and one per further batch; served by _id.
func (x *UniqueCount[G, M]) Visits(group G, from, to time.Time) *model.Find[UniqueDoc[G, M]] {
	filter, err := x.u.OfGroup(group, from, to)
	f := x.docs.Find(filter)
	f.Sort = bson.D{{Key: "_id", Value: 1}}
	return commands.Served(f, model.IDIndex, err)
}

// Count returns the pipeline of how many different members a group has; it gives one result, 0 for a group that nobody
// visited.
//
// Cost: one command, served by _id; it reads the group's keys of these periods.
func (x *UniqueCount[G, M]) Count(group G, from, to time.Time) *model.Aggregate[Count] {
	pipeline, err := x.u.Count(group, from, to)
	return commands.Indexed(model.AggregateAs[Count](x.docs, pipeline), model.IDIndex, err)
}

// PerPeriod returns the pipeline of how many different members a group has in each period in which it has any, in their
// order. It needs a Period.
//
// Cost: as [UniqueCount.Count].
func (x *UniqueCount[G, M]) PerPeriod(group G, from, to time.Time) *model.Aggregate[Counted[string]] {
	pipeline, err := x.u.PerPeriod(group, from, to)
	return commands.Indexed(model.AggregateAs[Counted[string]](x.docs, pipeline), model.IDIndex, err)
}

// Counts returns the pipeline of how many different members each group has, in the order of groups; groups without any are
// not returned.
//
// Cost: one command that reads the keys of these periods, of all groups, served by the index of [UniqueCount.Indexes];
// without a bound it reads all.
func (x *UniqueCount[G, M]) Counts(from, to time.Time) *model.Aggregate[Counted[G]] {
	pipeline, index, err := x.u.Counts(from, to)
	return commands.Indexed(model.AggregateAs[Counted[G]](x.docs, pipeline), index, err)
}

// Rollup returns the plan that counts the members of these times in another collection, of longer periods or of none: days
// into months, so that the days can go ([UniqueCount.Expire]) and the months stay. Both must have the same Location. What is
// there stays; so a month can be filled day by day, and each day again. It must be run before the days are gone.
//
// Cost: one command for each of the longer periods, at most 120, by the index of [UniqueCount.Indexes]; it reads the keys of
// these times, and writes each member of a group once. Cut, it leaves some members uncounted; it can be run again.
func (x *UniqueCount[G, M]) Rollup(into *UniqueCount[G, M], from, to time.Time) model.Plan {
	if into == nil {
		return model.RefusedPlan(x.docs.Name(), x.docs.Docs().Refuse("into", nil, "is nil: give what NewUniqueCount returned"))
	}
	return x.u.Rollup(into.u, from, to)
}

// Expire returns the write that deletes what was seen in periods that ended by a time; the period that the time falls into
// stays. It needs a Period. It is idempotent.
//
// Cost: one command, served by the index of [UniqueCount.Indexes]; all documents of these periods. Stopped half way, it
// leaves some, so that counts of these periods are too low: don't ask for them any more.
func (x *UniqueCount[G, M]) Expire(before time.Time) model.Write { return x.u.Expire(before) }
