package engine

// This file has the commands createIndexes, listIndexes and dropIndexes
// (https://www.mongodb.com/docs/manual/reference/command/createIndexes/). Package indexes reads and shows the options
// of indexes, package store builds them. Commands and their replies:
//
//	{createIndexes: "things", indexes: [{key: {n: 1}, name: "n_1"}]}
//	{numIndexesBefore: 1, numIndexesAfter: 2, createdCollectionAutomatically: false, ok: 1.0}
//
//	{listIndexes: "things"}
//	{cursor: {firstBatch: [{v: 2, key: {_id: 1}, name: "_id_"}, {v: 2, key: {n: 1}, name: "n_1"}], …}, ok: 1.0}
//
//	{dropIndexes: "things", index: "n_1"}
//	{nIndexesWas: 2, ok: 1.0}

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
	"github.com/docmodel/docmodel/mongotest/internal/engine/indexes"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var indexesCommands = []*command{
	{
		name: "createIndexes", txn: true, writes: true, run: createIndexes,
		fields: []string{"indexes", "commitQuorum", "ignoreUnknownIndexOptions"},
	},
	{name: "listIndexes", run: listIndexes, fields: []string{"cursor"}},
	{name: "dropIndexes", aliases: []string{"deleteIndexes"}, run: dropIndexes, fields: []string{"index"}},
}

// createIndexes builds indexes, and the collection if it doesn't exist, in one write: all indexes or none. An index
// that exists with the same options is no error.
func createIndexes(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	a.Require("indexes")
	a.Refuse("ignoreUnknownIndexOptions", false)
	list := a.Documents("indexes")
	if a.Err != nil {
		return nil, a.Err
	}
	if len(list) == 0 {
		return nil, mongoerr.New(mongoerr.BadValue, "Must specify at least one index to create")
	}
	// All specs are read before the write, which builds no index if one spec is wrong.
	var specs []*store.IndexSpec
	coll := r.state().Collection(ns)
	for _, d := range list {
		s, err := indexes.Read(&args.Reader{Place: "createIndexes.indexes", Doc: d}, coll)
		if err != nil {
			return nil, err
		}
		if err := r.checkSharded(coll, s); err != nil {
			return nil, err
		}
		specs = append(specs, s)
	}
	var before, after int
	created := false
	err = r.write(func(w *store.Writer) (err error) {
		created = w.Collection(ns) == nil
		before, after, err = indexes.BuildAll(w, ns, specs)
		return err
	})
	if err != nil {
		return nil, err
	}
	rep := reply{
		{Key: "numIndexesBefore", Value: int32(before)},
		{Key: "numIndexesAfter", Value: int32(after)},
		{Key: "createdCollectionAutomatically", Value: created},
	}
	if before == after {
		rep = append(rep, bson.E{Key: "note", Value: "all indexes already exist"})
	}
	return rep, nil
}

// listIndexes shows the indexes of a collection, the one on _id first.
func listIndexes(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	limit := readBatchSize(a)
	if a.Err != nil {
		return nil, a.Err
	}
	c := r.state().Collection(ns)
	if c == nil {
		return nil, newMissingError(ns)
	}
	if c.View != nil {
		return nil, store.NewOnView(ns)
	}
	var list []bson.D
	for _, x := range c.ListIndexes() {
		list = append(list, indexes.Describe(x.Spec))
	}
	return r.openSource(ns, cursor.NewDocuments(list), limit, false)
}

// dropIndexes drops indexes by name, by a list of names, by key, or with "*" all but the one on _id.
func dropIndexes(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	a.Require("index")
	if a.Err != nil {
		return nil, a.Err
	}
	which, _ := a.Get("index")
	before := 0
	err = r.write(func(w *store.Writer) (err error) {
		before, err = r.dropEach(w, ns, which)
		return err
	})
	if err != nil {
		return nil, err
	}
	return reply{{Key: "nIndexesWas", Value: int32(before)}}, nil
}

// dropEach drops the indexes that the field index of dropIndexes means. It returns how many indexes there were before.
func (r *request) dropEach(w *store.Writer, ns store.Namespace, which any) (before int, err error) {
	c := w.Collection(ns)
	if c == nil {
		return 0, newMissingError(ns)
	}
	if c.View != nil {
		return 0, store.NewOnView(ns)
	}
	before = len(c.ListIndexes())
	names, err := indexes.FindNames(c, which)
	if err == nil {
		err = r.checkKeyIndex(c, names)
	}
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if c.Index(name).Spec.Clustered {
			return 0, mongoerr.New(5979800, "It is illegal to drop the clusteredIndex")
		}
		if err := w.DropIndex(ns, name); err != nil {
			return 0, err
		}
	}
	return before, nil
}
