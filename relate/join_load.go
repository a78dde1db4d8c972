package relate

import (
	"context"
	"iter"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Load joins parents that are in memory. The result has one entry for each, in their order. It returns the context's error
// soon after the context ends, also between and after its commands.
//
// Cost: ⌈unique ids / ChunkIDs⌉ commands, more when the ids of a chunk exceed ChunkBytes; one more for each further 16 MB of
// an answer, or batch where Options.BatchSize is set. Parents without ids cost nothing. With a Filter, the ids that it or
// nothing matched are looked for once more by _id alone, in as many chunks as they fill: to tell what it left out from what
// is missing.
func (j *Join[P, PK, C, CK]) Load(ctx context.Context, db *mongo.Database, parents []P) ([]Joined[P, C, CK], error) {
	if err := model.CheckRun(ctx, db); err != nil {
		return nil, err
	}
	lists := make([][]CK, len(parents))
	flat := make([]CK, 0, len(parents))
	for i := range parents {
		if err := alive(ctx, i); err != nil {
			return nil, err
		}
		start := len(flat)
		flat = j.ids.Append(flat, &parents[i])
		lists[i] = flat[start:len(flat):len(flat)]
	}
	unique, err := j.unique(ctx, flat)
	if err != nil {
		return nil, err
	}
	found, err := j.fetch(ctx, db, unique)
	if err != nil {
		return nil, err
	}
	absent, err := j.absent(ctx, db, unique, found)
	if err != nil {
		return nil, err
	}
	out := make([]Joined[P, C, CK], len(parents))
	for i := range parents {
		if out[i], err = j.assemble(ctx, parents[i], lists[i], found, absent); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// alive returns the context's error. It asks the context in the first and in each 1,024th turn of a loop.
func alive(ctx context.Context, turn int) error {
	if turn%1024 != 0 {
		return nil
	}
	return ctx.Err()
}

// Each joins a stream of parents, Batch of them at a time, in memory bounded by one batch and its children. An error ends
// the sequence. It can be ranged as often as the parents can.
//
// Cost: as [Join.Load], for each batch. An id is fetched once in a batch.
func (j *Join[P, PK, C, CK]) Each(ctx context.Context, db *mongo.Database, parents iter.Seq2[P, error]) iter.Seq2[Joined[P, C, CK], error] {
	return func(yield func(Joined[P, C, CK], error) bool) {
		if parents == nil {
			yield(Joined[P, C, CK]{}, &model.ValueError{Field: "parents", Reason: "is nil: give a sequence of parents"})
			return
		}
		batch := make([]P, 0, j.spec.Batch)
		flush := func() bool {
			joined, err := j.Load(ctx, db, batch)
			if err != nil {
				yield(Joined[P, C, CK]{}, err)
				return false
			}
			clear(batch)
			batch = batch[:0]
			for i := range joined {
				if !yield(joined[i], nil) {
					return false
				}
			}
			return true
		}
		for p, err := range parents {
			if err != nil {
				yield(Joined[P, C, CK]{}, err)
				return
			}
			if batch = append(batch, p); len(batch) == j.spec.Batch && !flush() {
				return
			}
		}
		if len(batch) > 0 {
			flush()
		}
	}
}

// Queries returns the queries that Load sends for parents, one for each chunk of ids; parents without ids have none. What
// Load sends further, of the ids that a Filter leaves out, is known only then. An id that no _id can be gives one query,
// with the error in its Err.
//
// Cost: nothing is sent. Each query is one command, one document for each id that leads somewhere, served by _id.
func (j *Join[P, PK, C, CK]) Queries(parents []P) []model.Find[C] {
	var flat []CK
	for i := range parents {
		flat = j.ids.Append(flat, &parents[i])
	}
	unique, err := j.unique(context.Background(), flat)
	if err != nil {
		f := j.children.Find(nil)
		f.Err = err
		return []model.Find[C]{f}
	}
	var out []model.Find[C]
	for _, chunk := range j.chunks(unique) {
		out = append(out, j.query(chunk))
	}
	return out
}

// assemble puts one parent's children in order and notes what is missing.
func (j *Join[P, PK, C, CK]) assemble(ctx context.Context, p P, ids []CK, found map[CK]*child[C], absent map[CK]bool) (Joined[P, C, CK], error) {
	out := Joined[P, C, CK]{Parent: p}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	kept := make([]*child[C], 0, len(ids))
	var noted map[CK]struct{} // the ids in out.Missing
	for i, id := range ids {
		if err := alive(ctx, i); err != nil {
			return out, err
		}
		c, ok := found[id]
		if ok {
			kept = append(kept, c)
			continue
		}
		if _, again := noted[id]; again || !absent[id] {
			continue
		}
		if noted == nil {
			noted = map[CK]struct{}{}
		}
		noted[id] = struct{}{}
		out.Missing = append(out.Missing, id)
	}
	if len(j.spec.Sort) > 0 {
		slices.SortStableFunc(kept, func(a, b *child[C]) int { return j.order.CompareKeys(a.keys, b.keys) })
	}
	if n := j.spec.Limit; n > 0 && len(kept) > n {
		kept = kept[:n]
	}
	if len(kept) > 0 {
		out.Children = make([]C, len(kept))
		for i, c := range kept {
			out.Children[i] = c.doc
		}
	}
	return out, nil
}

// absent tells ids that lead nowhere from children that the filter left out, which takes a second look by _id alone when
// there is a filter and something is not there.
func (j *Join[P, PK, C, CK]) absent(ctx context.Context, db *mongo.Database, ids []CK, found map[CK]*child[C]) (map[CK]bool, error) {
	var rest []CK
	for i, id := range ids {
		if err := alive(ctx, i); err != nil {
			return nil, err
		}
		if _, ok := found[id]; !ok {
			rest = append(rest, id)
		}
	}
	absent := make(map[CK]bool, len(rest))
	for _, id := range rest {
		absent[id] = true
	}
	if len(rest) > 0 && len(j.spec.Filter) > 0 {
		if err := j.seen(ctx, db, rest, absent); err != nil {
			return nil, err
		}
	}
	if len(absent) == 0 || !j.spec.Strict {
		return absent, nil
	}
	e := &MissingError{Collection: j.children.Name(), Path: j.path}
	for _, id := range rest {
		if absent[id] {
			e.IDs = append(e.IDs, id)
		}
	}
	return nil, e
}
