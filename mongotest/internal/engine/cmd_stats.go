package engine

// This file has the commands dbStats and collStats (https://www.mongodb.com/docs/manual/reference/command/dbStats/).
// The stage $collStats, which MongoDB recommends, is in stats.go. Commands and their replies, shortened:
//
//	{dbStats: 1}
//	{db: "test", collections: 2, views: 0, objects: 2, dataSize: 35.0, indexes: 3, indexSize: 44.0, …, ok: 1.0}
//
//	{collStats: "things"}
//	{ns: "test.things", size: 35, count: 2, storageSize: 35, indexSizes: {_id_: 24, n_1: 20}, …, ok: 1.0}

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var statsCommands = []*command{
	{name: "dbStats", aliases: []string{"dbstats"}, fields: []string{"scale", "freeStorage"}, run: dbStats},
	{name: "collStats", aliases: []string{"collstats"}, fields: []string{"scale"}, run: collStats},
}

// readScale reads the field scale, by which sizes in bytes are divided: 1024 for kilobytes. A fraction is cut.
func readScale(a *args.Reader) int64 {
	v, ok := a.Get("scale")
	if !ok {
		return 1
	}
	if !bsonval.IsNumber(v) {
		a.RefuseType("scale", v, "long")
		return 1
	}
	scale, _ := bsonval.TruncInt64(v)
	if scale < 1 {
		a.Fail(mongoerr.New(51024, "BSON field '%s.scale' value must be >= 1, actual value '%d'", a.Place, scale))
		return 1
	}
	return scale
}

// dbStats shows the sizes of a database. Without files, storageSize is the size of the documents. Sizes are doubles
// here, as in MongoDB, and whole numbers in collStats.
func dbStats(r *request) (reply, error) {
	a := r.args()
	scale := readScale(a)
	a.Refuse("freeStorage", int32(0))
	if a.Err != nil {
		return nil, a.Err
	}
	var collections, views, indexes int64
	var sum store.Figures // without indexes
	var indexBytes int64
	for c := range r.state().Collections(r.db) {
		if c.View != nil {
			views++
			continue
		}
		f, err := c.Figures(r.watch)
		if err != nil {
			return nil, err
		}
		collections++
		indexes += int64(len(c.ListIndexes()))
		sum.Documents, sum.Bytes, indexBytes = sum.Documents+f.Documents, sum.Bytes+f.Bytes, indexBytes+f.IndexBytes()
	}
	average := 0.0
	if sum.Documents > 0 {
		average = float64(sum.Bytes) / float64(sum.Documents)
	}
	scaled := func(n int64) float64 { return float64(n) / float64(scale) }
	return bson.D{
		{Key: "db", Value: r.db},
		{Key: "collections", Value: collections},
		{Key: "views", Value: views},
		{Key: "objects", Value: sum.Documents},
		{Key: "avgObjSize", Value: average},
		{Key: "dataSize", Value: scaled(sum.Bytes)},
		{Key: "storageSize", Value: scaled(sum.Bytes)},
		{Key: "indexes", Value: indexes},
		{Key: "indexSize", Value: scaled(indexBytes)},
		{Key: "totalSize", Value: scaled(sum.Bytes + indexBytes)},
		{Key: "scaleFactor", Value: scale},
	}, nil
}

// collStats shows the sizes of a collection. A collection that doesn't exist has the size 0.
func collStats(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	scale := readScale(a)
	if a.Err != nil {
		return nil, a.Err
	}
	c := r.state().Collection(ns)
	var f store.Figures
	if c != nil {
		if c.View != nil {
			return nil, store.NewOnView(ns)
		}
		if c.Series != nil {
			return nil, forms.RefuseOnSeries(ns, "collStats")
		}
		if f, err = c.Figures(r.watch); err != nil {
			return nil, err
		}
	}
	rep := reply{
		{Key: "ns", Value: ns.String()}, {Key: "size", Value: f.Bytes / scale}, {Key: "count", Value: f.Documents},
	}
	if f.Documents > 0 {
		rep = append(rep, bson.E{Key: "avgObjSize", Value: f.Bytes / f.Documents})
	}
	if c != nil && c.Capped != nil {
		rep = append(rep, bson.E{Key: "max", Value: c.Capped.Max}, bson.E{Key: "maxSize", Value: c.Capped.Size / scale})
	}
	// The sizes of the indexes by their names, in the order in which they were built.
	sizes := bson.D{}
	for _, x := range f.Indexes {
		sizes = append(sizes, bson.E{Key: x.Name, Value: x.Bytes / scale})
	}
	return append(rep, bson.D{
		{Key: "numOrphanDocs", Value: int32(0)},
		{Key: "storageSize", Value: f.Bytes / scale},
		{Key: "freeStorageSize", Value: int64(0)},
		{Key: "capped", Value: c != nil && c.Capped != nil},
		{Key: "nindexes", Value: int32(len(f.Indexes))},
		{Key: "indexBuilds", Value: bson.A{}},
		{Key: "totalIndexSize", Value: f.IndexBytes() / scale},
		{Key: "totalSize", Value: (f.Bytes + f.IndexBytes()) / scale},
		{Key: "indexSizes", Value: sizes},
		{Key: "scaleFactor", Value: scale},
	}...), nil
}
