package main

import (
	"github.com/chenmingyong0423/go-mongox/v2/builder/query"
	"github.com/chenmingyong0423/go-mongox/v2/builder/update"
	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A member is found by the city too, and has a version.
type member struct {
	ID      bson.ObjectID `bson:"_id"`
	Name    string        `bson:"name"`
	City    string        `bson:"city"`
	Version int64         `bson:"version"`
}

var (
	members = model.NewCollection[member, bson.ObjectID]("members")
	guarded = embed.NewVersioned(members, embed.VersionedSpec{})
	inCity  = denorm.NewIndexTable(members, "city", "membersByCity", denorm.IndexTableSpec{})
	ada     = member{ID: id(6, 0), Name: "Ada", City: "London", Version: 41}
	action  = id(7, 0)
	famous  = maker{ID: one, Name: "Acme", V: 8}
)

// guardedStatements set a field of a document that still has the version that was read.
var guardedStatements = []statement{
	{"hand-written bson.D", func() ([]byte, error) {
		return marshalUpdate(
			bson.D{{Key: "_id", Value: ada.ID}, {Key: "version", Value: ada.Version}},
			bson.D{{Key: "$set", Value: bson.D{{Key: "city", Value: "Paris"}, {Key: "version", Value: ada.Version + 1}}}},
		)
	}},
	{"docmodel Versioned.Update", func() ([]byte, error) {
		w := guarded.Update(ada.ID, ada.Version, bson.D{{Key: "$set", Value: bson.D{{Key: "city", Value: "Paris"}}}}, bson.NilObjectID)
		return marshalWrite(w)
	}},
	{"go-mongox builders", func() ([]byte, error) {
		return marshalUpdate(
			query.NewBuilder().Id(ada.ID).KeyValue("version", ada.Version).Build(),
			update.NewBuilder().Set("city", "Paris").Set("version", ada.Version+1).Build(),
		)
	}},
}

// copyStatements give every copy of a source its new name, where the copy is older.
var copyStatements = []statement{
	{"hand-written bson.D", func() ([]byte, error) {
		return marshalUpdate(
			bson.D{{Key: "maker", Value: famous.ID}, {Key: "v", Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$gte", Value: famous.V}}}}}},
			bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: famous.Name}, {Key: "v", Value: famous.V}}}},
		)
	}},
	{"docmodel Copy.Propagate", func() ([]byte, error) { return marshalPlan(byMakerVersion.Propagate(&famous)) }},
	{"go-mongox builders", func() ([]byte, error) {
		return marshalUpdate(
			query.NewBuilder().KeyValue("maker", famous.ID).KeyValue("v", query.Not(bson.D{{Key: "$gte", Value: famous.V}})).Build(),
			update.NewBuilder().Set("name", famous.Name).Set("v", famous.V).Build(),
		)
	}},
}

// tableStatements set a document's indexed field and update its entries: the five writes
// of IndexTable.Set.
var tableStatements = []statement{
	{"hand-written bson.D", func() ([]byte, error) {
		entry := func(city string) bson.D {
			return bson.D{{Key: "_id", Value: bson.D{{Key: "v", Value: city}, {Key: "id", Value: ada.ID}}}}
		}
		ops := bson.D{{Key: "ops", Value: action}}
		return marshalAll(
			entry("Paris"), bson.D{{Key: "$setOnInsert", Value: bson.D{{Key: "sure", Value: false}}}, {Key: "$addToSet", Value: ops}},
			entry("London"), bson.D{{Key: "$set", Value: bson.D{{Key: "ops", Value: bson.A{}}, {Key: "sure", Value: false}}}},
			bson.D{{Key: "_id", Value: ada.ID}, {Key: "city", Value: ada.City}}, bson.D{{Key: "$set", Value: bson.D{{Key: "city", Value: "Paris"}}}},
			append(entry("Paris"), ops...), bson.D{{Key: "$set", Value: bson.D{{Key: "sure", Value: true}}}},
			bson.D{
				{Key: "_id.id", Value: ada.ID}, {Key: "sure", Value: false}, {Key: "ops", Value: bson.D{{Key: "$eq", Value: bson.A{}}}},
				{Key: "_id.v", Value: bson.D{{Key: "$nin", Value: bson.A{"Paris"}}}},
			}, nil,
		)
	}},
	{"docmodel IndexTable.Set", func() ([]byte, error) {
		return marshalPlan(inCity.Set(&ada, bson.D{{Key: "city", Value: "Paris"}}, action))
	}},
	{"go-mongox builders", func() ([]byte, error) {
		entry := func(city string) *query.Builder {
			return query.NewBuilder().KeyValue("_id", query.NewBuilder().KeyValue("v", city).KeyValue("id", ada.ID).Build())
		}
		return marshalAll(
			entry("Paris").Build(), update.NewBuilder().SetOnInsert("sure", false).AddToSet("ops", action).Build(),
			entry("London").Build(), update.NewBuilder().Set("ops", bson.A{}).Set("sure", false).Build(),
			query.NewBuilder().Id(ada.ID).KeyValue("city", ada.City).Build(), update.NewBuilder().Set("city", "Paris").Build(),
			entry("Paris").KeyValue("ops", action).Build(), update.NewBuilder().Set("sure", true).Build(),
			query.NewBuilder().KeyValue("_id.id", ada.ID).KeyValue("sure", false).Eq("ops", bson.A{}).Nin("_id.v", "Paris").Build(), nil,
		)
	}},
}

// marshalAll runs marshalUpdate for alternating filters and updates. A nil update means a
// delete.
func marshalAll(filtersAndUpdates ...any) (all []byte, _ error) {
	for i := 0; i < len(filtersAndUpdates); i += 2 {
		one, err := marshalUpdate(filtersAndUpdates[i], filtersAndUpdates[i+1])
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	return all, nil
}

// marshalPlan is marshalAll of a plan's writes.
func marshalPlan(p model.Plan) (all []byte, _ error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	for _, s := range p.Steps {
		one, err := marshalWrite(s.(model.Write))
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	return all, nil
}

func guardedTable(rounds int) (table, error) {
	return statementTable(rounds, guardedStatements, "Build and marshal a guarded update",
		"A field is set, and the version counted up, if the document still has the version that was read.")
}

func copyTable(rounds int) (table, error) {
	return statementTable(rounds, copyStatements, "Build and marshal a copy's propagation",
		"Every copy of a source gets its name and its version, where its own version is older.")
}

func tableTable(rounds int) (table, error) {
	return statementTable(rounds, tableStatements, "Build and marshal the set of an indexed field",
		"Five writes: the field, and the entries of the value before and the value after.")
}

func statementTable(rounds int, statements []statement, title, what string) (table, error) {
	rows, err := compare(rounds, contenders(statements))
	return table{title: title, note: what + " Target: at most 0.8 of the time of the hand-written bson.D. The bytes that come out are the same.", rows: rows}, err
}
