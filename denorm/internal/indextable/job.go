package indextable

import (
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// MakeRebuildJob returns the job that writes missing entries. A document that an
// unfinished action deletes gets no entries.
func (ts Tables) MakeRebuildJob(name string) model.Job {
	return model.Job{Name: name, Stages: []model.Stage{{
		Collection: ts[0].docs.Name(), Filter: bson.D{ts[0].matchStaying()},
		Projection: ts.MakeProjection(), Plan: ts.planRebuild,
	}}}
}

// MakeProjection projects documents to the paths of the tables and to the fields that
// entries copy.
func (ts Tables) MakeProjection() bson.D { return commands.ProjectFields(ts.listReadPaths()...) }

// planRebuild returns the plan for a batch of documents.
func (ts Tables) planRebuild(docs []bson.Raw) (model.Plan, error) {
	states := make([][]state, len(docs))
	for i, doc := range docs {
		var err error
		if states[i], err = ts.readStates(slices.Clone(doc)); err != nil {
			return model.Plan{}, commands.NameDocument(doc, err)
		}
	}
	var p model.Plan
	for i, t := range ts { // table by table, so that the writes of one share a command
		for _, of := range states {
			for _, v := range of[i].values {
				p.Steps = append(p.Steps, t.insertEntry(v, of[i].id, of[i].copies))
			}
		}
	}
	return p, nil
}
