package main

import (
	"github.com/chenmingyong0423/go-mongox/v2/builder/query"
	"github.com/chenmingyong0423/go-mongox/v2/builder/update"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A member has a version.
type member struct {
	ID      bson.ObjectID `bson:"_id"`
	Name    string        `bson:"name"`
	City    string        `bson:"city"`
	Version int64         `bson:"version"`
}

var (
	members = model.NewCollection[member, bson.ObjectID]("members")
	guarded = embed.NewVersioned(members, embed.VersionedSpec{})
	ada     = member{ID: id(6, 0), Name: "Ada", City: "London", Version: 41}
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

// marshalPlan marshals a plan's writes.
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

func statementTable(rounds int, statements []statement, title, what string) (table, error) {
	rows, err := compare(rounds, contenders(statements))
	return table{title: title, note: what + " Target: at most 0.8 of the time of the hand-written bson.D. The bytes that come out are the same.", rows: rows}, err
}
