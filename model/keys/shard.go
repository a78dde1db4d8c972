package keys

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ShardSpec says how a collection is sharded. The zero value is right for most.
type ShardSpec struct {
	// Unique lets no two documents have the same key: all its fields together. Not for hashed keys.
	Unique bool

	// Moves says that documents may change their key, by [Shard.ChangeKey]. Then fewer
	// commands are sent with the key: see [model.ShardKey].
	Moves bool

	// Tenant names the fields of the [model.Scope].Tenant under which everything runs, if
	// the key begins with them. [model.Scope.Indexes] puts them before the keys of all other
	// indexes, and [Shard.Check] judges the indexes as they are then.
	Tenant []string

	// Collated says that the collection has a default collation. Its key compares bytewise all the same, so that queries for
	// texts must ask for the collation {locale: "simple"} to be targeted. The index of the key must be made with that collation,
	// too, which model.Index doesn't tell: let the server make it, on the empty collection, or make it by hand.
	Collated bool
}

// Shard is a shard key: the fields by which a collection's documents are divided among the shards of a cluster, by ranges of
// their values ({device: 1, at: 1}) or of a hash ({device: "hashed"}). Make it with [NewShard].
//
// A good key has many values, none of which is frequent; it spreads what is written at one time; and most queries give it, so
// that they go to one shard. [Shard.Distribution] tells the first two of a sample of documents, [Shard.Find] and its siblings the
// third of a query, and [Shard.Check] which unique indexes the key leaves possible. [Shard.Command] shards the collection.
//
// No test has run on a real cluster. The engine simulates one (modeltest.WithShards): its router follows the source of
// MongoDB's mongos and shares no code with this type, except the hash. A test sends random statements to random chunks of the simulated
// cluster, by the rules of MongoDB 7.0 and 8.0, and compares the shards that the router counts, and what it refuses, with each
// [Target]. The hash equals the values of MongoDB's own test.
//
// Source: partition keys, by device id, book and post (seeds 000 and 003). Manual: "Shard Keys", "Choose a Shard Key".
//
// Indexes returns the index that the key needs: on its fields, in order. A longer one that begins with them will do. For the key
// {_id: 1} it returns none, since every collection has that index.
type Shard[D any] struct {
	model.Parts
	s *shard
}

// NewShard declares a collection's shard key: its fields in order, each 1 or "hashed". It panics with a
// [*model.DeclarationError] for what MongoDB refuses: no field; a field that is there twice, or below another; a path that goes
// through an array or ends in one, for an index on it has several keys for a document; an order other than 1, more than one
// hashed field; a unique hashed key. So does a path that the documents don't have.
func NewShard[D, K any](docs *model.Collection[D, K], key bson.D, spec ShardSpec) *Shard[D] {
	out := &Shard[D]{model.Parts{}, declareShard(docs.Docs(), key, spec)}
	out.Parts = model.NewParts(out.indexes, nil, nil, out.s.footprints)
	return out
}

// Command returns the command that shards the collection, for the database admin, by way of a mongos: db is the collection's
// database. A collection with documents needs the index of [Shard.Indexes] first; for an empty one the server makes it. It can't be
// taken back but by [Shard.Reshard] or unshardCollection (MongoDB 8.0). It panics with a [*model.DeclarationError] for a name that
// no database has. Manual: "shardCollection".
//
//	client.Database("admin").RunCommand(ctx, byDevice.Command("iot"))
func (x *Shard[D]) Command(db string) bson.D { return x.s.command("shardCollection", db) }

// Reshard returns the command that gives a collection that is sharded by another key this one (MongoDB 5.0 and later): it writes
// all documents anew, which takes time, and room for them beside the old ones until it is done. It can't make the key unique: with
// [ShardSpec].Unique the unique index of [Shard.Indexes] must be there before, which under the old key it can be if it begins with
// that too. Manual: "reshardCollection".
func (x *Shard[D]) Reshard(db string) bson.D { return x.s.command("reshardCollection", db) }

// ShardKey returns the key for a [model.Model], whose On has it sent with filters by _id.
func (x *Shard[D]) ShardKey() model.ShardKey {
	return model.ShardKey{Collection: x.s.Name(), Fields: x.s.paths(), Moves: x.s.spec.Moves}
}

// ChangeKey returns the write that gives a document another shard key: from holds the value
// of each field of the key as it was read, to the new values of those that change. mongos
// moves the document to the shard of the new key.
//
// Run it outside of other plans: MongoDB takes such a write alone, as a retryable write,
// which is the driver's default, or in a transaction. It fails with [model.ErrStale] if the
// document has another key by now, and is applied once however often it is run. It is
// refused with a [*model.ValueError] if from lacks a field of the key, if to has a field
// that isn't of the key, an array or the _id, or without [ShardSpec].Moves.
//
// Cost: one command, one document. Manual: "Change a Document's Shard Key Value".
func (x *Shard[D]) ChangeKey(id any, from, to bson.D) model.Write { return x.s.changeKey(id, from, to) }

