package mongotest

import (
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/mongotest/internal/engine/router"
)

// Shards makes a client's in-memory engine answer as the mongos of a sharded cluster.
// [Shards.Touched] lists the shards that each statement reached.
//
//	shards := mongotest.NewShards(3)
//	client := mongotest.NewClient(t, shards)
//	admin := client.Database("admin")
//	err := admin.RunCommand(ctx, byDevice.Command("iot")).Err() // shardCollection
//	… // the code under test
//	for _, touch := range shards.Touched() { … }
//
// The command shardCollection leaves documents on shard0. If the key's first field is
// hashed, an empty collection is spread over all shards. To move documents, use
// reshardCollection, or split (with middle) and moveChunk.
//
// # Limits
//
//   - If another shard has the _id, an insert fails with code 238.
//   - Upserts and shard key changes need the whole shard key in the filter.
//   - For filters such as $ne, a real cluster can reach fewer shards, never more.
//   - $lookup, $graphLookup, $unionWith and $merge aren't counted.
//   - Time series collections can't be sharded.
//   - As an [Option] of a real server's client, Shards fails the test.
type Shards struct{ router *router.Router }

// NewShards returns a cluster of n simulated shards. It panics unless n
// is from 1 to 1,000.
func NewShards(n int) *Shards {
	if n < 1 || n > 1000 {
		panic(fmt.Sprintf("mongotest: NewShards: a cluster of %d shards\n\tremedy: take 1 to 1,000", n))
	}
	return &Shards{router.New(n)}
}

// A Touch lists the shards of one statement: a read, an inserted document, an update or a
// delete.
type Touch struct {
	Command    string // name of the command, such as "find"
	Database   string
	Collection string
	Shards     []string // names of the shards, sorted; empty if mongos refused the statement
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

func (s *Shards) apply(c *config) {
	if s == nil {
		panic("mongotest: the Shards are nil\n\tremedy: leave the option out")
	}
	c.shards = s
}

var errServerAlone = errors.New("Settings.Standalone: this setting changes the engine, not a real server\n\tremedy: " +
	"use NewClient, which has an engine")

var errServerShards = errors.New("Shards: this option changes the engine, not a real server\n\tremedy: use NewClient, which has an engine")
