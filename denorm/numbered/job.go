package numbered

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// convertDocument is the write that stores a nested list flat, if it is as it was read.
func (n *untypedNumbered) convertDocument(doc bson.Raw) ([]model.Step, error) {
	v := doc.Lookup(n.Path)
	list, ok, err := n.readList(v)
	if err != nil || !ok {
		return nil, err
	}
	return []model.Step{
		commands.UpdateIf(n.Docs.Name(),
			append(commands.MatchID(doc.Lookup("_id")), mql.E(n.Path, mql.Eq(v))), n.writeList(list)),
	}, nil
}

// makeConvertJob is the job that stores nested lists flat, in place.
func (n *untypedNumbered) makeConvertJob() model.Job {
	return model.Job{Name: "numbered " + n.Docs.Name() + "." + n.Path, Stages: []model.Stage{{
		Collection: n.Docs.Name(), Plan: commands.PlanBatches("", n.convertDocument),
		Filter:     bson.D{{Key: n.Path, Value: bson.D{{Key: "$type", Value: "array"}}}},
		Projection: bson.D{{Key: n.Path, Value: 1}},
	}}}
}

// restoreDocuments is the write that nests all flat lists again, except those with a
// wrong count.
func (n *untypedNumbered) restoreDocuments() model.Write {
	return model.Write{Collection: n.Docs.Name(), Idempotent: true, Model: &mongo.UpdateManyModel{
		Filter: bson.D{
			{Key: n.Path, Value: bson.D{{Key: "$type", Value: "number"}}},
			{Key: "$expr", Value: n.isSoundCount("$"+n.Path, n.findHighest())},
		},
		Update: n.nestList(),
	}}
}
