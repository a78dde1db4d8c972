package denorm

import (
	"bytes"
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Survey returns what attributes there are: how many documents have each, by the BSON type of the value, in the order of
// names; a name that a document repeats counts each time. Values of two types are often a mistake: a range finds only those
// of its own.
//
// Cost: one command that reads every owner.
func (a *Attributes[D, K]) Survey() model.Aggregate[AttributeUse] {
	return model.AggregateAs[AttributeUse](a.owners, a.a.survey())
}

func (a attributes) survey() mongo.Pipeline {
	return append(a.each(),
		bson.D{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: bson.D{{Key: "name", Value: "$a." + a.name}, {Key: "type", Value: bson.D{{Key: "$type", Value: "$a." + a.value}}}}},
			{Key: "documents", Value: bson.D{{Key: "$sum", Value: 1}}},
		}}},
		bson.D{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "name", Value: "$_id.name"}, {Key: "type", Value: "$_id.type"}, {Key: "documents", Value: 1},
		}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "name", Value: 1}, {Key: "type", Value: 1}}}},
	)
}

// each is one result for each attribute of each document.
func (a attributes) each() mongo.Pipeline {
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "a", Value: "$" + a.path}}}},
		{{Key: "$unwind", Value: "$a"}},
		{{Key: "$match", Value: bson.D{{Key: "a." + a.name, Value: bson.D{{Key: "$type", Value: "string"}}}}}},
	}
}

// Checks returns one check, of names that a document holds more than once. [Attributes.Set] never makes them; other code may
// have. Mending keeps the first of each name.
//
// Cost: see [model.Check]; mending writes one document each, by _id.
func (a *Attributes[D, K]) Checks() []model.Check { return a.a.checks() }

func (a attributes) checks() []model.Check {
	name := fmt.Sprintf("%s.%s: repeated names", a.collection, a.path)
	return []model.Check{{
		Name: name, Collection: a.collection, Rule: "a document holds each attribute's name once",
		Pipeline: a.repeated(), Tell: core.Tells[repeatedAttribute](), Mend: core.Mends(name, a.collection, a.repair),
	}}
}

// A repeatedAttribute is a name that a document holds more than once.
type repeatedAttribute struct {
	ID    bson.RawValue `bson:"id"` // of the document
	Name  string        `bson:"name"`
	Times int64         `bson:"times"`
}

func (r repeatedAttribute) Tell(f *model.Finding) {
	f.ID, f.Problem = r.ID, fmt.Sprintf("holds %q %d times", r.Name, r.Times)
}

func (a attributes) repeated() mongo.Pipeline {
	return append(a.each(),
		bson.D{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: bson.D{{Key: "id", Value: "$_id"}, {Key: "name", Value: "$a." + a.name}}},
			{Key: "times", Value: bson.D{{Key: "$sum", Value: 1}}},
		}}},
		bson.D{{Key: "$match", Value: bson.D{{Key: "times", Value: bson.D{{Key: "$gt", Value: 1}}}}}},
		bson.D{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "id", Value: "$_id.id"}, {Key: "name", Value: "$_id.name"}, {Key: "times", Value: 1},
		}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "id", Value: 1}, {Key: "name", Value: 1}}}},
	)
}

// repair is the plan that leaves the first of each name. Other attributes, and what is set meanwhile, stay.
func (a attributes) repair(found []repeatedAttribute) model.Plan {
	first := bson.D{{Key: "$reduce", Value: bson.D{
		{Key: "input", Value: "$" + a.path}, {Key: "initialValue", Value: bson.A{}},
		{Key: "in", Value: bson.D{{Key: "$cond", Value: bson.A{
			bson.D{{Key: "$in", Value: bson.A{"$$this." + a.name, "$$value." + a.name}}},
			"$$value", bson.D{{Key: "$concatArrays", Value: bson.A{"$$value", bson.A{"$$this"}}}},
		}}}},
	}}}
	var p model.Plan
	done := map[string]bool{}
	for _, r := range found {
		if r.ID.Type == 0 {
			return model.RefusedPlan(a.collection, &model.ValueError{Collection: a.collection, Field: "_id", Reason: "the id is empty"})
		}
		id := bson.RawValue{Type: r.ID.Type, Value: bytes.Clone(r.ID.Value)}
		key := bsonval.Key(id)
		if done[key] {
			continue
		}
		done[key] = true
		p.Steps = append(p.Steps, model.Write{
			Collection: a.collection, Index: model.IDIndex, Once: true,
			Model: &mongo.UpdateOneModel{
				Filter: bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: a.names(), Value: r.Name}},
				Update: mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: a.path, Value: first}}}}},
			},
		})
	}
	p.Leaves = "some documents still with repeated attributes, which the next check finds"
	return p
}
