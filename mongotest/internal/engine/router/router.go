// Package router does for the engine what a mongos does for a cluster. It knows how collections are divided among
// shards, says which shards a command is sent to, and refuses the commands that MongoDB refuses on sharded
// collections. It stores no documents: the engine has all of them in one place.
//
// A collection that is sharded by {tenant: 1, n: "hashed"}, with its chunks by their least keys:
//
//	[MinKey, MinKey] shard0   ["b", MinKey] shard1   ["m", -17] shard0
//
// The steps of a statement:
//
//  1. [Router.FindCollection] says whether the collection is sharded. One that isn't lies on one shard.
//  2. The filter becomes intervals, field by field of the key, by package query (filter.go), or gives the whole
//     key.
//  3. [Collection.Find] or [Collection.Write] turns these into ranges of keys, and looks up the chunks' shards
//     (target.go). A write may be refused here.
//  4. The engine runs the statement on its documents, refuses changes of keys that MongoDB refuses
//     ([Collection.Update], [Collection.Upsert]), and notes where the statement went ([Router.Note]).
//
// The rules are those of MongoDB's source, in src/mongo/s: shard_key_pattern_query_util.cpp for filters,
// collection_routing_info_targeter.cpp for writes, and of src/mongo/db/exec/update_stage.cpp for changes of the shard
// key. Where MongoDB 7.1 and later do more than the manual promises (an upsert, or a change of the shard key, without
// the whole shard key in the filter), the router keeps to the manual (https://www.mongodb.com/docs/manual/sharding/)
// and refuses.
//
// Invariants:
//
//   - The router never counts fewer shards than a mongos. It may count more: $ne, $not, $elemMatch, $all, $type and
//     $expr give the router no bounds, and an $or beside conditions on the key's first field adds nothing.
//   - The chunks of a collection cover all keys, without gaps. Each begins where the one before ends.
//   - A [Collection] never changes: Split and the moves return another.
//   - There is no balancer. A chunk stays where shardCollection, split and moveChunk have put it.
//
// The engine's commands for sharding make collections, its reads and writes ask for routes, and mongotest shows the
// notes to tests.
package router

import (
	"fmt"
	"slices"
	"sync"
)

// Router is the part of a mongos that knows where documents are. It is safe for concurrent use. A collection is known
// by its UUID, so that one that is dropped and made anew isn't taken for the old one.
type Router struct {
	Shards   int  // how many there are
	Before71 bool // it follows the rules of MongoDB 7.0

	mu    sync.Mutex
	colls map[string]*Collection // by UUID
	log   []Touch
}

// A Touch tells to which shards one statement was sent: a read, one inserted document, or one
// statement of an update or a delete.
type Touch struct {
	Command    string // find, insert, update and so on
	Database   string
	Collection string
	Shards     []string // none if it was refused
	Broadcast  bool     // it was sent to all shards because its filter says nothing of the key
	Code       int32    // the code of the error that it ended with; 0 if it went well
}

// New returns a router for so many shards.
func New(shards int) *Router {
	return &Router{Shards: shards, colls: map[string]*Collection{}}
}

// Name is the name of a shard, as commands and notes have it.
func Name(shard int) string { return fmt.Sprintf("shard%d", shard) }

// FindCollection returns how the collection of that UUID is sharded, nil if it isn't.
func (r *Router) FindCollection(uuid string) *Collection {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.colls[uuid]
}

// Put makes c the way in which the collection of that UUID is sharded.
func (r *Router) Put(uuid string, c *Collection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.colls[uuid] = c
}

// Note adds to the log.
func (r *Router) Note(t Touch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, t)
}

// Take returns the log and begins another, so that a test sees what it caused itself.
func (r *Router) Take() []Touch {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.log
	r.log = nil
	return out
}

// Names are the names of shards, sorted.
func Names(shards []int) []string {
	out := make([]string, 0, len(shards))
	for _, s := range shards {
		out = append(out, Name(s))
	}
	slices.Sort(out)
	return out
}
