package relate

import (
	"context"
	"sync"

	"github.com/docmodel/docmodel/internal/engine/value"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// child is a fetched document, and what it is sorted by.
type child[C any] struct {
	doc  C
	keys bson.A
}

// fetch loads the chunks, several at once if asked for and no session forbids it.
func (j *Join[P, PK, C, CK]) fetch(ctx context.Context, db *mongo.Database, ids []CK) (map[CK]child[C], error) {
	chunks := j.chunks(ids)
	found := make(map[CK]child[C], len(ids))
	parallel := min(j.spec.Parallel, len(chunks))
	if mongo.SessionFromContext(ctx) != nil {
		parallel = 1
	}
	if parallel <= 1 {
		for _, chunk := range chunks {
			if err := j.fetchChunk(ctx, db, chunk, func(id CK, c child[C]) { found[id] = c }); err != nil {
				return nil, err
			}
		}
		return found, nil
	}
	return found, j.fetchParallel(ctx, db, chunks, parallel, found)
}

func (j *Join[P, PK, C, CK]) fetchParallel(ctx context.Context, db *mongo.Database, chunks [][]CK, parallel int, found map[CK]child[C]) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mu   sync.Mutex
		wg   sync.WaitGroup
		work = make(chan []CK)
	)
	for range parallel {
		wg.Go(func() {
			for chunk := range work {
				err := j.fetchChunk(ctx, db, chunk, func(id CK, c child[C]) {
					mu.Lock()
					found[id] = c
					mu.Unlock()
				})
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, chunk := range chunks {
		work <- chunk
	}
	close(work)
	wg.Wait()
	return context.Cause(ctx)
}

func (j *Join[P, PK, C, CK]) fetchChunk(ctx context.Context, db *mongo.Database, ids []CK, put func(CK, child[C])) error {
	q := j.query(ids)
	if len(j.spec.Sort) == 0 {
		for doc, err := range q.Each(ctx, db) {
			if err != nil {
				return err
			}
			id, err := j.children.ID(&doc)
			if err != nil {
				return err
			}
			put(id, child[C]{doc: doc})
		}
		return nil
	}
	raw := model.Find[bson.Raw]{Query: model.Query{
		Collection: q.Collection, Filter: q.Filter, Projection: q.Projection, Options: q.Options, Err: q.Err,
	}}
	for doc, err := range raw.Each(ctx, db) {
		if err != nil {
			return err
		}
		c, id, err := j.sortable(doc)
		if err != nil {
			return err
		}
		put(id, c)
	}
	return nil
}

func (j *Join[P, PK, C, CK]) sortable(raw bson.Raw) (c child[C], id CK, err error) {
	if err = j.children.Decode(raw, &c.doc); err != nil {
		return c, id, err
	}
	if id, err = j.children.ID(&c.doc); err != nil {
		return c, id, err
	}
	full, err := value.Decode(raw)
	if err != nil {
		return c, id, err
	}
	c.keys = j.order.Key(full)
	return c, id, nil
}

// unique returns the ids without duplicates, in the order of their first use. An empty one is refused: it can lead
// nowhere.
func (j *Join[P, PK, C, CK]) unique(ids []CK) ([]CK, error) {
	seen := make(map[CK]struct{}, len(ids))
	out := make([]CK, 0, len(ids))
	for _, id := range ids {
		if _, ok := seen[id]; ok {
			continue
		}
		if err := j.children.CheckID(j.path, id); err != nil {
			return nil, err
		}
		seen[id] = struct{}{}
		out = append(out, id)
	}
	return out, nil
}

// chunks cuts ids into what one command holds.
func (j *Join[P, PK, C, CK]) chunks(ids []CK) [][]CK {
	var out [][]CK
	start, bytes := 0, 0
	for i, id := range ids {
		n := sizeOf(id)
		if i > start && (i-start == j.spec.ChunkIDs || bytes+n > j.spec.ChunkBytes) {
			out = append(out, ids[start:i])
			start, bytes = i, 0
		}
		bytes += n
	}
	if start < len(ids) {
		out = append(out, ids[start:])
	}
	return out
}

// sizeOf is what an id takes in an array, roughly and never too little: its value, its index as a key, and a type.
func sizeOf(id any) int {
	const key = 10
	switch id := id.(type) {
	case bson.ObjectID:
		return 12 + key
	case string:
		return len(id) + 5 + key
	case int, int32, int64, uint32, float64, bson.DateTime:
		return 8 + key
	}
	raw, err := bson.Marshal(bson.D{{Key: "", Value: id}})
	if err != nil {
		return key // the command reports it
	}
	return len(raw) + key
}

func (j *Join[P, PK, C, CK]) query(ids []CK) model.Find[C] {
	in := make(bson.A, len(ids))
	for i, id := range ids {
		in[i] = id
	}
	f := j.children.Find(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: in}}}}).Where(j.spec.Filter)
	f.Options, f.Index = j.spec.Options, model.IDIndex
	if j.spec.Fields {
		f = model.Project[C](f)
	}
	return f
}

// seen takes the ids of documents that exist off the absent ones.
func (j *Join[P, PK, C, CK]) seen(ctx context.Context, db *mongo.Database, ids []CK, absent map[CK]bool) error {
	type key struct {
		ID CK `bson:"_id"`
	}
	for _, chunk := range j.chunks(ids) {
		in := make(bson.A, len(chunk))
		for i, id := range chunk {
			in[i] = id
		}
		f := model.Project[key](j.children.Find(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: in}}}}))
		f.Options = j.spec.Options
		for k, err := range f.Each(ctx, db) {
			if err != nil {
				return err
			}
			delete(absent, k.ID)
		}
	}
	return nil
}
