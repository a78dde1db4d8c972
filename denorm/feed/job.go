package feed

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// makeRebuildJob is the job that runs the plans of all documents.
func makeRebuildJob(s model.Stream) model.Job {
	plan := func(docs []bson.Raw) (model.Plan, error) {
		plans := make([]model.Plan, len(docs))
		for i, doc := range docs {
			var err error
			if plans[i], err = s.PlanFor(model.Event{
				Kind: model.Scanned, ID: doc.Lookup("_id"), Document: doc,
			}); err != nil {
				return model.Plan{}, err
			}
		}
		all := model.Concat(plans...)
		all.Options.AllowPartial = true // each is repeatable, and so they are one after the other
		return all, nil
	}
	return model.Job{Name: s.Name, Stages: []model.Stage{{Collection: s.Collection, Plan: plan}}}
}
