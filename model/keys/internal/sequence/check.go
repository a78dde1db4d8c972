package sequence

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Checks are the checks of the documents and their counters. parse is the shell's Parse, whose owner is of the owners'
// type.
func (s *Sequence) Checks(parse func(key string) (owner any, n int64, err error)) []model.Check {
	behind := fmt.Sprintf("%s: counters behind", s.Name())
	key := fmt.Sprintf("an owner, an underscore and a number of %d digits", s.digits)
	checks := []model.Check{{
		Name: behind, Collection: s.Name(),
		Rule: "each owner's counter isn't below the number of the owner's newest document", Pipeline: s.behind(),
		Tell: found.DescribeRows(counterBehind.tell),
		Mend: found.MendRows(behind, s.Name(), func(rows []counterBehind) (p model.Plan) {
			for _, r := range rows {
				owner, n, err := parse(r.ID)
				if err != nil {
					return model.NewPlan(model.Refused(s.Name(), err))
				}
				p.Steps = append(p.Steps, s.Raise(owner, n))
			}
			return p
		}),
	}, {
		Name: fmt.Sprintf("%s.last: damaged counters of %s", s.counters.Name(), s.Name()), Collection: s.counters.Name(),
		Rule: fmt.Sprintf("last is a whole number from 0 to %d", s.Max), Tell: found.DescribeRows(damagedCounter.tell),
		Pipeline: mongo.Pipeline{
			{{Key: "$match", Value: bson.D{{Key: "$nor", Value: bson.A{bson.D{{Key: "last", Value: s.whole(0)}}}}}}},
			{{Key: "$project", Value: bson.D{{Key: "last", Value: 1}}}},
		},
	}, {
		Name: fmt.Sprintf("%s._id: foreign keys", s.Name()), Collection: s.Name(), Rule: "each _id is " + key,
		Pipeline: mongo.Pipeline{
			{{Key: "$match", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$not", Value: s.pattern()}}}}}},
			{{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}},
		},
		Tell: func(f *model.Finding) error {
			f.ID, f.Problem = f.Detail.Lookup("_id"), "the _id isn't "+key
			return nil
		},
	}}
	return commands.MarkChecksKeyed(checks, s.counters.Name(), s.Name())
}

// A counterBehind is an owner whose counter is behind the documents, missing or damaged.
type counterBehind struct {
	ID     string        `bson:"id"` // of the owner's newest document
	Last   bson.RawValue `bson:"last"`
	Newest int64         `bson:"newest"`
}

// Tell fills in the finding.
func (r counterBehind) tell(f *model.Finding) {
	f.ID, f.Problem = f.Detail.Lookup("id"),
		fmt.Sprintf("the owner's newest document has number %d, but the counter holds %s", r.Newest, show(r.Last))
}

// A damagedCounter is a counter that gives no numbers.
type damagedCounter struct {
	ID   bson.RawValue `bson:"_id"`
	Last bson.RawValue `bson:"last"`
}

// Tell fills in the finding.
func (r damagedCounter) tell(f *model.Finding) { f.ID, f.Problem = r.ID, "last is "+show(r.Last) }

func (s *Sequence) behind() mongo.Pipeline {
	return append(s.perOwner(bson.E{Key: "id", Value: mql.Op("$max", "$_id")}),
		bson.D{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: s.counters.Name()}, {Key: "localField", Value: "owner"}, {Key: "foreignField", Value: "_id"},
			{Key: "as", Value: "counter"},
		}}},
		bson.D{{Key: "$project", Value: bson.D{
			{Key: "id", Value: 1}, {Key: "owner", Value: 1}, {Key: "newest", Value: 1},
			{Key: "last", Value: mql.Op("$arrayElemAt", "$counter.last", 0)},
		}}},
		bson.D{{
			Key: "$match",
			Value: mql.Op("$expr",
				mql.Op("$not", bson.A{mql.Op("$and", s.isWhole("$last"), mql.Op("$gte", "$last", "$newest"))})),
		}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}}}})
}
