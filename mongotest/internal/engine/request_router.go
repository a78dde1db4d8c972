package engine

// This file asks the router for each command where it is sent, and notes it, if the engine simulates a mongos.
// router_write.go does so for updates and deletes, router_index.go for indexes. Package router has the rules.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/changestream"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/router"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// SetRouter makes the engine a mongos. Call it before using the engine.
func (e *Engine) SetRouter(r *router.Router) { e.router = r }

// findSharding returns how a collection is sharded, nil if it isn't.
func (r *request) findSharding(c *store.Collection) *router.Collection {
	if r.engine.router == nil || c == nil {
		return nil
	}
	return r.engine.router.FindCollection(string(c.UUID.Data))
}

// makeRouterFilter returns the filter of a command or a statement as the router reads it. fields has the collation, if
// there is one. Chunks are ranges of the simple order, so strings give no bounds under a collation.
func makeRouterFilter(fields, filter bson.D, c *store.Collection) router.Filter {
	a := &args.Reader{Doc: fields}
	by := a.Collation(c)
	return router.Filter{Query: filter, Collated: by != nil, Foreign: !collation.IsSame(by, c.Collation)}
}

// runRouted runs the command, and notes to which shards a read of a sharded collection is sent, and with which error it
// ended. Writes note themselves, statement by statement.
func (r *request) runRouted() (reply, error) {
	t := r.readTouch()
	rep, err := r.command.run(r)
	if t != nil {
		t.Code = mongoerr.CodeOf(err)
		r.engine.router.Note(*t)
	}
	return rep, err
}

// readTouch returns where a read is sent, nil for another command or a collection that isn't sharded. It reads the
// command's fields without errors: the command itself reports them.
func (r *request) readTouch() *router.Touch {
	if r.engine.router == nil {
		return nil
	}
	name, _ := r.body[0].Value.(string)
	ns, stages, err := forms.ResolveView(r.state(), store.Namespace{DB: r.db, Coll: name})
	coll := r.state().Collection(ns)
	c := r.findSharding(coll)
	if err != nil || c == nil {
		return nil
	}
	a := &args.Reader{Doc: r.body}
	filter := bson.D{}
	switch r.command.name {
	case "find":
		filter = a.Document("filter")
	case "count", "distinct":
		filter = a.Document("query")
	case "aggregate":
		if stages = slices.Concat(stages, a.Array("pipeline")); changestream.IsOpenedBy(stages) {
			return r.newTouch(ns, router.Route{Shards: c.All(), Broadcast: true})
		}
	default:
		return nil
	}
	if r.command.name != "aggregate" {
		stages = append(slices.Clip(stages), bson.D{{Key: "$match", Value: filter}})
	}
	return r.newTouch(ns, c.Find(makeRouterFilter(r.body, joinLeadingMatches(stages), coll)))
}

// joinLeadingMatches returns the filter of the $match stages at the beginning of a pipeline. Later stages don't decide
// where it is sent.
func joinLeadingMatches(stages bson.A) bson.D {
	all := bson.A{}
	for _, v := range stages {
		d, _ := v.(bson.D)
		if len(d) != 1 || d[0].Key != "$match" {
			break
		}
		all = append(all, d[0].Value)
	}
	return bson.D{{Key: "$and", Value: all}}
}

// newTouch returns the note that a command was sent to shards. The caller may set the name of a statement's command.
func (r *request) newTouch(ns store.Namespace, route router.Route) *router.Touch {
	return &router.Touch{
		Command: r.command.name, Database: ns.DB, Collection: ns.Coll, Shards: router.Names(route.Shards),
		Broadcast: route.Broadcast,
	}
}

// routing is the knowledge of a request about the statement that runs, so that placeDocument can judge the documents
// that the statement stores.
type routing struct {
	router.Route
	ns       store.Namespace // empty outside of an update or a delete
	move     router.Move     // whether the statement may change a shard key
	batch    int             // how many statements the command has
	inserted []int           // the shard of the latest new document
}

// wrapPlacedWrite returns fn as a write whose documents the router checks.
func (r *request) wrapPlacedWrite(fn func(w *store.Writer) error) func(w *store.Writer) error {
	return func(w *store.Writer) error {
		w.Placed = func(ns store.Namespace, old, next bson.D) error { return r.placeDocument(w, ns, old, next) }
		return fn(w)
	}
}

// placeDocument refuses a document that MongoDB would refuse because of its shard key, and notes the shard of a new
// document. old is nil for an insert. Deletions aren't checked.
func (r *request) placeDocument(w *store.Writer, ns store.Namespace, old, next bson.D) error {
	coll := w.Collection(ns)
	c := r.findSharding(coll)
	if c == nil {
		return nil
	}
	// Only the statement of an update may move a document to another shard. $merge may not.
	move := router.Move{}
	if r.route.ns == ns {
		move = r.route.move
	}
	if old != nil {
		return c.Update(old, next, move)
	}
	r.route.inserted = nil
	shard, err := c.Insert(next)
	if err == nil && r.route.ns == ns {
		err = c.Upsert(next, r.route.Shards, move)
	}
	if err != nil {
		return err
	}
	r.route.inserted = []int{shard}
	return r.checkSameID(coll, c, next, shard)
}

// checkSameID refuses a document whose _id is on another shard. A real cluster would store both, but the store has one
// index on _id for all shards. A document on the same shard is a duplicate key, which the store finds.
func (r *request) checkSameID(coll *store.Collection, c *router.Collection, doc bson.D, shard int) error {
	id, _ := bsonval.Get(doc, "_id")
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: id}}}}
	p, err := plan.Choose(coll, plan.Query{Filter: filter, Matcher: query.MustParse(filter), Watch: r.watch})
	if err != nil {
		return err
	}
	old, err := p.Open().Next()
	if old == nil || err != nil {
		return err
	}
	if key, ok := c.Key.Values(old.Doc); ok && c.ShardOf(key) != shard {
		return mongoerr.New(mongoerr.NotImplemented,
			"%s has a document with the _id %s already, and MongoDB would store another on %s: "+
				"the simulated cluster can't", router.Name(c.ShardOf(key)), bsonval.Show(id), router.Name(shard))
	}
	return nil
}
