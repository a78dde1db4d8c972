package versions

import (
	"context"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// MatchOutdated matches the documents that are older than the newest version, also documents without a version.
func (x *Versions) MatchOutdated() bson.D {
	return bson.D{{Key: x.field, Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$gte", Value: int32(x.newest)}}}}}}
}

// MakeMigrateJob returns the job that upgrades documents of one version, or of all older versions if version is 0. With
// skip, it reports a document that can't be upgraded, and goes on. newDoc returns a pointer to a new document of the
// newest type.
func (x *Versions) MakeMigrateJob(version int, skip bool, newDoc func() any) model.Job {
	// The name has the versions, because a checkpoint with this name is for this job alone.
	name := fmt.Sprintf("%s.%s to %d", x.Name(), x.field, x.newest)
	stage := model.Stage{Collection: x.Name(), Filter: x.MatchOutdated()}
	job := model.Job{Name: name}
	if version != 0 {
		if version < x.first || version >= x.newest {
			job.Err = x.Refuse("Version", version, "isn't a version before the newest")
		}
		job.Name = fmt.Sprintf("%s.%s %d to %d", x.Name(), x.field, version, x.newest)
		stage.Filter = x.matchVersion(version)
	}
	stage.Work = func(_ context.Context, b *model.Batch) (model.Plan, error) { return x.planMigrate(b, skip, newDoc) }
	job.Stages = []model.Stage{stage}
	return job
}

// planMigrate is the job's plan for one batch: one update for each document.
func (x *Versions) planMigrate(b *model.Batch, skip bool, newDoc func() any) (p model.Plan, _ error) {
	for _, raw := range b.Docs {
		doc := newDoc()
		err := x.Decode(raw, doc)
		var w model.Write
		if err == nil {
			w, err = x.makeSave(raw, doc, true)
		}
		switch {
		case err == nil:
			p.Steps = append(p.Steps, w)
		case skip:
			b.Leave(model.Finding{
				Collection: x.Name(), ID: raw.Lookup("_id"),
				Problem: "can't be migrated: " + strings.TrimPrefix(err.Error(), "docmodel: "),
			})
		default:
			return model.Plan{}, err
		}
	}
	p.Leaves = "some documents migrated; readers see no difference, and the next run migrates the others"
	return p, nil
}

// matchVersion matches the documents of one version. For the version Missing, null also matches documents without the
// field.
func (x *Versions) matchVersion(n int) bson.D {
	if n == x.missing {
		return bson.D{{Key: x.field, Value: bson.D{{Key: "$in", Value: bson.A{int32(n), nil}}}}}
	}
	return bson.D{{Key: x.field, Value: int32(n)}}
}

// CountVersions counts the documents of each version, as {version, documents}.
func (x *Versions) CountVersions() mongo.Pipeline {
	var none any
	if x.missing >= 0 {
		none = int32(x.missing)
	}
	return mongo.Pipeline{
		{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: bson.D{{Key: "$ifNull", Value: bson.A{"$" + x.field, none}}}},
			{Key: "documents", Value: bson.D{{Key: "$sum", Value: 1}}},
		}}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{
			Key:   "$project",
			Value: bson.D{{Key: "_id", Value: 0}, {Key: "version", Value: "$_id"}, {Key: "documents", Value: 1}},
		}},
	}
}
