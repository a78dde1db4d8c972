package engine

// This file has the commands that shard a collection and move its chunks, on a simulated mongos. Package router keeps
// the chunks, and the engine only the documents and indexes:
//
//	{shardCollection: "test.things", key: {tenant: 1}}
//	{split: "test.things", middle: {tenant: "m"}}
//	{moveChunk: "test.things", find: {tenant: "m"}, to: "shard1"}

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/indexes"
	"github.com/docmodel/docmodel/mongotest/internal/engine/router"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// shardCommands are known to a mongos alone. enableSharding does nothing, because every database can have sharded
// collections, as since MongoDB 6.0.
var shardCommands = []*command{
	newShardCommand("enableSharding", func(*request) (reply, error) { return nil, nil }, "primaryShard"),
	newShardCommand("listShards", listShards),
	newShardCommand("shardCollection", shardCollection, "key", "unique", "collation", "numInitialChunks",
		"presplitHashedZones", "timeseries"),
	newShardCommand("reshardCollection", reshardCollection, "key", "unique", "collation", "numInitialChunks",
		"zones", "forceRedistribution"),
	newShardCommand("split", splitChunk, "middle", "find", "bounds"),
	newShardCommand("moveChunk", moveChunk, "find", "bounds", "to"),
}

// newShardCommand returns a command that only a mongos has. On another server it is unknown.
func newShardCommand(name string, run func(r *request) (reply, error), fields ...string) *command {
	runOnMongos := func(r *request) (reply, error) {
		if r.engine.router == nil {
			return nil, mongoerr.New(mongoerr.CommandNotFound, "no such command: '%s'", r.name)
		}
		return run(r)
	}
	return &command{name: name, admin: true, fields: fields, run: runOnMongos}
}

// listShards shows the shards, all of which have the engine's address.
func listShards(r *request) (reply, error) {
	list := bson.A{}
	for i := range r.engine.router.Shards {
		name := router.Name(i)
		list = append(list, bson.D{
			{Key: "_id", Value: name},
			{Key: "host", Value: name + "/" + r.conn.address},
			{Key: "state", Value: int32(1)},
		})
	}
	return reply{{Key: "shards", Value: list}}, nil
}

// sharding is a shardCollection or reshardCollection command that has been read.
type sharding struct {
	ns     store.Namespace
	coll   *store.Collection // nil if it doesn't exist
	key    router.Key
	unique bool // the index of the key is unique
	simple bool // it names the collation {locale: "simple"}
}

// readFullName reads the collection that a command names with its database in its first field, and refuses the
// system's.
func (r *request) readFullName() (store.Namespace, error) {
	name, _ := r.body[0].Value.(string)
	db, coll, _ := strings.Cut(name, ".")
	ns, err := checkNamespace(db, coll)
	if err == nil && (strings.HasPrefix(coll, "system.") || db == "config" || db == "admin" || db == "local") {
		err = mongoerr.New(mongoerr.IllegalOperation, "can't shard system namespaces")
	}
	return ns, err
}

// readSharding reads a shardCollection or a reshardCollection command.
func readSharding(r *request) (*sharding, error) {
	ns, err := r.readFullName()
	if err != nil {
		return nil, err
	}
	a := r.args()
	a.Require("key")
	x := &sharding{ns: ns, coll: r.state().Collection(ns), unique: a.Boolean("unique", false)}
	// Options that would change where the chunks are. The others change nothing if they are false.
	for _, name := range []string{"numInitialChunks", "zones", "timeseries"} {
		a.Refuse(name)
	}
	for _, name := range []string{"presplitHashedZones", "forceRedistribution"} {
		a.Refuse(name, false)
	}
	by, given := a.Get("collation")
	x.simple = given
	if a.Collation(nil) != nil {
		a.Fail(mongoerr.New(mongoerr.BadValue, "The collation for %s must be {locale: 'simple'}, but found: %s",
			r.name, bsonval.Show(by)))
	}
	spec := a.Document("key")
	if a.Err != nil {
		return nil, a.Err
	}
	if x.key, err = router.ParseKey(spec); err != nil {
		return nil, err
	}
	if x.unique && x.key.HasHashed() {
		return nil, mongoerr.New(mongoerr.InvalidOptions,
			"Hashed shard keys cannot be declared unique. It's possible to ensure uniqueness on the "+
				"hashed field by declaring an additional (non-hashed) unique index on the field.")
	}
	return x, x.checkKind()
}

