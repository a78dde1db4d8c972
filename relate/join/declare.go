// Inside package join: it loads the documents to which other documents refer. The generic
// files (load.go, fetch.go, levels.go) keep the Go values. An untypedJoin plans the queries.
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
//  1. By the server: makeStages is one aggregation of the parents with $lookup.
//  2. In the application: Each reads a batch of parents, and Load collects their ids. cutChunks
//     cuts the ids, and fetchChunks fetches each chunk by a query of its own, several at a time
//     outside sessions. Then assemble gives each parent its children.
//
// Joins only read: a crash leaves nothing. Without a transaction, a child can be deleted
// between both reads, and is then missing.

package join

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

// An untypedJoin says which children are loaded, and how.
type untypedJoin struct {
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

// completeDeclaration checks the numbers and the sort, and fills in defaults.
func (j *untypedJoin) completeDeclaration(parents string, children *core.Docs) {
	place := core.Place("join.New of " + parents)
	j.Filter, j.Sort = slices.Clone(j.Filter), slices.Clone(j.Sort)
	j.checkNumbers(place)
	var sort bson.D
	for _, e := range j.Sort {
		children.MustField(e.Key)
		sort = append(sort, bson.E{Key: e.Key, Value: int32(direction.Parse(e.Value))})
	}
	var err error
	if j.Order, err = order.Parse(sort); err != nil {
		place.Fail(err.Error(), "sort by fields, each once")
	}
}

// checkNumbers panics if a number is negative or a sort isn't by 1 or -1.
func (j *untypedJoin) checkNumbers(place core.Place) {
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
		if direction.Parse(e.Value) == 0 {
			place.Fail(fmt.Sprintf("Sort sorts %s by %s", e.Key, model.Shell(e.Value)), "sort by 1 or -1")
		}
	}
	j.ChunkIDs, j.ChunkBytes = cmp.Or(j.ChunkIDs, idref.MaxIDs), cmp.Or(j.ChunkBytes, idref.MaxIDBytes)
	j.Batch, j.Parallel = cmp.Or(j.Batch, 1_000), cmp.Or(j.Parallel, 1)
}
