package numbered

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// listChecks returns the checks of wrong counts, and of lists that aren't stored flat.
func (n *untypedNumbered) listChecks() []model.Check {
	place := n.Docs.Name() + "." + n.Path
	name, is := place+": wrong counts", mql.Op("$expr", n.isMiscounted())
	set := mql.Set(mql.E(n.Path, n.findHighest()))
	return []model.Check{{
		Name: name, Collection: n.Docs.Name(), Rule: "a list's count equals the number of its numbered fields",
		Pipeline: n.findLists(is), Tell: found.DescribeRows(wrongCount.describeFinding),
		Mend: found.MendMatching(name, n.Docs.Name(), is, "some counts corrected; the next check finds the others",
			mongo.UpdateOneModel{Update: mongo.Pipeline{set}}),
	}, {
		Name: place + ": lists that aren't stored flat", Collection: n.Docs.Name(),
		Rule:     fmt.Sprintf("a list is stored flat and holds at most %d elements", n.max),
		Pipeline: n.findLists(mql.Op("$expr", n.isUnfit())), Tell: found.DescribeRows(wrongCount.describeFinding),
	}}
}

// A wrongCount is a list whose count doesn't fit its numbered fields.
type wrongCount struct {
	ID bson.RawValue `bson:"_id"`
	// an array is in the list's place
	Nested bool `bson:"nested"`
	// the value in the list's place, unless it is an array; of type 0 for nothing
	Count   bson.RawValue `bson:"count"`
	Highest int           `bson:"highest"` // the highest position that has a field
}

func (w wrongCount) describeFinding(f *model.Finding) {
	f.ID, f.Problem = w.ID, "has no count"
	switch {
	case w.Nested:
		f.Problem = "holds an array"
	case w.Count.Type != 0:
		f.Problem = "has the count " + commands.Shorten(model.Shell(w.Count))
	}
	f.Problem += fmt.Sprintf(", but its last numbered field has the number %d", w.Highest)
}

// findHighest is the expression of the highest position that has a field. $switch takes
// the first branch that is true, so the branches go down.
func (n *untypedNumbered) findHighest() bson.D {
	there := bson.A{}
	for i := n.max; i > 0; i-- {
		any := bson.A{}
		for _, c := range n.ListColumns() {
			any = append(any, mql.Op("$ne", mql.Op("$type", "$"+n.fieldName(c, i)), "missing"))
		}
		there = append(there, bson.D{{Key: "case", Value: mql.Op("$or", any...)}, {Key: "then", Value: i}})
	}
	return mql.Op("$switch", bson.D{{Key: "branches", Value: there}, {Key: "default", Value: 0}})
}

// isSoundCount is the expression that a count fits the highest position. An element can
// be without fields, so the count of documents can be greater. A plain value can't be
// missing.
func (n *untypedNumbered) isSoundCount(count string, highest any) bson.D {
	whole := mql.Op("$and", mql.Op("$isNumber", count), mql.Op("$gte", count, highest), mql.Op("$lte", count, n.max),
		mql.Op("$eq", count, mql.Op("$trunc", count)))
	if len(n.Fields) == 0 {
		whole = mql.Op("$and", mql.Op("$isNumber", count), mql.Op("$eq", count, highest))
	}
	none := mql.Op("$and", mql.Op("$in", mql.Op("$type", count), bson.A{"missing", "null"}), mql.Op("$eq", highest, 0))
	return mql.Op("$or", none, whole)
}

// findLists is the pipeline of the documents that a filter matches, as wrongCounts.
func (n *untypedNumbered) findLists(is bson.D) mongo.Pipeline {
	array, count := mql.Op("$isArray", "$"+n.Path), "$"+n.Path
	return mongo.Pipeline{
		mql.Match(is...),
		mql.SortID(),
		mql.Project(mql.E("nested", array), mql.E("count", mql.Cond(array, "$$REMOVE", count)),
			mql.E("highest", n.findHighest())),
	}
}

// isUnfit is the expression that a list is an array, or counts too many.
func (n *untypedNumbered) isUnfit() bson.D {
	count := "$" + n.Path
	return mql.Op("$or", mql.Op("$isArray", count),
		mql.Op("$and", mql.Op("$isNumber", count), mql.Op("$gt", count, n.max)))
}

// isMiscounted is the expression that a count is wrong, and the highest position can
// replace it.
func (n *untypedNumbered) isMiscounted() bson.D {
	return mql.Op("$let", bson.D{
		{Key: "vars", Value: bson.D{{Key: "highest", Value: n.findHighest()}}},
		{
			Key:   "in",
			Value: mql.Op("$and", mql.Op("$not", n.isSoundCount("$"+n.Path, "$$highest")), mql.Op("$not", n.isUnfit())),
		},
	})
}