// checkKind refuses collections that can't be sharded. Chunks are in the simple order, and so a collection with another
// default collation is only sharded if the command names the simple collation.
func (x *sharding) checkKind() error {
	c := x.coll
	switch {
	case c == nil:
	case c.View != nil:
		return store.NewOnView(x.ns)
	case c.Capped != nil:
		return mongoerr.New(mongoerr.InvalidOptions, "can't shard a capped collection")
	case c.Series != nil:
		return mongoerr.New(mongoerr.NotImplemented, "sharded time series collections aren't implemented")
	case c.Collation != nil && !x.simple:
		return mongoerr.New(mongoerr.BadValue,
			"Collection has default collation: %s. Must specify collation {locale: 'simple'}",
			store.Show(c.Collation.Document()))
	}
	return nil
}

// shardCollection shards a collection, and makes the collection if it doesn't exist. On an empty collection it builds
// the index of the key. Sharding again by the same key is no error.
func shardCollection(r *request) (reply, error) {
	x, err := readSharding(r)
	if err != nil {
		return nil, err
	}
	success := reply{{Key: "collectionsharded", Value: x.ns.String()}}
	if old := r.findSharding(x.coll); old != nil {
		if old.Key.IsSame(x.key) && old.Unique == x.unique {
			return success, nil
		}
		return nil, mongoerr.New(mongoerr.AlreadyInitialized, "sharding already enabled for collection %s", x.ns)
	}
	shard := func(w *store.Writer) error {
		if w.Collection(x.ns) == nil {
			if err := w.Create(x.ns, nil); err != nil {
				return err
			}
		}
		if err := x.ensureIndex(w, false); err != nil {
			return err
		}
		c := w.Collection(x.ns)
		r.engine.router.Put(string(c.UUID.Data), r.engine.router.Shard(x.key, x.unique, isEmpty(c)))
		return nil
	}
	return success, r.write(shard)
}

// reshardCollection gives a sharded collection another key. The documents are spread over the shards anew, by their
// values of the key.
func reshardCollection(r *request) (reply, error) {
	x, err := readSharding(r)
	if err != nil {
		return nil, err
	}
	old := r.findSharding(x.coll)
	switch {
	case old == nil:
		return nil, newNotShardedError(x.ns)
	case x.unique:
		return nil, mongoerr.New(mongoerr.BadValue, "reshardCollection can't make the shard key unique")
	case old.Key.IsSame(x.key):
		return nil, nil
	}
	reshard := func(w *store.Writer) error {
		if err := x.ensureIndex(w, true); err != nil {
			return err
		}
		c := w.Collection(x.ns)
		var values [][]any
		for rec := range c.Records.All() {
			v, ok := x.key.Values(rec.Doc)
			if !ok {
				return mongoerr.New(mongoerr.ShardKeyNotFound,
					"Shard key cannot contain array values or array descendants.")
			}
			values = append(values, v)
		}
		r.engine.router.Put(string(c.UUID.Data), r.engine.router.Spread(x.key, false, values))
		return nil
	}
	return nil, r.write(reshard)
}

// newNotShardedError returns the error of a collection that isn't sharded.
func newNotShardedError(ns store.Namespace) error {
	return mongoerr.New(mongoerr.NamespaceNotSharded, "Namespace %s is not sharded.", ns)
}

// isEmpty reports whether a collection has no documents.
func isEmpty(c *store.Collection) bool {
	for range c.Records.All() {
		return false
	}
	return true
}

// ensureIndex refuses unique indexes that shards can't keep, and looks for an index that begins with the shard key. If
// there is none, it builds one on an empty collection, or if force is set. For a unique key the index must be unique
// and exactly the key.
func (x *sharding) ensureIndex(w *store.Writer, force bool) error {
	c := w.Collection(x.ns)
	// served: an index begins with the key. useful: one of these indexes isn't multikey.
	useful, served := false, false
	for _, i := range c.Indexes {
		if i.Spec.Unique && !x.key.Allows(i.Spec.Key) {
			return mongoerr.New(mongoerr.InvalidOptions,
				"can't shard collection '%s' with unique index on %s and proposed shard key %s. "+
					"Uniqueness can't be maintained unless shard key is a prefix", x.ns, store.Show(i.Spec.Key),
				store.Show(x.key.Document()))
		}
		if !servesKey(x.key, i) && !(x.key.Serves(i.Spec.Key) && i.IsMultikey()) {
			continue
		}
		same := len(i.Spec.Key) == len(x.key)
		if x.unique && same && !i.Spec.Unique {
			return mongoerr.New(mongoerr.InvalidOptions,
				"can't shard collection %s, %s index not unique, and unique index explicitly specified",
				x.ns, store.Show(i.Spec.Key))
		}
		if !x.unique || same {
			served = true
			useful = useful || !i.IsMultikey()
		}
	}
	switch {
	case useful:
		return nil
	// An index that begins with the key exists, and can't be used: another one isn't built beside it.
	case served:
		return mongoerr.New(mongoerr.InvalidOptions,
			"couldn't find valid index for shard key: an index over %s is multikey",
			store.Show(x.key.Document()))
	case !force && !isEmpty(c):
		return mongoerr.New(mongoerr.InvalidOptions,
			"Please create an index that starts with the proposed shard key before sharding the collection")
	}
	return x.buildIndex(w, c)
}

