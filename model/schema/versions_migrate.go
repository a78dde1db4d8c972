package schema

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Outdated returns the query of the documents, as they are stored, that aren't of the newest version or a newer one: those that
// [Versions.Migrate] brings up.
//
// Cost: one command, and one more for each further batch; it reads the collection, or the index of [Versions.Indexes].
func (v *Versions[D, K]) Outdated() *model.Find[bson.Raw] { return v.Raw(v.in.Outdated()) }

// MigrateOptions say which documents a migration brings up, and what it does about those that it can't.
type MigrateOptions struct {
	// Version names one version whose documents are brought up, found by the index of [Versions.Indexes]; 0 means all that are
	// outdated. It is one before the newest.
	Version int

	// Skip leaves the documents that can't be brought up, and has the job report them: Run returns a [*model.LeftError] when it is
	// through. Without Skip the first of them ends the job with a [*VersionError], and its batch isn't written.
	Skip bool
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
	return v.in.Migrate(o.Version, o.Skip, func() any { return new(D) })
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
func (v *Versions[D, K]) Counts() *model.Aggregate[VersionCount] {
	return model.AggregateAs[VersionCount](v.c, v.in.Counts())
}
