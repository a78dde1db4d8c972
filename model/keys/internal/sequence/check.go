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

// A parseKey decodes a key into a new owner.
type parseKey func(key string) (owner any, n int64, err error)

// ListChecks returns the checks of documents and counters. parse is keys.Sequence.Parse, which knows the owner's Go
// type.
func (s *Sequence) ListChecks(parse parseKey) []model.Check {
	behind := fmt.Sprintf("%s: counters behind", s.Name())
	key := fmt.Sprintf("an owner, an underscore and a number of %d digits", s.digits)
	checks := []model.Check{{
		Name: behind, Collection: s.Name(),
		Rule: "each owner's counter isn't below the number of the owner's newest document", Pipeline: s.findBehind(),
		Tell: found.DescribeRows(counterBehind.describeFinding),
		Mend: found.MendRows(behind, s.Name(), func(rows []counterBehind) model.Plan {
			return s.planRaises(rows, parse)
		}),
	}, {
		Name:       fmt.Sprintf("%s.last: damaged counters of %s", s.counters.Name(), s.Name()),
		Collection: s.counters.Name(),
		Rule:       fmt.Sprintf("last is a whole number from 0 to %d", s.Max),
		Tell:       found.DescribeRows(damagedCounter.describeFinding),
		Pipeline: mongo.Pipeline{
			mql.Match(mql.E("$nor", bson.A{bson.D{mql.E("last", s.matchNumber(0))}})),
			mql.Project(mql.E("last", 1)),
		},
	}, {
		Name: fmt.Sprintf("%s._id: foreign keys", s.Name()), Collection: s.Name(), Rule: "each _id is " + key,
		Pipeline: mongo.Pipeline{
			{{Key: "$match", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$not", Value: s.makePattern()}}}}}},
			{{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}},
		},
		Tell: func(f *model.Finding) error {
			f.ID, f.Problem = f.Detail.Lookup("_id"), "the _id isn't "+key
			return nil
		},
	}}
	return commands.MarkChecksKeyed(checks, s.counters.Name(), s.Name())
}

// planRaises raises the counters of owners to the numbers of their newest documents.
func (s *Sequence) planRaises(rows []counterBehind, parse parseKey) (p model.Plan) {
	for _, r := range rows {
		owner, n, err := parse(r.ID)
		if err != nil {
			return model.NewPlan(model.Refused(s.Name(), err))
		}
		p.Steps = append(p.Steps, s.Raise(owner, n))
	}
	return p
}

// A counterBehind is a row of findBehind: an owner whose counter is missing, damaged, or below the newest document.
type counterBehind struct {
	ID     string        `bson:"id"`     // the _id of the owner's newest document
	Last   bson.RawValue `bson:"last"`   // as it is stored; type 0 without a counter
	Newest int64         `bson:"newest"` // the number in ID
}

// describeFinding shows what the counter stores, and what the document has.
func (r counterBehind) describeFinding(f *model.Finding) {
	f.ID, f.Problem = f.Detail.Lookup("id"),
		fmt.Sprintf("the owner's newest document has number %d, but the counter holds %s", r.Newest, showValue(r.Last))
}

// A damagedCounter is a counter that can give no number. The first check repairs it if the owner has documents.
type damagedCounter struct {
	ID   bson.RawValue `bson:"_id"`
	Last bson.RawValue `bson:"last"`
}

func (r damagedCounter) describeFinding(f *model.Finding) {
	f.ID, f.Problem = r.ID, "last is "+showValue(r.Last)
}

// findBehind returns the pipeline of owners whose counter would give out a number that a document has. It looks up one
// counter for each owner.
func (s *Sequence) findBehind() mongo.Pipeline {
	return append(s.groupByOwner(bson.E{Key: "id", Value: mql.Op("$max", "$_id")}),
		bson.D{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: s.counters.Name()}, {Key: "localField", Value: "owner"},
			{Key: "foreignField", Value: "_id"},
			{Key: "as", Value: "counter"},
		}}},
		bson.D{{Key: "$project", Value: bson.D{
			{Key: "id", Value: 1}, {Key: "owner", Value: 1}, {Key: "newest", Value: 1},
			{Key: "last", Value: mql.Op("$arrayElemAt", "$counter.last", 0)},
		}}},
		// $not of the whole condition also finds a missing counter, whose last is missing.
		bson.D{{
			Key: "$match",
			Value: mql.Op("$expr",
				mql.Op("$not", bson.A{mql.Op("$and", s.isNumber("$last"), mql.Op("$gte", "$last", "$newest"))})),
		}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}}}})
}
