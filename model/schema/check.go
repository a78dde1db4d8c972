package schema

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (d described) validator() bson.D {
	return bson.D{{Key: "$jsonSchema", Value: d.root.document()}}
}

func (d described) checks() []model.Check {
	return []model.Check{{
		Name: d.collection + ": documents that don't conform", Collection: d.collection,
		Rule:     "each document of " + d.collection + " conforms to the schema",
		Pipeline: mongo.Pipeline{mql.Match(mql.E("$nor", bson.A{d.validator()})), mql.SortID()},
		Tell: func(f *model.Finding) error {
			f.ID, f.Problem = f.Detail.Lookup("_id"), d.problem(f.Detail)
			return nil
		},
	}}
}

// problem describes why a document doesn't conform: the first three violations, and the
// number of further ones.
func (d described) problem(doc bson.Raw) string {
	const most = 3
	found, _ := d.validate(doc).(Violations)
	var parts []string
	for _, err := range found[:min(len(found), most)].Unwrap() {
		parts = append(parts, strings.TrimPrefix(err.Error(), "docmodel: "+d.collection+": "))
	}
	switch {
	case len(found) == 0: // the server decides otherwise
		return "doesn't conform"
	case len(found) > most:
		parts = append(parts, fmt.Sprintf("and %d more", len(found)-most))
	}
	return strings.Join(parts, "; ")
}

// footprints says that the check reads whole documents.
func (d described) footprints() []model.Footprint {
	return []model.Footprint{{Collection: d.collection, Path: model.Whole, Use: model.Reads}}
}
