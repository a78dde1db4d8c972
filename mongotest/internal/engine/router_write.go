package engine

// This file sends updates, deletes and inserts to simulated shards: it asks the router which shards a statement is sent
// to, limits the statement to them, and notes it.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/router"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// change is a statement of an update or a delete, as far as the router asks for it.
type change struct {
	command     string // update, delete or findAndModify
	fields      bson.D // the statement, or the command: they have the collation
	upsert      bool
	replacement bson.D // nil for operators, a pipeline and a delete
}

// describeChange describes an update for the router. fields is its statement, or the command findAndModify.
func (u *updater) describeChange(command string, fields bson.D) change {
	x := change{command: command, fields: fields, upsert: u.upsert}
	if u.update.IsReplacement() {
		v, _ := bsonval.Get(fields, "u")
		x.replacement, _ = v.(bson.D)
	}
	return x
}

// routeStatement runs a statement on the shards to which it is sent, or refuses it. run runs it on the target. On a
// collection that isn't sharded, it is called at once.
func (r *request) routeStatement(t *target, x change, run func() error) error {
	coll := r.state().Collection(t.ns)
	c := r.findSharding(coll)
	if c == nil {
		return run()
	}
	route, err := c.Write(router.Change{
		Filter: makeRouterFilter(x.fields, t.query.Filter, coll), Command: x.command, Replacement: x.replacement,
		Multi: t.multi, Upsert: x.upsert, InTxn: r.txn != nil,
	})
	note := r.newTouch(t.ns, route) // a refused statement is noted too, with its error
	note.Command = x.command
	if err == nil {
		// While run runs, placeDocument judges its documents by the route.
		r.route.Route, r.route.ns = route, t.ns
		r.route.move = router.Move{Whole: route.Whole, Multi: t.multi, Number: r.hasNumber, Batch: r.route.batch}
		// An update of one document is sent to one shard. It doesn't find documents on others.
		if route.Strict {
			t.found = func(doc bson.D) bool {
				key, ok := c.Key.Values(doc)
				return ok && slices.Contains(route.Shards, c.ShardOf(key))
			}
		}
		err = run()
		r.route.ns = store.Namespace{}
	}
	note.Code = mongoerr.CodeOf(err)
	r.engine.router.Note(*note)
	return err
}

// noteInsert notes the shard to which a document was sent, and the error of the insert.
func (r *request) noteInsert(c *store.Collection, err error) {
	if r.findSharding(c) == nil {
		return
	}
	t := r.newTouch(c.NS, router.Route{Shards: r.route.inserted})
	t.Command, t.Code = "insert", mongoerr.CodeOf(err)
	r.engine.router.Note(*t)
}
