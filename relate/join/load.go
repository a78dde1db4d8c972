package join

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Load joins parents that are in memory: see [relate.Loader].
//
// Cost: one command for each 10,000 unique ids (Spec.ChunkIDs). Large ids, replies
// over 16 MB and a BatchSize need more commands. With Spec.Filter, Load sends more
// commands for ids without a match.
func (j *Join[P, PK, C, CK]) Load(ctx context.Context, db model.DB, parents []P) ([]Joined[P, C, CK], error) {
	if err := core.CheckRun(ctx, db); err != nil {
		return nil, err
	}
	lists := make([][]CK, len(parents)) // each parent's ids: parts of flat, which holds the ids of all
	flat := make([]CK, 0, len(parents))
	for i := range parents {
		if err := checkContext(ctx, i); err != nil {
			return nil, err
		}
		// With its capacity cut, no later append writes into a parent's part.
		start := len(flat)
		flat = j.ids.Append(flat, &parents[i])
		lists[i] = flat[start:len(flat):len(flat)]
	}
	unique, err := j.unique(ctx, flat)
	if err != nil {
		return nil, err
	}
	// Only now is anything read: a bad id in any parent fails before the first command.
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

// Each joins a stream of parents. It reads [Spec].Batch parents at a time, and keeps
// one batch and its children in memory. An error ends the sequence.
//
// Cost: as [Join.Load], for each batch.
func (j *Join[P, PK, C, CK]) Each(
	ctx context.Context, db model.DB, parents iter.Seq2[P, error],
) iter.Seq2[Joined[P, C, CK], error] {
	return func(yield func(Joined[P, C, CK], error) bool) {
		if parents == nil {
			yield(Joined[P, C, CK]{}, &model.ValueError{Field: "parents", Reason: "is nil: give a sequence of parents"})
			return
		}
		batch := make([]P, 0, j.in.Batch)
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
			if batch = append(batch, p); len(batch) == j.in.Batch && !flush() {
				return
			}
		}
		if len(batch) > 0 {
			flush()
		}
	}
}

// Queries returns the queries that [Join.Load] sends for parents, one query for each
// chunk of ids (Spec.ChunkIDs). With Spec.Filter, Load also searches for missing
// children. Queries omits this search. If a parent contains an invalid child id, Queries
// returns one query with the error in Err.
//
// Cost: nothing is sent. Each query is served by _id.
func (j *Join[P, PK, C, CK]) Queries(parents []P) []*model.Find[C] {
	var flat []CK
	for i := range parents {
		flat = j.ids.Append(flat, &parents[i])
	}
	unique, err := j.unique(context.Background(), flat)
	if err != nil {
		f := j.children.Find(nil)
		f.Err = err
		return []*model.Find[C]{f}
	}
	var out []*model.Find[C]
	for _, chunk := range j.chunks(unique) {
		out = append(out, j.query(chunk))
	}
	return out
}

// Pipeline returns the join as an aggregation with $lookup. The parameter filter selects
// parents. Spec.Strict isn't supported: it gives a [*model.ValueError]. A parent and
// its children must fit 16 MiB. Spec.Sort needs MongoDB 5.2.
//
// Cost: one command. Its time is quadratic in the number of a parent's children.
func (j *Join[P, PK, C, CK]) Pipeline(filter bson.D) *model.Aggregate[Joined[P, C, CK]] {
	var fields bson.D
	if j.spec.Fields {
		fields = model.Project[C](j.children.Find(nil)).Projection
	}
	a := model.AggregateAs[Joined[P, C, CK]](j.parents, j.in.makeStages(filter, fields))
	a.Options = j.spec.Options
	if j.spec.Strict && a.Err == nil {
		a.Err = j.parents.Docs().Refuse("Strict", nil, "a pipeline can't fail for missing ids: read Missing, or use "+
			"Load")
	}
	return a
}

// assemble puts one parent's children in order, and lists its missing ids. ids are the
// parent's, in stored order. found and absent are those of all parents, by key. An id that is
// in neither has a document that the filter leaves out.
func (j *Join[P, PK, C, CK]) assemble(
	ctx context.Context, p P, ids []CK, found map[CK]*child[C], absent map[CK]bool,
) (Joined[P, C, CK], error) {
	out := Joined[P, C, CK]{Parent: p}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	kept := make([]*child[C], 0, len(ids))
	var noted map[CK]struct{} // the ids in out.Missing
	for i, id := range ids {
		if err := checkContext(ctx, i); err != nil {
			return out, err
		}
		k := j.key(id)
		if c, ok := found[k]; ok {
			kept = append(kept, c)
			continue
		}
		if _, again := noted[k]; again || !absent[k] {
			continue
		}
		if noted == nil {
			noted = map[CK]struct{}{}
		}
		noted[k] = struct{}{}
		out.Missing = append(out.Missing, id)
	}
	if len(j.in.Sort) > 0 { // stable: equal children stay in the order of the parent's ids
		slices.SortStableFunc(kept, func(a, b *child[C]) int { return j.in.Order.CompareKeys(a.keys, b.keys) })
	}
	if n := j.in.Limit; n > 0 && int64(len(kept)) > n {
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

// absent returns the ids that no document has, by key. With Spec.Strict, one such id is an
// error. With a Filter it looks up the ids without
// a match once more by _id alone.
func (j *Join[P, PK, C, CK]) absent(
	ctx context.Context, db model.DB, ids []CK, found map[CK]*child[C],
) (map[CK]bool, error) {
	var rest []CK
	for i, id := range ids {
		if err := checkContext(ctx, i); err != nil {
			return nil, err
		}
		if _, ok := found[j.key(id)]; !ok {
			rest = append(rest, id)
		}
	}
	absent := make(map[CK]bool, len(rest))
	for _, id := range rest {
		absent[j.key(id)] = true
	}
	if len(rest) > 0 && len(j.in.Filter) > 0 {
		if err := j.removeFound(ctx, db, rest, absent); err != nil {
			return nil, err
		}
	}
	if len(absent) == 0 || !j.spec.Strict {
		return absent, nil
	}
	var gone []any
	for _, id := range rest {
		if absent[j.key(id)] {
			gone = append(gone, id)
		}
	}
	return nil, fmt.Errorf("docmodel: %d ids at %s have no document in %s: %s: %w", len(gone),
		j.path, j.children.Name(),
		idref.ShowFirst(gone), model.ErrNotFound)
}
