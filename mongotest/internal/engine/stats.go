package engine

// This file implements the stages $collStats, $indexStats and $listLocalSessions of pipeline.Env. The commands dbStats
// and collStats are in cmd_stats.go.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/indexes"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// findCollection returns the collection that a stage describes, the command's own if the name is "". The collection is
// nil if it doesn't exist. These stages aren't allowed in transactions.
func (e *environment) findCollection(stage, db, coll string) (store.Namespace, *store.Collection, error) {
	ns := e.own
	if coll != "" {
		var err error
		if ns, err = e.namespace(db, coll); err != nil {
			return ns, nil, err
		}
	}
	if e.InTransaction() {
		return ns, nil, pipeline.NewTransactionError(stage)
	}
	return ns, e.state.Collection(ns), nil
}

// CollStats returns the document of $collStats, with the parts that the stage asks for. Without a disk, the storage
// size is the size of the documents, and no space is free. For {$collStats: {count: {}}}:
//
//	{ns: "test.things", host: "engine.local:27017", localTime: ISODate("…"), count: 2}
func (e *environment) CollStats(db, coll string, want pipeline.CollStats) (bson.D, error) {
	ns, c, err := e.findCollection("$collStats", db, coll)
	if err != nil {
		return nil, err
	}
	d := bson.D{{Key: "ns", Value: ns.String()}, {Key: "host", Value: e.request.conn.address},
		{Key: "localTime", Value: bson.NewDateTimeFromTime(e.request.engine.now())}}
	missing := func(what string) error {
		return mongoerr.New(mongoerr.NamespaceNotFound,
			"Unable to retrieve %s in $collStats stage :: caused by :: Collection [%s] not found.", what, ns)
	}
	if want.Scale > 0 {
		if c == nil {
			return nil, missing("storageStats")
		}
		f, err := c.Figures(e.watch)
		if err != nil {
			return nil, err
		}
		d = append(d, bson.E{Key: "storageStats", Value: storageStats(f, c.Capped, want.Scale)})
	}
	if want.Count {
		if c == nil {
			return nil, missing("count")
		}
		d = append(d, bson.E{Key: "count", Value: bsonval.Integer(int64(c.Records.Len()))})
	}
	return d, nil
}

// storageStats returns the sizes of a collection in bytes, divided by scale. They are the sizes of encoded documents
// and keys: a server has smaller ones, because it compresses. The average size of a document isn't divided, as in
// MongoDB.
func storageStats(f store.Figures, capped *store.Capped, scale int64) bson.D {
	average := int64(0)
	if f.Documents > 0 {
		average = f.Bytes / f.Documents
	}
	sizes := bson.D{}
	for _, x := range f.Indexes {
		sizes = append(sizes, bson.E{Key: x.Name, Value: bsonval.Integer(x.Bytes / scale)})
	}
	d := bson.D{
		{Key: "size", Value: bsonval.Integer(f.Bytes / scale)}, {Key: "count", Value: bsonval.Integer(f.Documents)},
	}
	if f.Documents > 0 {
		d = append(d, bson.E{Key: "avgObjSize", Value: bsonval.Integer(average)})
	}
	d = append(d, bson.D{
		{Key: "numOrphanDocs", Value: int32(0)},
		{Key: "storageSize", Value: bsonval.Integer(f.Bytes / scale)},
		{Key: "freeStorageSize", Value: int32(0)},
		{Key: "capped", Value: capped != nil},
	}...)
	if capped != nil {
		d = append(d, bson.E{Key: "max", Value: bsonval.Integer(capped.Max)}, bson.E{
			Key: "maxSize", Value: bsonval.Integer(capped.Size / scale),
		})
	}
	return append(d, bson.D{
		{Key: "nindexes", Value: int32(len(f.Indexes))},
		{Key: "indexBuilds", Value: bson.A{}},
		{Key: "totalIndexSize", Value: bsonval.Integer(f.IndexBytes() / scale)},
		{Key: "totalSize", Value: bsonval.Integer((f.Bytes + f.IndexBytes()) / scale)},
		{Key: "indexSizes", Value: sizes},
		{Key: "scaleFactor", Value: bsonval.Integer(scale)},
	}...)
}

// IndexStats returns a document for each index, with the number of commands that have read it:
//
//	{name: "n_1", key: {n: 1}, host: "engine.local:27017", accesses: {ops: 3, since: ISODate("…")}, spec: {v: 2, …}}
func (e *environment) IndexStats(db, coll string) ([]bson.D, error) {
	_, c, err := e.findCollection("$indexStats", db, coll)
	if err != nil || c == nil {
		return nil, err
	}
	out := make([]bson.D, 0, len(c.Indexes))
	for _, x := range c.Indexes {
		if x.Spec.Clustered { // it is the documents
			continue
		}
		uses := x.Spec.Uses
		out = append(out, bson.D{
			{Key: "name", Value: x.Spec.Name},
			{Key: "key", Value: x.Spec.Key},
			{Key: "host", Value: e.request.conn.address},
			{Key: "accesses", Value: bson.D{
				{Key: "ops", Value: uses.Count()}, {Key: "since", Value: bson.NewDateTimeFromTime(uses.Since)},
			}},
			{Key: "spec", Value: indexes.Describe(x.Spec)},
		})
	}
	return out, nil
}

// Sessions returns a document for each session in use, for $listLocalSessions.
func (e *environment) Sessions() []bson.D { return e.request.engine.sessions.List(e.now) }
