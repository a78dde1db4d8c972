package versions

import (
	"context"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Outdated matches the documents before the newest version.
func (x *Versions) Outdated() bson.D {
	return bson.D{{Key: x.field, Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$gte", Value: int32(x.newest)}}}}}}
}

// Migrate is the job that brings documents up: of one version, or of all for 0. With skip it leaves what it can't bring
// up. fresh is a new document of the newest type.
func (x *Versions) Migrate(version int, skip bool, fresh func() any) model.Job {
	name := fmt.Sprintf("%s.%s to %d", x.Name(), x.field, x.newest) // another's checkpoint says nothing of this one
	stage := model.Stage{Collection: x.Name(), Filter: x.Outdated()}
	job := model.Job{Name: name}
	if version != 0 {
		if version < x.first || version >= x.newest {
			job.Err = x.Refuse("Version", version, "isn't a version before the newest")
		}
		job.Name = fmt.Sprintf("%s.%s %d to %d", x.Name(), x.field, version, x.newest)
		stage.Filter = x.ofVersion(version)
	}
	stage.Work = func(_ context.Context, b *model.Batch) (p model.Plan, _ error) {
		for _, raw := range b.Docs {
			doc := fresh()
			err := x.Decode(raw, doc)
			var w model.Write
			if err == nil {
				w, err = x.save(raw, doc, true)
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
	job.Stages = []model.Stage{stage}
	return job
}

// ofVersion is the filter of one version's documents.
func (x *Versions) ofVersion(n int) bson.D {
	if n == x.missing { // null, and none
		return bson.D{{Key: x.field, Value: bson.D{{Key: "$in", Value: bson.A{int32(n), nil}}}}}
	}
	return bson.D{{Key: x.field, Value: int32(n)}}
}

// Counts is how many documents there are of each version.
func (x *Versions) Counts() mongo.Pipeline {
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
