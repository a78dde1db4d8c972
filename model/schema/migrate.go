package schema

import (
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Outdated returns the query of the documents, as they are stored, that aren't of the newest version or a newer one: those that
// [Versions.Migrate] brings up.
//
// Cost: one command, and one more for each further batch; it reads the collection, or the index of [Versions.Indexes].
func (v *Versions[D, K]) Outdated() model.Find[bson.Raw] { return v.Raw(v.in.outdated()) }

func (x *versioning) outdated() bson.D {
	return bson.D{{Key: x.field, Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$gte", Value: int32(x.newest)}}}}}}
}

// MigrateOptions say which documents a migration brings up, and what it does about those that it can't.
type MigrateOptions struct {
	// Version names one version whose documents are brought up, found by the index of [Versions.Indexes]; 0 means all that are
	// outdated. It is one before the newest.
	Version   int
	BatchSize int // documents for each batch; 0 means 500

	// Skip is told of each document that can't be brought up, and leaves it; it can be told of one more than once. Nil means that
	// the first ends the job, with its error. A bad document doesn't keep those of its batch from being written when it is
	// skipped, and does when it isn't.
	Skip func(*VersionError)
}

// Migrate returns the job that brings every outdated document up to the newest version, in the order of _id, beside all other use
// of the collection: old code's changes meanwhile are never overwritten, for their documents are read again. It has what every
// [model.Job] has: progress, a dry run that only plans, a checkpoint to go on from, whose name tells the versions, so that a
// migration to a later one, or of one version alone, begins anew.
//
// A cut leaves the documents of some batches brought up, which every reader of Versions sees no difference in; run again it goes on
// with those that are left. A second run changes nothing. Documents that old code inserts behind the job, or makes old again, are
// the next run's: run it until [Versions.Counts] shows the newest version alone.
//
// Cost: for each batch one command that reads and one for each document; each document is written once.
func (v *Versions[D, K]) Migrate(o MigrateOptions) model.Job {
	return v.in.migrate(o, func() any { return new(D) })
}

func (x *versioning) migrate(o MigrateOptions, fresh func() any) model.Job {
	name := fmt.Sprintf("%s.%s to %d", x.collection, x.field, x.newest) // another's checkpoint says nothing of this one
	job := model.Job{Name: name, Collection: x.collection, BatchSize: o.BatchSize, Filter: x.outdated()}
	if o.Version != 0 {
		if o.Version < x.first || o.Version >= x.newest {
			job.Err = &model.ValueError{Collection: x.collection, Field: "Version", Value: o.Version, Reason: "is no version before the newest"}
		}
		job.Name = fmt.Sprintf("%s.%s %d to %d", x.collection, x.field, o.Version, x.newest)
		job.Filter = x.ofVersion(o.Version)
	}
	job.Plan = func(docs []bson.Raw) (p model.Plan, _ error) {
		for _, raw := range docs {
			doc := fresh()
			err := x.decode(raw, doc)
			var w model.Write
			if err == nil {
				w, _, err = x.save(raw, doc, true)
			}
			var failed *VersionError
			switch {
			case err == nil:
				p.Steps = append(p.Steps, w)
			case o.Skip != nil:
				if !errors.As(err, &failed) {
					errors.As(x.fail(raw, err), &failed)
				}
				o.Skip(failed)
			default:
				return model.Plan{}, err
			}
		}
		p.Leaves = "some documents brought up and others not, which readers see no difference in"
		return p, nil
	}
	return job
}

// ofVersion is the filter of one version's documents.
func (x *versioning) ofVersion(n int) bson.D {
	if n == x.missing { // null, and none
		return bson.D{{Key: x.field, Value: bson.D{{Key: "$in", Value: bson.A{int32(n), nil}}}}}
	}
	return bson.D{{Key: x.field, Value: int32(n)}}
}

// A VersionCount is how many documents are stored as one version.
type VersionCount struct {
	// Version is what the field holds; for documents without it the version that is declared for them, or null where none is.
	Version   bson.RawValue `bson:"version"`
	Documents int64         `bson:"documents"`
}

// Counts returns how many documents there are of each version, in the order of versions: what a migration has to do, and whether
// it is done. A version that no program writes, or a newer one, shows here.
//
// Cost: one command that reads the version of every document.
func (v *Versions[D, K]) Counts() model.Aggregate[VersionCount] {
	return model.AggregateAs[VersionCount](v.base, v.in.counts())
}

func (x *versioning) counts() mongo.Pipeline {
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
		{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "version", Value: "$_id"}, {Key: "documents", Value: 1}}}},
	}
}

// Indexes returns the index by which documents of one version are found: for [Versions.Outdated], and [Versions.Migrate] of one
// version at a time, in a collection of which few documents are outdated. Nothing else needs it, so that it is seldom worth its
// place: give the Versions to model.Indexes only where it is.
func (v *Versions[D, K]) Indexes() []model.Index { return v.in.indexes() }

func (x *versioning) indexes() []model.Index {
	byVersion := model.NewIndex(x.collection, bson.D{{Key: x.field, Value: 1}, {Key: "_id", Value: 1}})
	byVersion.Why = "documents of one version, in the order of _id"
	return []model.Index{byVersion}
}

// Relations returns none: documents of all versions are in one collection.
func (v *Versions[D, K]) Relations() []model.Relation { return nil }