// Targets tells of each step of a plan which shards it is sent to, by the shard keys of a
// model. A step of a collection that isn't sharded goes to one shard.
//
// It looks at the plan as it is. What runs on [model.Model.On] may be sent to fewer shards,
// because fields of the key are added to its filters then.
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

// Find tells which shards a query is sent to. It takes the query of any Find: byDevice.Find(f.Query). Manual: "Targeted
// Operations vs. Broadcast Operations".
//
// It is targeted by conditions on the first fields of the key: equality and, behind these, several values or ranges of one field.
// {device: {$in: [a, b]}, at: 1} asks for two values. {device: {$in: [a, b]}, at: {$in: [1, 2]}} asks for two ranges: a mongos
// looks for all from (a, 1) to (a, 2). The branches of an $or are added up field by field, in the same way. A hashed field is
// targeted by equality alone, because a range of values is not a range of hashes. Equality with null finds missing
// fields too, and counts as two values unless the whole key is given. $ne, $not, $elemMatch, $all, $expr, a pattern that isn't
// anchored, and an $or beside conditions on the first field target nothing here. A server may do better. A query with a
// collation of its own is not targeted by texts.
func (x *Shard[D]) Find(q model.Query) Target { return x.s.find(q) }

// Aggregate tells which shards a pipeline's first stages are sent to: those that $match filters as a query's, when the pipeline
// begins with it. Where that is more than one, the stages from the first $group, $sort or the like are done once more where
// results are put together. Collections that a $lookup reads are not looked at.
func (x *Shard[D]) Aggregate(a model.Aggregation) Target { return x.s.aggregate(a) }

// Modify tells which shards a findAndModify is sent to, by the rules of [Shard.Write]. Before MongoDB 7.1 it needs the whole
// key by equality, and the _id is not enough. Manual: "findAndModify", "Sharded Collections".
func (x *Shard[D]) Modify(m model.FindAndModify) Target { return x.s.modify(m) }

// Write tells which shards a write is sent to, or why it is refused.
//
//   - An insert goes to the shard of its key; a document without a field of the key is kept as if that were null (MongoDB 4.4),
//     one that has an array there is refused. Manual: "Missing Shard Key Fields".
//   - updateMany and deleteMany go to one shard if one shard has all that the filter asks for. Otherwise they go to all shards of
//     the cluster, or, in a transaction, where a query goes.
//   - updateOne and deleteOne go to one shard if the filter has the whole key. With the _id instead they are sent to all shards. With
//     neither, MongoDB 7.1 and later find the document on all shards first. Earlier versions refuse unless one shard has the
//     range. Manual: "db.collection.updateOne()", "Sharded Collections".
//   - replaceOne by the _id goes to the shard of the replacement's key. It doesn't find a document on another shard, and may not
//     change the key. Manual: "db.collection.replaceOne()", "Sharded Collections".
//   - An upsert needs the whole key in its filter, by equality.
//   - A change of a field of the key moves the document to another shard: by updateOne, replaceOne or findAndModify with the
//     whole key in the filter, in a transaction or as a retryable write, which is the driver's default. The command may have no other
//     write. updateMany can't, and no _id changes. A number of another type is a change, too. Manual: "Change a Document's Shard Key Value".
func (x *Shard[D]) Write(w model.Write) Target { return x.s.write(w) }

// Plan tells of each step of a plan which shards it is sent to. Several writes that share a command are sent to the shards of
// each. A $merge is told by where it reads.
func (x *Shard[D]) Plan(p model.Plan) []Target {
	out := make([]Target, 0, len(p.Steps))
	for _, step := range p.Steps {
		out = append(out, x.s.step(step))
	}
	return out
}

// Check returns what is wrong with the unique indexes of techniques under the key, each with a remedy: a shard knows nothing of the
// others' documents, so that a unique index must begin with all fields of the key, in its order and any direction, and may go on.
// Indexes of other collections are passed by. Give an index of your own by [model.Entity]. Manual: "Shard Key Indexes", "Unique
// Indexes"; for hashed keys, of which it says nothing, as the server's source has it: fields of equal values are on one shard,
// however they are hashed.
//
// MongoDB accepts an index that begins with _id, and so does Check. Such an index is unique on each shard only, unless the key is
// {_id: 1} or {_id: "hashed"}. The application then sees to unique _ids, as ObjectIDs are. A technique that relies on a unique _id (a
// reservation, a lock, a counter) needs a collection that isn't sharded, or that is sharded by _id.
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

// Distribution tells how a sample of documents would lie on shards, and what to be warned of: see [Distribution]. Give them in
// the order in which they were stored, if that is known, so that keys which always grow are seen. It returns a
// [*model.ValueError] for a document that can't be stored under the key.
func (x *Shard[D]) Distribution(docs []D, spec SampleSpec) (Distribution, error) {
	return x.s.distribution(len(docs), func(i int) any { return docs[i] }, spec)
}
