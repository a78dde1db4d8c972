// Package uniquecount is the core of denorm.UniqueCount: the different members of groups, each counted once.
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

// Members is a denorm.UniqueCount without its types.
type Members struct {
	docs *core.Docs
	spec Spec
}

// A Spec is a denorm.UniqueSpec.
type Spec struct {
	Period   keytext.Period
	Location *time.Location
	For      time.Duration
}

// Declare declares that a collection counts members. It panics with a *model.DeclarationError when it can't.
func Declare(docs *core.Docs, group, member reflect.Type, spec Spec) *Members {
	u := &Members{docs, spec}
	place := core.Place("NewUniqueCount of " + docs.Name())
	s := u.spec
	least := map[keytext.Period]time.Duration{keytext.Daily: 24 * time.Hour, keytext.Monthly: 31 * 24 * time.Hour}
	switch {
	case s.Period > keytext.Monthly:
		place.Fail(fmt.Sprintf("Period is %d", s.Period), "use denorm.NoPeriod, denorm.Daily or denorm.Monthly")
	case s.Period == keytext.None && s.Location != nil:
		place.Fail("Location is given without a Period",
			"Location says where a day begins: give a Period too, or leave Location out")
	case s.Period == keytext.None && s.For != 0:
		place.Fail("For is given without a Period", "give a Period too: without a Period, counts are kept for ever")
	case s.For != 0 && s.For < least[s.Period]:
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

// Indexes returns the index of periods, and the index by which the server deletes what is old.
func (u *Members) Indexes() []model.Index {
	if u.spec.Period == keytext.None {
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

// Footprints are the paths that are used.
func (u *Members) Footprints() []model.Footprint {
	return model.Owns.In(u.docs.Name(), model.Whole)
}
