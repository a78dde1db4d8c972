package join

import (
	"context"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// child is a fetched document with its sort keys. Without Spec.Sort there are no keys.
type child[C any] struct {
	doc  C
	keys bson.A
}

// fetch loads the chunks, several at once if Parallel says so and there is no session.
func (j *Join[P, PK, C, CK]) fetch(ctx context.Context, db model.DB, ids []CK) (map[CK]*child[C], error) {
	chunks := j.chunks(ids)
	blocks := make([]block[C, CK], len(chunks))
	err := j.in.fetchChunks(ctx, len(chunks), func(ctx context.Context, i int) (err error) {
		blocks[i], err = j.fetchChunk(ctx, db, chunks[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	// Pointers into the blocks: a child that several parents share is kept once.
	found := make(map[CK]*child[C], len(ids))
	for _, b := range blocks {
		for i, id := range b.ids {
			found[j.key(id)] = &b.children[i]
		}
	}
	return found, nil
}

// block is the result of one command. ids[i] is the _id of children[i].
type block[C, CK any] struct {
	ids      []CK
	children []child[C]
}

// fetchChunk runs the query of one chunk. With a sort, it reads the documents as BSON: sort
// keys are compared as the server compares values, and Go types may leave a sort field out.
func (j *Join[P, PK, C, CK]) fetchChunk(ctx context.Context, db model.DB, ids []CK) (b block[C, CK], err error) {
	b = block[C, CK]{make([]CK, 0, len(ids)), make([]child[C], 0, len(ids))}
	q := j.query(ids)
	if len(j.in.Sort) == 0 {
		for doc, err := range q.Each(ctx, db) {
			if err == nil {
				err = checkContext(ctx, len(b.ids))
			}
			if err != nil {
				return b, err
			}
			id, err := j.children.ID(&doc)
			if err != nil {
				return b, err
			}
			b.ids, b.children = append(b.ids, id), append(b.children, child[C]{doc: doc})
		}
		return b, nil
	}
	// The same query, read as BSON.
	raw := &model.Find[bson.Raw]{Query: model.Query{
		Collection: q.Collection, Filter: q.Filter, Projection: q.Projection, Options: q.Options, Err: q.Err,
	}}
	for doc, err := range raw.Each(ctx, db) {
		if err == nil {
			err = checkContext(ctx, len(b.ids))
		}
		if err != nil {
			return b, err
		}
		c, id, err := j.sortable(doc)
		if err != nil {
			return b, err
		}
		b.ids, b.children = append(b.ids, id), append(b.children, c)
	}
	return b, nil
}

// sortable decodes a child, and reads its _id and sort keys.
func (j *Join[P, PK, C, CK]) sortable(raw bson.Raw) (c child[C], id CK, err error) {
	if err = j.children.Docs().Decode(raw, &c.doc); err != nil {
		return c, id, err
	}
	if id, err = j.children.ID(&c.doc); err != nil {
		return c, id, err
	}
	c.keys, err = j.in.readSortKeys(raw)
	return c, id, err
}

// unique returns the ids without duplicates, in the order of first use. It refuses values
// that can't be an _id. An empty id is looked up too, as $lookup does.
func (j *Join[P, PK, C, CK]) unique(ctx context.Context, ids []CK) ([]CK, error) {
	var empty CK
	seen := make(map[CK]struct{}, len(ids))
	out := make([]CK, 0, len(ids))
	for i, id := range ids {
		if err := checkContext(ctx, i); err != nil {
			return nil, err
		}
		k := j.key(id)
		if _, ok := seen[k]; ok {
			continue
		}
		if id != empty {
			if err := j.children.Docs().CheckID(j.path, id); err != nil {
				return nil, err
			}
		}
		seen[k] = struct{}{}
		out = append(out, id)
	}
	return out, nil
}

// key returns an id as a map key. If CK is an interface, int32 1 and int64 1 are
// different Go values, but one id to the server.
func (j *Join[P, PK, C, CK]) key(id CK) CK {
	if j.oneType {
		return id
	}
	if k, ok := any(idref.Key(id)).(CK); ok {
		return k
	}
	return id
}

// chunks splits ids so that each chunk fits one command.
func (j *Join[P, PK, C, CK]) chunks(ids []CK) [][]CK {
	var out [][]CK
	start := 0
	for _, end := range j.in.cutChunks(len(ids), func(i int) int { return sizeOf(&ids[i]) }) {
		out = append(out, ids[start:end])
		start = end
	}
	return out
}

// sizeOf returns an upper bound of the bytes in an array of the id that the pointer points
// at: its value, its index as a key, and its type.
func sizeOf(id any) int {
	const key = 10
	switch id := id.(type) {
	case *bson.ObjectID:
		return 12 + key
	case *string:
		return len(*id) + 5 + key
	case *int, *int32, *int64, *uint32, *float64, *bson.DateTime:
		return 8 + key
	}
	raw, err := bson.Marshal(bson.D{{Key: "", Value: id}})
	if err != nil {
		return key // the command returns the error
	}
	return len(raw) + key
}

// query returns the query of the children with these ids. Its first batch is large enough for
// all of them, so that a chunk is one command.
func (j *Join[P, PK, C, CK]) query(ids []CK) *model.Find[C] {
	f := j.children.Find(commands.MatchIDs(core.Anys(ids))).Where(j.in.Filter)
	f.Options, f.Index = j.spec.Options, model.IDIndex
	f.Options.BatchSize = commands.SizeReply(f.Options.BatchSize, len(ids))
	if j.spec.Fields {
		f = model.Project[C](f)
	}
	return f
}

// removeFound removes from absent the ids of documents that exist. It reads only their _ids,
// without the filter: a child that the filter leaves out isn't missing.
func (j *Join[P, PK, C, CK]) removeFound(ctx context.Context, db model.DB, ids []CK, absent map[CK]bool) error {
	type key struct {
		ID CK `bson:"_id"`
	}
	for _, chunk := range j.chunks(ids) {
		f := model.Project[key](j.children.Find(commands.MatchIDs(core.Anys(chunk))))
		f.Options = j.spec.Options
		f.Options.BatchSize = commands.SizeReply(f.Options.BatchSize, len(chunk))
		for k, err := range f.Each(ctx, db) {
			if err != nil {
				return err
			}
			delete(absent, j.key(k.ID))
		}
	}
	return nil
}
