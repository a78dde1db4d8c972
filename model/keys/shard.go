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

	// Moves allows [Shard.ChangeKey] to change a document's key. With Moves, fewer
	// filters get the key's fields, and more commands go to all shards: see
	// [model.ShardKey].
	Moves bool

	// Tenant lists the fields of [model.Scope].Tenant. Set it if all operations run in
	// such a Scope and the key begins with these fields. [Shard.Check] then assumes that
	// other indexes also begin with these fields: see [model.Scope.Indexes].
	Tenant []string

	// Collated says that the collection has a default collation. A query for a text then
	// goes to all shards, unless it has the collation {locale: "simple"}. The key's index
	// must have that collation. [model.Index] can't declare it: let the server create
	// the index on the empty collection.
	Collated bool
}

// Shard is a shard key: the fields that divide a collection's documents among the shards
// of a cluster. A shard has ranges of values ({device: 1, at: 1}) or ranges of hashes
// ({device: "hashed"}).
//
// Choose fields that most queries filter by. The fields need many values and no frequent
// value. See [Shard.Find] and [Shard.Distribution].
//
// The methods follow the rules of MongoDB 7.0 and 8.0. The tests used only a simulated
// cluster (modeltest.WithShards).
//
// Source: data modeling for Azure Cosmos DB. Manual: "Shard Keys", "Choose a Shard Key".
//
// Indexes returns the index that the key needs, unless the key is {_id: 1}.
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

// Reshard returns the command that gives a sharded collection in database db this key.
// The command needs MongoDB 5.0 and rewrites all documents. Run it like the command of
// [Shard.Command]. With [ShardSpec].Unique, first create the index of [Shard.Indexes].
// MongoDB creates it only if the new key begins with the old key. Manual:
// "reshardCollection".
func (x *Shard[D]) Reshard(db string) bson.D { return x.s.command("reshardCollection", db) }

// ShardKey returns the key for [model.Model.On], which adds the key's fields to filters
// by _id: see [model.ShardKey].
func (x *Shard[D]) ShardKey() model.ShardKey {
	return model.ShardKey{Collection: x.s.Name(), Fields: x.s.paths(), Moves: x.s.spec.Moves}
}

// ChangeKey returns the write that gives a document another shard key. oldKey lists every
// field of the key with its stored value. newKey lists only the fields that change. A
// retry is safe. The write gives [model.ErrStale] if the document has neither key.
//
// [ShardSpec].Moves must be set. Don't put the write into a plan or bulk write with other
// writes. Send it as a retryable write (the driver's default) or in a transaction.
//
// Cost: one command, one document. Manual: "Change a Document's Shard Key Value".
func (x *Shard[D]) ChangeKey(id any, oldKey, newKey bson.D) model.Write {
	return x.s.changeKey(id, oldKey, newKey)
}

// Targets returns the shards that each step of a plan is sent to, by the shard keys of a
// model. On a database that [model.Model.On] returns, filters by _id also get the shard
// key's fields. There a step may go to fewer shards than Targets returns.
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

// Find returns the shards that a query is sent to. For a [model.Find] f, pass f.Query.
// Manual: "Targeted Operations vs. Broadcast Operations".
//
// Equality, $in or a range on the key's first field can exclude shards. Conditions on the
// next fields can exclude more shards.
//
//   - A hashed field needs equality or $in.
//   - Find ignores $ne, $not, $elemMatch, $all, $expr, unanchored regular expressions,
//     and an $or beside another condition on the first field.
//   - With a collation other than "simple", Find ignores conditions with strings or
//     embedded documents.
func (x *Shard[D]) Find(q model.Query) Target { return x.s.find(q) }

// Aggregate returns the shards that a pipeline is sent to, by its leading $match stages.
// Collections of a $lookup are ignored.
func (x *Shard[D]) Aggregate(a model.Aggregation) Target { return x.s.aggregate(a) }

// Modify returns the shards that a findAndModify is sent to, by the rules of
// [Shard.Write]. Before MongoDB 7.1 a findAndModify needs the whole key. Manual:
// "findAndModify", "Sharded Collections".
func (x *Shard[D]) Modify(m model.FindAndModify) Target { return x.s.modify(m) }

// Write returns the shards that a write is sent to, or why the write is refused.
//
//   - Insert: the shard of the document's key.
//   - updateMany, deleteMany: one shard if it owns all keys that the filter can match. If
//     not, all shards.
//   - updateOne, deleteOne: one shard if the filter has the whole key. With only the _id,
//     all shards. For other filters, the shards of [Shard.Find]: before MongoDB 7.1, this
//     must be one shard.
//   - replaceOne by the _id: the shard of the replacement's key.
//   - Upsert: the filter needs the whole key, by equality.
//   - A change of the key: see [Shard.ChangeKey].
//
// Manual: "Missing Shard Key Fields", "db.collection.updateOne()",
// "db.collection.replaceOne()".
func (x *Shard[D]) Write(w model.Write) Target { return x.s.write(w) }

// Plan returns a [Target] for each step of a plan, as if the step was sent alone. A bulk
// write of several steps goes to the shards of all these steps. The Target of a $merge
// has only the shards that the $merge reads from.
func (x *Shard[D]) Plan(p model.Plan) []Target {
	out := make([]Target, 0, len(p.Steps))
	for _, step := range p.Steps {
		out = append(out, x.s.step(step))
	}
	return out
}

// Check reports unique indexes of the techniques that can't exist with the shard key,
// each with a remedy. A unique index must begin with all fields of the shard key, in
// order. Pass an index of your own with [model.Entity]. Manual: "Shard Key Indexes",
// "Unique Indexes".
//
// Check doesn't report this: with another shard key than _id, the _id is unique on each
// shard only. Some techniques need a unique _id: a reservation, a lock, a counter.
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
