// Package joins is the core of relate.Join and relate.Then (relate/join.go,
// join_fetch.go, join_load.go, join_levels.go): it loads the documents to which other
// documents refer. The shells keep the Go values; this package plans the queries, and
// keeps ids and their places.
//
// # Stored form
//
// Nothing of its own. Parents store the ids of children:
//
//	posts  {_id: 1, authors: ["b", "a", "x"]}
//	users  {_id: "a"}, {_id: "b"}               // x doesn't exist: it is reported as missing
//
// # Protocol
//
// A join has two ways, with the same result: the children of each parent in the order of
// its ids, or sorted, and the ids without a document.
//
//  1. By the server: MakeStages is one aggregation of the parents with $lookup.
//  2. In the application: the shell reads a batch of parents, collects their ids, cuts them into
//     chunks ([Join.CutChunks]), and fetches each chunk by a query of its own, several at a time
//     outside sessions ([Join.FetchChunks]). Places says where each child belongs.
//
// Joins only read: a crash leaves nothing. Without a transaction, a child can be deleted
// between both reads, and is then missing.
package joins

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/direction"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Join says which children are loaded, and how.
type Join struct {
	// The field of the parents with the ids.
	IDs          core.Field
	Children     string
	Filter, Sort bson.D
	// The maximum number of a parent's children; 0 means all.
	Limit int64
	Order *order.Sort

	// The size of one command.
	ChunkIDs, ChunkBytes int
	Batch, Parallel      int
}

// CompleteDeclaration checks the numbers and the sort, and fills in defaults.
func (j *Join) CompleteDeclaration(parents string, children *core.Docs) {
	place := core.Place("NewJoin of " + parents)
	j.Filter, j.Sort = slices.Clone(j.Filter), slices.Clone(j.Sort)
	j.checkNumbers(place)
	var sort bson.D
	for _, e := range j.Sort {
		children.MustField(e.Key)
		sort = append(sort, bson.E{Key: e.Key, Value: int32(direction.Of(e.Value))})
	}
	var err error
	if j.Order, err = order.Parse(sort); err != nil {
		place.Fail(err.Error(), "sort by fields, each once")
	}
}

// checkNumbers panics if a number is negative or a sort isn't by 1 or -1.
func (j *Join) checkNumbers(place core.Place) {
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"Limit", j.Limit}, {"ChunkIDs", int64(j.ChunkIDs)}, {"ChunkBytes", int64(j.ChunkBytes)},
		{"Batch", int64(j.Batch)}, {"Parallel", int64(j.Parallel)},
	} {
		if n.value < 0 {
			place.Fail(fmt.Sprintf("%s is %d", n.name, n.value), "give 1 or more, or 0 for the default")
		}
	}
	for _, e := range j.Sort {
		if direction.Of(e.Value) == 0 {
			place.Fail(fmt.Sprintf("Sort sorts %s by %s", e.Key, model.Shell(e.Value)), "sort by 1 or -1")
		}
	}
	j.ChunkIDs, j.ChunkBytes = cmp.Or(j.ChunkIDs, idref.MaxIDs), cmp.Or(j.ChunkBytes, idref.MaxIDBytes)
	j.Batch, j.Parallel = cmp.Or(j.Batch, 1_000), cmp.Or(j.Parallel, 1)
}
