package engine

// This file has the commands that list and drop collections and databases
// (https://www.mongodb.com/docs/manual/reference/command/listCollections/). Commands and their replies:
//
//	{drop: "things"}
//	{nIndexesWas: 2, ns: "test.things", ok: 1.0}
//
//	{dropDatabase: 1}
//	{dropped: "test", ok: 1.0}
//
//	{listDatabases: 1, $db: "admin"}
//	{databases: [{name: "test", sizeOnDisk: 35, empty: false}], totalSize: 35, totalSizeMb: 0, ok: 1.0}

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/indexes"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var collectionsCommands = []*command{
	{name: "drop", run: drop},
	{name: "dropDatabase", run: dropDatabase},
	{name: "listCollections", run: listCollections, fields: []string{
		"filter", "nameOnly", "authorizedCollections", "cursor",
	}},
	{name: "listDatabases", admin: true, run: listDatabases, fields: []string{
		"filter", "nameOnly", "authorizedDatabases",
	}},
	{name: "createSearchIndexes", refused: "search indexes are Atlas's"},
	{name: "updateSearchIndex", refused: "search indexes are Atlas's"},
	{name: "dropSearchIndex", refused: "search indexes are Atlas's"},
}

// drop removes a collection or a view. A view is a document of its database's collection system.views: dropping the
// view removes the document, and dropping system.views drops all views. A collection that doesn't exist is no error,
// since MongoDB 7.0.
func drop(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	rep := reply{}
	err = r.write(func(w *store.Writer) (err error) {
		rep, err = dropCollection(w, ns)
		return err
	})
	return rep, err
}

// dropCollection is drop as a part of a write. It returns the reply.
func dropCollection(w *store.Writer, ns store.Namespace) (reply, error) {
	c := w.Collection(ns)
	if c != nil && ns.Coll == forms.SystemViews {
		for v := range w.State().Collections(ns.DB) {
			if v.View == nil {
				continue
			}
			if err := w.Discard(v.NS); err != nil {
				return reply{}, err
			}
		}
	}
	existed, err := w.Drop(ns)
	switch {
	case !existed || err != nil:
		return reply{}, err
	case c.View != nil:
		return reply{{Key: "ns", Value: ns.String()}}, forms.UpdateViewList(w, ns, nil)
	}
	return reply{{Key: "nIndexesWas", Value: int32(len(c.ListIndexes()))}, {Key: "ns", Value: ns.String()}}, nil
}

// dropDatabase drops all collections of the database. The reply names a database that existed.
func dropDatabase(r *request) (reply, error) {
	found := false
	err := r.write(func(w *store.Writer) error {
		var err error
		found, err = w.DropDatabase(r.db)
		return err
	})
	if !found {
		return nil, err
	}
	return reply{{Key: "dropped", Value: r.db}}, err
}

// listCollections shows the collections and views of the database that the filter matches. With nameOnly the documents
// have name and type, the first two fields, but the filter sees all fields.
func listCollections(r *request) (reply, error) {
	a := r.args()
	nameOnly := a.Boolean("nameOnly", false)
	a.Boolean("authorizedCollections", false)
	limit := readBatchSize(a)
	if a.Err != nil {
		return nil, a.Err
	}
	m, err := query.Parse(a.Document("filter"), query.Options{})
	if err != nil {
		return nil, err
	}
	var list []bson.D
	for c := range r.state().Collections(r.db) {
		full := describeCollection(c)
		doc := full[:2]
		ok, err := m.Match(full)
		if err != nil {
			return nil, err
		}
		if !nameOnly {
			doc = full
		}
		if ok {
			list = append(list, doc)
		}
	}
	ns := store.Namespace{DB: r.db, Coll: "$cmd.listCollections"}
	return r.openSource(ns, cursor.NewDocuments(list), limit, false)
}

// describeCollection returns a collection or a view as listCollections shows it:
//
//	{name: "things", type: "collection", options: {}, info: {readOnly: false, uuid: UUID}, idIndex: {v: 2, …}}
func describeCollection(c *store.Collection) bson.D {
	options := append(bson.D{}, c.Options...)
	if c.View != nil {
		return bson.D{
			{Key: "name", Value: c.NS.Coll}, {Key: "type", Value: "view"}, {Key: "options", Value: options},
			{Key: "info", Value: bson.D{{Key: "readOnly", Value: true}}},
		}
	}
	if c.Series != nil {
		return describeSeries(c)
	}
	doc := bson.D{
		{Key: "name", Value: c.NS.Coll}, {Key: "type", Value: "collection"}, {Key: "options", Value: options},
		{Key: "info", Value: bson.D{{Key: "readOnly", Value: false}, {Key: "uuid", Value: c.UUID}}},
	}
	if c.Clustered != nil { // it has no index beside its documents
		return doc
	}
	return append(doc, bson.E{Key: "idIndex", Value: indexes.Describe(c.Indexes[0].Spec)})
}

// listDatabases shows the databases that the filter matches. The size of a database is that of its documents. With
// nameOnly no sizes are computed.
func listDatabases(r *request) (reply, error) {
	a := r.args()
	nameOnly := a.Boolean("nameOnly", false)
	a.Boolean("authorizedDatabases", false)
	m, err := query.Parse(a.Document("filter"), query.Options{})
	if err != nil {
		a.Fail(err)
	}
	if a.Err != nil {
		return nil, a.Err
	}
	list := bson.A{}
	total, last := int64(0), ""
	sizes := map[string]int64{}
	var names []string
	for c := range r.state().Collections("") { // sorted by database
		if c.NS.DB != last {
			last = c.NS.DB
			names = append(names, last)
		}
		if nameOnly {
			continue
		}
		for x := range c.Records.All() {
			sizes[last] += int64(bsonval.Size(x.Doc))
		}
	}
	for _, name := range names {
		doc := bson.D{{Key: "name", Value: name}}
		full := append(doc[:1:1], bson.E{Key: "sizeOnDisk", Value: sizes[name]}, bson.E{Key: "empty", Value: false})
		if ok, err := m.Match(full); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		if !nameOnly {
			doc = full
		}
		total += sizes[name]
		list = append(list, doc)
	}
	rep := reply{{Key: "databases", Value: list}}
	if !nameOnly {
		rep = append(rep, bson.E{Key: "totalSize", Value: total}, bson.E{Key: "totalSizeMb", Value: total >> 20})
	}
	return rep, nil
}

// newMissingError returns the error of a command on a collection that doesn't exist.
func newMissingError(ns store.Namespace) error {
	return mongoerr.New(mongoerr.NamespaceNotFound, "ns does not exist: %s", ns)
}

// describeSeries returns a time series collection as listCollections shows it.
func describeSeries(c *store.Collection) bson.D {
	return bson.D{
		{Key: "name", Value: c.NS.Coll}, {Key: "type", Value: "timeseries"},
		{Key: "options", Value: slices.Clone(c.Options)},
		{Key: "info", Value: bson.D{{Key: "readOnly", Value: false}}},
	}
}
