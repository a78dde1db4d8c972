package numbered

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// convert is the write of a nested document.
func (n *List) convert(doc bson.Raw) ([]model.Step, error) {
	v := doc.Lookup(n.Path)
	if v.Type != bson.TypeArray {
		return nil, nil
	}
	list, err := n.ReadElements(v)
	if err == nil {
		err = n.fits(len(list))
	}
	if err != nil {
		return nil, err
	}
	return []model.Step{
		commands.UpdateIf(n.Docs.Name(),
			append(commands.MatchID(doc.Lookup("_id")), mql.E(n.Path, mql.Eq(v))), n.set(list)),
	}, nil
}

// Convert is the job that stores nested documents flat, in place.
func (n *List) Convert() model.Job {
	return model.Job{Name: "numbered " + n.Docs.Name() + "." + n.Path, Stages: []model.Stage{{
		Collection: n.Docs.Name(), Plan: commands.PlanBatches("", n.convert),
		Filter:     bson.D{{Key: n.Path, Value: bson.D{{Key: "$type", Value: "array"}}}},
		Projection: bson.D{{Key: n.Path, Value: 1}},
	}}}
}

// Restore is the write that nests all flat documents again.
func (n *List) Restore() model.Write {
	return model.Write{Collection: n.Docs.Name(), Once: true, Model: &mongo.UpdateManyModel{
		Filter: bson.D{
			{Key: n.Path, Value: bson.D{{Key: "$type", Value: "number"}}},
			{Key: "$expr", Value: n.sound("$"+n.Path, n.highest())},
		},
		Update: n.nest(),
	}}
}
