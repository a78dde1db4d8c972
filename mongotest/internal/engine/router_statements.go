package engine

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

// sharded returns how a collection is sharded, nil if it isn't.
func (r *request) sharded(c *store.Collection) *router.Collection {
	if r.engine.router == nil || c == nil {
		return nil
	}
	return r.engine.router.Sharded(string(c.UUID.Data))
}

// filterOf is a filter of a command or a statement that has these fields.
func filterOf(fields, filter bson.D, c *store.Collection) router.Filter {
	a := &args.Reader{Doc: fields}
	by := a.Collation(c)
	return router.Filter{Query: filter, Collated: by != nil, Foreign: !collation.Same(by, c.Collation)}
}

// runRouted runs the command, and notes where a read of a sharded collection is sent.
func (r *request) runRouted() (reply, error) {
	t := r.readTouch()
	rep, err := r.command.run(r)
	if t != nil {
		t.Code = mongoerr.CodeOf(err)
		r.engine.router.Note(*t)
	}
	return rep, err
}

// readTouch says where a read is sent, nil for another command or collection.
func (r *request) readTouch() *router.Touch {
	if r.engine.router == nil {
		return nil
	}
	name, _ := r.body[0].Value.(string)
	ns, stages, err := forms.ResolveView(r.state(), store.Namespace{DB: r.db, Coll: name})
	coll := r.state().Collection(ns)
	c := r.sharded(coll)
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
			return r.touch(ns, router.Route{Shards: c.All(), Broadcast: true})
		}
	default:
		return nil
	}
	if r.command.name != "aggregate" {
		stages = append(slices.Clip(stages), bson.D{{Key: "$match", Value: filter}})
	}
	return r.touch(ns, c.Find(filterOf(r.body, leadingMatch(stages), coll)))
}

// leadingMatch is what the $match stages at the beginning of a pipeline ask for together.
func leadingMatch(stages bson.A) bson.D {
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

func (r *request) touch(ns store.Namespace, route router.Route) *router.Touch {
	return &router.Touch{
		Command: r.command.name, Database: ns.DB, Collection: ns.Coll, Shards: router.Names(route.Shards),
		Broadcast: route.Broadcast,
	}
}

// routing is what a request knows of the statement that runs.
type routing struct {
	router.Route
	ns       store.Namespace // "" outside of an update or a delete
	move     router.Move
	batch    int // how many statements the command has
	inserted []int
}

// change is a statement of an update or a delete, as the router asks for it.
type change struct {
	command     string
	fields      bson.D // the statement, or the command
	upsert      bool
	replacement bson.D
}

// change describes an update.
func (u *updater) change(command string, fields bson.D) change {
	x := change{command: command, fields: fields, upsert: u.upsert}
	if u.update.IsReplacement() {
		v, _ := bsonval.Get(fields, "u")
		x.replacement, _ = v.(bson.D)
	}
	return x
}

// routed runs a statement where it is sent, or refuses it.
func (r *request) routed(t *target, x change, run func() error) error {
	coll := r.state().Collection(t.ns)
	c := r.sharded(coll)
	if c == nil {
		return run()
	}
	route, err := c.Write(router.Change{
		Filter: filterOf(x.fields, t.query.Filter, coll), Command: x.command, Replacement: x.replacement,
		Multi: t.multi, Upsert: x.upsert, InTxn: r.txn != nil,
	})
	note := r.touch(t.ns, route)
	note.Command = x.command
	if err == nil {
		r.route.Route, r.route.ns = route, t.ns
		r.route.move = router.Move{Whole: route.Whole, Multi: t.multi, Number: r.hasNumber, Batch: r.route.batch}
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

// noteInsert notes where a document was sent.
func (r *request) noteInsert(c *store.Collection, err error) {
	if r.sharded(c) == nil {
		return
	}
	t := r.touch(c.NS, router.Route{Shards: r.route.inserted})
	t.Command, t.Code = "insert", mongoerr.CodeOf(err)
	r.engine.router.Note(*t)
}

// placing lets the router look at each document that a write stores.
func (r *request) placing(fn func(w *store.Writer) error) func(w *store.Writer) error {
	return func(w *store.Writer) error {
		w.Placed = func(ns store.Namespace, old, next bson.D) error { return r.place(w, ns, old, next) }
		return fn(w)
	}
}

func (r *request) place(w *store.Writer, ns store.Namespace, old, next bson.D) error {
	coll := w.Collection(ns)
	c := r.sharded(coll)
	if c == nil {
		return nil
	}
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
	return r.sameID(coll, c, next, shard)
}

// sameID refuses a document whose _id another shard has: the store has one index on _id for all shards.
func (r *request) sameID(coll *store.Collection, c *router.Collection, doc bson.D, shard int) error {
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

// allowsUnique reports whether shards can keep a unique index of that key.
func (r *request) allowsUnique(coll *store.Collection, key bson.D) bool {
	c := r.sharded(coll)
	return c == nil || c.Key.Allows(key)
}

func (r *request) brokenUnique(coll *store.Collection, key bson.D) error {
	return mongoerr.New(mongoerr.CannotCreateIndex, "cannot create unique index over %s with shard key pattern %s",
		store.Show(key), store.Show(r.sharded(coll).Key.Document()))
}

// checkSharded refuses a unique index that shards can't keep.
func (r *request) checkSharded(coll *store.Collection, s *store.IndexSpec) error {
	if s.Guards() && !r.allowsUnique(coll, s.Key) {
		return r.brokenUnique(coll, s.Key)
	}
	return nil
}

// checkKeyIndex refuses to drop the last index that serves a ranged shard key.
func (r *request) checkKeyIndex(coll *store.Collection, names []string) error {
	c := r.sharded(coll)
	if c == nil || c.Key.Hashed() {
		return nil
	}
	serves := func(x *store.Index) bool { return servesKey(c.Key, x) }
	dropped := func(x *store.Index) bool { return slices.Contains(names, x.Spec.Name) }
	if slices.ContainsFunc(coll.Indexes, func(x *store.Index) bool { return serves(x) && dropped(x) }) &&
		!slices.ContainsFunc(coll.Indexes, func(x *store.Index) bool { return serves(x) && !dropped(x) }) {
		return mongoerr.New(mongoerr.CannotDropShardKeyIndex,
			"Cannot drop the only compatible index for this collection's shard key")
	}
	return nil
}

// mayJoin reports whether $merge can find a sharded collection's documents by these fields: they have the shard key
// among them. By _id alone it does too, for which MongoDB adds the shard key.
func (r *request) mayJoin(coll *store.Collection, on []string) bool {
	c := r.sharded(coll)
	return c == nil || c.Key.Within(on) || len(on) == 1 && on[0] == "_id"
}

// mayMerge refuses a document that $merge would put on another shard than the one of its _id.
func (r *request) mayMerge(coll *store.Collection, old, doc bson.D) error {
	c := r.sharded(coll)
	if c == nil {
		return nil
	}
	was, _ := c.Key.Values(old)
	is, ok := c.Key.Values(doc)
	if ok && bsonval.Compare(bson.A(was), bson.A(is)) == 0 {
		return nil
	}
	return mongoerr.New(mongoerr.NotImplemented,
		"$merge has a document with another shard key than the one that is stored under its _id, %s: "+
			"the simulated cluster can't store both", bsonval.Show(field(old, "_id")))
}
