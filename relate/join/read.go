package join

import (
	"context"
	"sync"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// makeStages is the join by the server, of the parents that match a filter. fields is the
// projection of the children; nil means whole documents. With a filter of the children, a
// second $lookup finds out which ids exist: a child that the filter hides isn't missing.
func (j *untypedJoin) makeStages(filter, fields bson.D) mongo.Pipeline {
	ids := stmt.ListIDs("$parent." + j.IDs.Path)
	if !j.IDs.Untyped && j.IDs.Arrays > 0 {
		ids = mql.IfNull("$parent."+j.IDs.Path, bson.A{})
	}
	inner := stmt.BeginWithMatch(j.Filter)
	if fields != nil {
		inner = append(inner, mql.Project(fields...))
	}
	stages := stmt.BeginWithMatch(
		filter, stmt.NestDocument("parent"), stmt.SetField("ids", ids),
		stmt.Lookup(j.Children, "ids", "_id", "children", inner),
	)
	known := "$children._id"
	if len(j.Filter) > 0 {
		known = "$known._id"
		stages = append(stages, mql.Lookup(j.Children, "ids", "_id", "known", mql.E("_id", 1)))
	}
	return append(stages, mql.Project(
		mql.E("parent", 1), mql.E("children", j.orderChildren()),
		mql.E("missing", stmt.RemoveDuplicates(stmt.ExcludeIDs("$ids", known))),
	))
}

// orderChildren is the expression of the children in the order of the ids, with repeated
// ids, then sorted and cut.
func (j *untypedJoin) orderChildren() any {
	list := stmt.OrderByIDs("$ids", "children")
	if len(j.Sort) > 0 {
		list = bson.D{{Key: "$sortArray", Value: bson.D{{Key: "input", Value: list}, {Key: "sortBy", Value: j.Sort}}}}
	}
	if j.Limit > 0 {
		list = mql.Op("$slice", list, int(j.Limit))
	}
	return list
}

// checkContext returns the context's error, in each 1,024th turn of a loop. Asking takes a
// lock, and the loops turn once for each id.
func checkContext(ctx context.Context, turn int) error {
	if turn%1024 != 0 {
		return nil
	}
	return ctx.Err()
}

// readSortKeys returns a document's values by which children are sorted.
func (j *untypedJoin) readSortKeys(doc bson.Raw) (bson.A, error) {
	full, err := bsonval.Decode(doc)
	if err != nil {
		return nil, err
	}
	return j.Order.Key(full), nil
}

// fetchChunks calls fetch for n chunks, several at a time if the declaration says so. A
// session forbids it: it must not be used by two goroutines. The first error cancels the
// others.
func (j *untypedJoin) fetchChunks(ctx context.Context, n int, fetch func(ctx context.Context, i int) error) error {
	parallel := min(j.Parallel, n)
	if mongo.SessionFromContext(ctx) != nil {
		parallel = 1
	}
	if parallel <= 1 {
		for i := range n {
			if err := fetch(ctx, i); err != nil {
				return err
			}
		}
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	work := make(chan int) // numbers of chunks
	for range parallel {
		wg.Go(func() {
			for i := range work { // to its end, also after an error: nobody may wait for ever
				if err := fetch(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wg.Wait()
	return context.Cause(ctx)
}

// cutChunks returns the ends of the chunks into which n ids are cut: a chunk ends where the
// next id would exceed ChunkIDs or ChunkBytes. An id that alone is larger is a chunk. size
// returns the bytes of an id.
func (j *untypedJoin) cutChunks(n int, size func(i int) int) (ends []int) {
	start, bytes := 0, 0
	for i := range n {
		s := size(i)
		if i > start && (i-start == j.ChunkIDs || bytes+s > j.ChunkBytes) {
			ends = append(ends, i)
			start, bytes = i, 0
		}
		bytes += s
	}
	if start < n {
		ends = append(ends, n)
	}
	return ends
}
