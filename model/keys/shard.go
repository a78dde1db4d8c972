package keys

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ShardSpec contains the options of a [Shard].
type ShardSpec struct {
	// Unique makes the whole key unique. A hashed key can't be unique.
	Unique bool

	// Moves allows [Shard.ChangeKey]. With Moves, more commands go to all shards: see
	// [model.ShardKey].
	Moves bool

	// Tenant lists the fields of [model.Scope].Tenant. Set Tenant if all operations run
	// in a Scope. The key must begin with the listed fields. Create all indexes by
	// [model.Scope.Indexes].
	Tenant []string

	// Collated says that the collection has a default collation. A string in a query
	// doesn't select shards, unless the query has the collation {locale: "simple"}. On
	// the empty collection, [Shard.Command] creates the key's index with the simple
	// collation.
	Collated bool
}

// Shard is a shard key, which divides a collection's documents among shards. A document's
// shard depends on values ({device: 1}) or on hashes ({device: "hashed"}).
//
// Choose fields with many values and no frequent value: see [Shard.Distribution]. Most
// queries should filter by these fields: see [Targets].
//
// The methods follow MongoDB 7.0 and 8.0. The tests used only a simulated cluster
// (mongotest.Shards).
//
// Source: data modeling for Azure Cosmos DB. Manual: "Shard Keys", "Choose a Shard Key".
//
// # Indexes
//
// Indexes returns the index that the key needs, unless the key is {_id: 1}.
type Shard[D any] struct {
	model.Parts
	s *shard
}

// NewShard declares a collection's shard key: the paths in order, each with 1 or
// "hashed". An invalid key or spec panics with a [*model.DeclarationError]: a path that
// the documents lack, an array, two hashed fields, or a unique hashed key.
func NewShard[D, K any](docs *model.Collection[D, K], key bson.D, spec ShardSpec) *Shard[D] {
	out := &Shard[D]{model.Parts{}, declareShard(docs.Docs(), key, spec)}
	out.Parts = model.NewParts(out.indexes, nil, nil, out.s.footprints).WithDocs(docs.Docs()).
		WithReactions(out.s.reactions)
	return out
}

// Command returns the command that shards the collection in database db. Run it on the
// database admin, through a mongos. A collection with documents needs the index of
// [Shard].Indexes first. Only [Shard.Reshard] or unshardCollection (MongoDB 8.0) undoes
// it. Manual: "shardCollection".
//
//	client.Database("admin").RunCommand(ctx, byDevice.Command("iot"))
func (x *Shard[D]) Command(db string) bson.D { return x.s.command("shardCollection", db) }

// Reshard returns the command that replaces the shard key of the collection in database
// db (since MongoDB 5.0). The command rewrites all documents. Run the command like
// [Shard.Command]. With [ShardSpec].Unique, first create the index of [Shard].Indexes.
// In this case, the new key must begin with the old key. Manual: "reshardCollection".
func (x *Shard[D]) Reshard(db string) bson.D { return x.s.command("reshardCollection", db) }

// ShardKey returns the key for [model.Model.On], which adds the key's fields to filters
// by _id: see [model.ShardKey].
func (x *Shard[D]) ShardKey() model.ShardKey {
	return model.ShardKey{Collection: x.s.Name(), Fields: x.s.paths(), Moves: x.s.spec.Moves}
}

// ChangeKey returns the write that changes a document's shard key. oldKey contains every
// field of the key with its stored value. newKey contains only the fields that change. A
// retry is safe. A document with neither the old nor the new key gives [model.ErrStale].
//
// [ShardSpec].Moves must be set. Don't put other writes into the same plan or bulk write.
// Send a retryable write (the driver's default), or use a transaction.
//
// Cost: one command, one document. Manual: "Change a Document's Shard Key Value".
func (x *Shard[D]) ChangeKey(id any, oldKey, newKey bson.D) model.Write {
	return x.s.changeKey(id, oldKey, newKey)
}

// Targets returns how many shards a command is sent to, by the model's shard keys: one
// [Target], or one for each step of a plan, as if the step was sent alone. For a
// [model.Find] f, pass f.Query.
//
// The database of [model.Model.On] adds shard key fields to filters by _id. Targets
// ignores these fields, so a Target can show too many shards.
//
// # Queries
//
// Equality, $in or a range on the key's first field can exclude shards. Conditions on the
// key's next fields can exclude more. These conditions exclude no shards:
//
//   - a range on a hashed field
//   - $ne, $not, $elemMatch, $all, $expr and unanchored regular expressions
//   - an $or, if the query also limits the first field
//   - strings and embedded documents, with a collation other than "simple"
//
// Only the leading $match stages of an aggregation can exclude shards. Collections of a
// $lookup are ignored. For a [model.MergeInto], the Target describes only the shards that
// are read.
//
// # Writes
//
//   - Insert: the shard of the document's key.
//   - updateMany, deleteMany: all shards, or one shard if only this shard can match.
//   - updateOne, deleteOne by the whole key: one shard.
//   - updateOne, deleteOne by the _id, without the whole key: all shards.
//   - updateOne, deleteOne by other fields: as a query. Only MongoDB 7.1 and later allow
//     several shards.
//   - findAndModify: as updateOne. Before MongoDB 7.1, it needs the whole shard key.
//   - replaceOne by the _id: the shard of the replacement's key.
//   - replaceOne by other fields: all shards, or one shard if only this shard can match.
//   - Upsert: the filter needs the whole key by equality.
//   - A change of the key: see [Shard.ChangeKey].
//
// A bulk write of several steps goes to the shards of all these steps.
//
// Manual: "Targeted Operations vs. Broadcast Operations", "Missing Shard Key Fields",
// "db.collection.updateOne()", "db.collection.replaceOne()", "findAndModify", "Sharded
// Collections".
func Targets[C model.Query | model.Aggregation | model.FindAndModify | model.Write | model.Plan](
	m *model.Model, command C,
) []Target {
	if m == nil {
		core.Fail("the model is nil", "Targets", "give a result of model.New")
	}
	if plan, ok := any(command).(model.Plan); ok {
		out := make([]Target, 0, len(plan.Steps))
		for _, step := range plan.Steps {
			out = append(out, targetOf(m, step))
		}
		return out
	}
	return []Target{targetOf(m, command)}
}

func (x *Shard[D]) sharding() *shard { return x.s }

func (x *Shard[D]) indexes() []model.Index {
	if len(x.s.key) == 1 && x.s.key[0].path == "_id" && !x.s.key[0].hashed {
		return nil
	}
	return []model.Index{x.s.index()}
}

// Check reports the techniques' unique indexes that can't exist with the shard key. A
// unique index must begin with _id or with the whole shard key. Pass an index of your own
// with [model.Entity]. Manual: "Shard Key Indexes", "Unique Indexes".
//
// If the shard key isn't _id, two shards can store the same _id. Check doesn't report
// techniques that need a unique _id: reservations, locks and counters.
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

// Distribution returns how a sample of documents would be distributed over shards. To
// detect increasing keys, pass the documents in insertion order. A bad spec, or a
// document that can't be stored under the key, gives a [*model.ValueError].
func (x *Shard[D]) Distribution(docs []D, spec SampleSpec) (Distribution, error) {
	return x.s.distribution(len(docs), func(i int) any { return docs[i] }, spec)
}
