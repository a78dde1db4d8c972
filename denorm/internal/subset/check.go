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

// A drift is a parent's array and what its children say.
type drift struct {
	ID    bson.RawValue `bson:"_id"`   // of the parent
	Found bson.RawValue `bson:"found"` // what is stored, as a rule an array; of type 0 if nothing is
	Want  bson.RawValue `bson:"want"`  // the array by the children

	Tokens bson.RawValue `bson:"tokens"` // the parent's tokens, of type 0 for none
}

func (d drift) tell(f *model.Finding) {
	n := func(v bson.RawValue) int { return len(core.Elements(v)) }
	f.ID, f.Problem = d.ID, fmt.Sprintf("holds %d children, but should hold %d", n(d.Found), n(d.Want))
	if n(d.Found) == n(d.Want) {
		f.Problem += " other children, or children with other fields"
	}
}

// differs is the expression that an array is not what the children say; nothing and an empty one are the same.
func differs() bson.D { return mql.Op("$ne", mql.IfNull("$found", bson.A{}), "$want") }

// Checks find parents whose array isn't what their children say.
func (s *Subset) Checks() []model.Check {
	name := fmt.Sprintf("%s.%s: arrays that don't hold the first children in %s", s.parents.Name(), s.path, s.docs.Name())
	return []model.Check{{
		Name: name, Collection: s.parents.Name(), Rule: fmt.Sprintf("%s holds the first children in %s, in order", s.path, s.docs.Name()),
		Pipeline: s.drift(), Tell: found.Tells(drift.tell),
		Mend: found.Mends(name, s.parents.Name(), func(rows []drift) model.Plan { return s.repair(rows, false) }),
	}}
}

func (s *Subset) drift() mongo.Pipeline {
	differ := mongo.Pipeline{mql.Match(mql.E("$expr", differs()))}
	return slices.Concat(s.stages(), differ, stored.WithoutActions(s.docs), mongo.Pipeline{mql.SortID()})
}

// repair is the plan that sets the arrays that differ. With expect, one that changed meanwhile is stale.
func (s *Subset) repair(rows []drift, expect bool) model.Plan {
	return found.Mended(rows, "some arrays corrected; the next check finds the others", func(i int, d drift) (w model.Write) {
		switch {
		case !stored.IsKey(d.ID) || d.Want.Type != bson.TypeArray:
			return found.NotReturned(s.parents.Name(), i, "_id or no array to set")
		case s.same(d.Found, core.Elements(d.Want)):
			return w
		}
		return s.setArray(d, valuesOf(core.Elements(d.Want)), expect)
	})
}

// same reports whether an array holds just these elements.
func (s *Subset) same(found bson.RawValue, want []bson.RawValue) bool {
	if found.Type != bson.TypeArray && (found.Type != 0 || len(want) > 0) {
		return false
	}
	return slices.EqualFunc(core.Elements(found), want, bsonval.EqualRaw)
}

// setArray sets a parent's array, if it is as it was found, and no action outside transactions has changed the parent.
func (s *Subset) setArray(d drift, list bson.A, expect bool) model.Write {
	id := bson.D{{Key: "_id", Value: mql.Eq(bsonval.Clone(d.ID))}}
	filter := append(id[:1:1], stored.HoldsAt(s.path, bsonval.Clone(d.Found)),
		stored.HoldsAt(s.parents.StoreField().Tokens(), bsonval.Clone(d.Tokens)))
	w := commands.UpdateIf(s.parents.Name(), filter, mql.Set(mql.E(s.path, list)))
	if expect {
		w.Expect, w.Done = model.One, append(id[:1:1], bson.E{Key: s.path, Value: bson.D{{Key: "$eq", Value: list}}})
	}
	return w
}

func valuesOf(elements []bson.RawValue) bson.A {
	list := make(bson.A, len(elements))
	for i, v := range elements {
		list[i] = bsonval.Clone(v)
	}
	return list
}
