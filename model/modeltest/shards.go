package modeltest

import (
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/internal/engine/router"
)

// Shards makes an engine answer as a mongos, in front of a sharded cluster, and counts the shards that each command is sent to.
// Make it with [NewShards] and give it to one client by [WithShards].
//
//	shards := modeltest.NewShards(3)
//	client := modeltest.NewClient(t, modeltest.WithShards(shards))
//	admin := client.Database("admin")
//	err := admin.RunCommand(ctx, byDevice.Command("iot")).Err()       // shardCollection
//	…                                                                 // the code under test
//	for _, touch := range shards.Touched() { … }
//
// The commands shardCollection and reshardCollection have MongoDB's rules. The engine refuses what MongoDB refuses on a sharded
// collection, by the same codes: updates without the shard key, changes of the key, unique indexes that shards can't keep,
// arrays in the key.
//
// The shards are named shard0, shard1 and so on. A collection begins in one chunk on shard0; an empty one with a hashed first field
// begins with a chunk on each shard, and reshardCollection spreads the documents evenly. No balancer moves chunks afterwards.
// The commands split (with middle) and moveChunk place them.
//
// # Limits
//
// All shards share one store. MongoDB keeps _id unique on each shard only: a document whose _id another shard has is refused here
// by error 238, NotImplemented, where MongoDB stores it.
//
// MongoDB 7.1 and later accept some upserts and changes of the shard key without the whole key in the filter. The manual
// doesn't promise this, and the engine refuses them.
//
// A mongos may find fewer shards than are counted, never more: the engine takes nothing from $ne, $not, $elemMatch, $all, $type and
// $expr, and nothing from an $or beside conditions on the key's first field. What $lookup, $graphLookup and $unionWith read and what
// $merge writes isn't counted. Time series collections can't be sharded.
type Shards struct{ router *router.Router }

// NewShards returns a cluster of n shards. It panics unless n is from 1 to 1,000.
func NewShards(n int) *Shards {
	if n < 1 || n > 1000 {
		panic(fmt.Sprintf("modeltest: NewShards: a cluster of %d shards\n\tremedy: take 1 to 1,000", n))
	}
	return &Shards{router.New(n)}
}

// Version sets the version of MongoDB whose rules hold, and returns s: "8.0", which is the default, or "7.0". Under 7.0, an updateOne or
// deleteOne needs the shard key or the _id, a findAndModify needs the whole shard key, and there is no command bulkWrite. It panics for
// another version. Call it before s is used.
func (s *Shards) Version(version string) *Shards {
	if version != "7.0" && version != "8.0" {
		panic(fmt.Sprintf("modeltest: Shards.Version: %q\n\tremedy: take \"7.0\" or \"8.0\"", version))
	}
	s.router.Before71 = version == "7.0"
	return s
}

// A Touch tells to which shards one statement was sent: a read, one inserted document, or one statement of an update, a delete or a
// bulkWrite.
type Touch struct {
	Command    string // "find", "aggregate", "count", "distinct", "insert", "update", "delete" or "findAndModify"
	Database   string
	Collection string
	Shards     []string // sorted; none if the statement was refused before it was sent
	Broadcast  bool     // it goes to all shards of the collection because its filter says nothing of the shard key
	Code       int32    // the code of its error; 0 if it went well
}

// Touched returns what was sent to sharded collections since the last call, in order. Reads of views are told as
// reads of the collection below.
func (s *Shards) Touched() []Touch {
	list := s.router.Take()
	out := make([]Touch, len(list))
	for i, t := range list {
		out[i] = Touch(t)
	}
	return out
}

// WithShards makes the client's engine a mongos of s. A real server has the shards that it has: a client of one fails with this
// option.
func WithShards(s *Shards) Option {
	if s == nil {
		panic("modeltest: WithShards: the shards are nil\n\tremedy: leave the option out")
	}
	return func(c *config) { c.shards = s }
}

var errServerShards = errors.New("WithShards: a real server has shards of its own, or none\n\tremedy: use NewClient, which has an engine")
