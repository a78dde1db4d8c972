package keys

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ShardSpec contains the options of a [Shard].
type ShardSpec struct {
	// Unique makes the whole key unique. With a hashed key, [NewShard] then panics.
	Unique bool

	// Moves allows documents to change their key, by [Shard.ChangeKey]. Fewer commands
	// are then sent with the key: see [model.ShardKey].
	Moves bool

	// Tenant lists the fields of [model.Scope].Tenant. Set it if all operations run in
	// such a Scope and the key begins with these fields. [Shard.Check] then assumes that
	// other indexes begin with them too, as [model.Scope.Indexes] makes them.
	Tenant []string

	// Collated says that the collection has a default collation. Queries for texts are
	// then targeted only with the collation {locale: "simple"}. The key's index needs
	// that collation too, which [model.Index] can't declare: let the server create the
	// index on the empty collection.
	Collated bool
}

// Shard is a shard key: the fields that divide a collection's documents among the shards
// of a cluster, by ranges of their values ({device: 1, at: 1}) or of a hash
// ({device: "hashed"}).
//
// A good key has many values, none of them frequent, and divides the writes of each
// moment among the shards: see [Shard.Distribution]. Most queries contain a good key, and
// so go to one shard: see [Shard.Find].
//
// The methods' results are tested against a simulated cluster (modeltest.WithShards) with
// the rules of MongoDB 7.0 and 8.0, not against a real cluster.
//
// Source: data modeling for Azure Cosmos DB. Manual: "Shard Keys", "Choose a Shard Key".
//
// Indexes returns the index that the key needs, unless the key is {_id: 1}. A longer
// index that begins with the key's fields is enough.
type Shard[D any] struct {
	model.Parts
	s *shard
}

// NewShard declares a collection's shard key: its fields in order, each 1 or "hashed". It
// panics with a [*model.DeclarationError] for a key that MongoDB refuses (a path through
// an array, two hashed fields, a unique hashed key), and if the documents don't have a
// path.
func NewShard[D, K any](docs *model.Collection[D, K], key bson.D, spec ShardSpec) *Shard[D] {
	out := &Shard[D]{model.Parts{}, declareShard(docs.Docs(), key, spec)}
	out.Parts = model.NewParts(out.indexes, nil, nil, out.s.footprints)
	return out
}

// Command returns the command that shards the collection in database db. Run it on the
// database admin, through a mongos. A collection with documents needs the index of
// [Shard.Indexes] first. Only [Shard.Reshard] or unshardCollection (MongoDB 8.0) undoes
// it. Manual: "shardCollection".
//
//	client.Database("admin").RunCommand(ctx, byDevice.Command("iot"))
func (x *Shard[D]) Command(db string) bson.D { return x.s.command("shardCollection", db) }

// Reshard returns the command that changes the key of a sharded collection in database db
// to this key, from MongoDB 5.0 on. Run it on the database admin, through a mongos. The
// command rewrites all documents. With [ShardSpec].Unique, first create the unique index
// of [Shard.Indexes]. The server allows that only if this key begins with the fields of
// the old key. Manual: "reshardCollection".
func (x *Shard[D]) Reshard(db string) bson.D { return x.s.command("reshardCollection", db) }

// ShardKey returns the key for a [model.Model], whose On adds it to filters by _id: see
// [model.ShardKey].
func (x *Shard[D]) ShardKey() model.ShardKey {
	return model.ShardKey{Collection: x.s.Name(), Fields: x.s.paths(), Moves: x.s.spec.Moves}
}

// ChangeKey returns the write that gives a document another shard key. oldKey lists every
// field of the key with its stored value. newKey lists the fields
// that change with their new values. The write can be run again. Running it returns
// [model.ErrStale] if the document has another key now.
//
// Run it alone: MongoDB requires a retryable write, which is the driver's default, or a
// transaction. Without [ShardSpec].Moves the write is refused with a
// [*model.ValueError]. It is also refused if oldKey lacks a field of the key, or newKey
// contains another field, an array or the _id.
//
// Cost: one command, one document. Manual: "Change a Document's Shard Key Value".
func (x *Shard[D]) ChangeKey(id any, oldKey, newKey bson.D) model.Write {
	return x.s.changeKey(id, oldKey, newKey)
}

// Targets returns the shards that each step of a plan is sent to, by the shard keys of a
// model. A database of [model.Model.On] adds key fields to filters by _id, so a step may
// go to fewer shards there.
func Targets(m *model.Model, p model.Plan) []Target {
	if m == nil {
		core.Fail("the model is nil", "Targets", "give a result of model.New")
	}
	return targets(m, p)
}

func (x *Shard[D]) sharding() *shard { return x.s }

