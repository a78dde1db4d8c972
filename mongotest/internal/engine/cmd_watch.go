package engine

// This file opens change streams, by an aggregate command whose first stage is $changeStream
// (https://www.mongodb.com/docs/manual/changeStreams/). Package changestream reads the history of the store, and
// getMore waits for more events. The first field says whether the stream watches a collection, a database or all
// databases:
//
//	{aggregate: "things", pipeline: [{$changeStream: {}}], cursor: {}}                      a collection
//	{aggregate: 1, pipeline: [{$changeStream: {}}], cursor: {}}                             a database
//	{aggregate: 1, pipeline: [{$changeStream: {allChangesForCluster: true}}], $db: "admin"}  all databases

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/changestream"
	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// openChangeStream runs an aggregate command whose first stage is $changeStream. stages are its pipeline. The other
// stages run on the events, and see no collections.
func openChangeStream(r *request, stages bson.A) (reply, error) {
	r.watching = true
	a := r.args()
	batch := readBatchSize(a)
	a.Boolean("allowDiskUse", false)
	a.Boolean("bypassDocumentValidation", false)
	a.Refuse("explain", false)
	a.Refuse("hint")
	by := a.Collation(nil) // MongoDB doesn't take the collection's here
	now := r.engine.now()
	vars := a.Variables("let", now, by)
	if a.Err != nil {
		return nil, a.Err
	}
	if r.snapshot.asked {
		return nil, mongoerr.New(mongoerr.InvalidOptions,
			"$changeStream cannot be used with a 'snapshot' read concern level")
	}
	if r.autocommit {
		return nil, mongoerr.New(mongoerr.OperationNotSupportedInTransaction,
			"$changeStream cannot be used in a transaction")
	}
	spec, ok := stages[0].(bson.D)[0].Value.(bson.D)
	if !ok {
		return nil, mongoerr.New(50808, "$changeStream stage expects a document as argument")
	}
	opt, err := changestream.ReadOptions(&args.Reader{Place: "$changeStream", Doc: spec})
	if err != nil {
		return nil, err
	}
	if opt.Expanded && r.strict {
		return nil, mongoerr.New(mongoerr.APIStrictError,
			"The 'showExpandedEvents' parameter to $changeStream is not supported in API Version 1")
	}
	ns, of, err := r.readScope(opt.All)
	if err != nil {
		return nil, err
	}
	if err := checkChangeStages(stages[1:]); err != nil {
		return nil, err
	}
	p, err := pipeline.ParseVars(stages[1:], &environment{now: now, watch: r.watch, collation: by}, vars)
	if err != nil {
		return nil, err
	}
	s, err := changestream.Open(r.engine.store, opt, of, p, r.watch)
	if err != nil {
		return nil, err
	}
	return r.openCursor(&cursor.Cursor{Namespace: ns, Source: s, Stream: s, Resume: s.Position()}, batch, false)
}

// readScope returns the scope that a stream watches, and the namespace of its cursor. all is the option
// allChangesForCluster. A stream can be opened on a collection that doesn't exist.
func (r *request) readScope(all bool) (store.Namespace, changestream.Scope, error) {
	if n, ok := args.ReadWhole(r.body[0].Value); !ok || n != 1 {
		ns, err := r.namespace()
		switch {
		case err != nil:
			return ns, changestream.Scope{}, err
		case all:
			return ns, changestream.Scope{}, newScopeError(ns)
		case slices.Contains(forms.InternalDatabases, ns.DB):
			return ns, changestream.Scope{}, mongoerr.New(mongoerr.InvalidNamespace,
				"$changeStream may not be opened on the internal %s database", ns.DB)
		case strings.HasPrefix(ns.Coll, "system."):
			return ns, changestream.Scope{}, mongoerr.New(mongoerr.InvalidNamespace,
				"$changeStream may not be opened on the internal %s collection", ns)
		case r.isView():
			return ns, changestream.Scope{}, store.NewOnView(ns)
		}
		if c := r.state().Collection(ns); c != nil && c.Series != nil {
			return ns, changestream.Scope{}, mongoerr.New(mongoerr.CommandNotSupportedOnView,
				"Namespace %s is a timeseries collection", ns)
		}
		return ns, changestream.Scope{DB: ns.DB, Coll: ns.Coll}, nil
	}
	ns := store.Namespace{DB: r.db, Coll: collectionless}
	switch {
	case all && r.db != "admin":
		return ns, changestream.Scope{}, newScopeError(ns)
	case all:
		return ns, changestream.Scope{}, nil
	case slices.Contains(forms.InternalDatabases, r.db):
		return ns, changestream.Scope{}, mongoerr.New(mongoerr.InvalidNamespace,
			"$changeStream may not be opened on the internal %s database", r.db)
	}
	return ns, changestream.Scope{DB: r.db}, nil
}

// newScopeError returns the error of a stream of all databases that is opened elsewhere than on the database admin.
func newScopeError(ns store.Namespace) error {
	return mongoerr.New(mongoerr.InvalidOptions, "A $changeStream with 'allChangesForCluster:true' may only be opened "+
		"on the 'admin' database, and with no collection name; found %s", ns)
}
