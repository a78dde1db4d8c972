package joins

import (
	"context"
	"sync"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Stages is the join by the server, of the parents that match a filter. fields is the projection of the children, if they are
// asked for some fields only.
func (j *Join) Stages(filter, fields bson.D) mongo.Pipeline {
	ids := stmt.IDList("$parent." + j.IDs.Path)
	if !j.IDs.Open && j.IDs.Arrays > 0 {
		ids = mql.IfNull("$parent."+j.IDs.Path, bson.A{})
	}
	inner := stmt.Matching(j.Filter)
	if fields != nil {
		inner = append(inner, mql.Project(fields...))
	}
	stages := stmt.Matching(filter, stmt.Nested("parent"), stmt.Set("ids", ids), stmt.Lookup(j.Children, "ids", "_id", "children", inner))
	known := "$children._id"
	if len(j.Filter) > 0 {
		known = "$known._id"
		stages = append(stages, mql.Lookup(j.Children, "ids", "_id", "known", mql.E("_id", 1)))
	}
	return append(stages, mql.Project(
		mql.E("parent", 1), mql.E("children", j.ordered()), mql.E("missing", stmt.Distinct(stmt.Except("$ids", known))),
	))
}

// ordered is the list of children in the order of the ids, duplicates kept, then sorted and cut.
func (j *Join) ordered() any {
	list := stmt.InOrder("$ids", "children")
	if len(j.Sort) > 0 {
		list = bson.D{{Key: "$sortArray", Value: bson.D{{Key: "input", Value: list}, {Key: "sortBy", Value: j.Sort}}}}
	}
	if j.Limit > 0 {
		list = mql.Op("$slice", list, int(j.Limit))
	}
	return list
}

// Alive returns the context's error. It asks the context in the first and in each 1,024th turn of a loop.
func Alive(ctx context.Context, turn int) error {
	if turn%1024 != 0 {
		return nil
	}
	return ctx.Err()
}

// SortKeys are the values of a document by which the children are sorted.
func (j *Join) SortKeys(doc bson.Raw) (bson.A, error) {
	full, err := bsonval.Decode(doc)
	if err != nil {
		return nil, err
	}
	return j.Order.Key(full), nil
}

// Places are ids, and where in a list each stands.
type Places struct {
	docs *core.Docs
	at   map[string][]int
	ids  bson.A
}

// PlacesOf returns the places of documents' ids.
func PlacesOf(docs *core.Docs) *Places { return &Places{docs: docs, at: map[string][]int{}} }

// Add notes the place of the document that doc points at.
func (p *Places) Add(doc any, place int) error {
	id, err := p.id(doc)
	if err != nil {
		return err
	}
	key := bsonval.Key(id)
	if _, ok := p.at[key]; !ok {
		p.ids = append(p.ids, id)
	}
	p.at[key] = append(p.at[key], place)
	return nil
}

// Next is the filter of the next ids that one command holds, or nil after the last.
func (p *Places) Next() bson.D {
	if len(p.ids) == 0 {
		return nil
	}
	n := min(idref.MaxIDs, len(p.ids))
	filter := commands.AmongIDs(p.ids[:n])
	p.ids = p.ids[n:]
	return filter
}

// Of returns the places of the document that doc points at.
func (p *Places) Of(doc any) ([]int, error) {
	id, err := p.id(doc)
	return p.at[bsonval.Key(id)], err
}

func (p *Places) id(doc any) (bson.RawValue, error) {
	id, err := p.docs.ID(doc)
	if err != nil {
		return bson.RawValue{}, err
	}
	return p.docs.RawID("_id", id)
}

// Fetch fetches n chunks, several at once if asked for and no session forbids it. The first error ends it.
func (j *Join) Fetch(ctx context.Context, n int, fetch func(ctx context.Context, i int) error) error {
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
	work := make(chan int)
	for range parallel {
		wg.Go(func() {
			for i := range work {
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

// Cuts returns the ends of the chunks that n ids are cut into, of which one command each is made; size is what an id takes.
func (j *Join) Cuts(n int, size func(i int) int) (ends []int) {
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
