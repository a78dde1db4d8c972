package subset

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A drift is a parent with its stored array and the array that its children make.
type drift struct {
	ID bson.RawValue `bson:"_id"` // of the parent
	// The stored value, usually an array; type 0 if the field is missing.
	Found bson.RawValue `bson:"found"`
	// The array that the children make.
	Want bson.RawValue `bson:"want"`

	Tokens bson.RawValue `bson:"tokens"` // the parent's tokens, of type 0 for none
}

func (d drift) describeFinding(f *model.Finding) {
	n := func(v bson.RawValue) int { return len(core.Elements(v)) }
	f.ID, f.Problem = d.ID, fmt.Sprintf("holds %d children, but should hold %d", n(d.Found), n(d.Want))
	if n(d.Found) == n(d.Want) {
		f.Problem += " other children, or children with other fields"
	}
}

// compareArrays is the expression that the stored array differs. A missing array equals
// an empty one.
func compareArrays() bson.D { return mql.Op("$ne", mql.IfNull("$found", bson.A{}), "$want") }

// listChecks returns the check of parents whose array isn't the array that the children
// make.
func (s *untypedSubset) listChecks() []model.Check {
	name := fmt.Sprintf("%s.%s: arrays that don't hold the first children in %s",
		s.parents.Name(), s.path, s.docs.Name())
	return []model.Check{{
		Name: name, Collection: s.parents.Name(),
		Rule:     fmt.Sprintf("%s holds the first children in %s, in order", s.path, s.docs.Name()),
		Pipeline: s.findDrift(), Tell: found.DescribeRows(drift.describeFinding),
		Mend: found.MendRows(name, s.parents.Name(), s.planRepair),
	}}
}

func (s *untypedSubset) findDrift() mongo.Pipeline {
	differ := mongo.Pipeline{mql.Match(mql.E("$expr", compareArrays()))}
	return slices.Concat(s.compareStages(), differ, stored.SkipUnfinished(s.docs), mongo.Pipeline{mql.SortID()})
}

// planRepair sets the arrays that differ. An array that has changed since it was found is
// left for the next check.
func (s *untypedSubset) planRepair(rows []drift) model.Plan {
	mend := func(i int, d drift) (w model.Write) {
		switch {
		case !stored.IsKey(d.ID) || d.Want.Type != bson.TypeArray:
			return found.RefuseFinding(s.parents.Name(), i, "_id or no array to set")
		case s.isSameArray(d.Found, core.Elements(d.Want)):
			return w
		}
		return s.setArray(d, cloneValues(core.Elements(d.Want)), false)
	}
	return found.PlanWrites(rows, "some arrays corrected; the next check finds the others", mend)
}

// isSameArray reports whether an array has exactly these elements. A missing array equals
// an empty one.
func (s *untypedSubset) isSameArray(found bson.RawValue, want []bson.RawValue) bool {
	if found.Type != bson.TypeArray && (found.Type != 0 || len(want) > 0) {
		return false
	}
	return slices.EqualFunc(core.Elements(found), want, bsonval.EqualRaw)
}

// setArray sets a parent's array if it is as it was found, and if no action outside
// transactions has changed the parent. With expect, an array that has changed makes the
// plan stale.
func (s *untypedSubset) setArray(d drift, list bson.A, expect bool) model.Write {
	id := bson.D{{Key: "_id", Value: mql.Eq(bsonval.Clone(d.ID))}}
	filter := append(id[:1:1], stored.MatchValueAt(s.path, bsonval.Clone(d.Found)),
		stored.MatchValueAt(s.parents.StoreField().Tokens(), bsonval.Clone(d.Tokens)))
	w := commands.UpdateIf(s.parents.Name(), filter, mql.Set(mql.E(s.path, list)))
	if expect {
		w.Expect, w.Done = model.One, append(id[:1:1], bson.E{Key: s.path, Value: bson.D{{Key: "$eq", Value: list}}})
	}
	return w
}

func cloneValues(elements []bson.RawValue) bson.A {
	list := make(bson.A, len(elements))
	for i, v := range elements {
		list[i] = bsonval.Clone(v)
	}
	return list
}
