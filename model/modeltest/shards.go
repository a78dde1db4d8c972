package modeltest

import (
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/internal/engine/router"
)

// Shards makes a client's engine ([WithShards]) answer as the mongos of a sharded
// cluster. Shards counts the shards that each command reaches.
//
//	shards := modeltest.NewShards(3)
//	client := modeltest.NewClient(t, modeltest.WithShards(shards))
//	admin := client.Database("admin")
//	err := admin.RunCommand(ctx, byDevice.Command("iot")).Err() // shardCollection
//	… // the code under test
//	for _, touch := range shards.Touched() { … }
//
// The command shardCollection leaves documents on shard0, but spreads an empty collection
// with a hashed first field over all shards. To move documents, use reshardCollection, or
// split (with middle) and moveChunk.
//
// # Limits
//
//   - An insert fails with code 238 if another shard has the _id.
//   - Upserts and key changes need the whole key in the filter, as before MongoDB 7.1.
//   - For filters such as $ne, a real mongos can reach fewer shards, but not more.
//   - Reads of $lookup, $graphLookup and $unionWith, and writes of $merge, aren't
//     counted.
//   - Time series collections can't be sharded.
type Shards struct{ router *router.Router }

// NewShards returns a cluster of n simulated shards, for [WithShards]. It panics unless n
// is from 1 to 1,000.
func NewShards(n int) *Shards {
	if n < 1 || n > 1000 {
		panic(fmt.Sprintf("modeltest: NewShards: a cluster of %d shards\n\tremedy: take 1 to 1,000", n))
	}
	return &Shards{router.New(n)}
}

// Version makes s follow the rules of MongoDB "8.0" (the default) or "7.0". Version
// panics for other versions. Call Version before you use s.
//
// MongoDB 7.0 has no bulkWrite. Its updateOne and deleteOne need the shard key or _id,
// and its findAndModify the whole shard key.
func (s *Shards) Version(version string) *Shards {
	if version != "7.0" && version != "8.0" {
		panic(fmt.Sprintf("modeltest: Shards.Version: %q\n\tremedy: take \"7.0\" or \"8.0\"", version))
	}
	s.router.Before71 = version == "7.0"
	return s
}

// A Touch lists the shards of one statement: a read, an inserted document, an update or a
// delete.
type Touch struct {
	Command    string // "find", "aggregate", "count", "distinct", "insert", "update", "delete" or "findAndModify"
	Database   string
	Collection string
	Shards     []string // sorted; empty if the statement was refused before it was sent
	Broadcast  bool     // sent to all shards, because the filter has no condition on the shard key
	Code       int32    // error code; 0 means success
}

// Touched returns a Touch for each statement on a sharded collection since the last call.
// A read of a view is listed for the view's collection.
func (s *Shards) Touched() []Touch {
	list := s.router.Take()
	out := make([]Touch, len(list))
	for i, t := range list {
		out[i] = Touch(t)
	}
	return out
}

// WithShards makes the client's engine answer as the mongos of s. On a real server the
// test fails.
func WithShards(s *Shards) Option {
	if s == nil {
		panic("modeltest: WithShards: the shards are nil\n\tremedy: leave the option out")
	}
	return func(c *config) { c.shards = s }
}

var errServerAlone = errors.New("WithoutTransactions: this option changes the engine, not a real server\n\tremedy: use NewClient, which has an engine")

var errServerShards = errors.New("WithShards: this option changes the engine, not a real server\n\tremedy: use NewClient, which has an engine")
