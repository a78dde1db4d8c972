package schema

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Outdated returns the query of stored documents that are older than the newest version.
//
// Cost: one command, and one for each further batch. The server reads the collection, or
// the index of [Versions].
func (v *Versions[D, K]) Outdated() *model.Find[bson.Raw] { return v.Raw(v.in.MatchOutdated()) }

// MigrateOptions say which documents to upgrade, and how to handle failures.
type MigrateOptions struct {
	// Version is the only older version to upgrade. 0 means all older versions.
	Version int

	// Skip skips documents that can't be upgraded. At the end, Run returns a
	// [*model.LeftError]. Without Skip, the first document that can't be upgraded ends
	// the job with a [*VersionError]. The batch with this document isn't written.
	Skip bool
}

// Migrate returns the job that upgrades outdated documents while the collection is in
// use. The job never overwrites concurrent changes. After a crash, run the job again.
//
// Old programs can still store old versions. Run the job until [Versions.Counts] shows
// only the newest version.
//
// Cost: one read for each batch, one write for each document.
func (v *Versions[D, K]) Migrate(o MigrateOptions) model.Job {
	return v.in.MakeMigrateJob(o.Version, o.Skip, func() any { return new(D) })
}

// A VersionCount is the number of documents with one version.
type VersionCount struct {
	// Version is the stored version. If the documents have none, Version is
	// VersionsSpec.Missing, or null if VersionsSpec.Missing is negative.
	Version   bson.RawValue `bson:"version"`
	Documents int64         `bson:"documents"`
}

// Counts returns the pipeline that counts the documents of each version, in the order of
// versions. Unknown and newer versions are included.
//
// Cost: one command, which reads the version of every document.
func (v *Versions[D, K]) Counts() *model.Aggregate[VersionCount] {
	return model.AggregateAs[VersionCount](v.c, v.in.CountVersions())
}
