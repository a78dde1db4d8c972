// Package joins plans joins in the application and by the server: what is behind relate.Join and relate.Then, without the types of
// documents.
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

// Join is what is loaded of documents whose ids others hold, and how.
type Join struct {
	IDs          core.Field // in the parents
	Children     string
	Filter, Sort bson.D
	Limit        int64 // of each parent's children; 0 means none
	Order        *order.Sort

	ChunkIDs, ChunkBytes int // of one command
	Batch, Parallel      int
}

// Declare checks the numbers and the sort, and fills in what is left out.
func (j *Join) Declare(parents string, children *core.Docs) {
	place := core.Place("NewJoin of " + parents)
	j.Filter, j.Sort = slices.Clone(j.Filter), slices.Clone(j.Sort)
	j.check(place)
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

func (j *Join) check(place core.Place) {
	for _, n := range []struct {
		name  string
		value int64
	}{{"Limit", j.Limit}, {"ChunkIDs", int64(j.ChunkIDs)}, {"ChunkBytes", int64(j.ChunkBytes)}, {"Batch", int64(j.Batch)}, {"Parallel", int64(j.Parallel)}} {
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
