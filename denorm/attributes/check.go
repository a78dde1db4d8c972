package attributes

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// listChecks returns the check of names that a document has more than once.
func (a *untypedAttributes) listChecks() []model.Check {
	name := fmt.Sprintf("%s.%s: repeated names", a.docs.Name(), a.path)
	return []model.Check{{
		Name: name, Collection: a.docs.Name(), Rule: "a document holds each attribute's name once",
		Pipeline: a.findRepeated(), Tell: found.DescribeRows(repeatedAttribute.describeFinding),
		Mend: found.MendRows(name, a.docs.Name(), a.planRepair),
	}}
}

// A repeatedAttribute is a name that a document has more than once.
type repeatedAttribute struct {
	ID    bson.RawValue `bson:"id"` // of the document
	Name  string        `bson:"name"`
	Times int64         `bson:"times"`
}

func (r repeatedAttribute) describeFinding(f *model.Finding) {
	f.ID, f.Problem = r.ID, fmt.Sprintf("holds %q %d times", r.Name, r.Times)
}

func (a *untypedAttributes) findRepeated() mongo.Pipeline {
	return append(a.unwindAttributes(),
		mql.Group(bson.D{{Key: "id", Value: "$_id"}, {Key: "name", Value: "$a." + a.name}},
			mql.E("times", mql.Op("$sum", 1))),
		mql.Match(mql.E("times", mql.Op("$gt", 1))),
		mql.Project(mql.E("_id", 0), mql.E("id", "$_id.id"), mql.E("name", "$_id.name"), mql.E("times", 1)),
		mql.Sort(mql.E("id", 1), mql.E("name", 1)),
	)
}

// planRepair keeps the first element of each name. It computes on the server, so
// attributes that are set meanwhile stay.
func (a *untypedAttributes) planRepair(rows []repeatedAttribute) model.Plan {
	either := mql.Cond(mql.Op("$in", "$$this."+a.name, "$$value."+a.name), "$$value",
		mql.Op("$concatArrays", "$$value", bson.A{"$$this"}))
	first := mql.Op("$reduce", bson.D{
		{Key: "input", Value: "$" + a.path}, {Key: "initialValue", Value: bson.A{}}, {Key: "in", Value: either},
	})
	done := map[string]bool{}
	mend := func(i int, r repeatedAttribute) (w model.Write) {
		key := bsonval.Key(r.ID)
		switch {
		case r.ID.Type == 0:
			return found.RefuseFinding(a.docs.Name(), i, "_id")
		case done[key]:
			return w
		}
		done[key] = true
		filter := append(commands.MatchID(r.ID), mql.E(a.namePath(), r.Name))
		return commands.UpdateIf(a.docs.Name(), filter, mongo.Pipeline{mql.Set(mql.E(a.path, first))})
	}
	return found.PlanWrites(
		rows, "some documents repaired; the others still hold repeated attributes, which the next check finds", mend,
	)
}