// buildIndex builds the index of the key, with the simple collation.
func (x *sharding) buildIndex(w *store.Writer, c *store.Collection) error {
	spec := bson.D{{Key: "key", Value: x.key.Document()}, {Key: "unique", Value: x.unique}}
	if c.Collation != nil {
		spec = append(spec, bson.E{Key: "collation", Value: bson.D{{Key: "locale", Value: "simple"}}})
	}
	spec = append(spec, bson.E{Key: "name", Value: makeKeyIndexName(x.key.Document())})
	s, err := indexes.Read(&args.Reader{Place: "createIndexes.indexes", Doc: spec}, c)
	if err != nil {
		return err
	}
	_, err = indexes.Build(w, x.ns, s)
	return err
}

// makeKeyIndexName makes the name of the index of a shard key: {tenant: 1, n: "hashed"} gives tenant_1_n_hashed.
func makeKeyIndexName(key bson.D) string {
	var parts []string
	for _, e := range key {
		kind, hashed := e.Value.(string)
		if !hashed {
			kind = "1"
		}
		parts = append(parts, e.Key+"_"+kind)
	}
	return strings.Join(parts, "_")
}

// readPlacement returns the sharded collection that split or moveChunk names, as the store and as the router has it.
func (r *request) readPlacement() (*store.Collection, *router.Collection, error) {
	ns, err := r.readFullName()
	if err != nil {
		return nil, nil, err
	}
	coll := r.state().Collection(ns)
	c := r.findSharding(coll)
	if c == nil {
		return nil, nil, newNotShardedError(ns)
	}
	return coll, c, nil
}

// splitChunk splits the chunk that contains a key, at this key. The engine has no documents to count, so find and
// bounds, which split in the middle of a chunk, are refused.
func splitChunk(r *request) (reply, error) {
	coll, c, err := r.readPlacement()
	if err != nil {
		return nil, err
	}
	a := r.args()
	a.Require("middle")
	a.Refuse("find")
	a.Refuse("bounds")
	middle := a.Document("middle")
	if a.Err != nil {
		return nil, a.Err
	}
	// A router.Collection never changes: the next one takes its place.
	next, err := c.Split(middle)
	if err == nil {
		r.engine.router.Put(string(coll.UUID.Data), next)
	}
	return nil, err
}

// moveChunk moves a chunk to another shard: the chunk of a document that find describes, or the chunk with these
// bounds.
func moveChunk(r *request) (reply, error) {
	coll, c, err := r.readPlacement()
	if err != nil {
		return nil, err
	}
	a := r.args()
	a.Require("to")
	to, find, bounds := a.Text("to"), a.Document("find"), a.Documents("bounds")
	if a.Err == nil && a.HasField("find") == a.HasField("bounds") || a.HasField("bounds") && len(bounds) != 2 {
		a.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"either the 'find' or the 'bounds' parameter must be set, the latter with two keys"))
	}
	if a.Err != nil {
		return nil, a.Err
	}
	for shard := range r.engine.router.Shards {
		if router.Name(shard) != to {
			continue
		}
		next := (*router.Collection)(nil)
		if find != nil {
			next, err = c.MoveFound(find, shard)
		} else {
			next, err = c.MoveBounds(bounds[0], bounds[1], shard)
		}
		if err == nil {
			r.engine.router.Put(string(coll.UUID.Data), next)
		}
		return nil, err
	}
	return nil, mongoerr.New(mongoerr.ShardNotFound, "Could not find shard %s", to)
}
