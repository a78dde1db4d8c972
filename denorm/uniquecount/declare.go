// Inside package uniquecount: the
// distinct members of a group are counted, in total or by day or month. The public type passes
// the List methods to model.Parts. Stores call makeReactions.
//
// # Stored form
//
// A document (a visit) says that a group saw a member, with the Period Daily, and without
// one:
//
//	{_id: "site#2014-03-28#ann", group: "site", member: "ann", period: "2014-03-28",
//	 from: ISODate("2014-03-28")}
//	{_id: "site#ann", group: "site", member: "ann"}
//
// Package keytext makes the _ids. There is no stored count: a count is the number of
// documents in a range of _id. from is for the server's TTL index, which deletes old
// periods.
//
// # Protocol
//
//  1. visitMember is an upsert by _id that only inserts. A second visit of the period finds
//     the document and changes nothing. If two upserts at the same time both insert, one gets
//     a duplicate key: its Done then finds the other's document.
//  2. countGroup counts the documents of a group in a range of periods. If the range has more
//     than one period, it first groups by member, because a member has a document in each.
//  3. planRollup fills longer periods of another collection by $merge, one aggregation for
//     each period. An existing document is kept.
//  4. expirePeriods deletes the periods before a time.
//
// # What a crash leaves
//
// visitMember is one write. A crash in visitMembers leaves some visits, and one in
// planRollup some periods. Both can run again, because a visit that is stored is never
// stored twice.

package uniquecount

import (
	"fmt"
	"reflect"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
)

// An untypedCount is the UniqueCount without its Go types.
type untypedCount struct {
	docs   *core.Docs
	spec   Spec
	period keytext.Period // spec's
}

// declareCount declares that a collection counts members. It panics with a
// *model.DeclarationError if the spec or a type doesn't fit. For must be at least a
// period, so that the TTL index doesn't delete visits of the current one.
func declareCount(docs *core.Docs, group, member reflect.Type, spec Spec) *untypedCount {
	u := &untypedCount{docs, spec, keytext.Period(spec.Period)}
	place := core.Place("uniquecount.New of " + docs.Name())
	s, period := u.spec, u.period
	least := map[keytext.Period]time.Duration{keytext.Daily: 24 * time.Hour, keytext.Monthly: 31 * 24 * time.Hour}
	switch {
	case period > keytext.Monthly:
		place.Fail(fmt.Sprintf("Period is %d", s.Period), "use denorm.NoPeriod, denorm.Daily or denorm.Monthly")
	case period == keytext.None && s.Location != nil:
		place.Fail("Location is given without a Period",
			"Location says where a day begins: give a Period too, or leave Location out")
	case period == keytext.None && s.For != 0:
		place.Fail("For is given without a Period", "give a Period too: without a Period, counts are kept for ever")
	case s.For != 0 && s.For < least[period]:
		place.Fail(fmt.Sprintf("For is %s, but a period is longer", s.For), "give at least one Period")
	case !keytext.IsKeyType(group):
		place.Fail(fmt.Sprintf("groups are of type %s, which can't be part of an _id", group),
			"use a string type, an integer type or bson.ObjectID")
	case !keytext.IsKeyType(member):
		place.Fail(fmt.Sprintf("members are of type %s, which can't be part of an _id", member),
			"use a string type, an integer type or bson.ObjectID")
	}
	if u.spec.Location == nil {
		u.spec.Location = time.UTC
	}
	docs.MakeKeyed()
	return u
}

// listIndexes returns the index of periods, and the index by which the server deletes old
// visits.
func (u *untypedCount) listIndexes() []model.Index {
	if u.period == keytext.None {
		return nil
	}
	out := []model.Index{
		commands.MakeIndex(u.docs.Name(), "counts of all groups by period", mql.E("period", 1),
			mql.E("group", 1), mql.E("member", 1)),
	}
	if u.spec.For > 0 {
		x := commands.MakeIndex(u.docs.Name(), "deletes old periods", mql.E("from", 1))
		x.ExpireAfter = u.spec.For
		out = append(out, x)
	}
	return out
}

// listFootprints returns the paths that the technique uses.
func (u *untypedCount) listFootprints() []model.Footprint {
	return model.Owns.In(u.docs.Name(), model.Whole)
}