func (x *Shard[D]) indexes() []model.Index {
	if len(x.s.key) == 1 && x.s.key[0].path == "_id" && !x.s.key[0].hashed {
		return nil
	}
	return []model.Index{x.s.index()}
}

// Find returns the shards that a query is sent to. For a [model.Find] f, call
// byDevice.Find(f.Query). Manual: "Targeted Operations vs. Broadcast Operations".
//
// A query is targeted (not sent to all shards) by equality on the first fields of the
// key. The next field of the key may have several values, or ranges.
//
//   - With the key {device: 1, at: 1}, the filter {device: {$in: [a, b]}, at: 1} asks for
//     two values. {device: {$in: [a, b]}, at: {$in: [1, 2]}} asks for two ranges:
//     everything from (a, 1) to (a, 2), and from (b, 1) to (b, 2).
//   - The branches of an $or are combined field by field: (a, 1) or (b, 2) counts as
//     device a or b, with at 1 or 2.
//   - A hashed field is targeted by equality only.
//   - Equality with null counts as two values unless the whole key is given.
//   - Find ignores $ne, $not, $elemMatch, $all, $expr, an unanchored regular expression,
//     and an $or beside conditions on the first field.
//   - If a query has its own collation, strings in its filter don't target it.
func (x *Shard[D]) Find(q model.Query) Target { return x.s.find(q) }

// Aggregate returns the shards that a pipeline is sent to, by its leading $match stages.
// Collections of a $lookup are ignored.
func (x *Shard[D]) Aggregate(a model.Aggregation) Target { return x.s.aggregate(a) }

// Modify returns the shards that a findAndModify is sent to, by the rules of
// [Shard.Write]. Before MongoDB 7.1 a findAndModify needs the whole key. Manual:
// "findAndModify", "Sharded Collections".
func (x *Shard[D]) Modify(m model.FindAndModify) Target { return x.s.modify(m) }

// Write returns the shards that a write is sent to, or why it is refused.
//
//   - An insert goes to the shard of its key. A missing field counts as null (since
//     MongoDB 4.4). An array is refused. Manual: "Missing Shard Key Fields".
//   - updateMany and deleteMany go to one shard if that shard owns all keys that the
//     filter can match. Otherwise they go to all shards; in a transaction, only to the
//     shards that own such keys.
//   - updateOne and deleteOne go to one shard if the filter has the whole key. With only
//     the _id in the filter, they go to all shards. With neither, since MongoDB 7.1 they
//     are sent like a query. Earlier versions refuse the write unless one shard owns all
//     keys that the filter can match. Manual: "db.collection.updateOne()".
//   - replaceOne by the _id goes only to the shard of the replacement's key: it finds no
//     document elsewhere. Manual: "db.collection.replaceOne()".
//   - An upsert needs the whole key in its filter, by equality.
//   - A change of the key moves the document, even if only a number's type changes. Such
//     a change needs updateOne, replaceOne or findAndModify with the whole key in the
//     filter, alone or in a transaction: see [Shard.ChangeKey]. An _id can't change.
func (x *Shard[D]) Write(w model.Write) Target { return x.s.write(w) }

// Plan returns the shards that each step of a plan is sent to. A command that sends
// several steps goes to the shards of all of them. For a $merge, Plan returns the shards
// that the $merge reads from.
func (x *Shard[D]) Plan(p model.Plan) []Target {
	out := make([]Target, 0, len(p.Steps))
	for _, step := range p.Steps {
		out = append(out, x.s.step(step))
	}
	return out
}

// Check returns the unique indexes of the given techniques that the shard key makes
// impossible, each with a remedy. A unique index must begin with all fields of the key,
// in order, in any direction. Pass an index of your own with [model.Entity]. Manual:
// "Shard Key Indexes", "Unique Indexes".
//
// Check accepts an index that begins with _id, as MongoDB does. Such an index is unique
// on each shard only, unless the key is {_id: 1} or {_id: "hashed"}. For techniques that
// rely on a unique _id (a reservation, a lock, a counter), don't shard by another key.
func (x *Shard[D]) Check(techniques ...model.Technique) []*model.DeclarationError {
	var list []model.Index
	for i, t := range techniques {
		if t == nil {
			core.Fail(fmt.Sprintf("technique %d is nil", i), "Shard.Check of "+x.s.Name(), "give a result of a constructor")
		}
		list = append(list, t.Indexes()...)
	}
	return x.s.checkIndexes(list)
}

// Distribution returns how a sample of documents would be distributed over shards. Pass
// the documents in the order of storing, to detect increasing keys. It returns a
// [*model.ValueError] for a bad spec or a document that can't be stored under the key.
func (x *Shard[D]) Distribution(docs []D, spec SampleSpec) (Distribution, error) {
	return x.s.distribution(len(docs), func(i int) any { return docs[i] }, spec)
}
