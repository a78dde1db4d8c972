package model

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Insert returns the write that stores a new document, checked: its _id must not be empty, no field name may hold a dot
// or a NUL or begin with a dollar sign, at any depth, and it must fit 16 MiB. The document is encoded now: what the
// caller changes afterwards is not stored.
//
// Consistency: one document, atomic. An equal document that is already there counts as this very write, applied before;
// another one under the same _id is the server's duplicate-key error. Cost: one command, one document, and on a duplicate
// key one more to compare.
func (c *Collection[D, K]) Insert(doc D) (w Write) {
	declOf(c).insert(&w, &doc)
	return w
}

// InsertMany returns the plan that stores documents in order, each as [Collection.Insert] does. A bad one refuses all of
// them. Cost: one command for each 25,000 documents or 16 MiB; documents written: all. A plan that was cut can be run
// again.
func (c *Collection[D, K]) InsertMany(docs []D) Plan {
	return declOf(c).insertMany(len(docs), func(i int) any { return &docs[i] })
}

// Replace returns the write that stores a whole document over the one with its _id, checked as by [Collection.Insert].
// It expects that one exists: else running it gives [ErrNotFound], and nothing is created. It overwrites whatever changed since
// the document was read; where that matters, use operators, or embed.Versioned.
//
// Consistency: one document, atomic; run again it stores the same. Cost: one command, one document, found by _id.
func (c *Collection[D, K]) Replace(doc D) (w Write) {
	declOf(c).replace(&w, &doc)
	return w
}

// Update returns the write that applies update operators to the document with the _id. It expects that one exists: else
// running it gives [ErrNotFound], and nothing is created. The update is copied, and is encoded at once (a [bson.Raw]) where the
// driver isn't needed to encode a value. It is refused where it has no operator, or a name
// that is none; what the operators say is the server's to check.
//
// Consistency: one document, atomic: all operators, or none. Run again it is applied again, which changes nothing more for
// $set and its like, and does for $inc and $push: [Plan.Repeatable] tells them apart. Cost: one command, one document, found by _id.
func (c *Collection[D, K]) Update(id K, update bson.D) (w Write) {
	declOf(c).update(&w, id, update)
	return w
}

// Delete returns the write that deletes the document with the _id, if it is there; that there is none is no error, so that it
// can be run again.
//
// Consistency: one document, atomic; whatever it holds by then goes. Cost: one command, one document, found by _id.
func (c *Collection[D, K]) Delete(id K) (w Write) {
	declOf(c).delete(&w, id)
	return w
}

// insert fills in the write. What a typed method returns is filled in by pointer, for a copy of it would be compiled for
// every type of documents.
//
//go:noinline
func (c declaration) insert(w *Write, doc any) {
	raw, _, err := c.Checked(doc)
	if err != nil {
		w.Collection, w.Err = c.Name(), err
		return
	}
	*w = Write{Collection: c.Name(), Model: &mongo.InsertOneModel{Document: raw}, Index: IDIndex}
}

func (c declaration) insertMany(n int, doc func(int) any) Plan {
	p := Plan{Steps: make([]Step, 0, n)}
	for i := range n {
		var w Write
		if c.insert(&w, doc(i)); w.Err != nil {
			return RefusedPlan(c.Name(), fmt.Errorf("docmodel: document %d: %w", i, w.Err))
		}
		p.Steps = append(p.Steps, w)
	}
	return p
}

//go:noinline
func (c declaration) replace(w *Write, doc any) {
	raw, id, err := c.Checked(doc)
	if err != nil {
		w.Collection, w.Err = c.Name(), err
		return
	}
	*w = Write{
		Collection: c.Name(), Expect: One, Index: IDIndex,
		Model: &mongo.ReplaceOneModel{Filter: bson.D{{Key: "_id", Value: Eq(id)}}, Replacement: raw},
	}
}

//go:noinline
func (c declaration) update(w *Write, id any, update bson.D) {
	v, err := c.EncodeID("_id", id)
	if err != nil {
		w.Collection, w.Err = c.Name(), err
		return
	}
	m := &struct { // in one allocation
		model mongo.UpdateOneModel
		id    [1]bson.E
		room  [96]byte // of a small update
	}{id: [1]bson.E{{Key: "_id", Value: Eq(v)}}}
	if m.model.Update, err = c.Docs.Update(m.room[:], update); err != nil {
		w.Collection, w.Err = c.Name(), err
		return
	}
	m.model.Filter = bson.D(m.id[:])
	*w = Write{Collection: c.Name(), Expect: One, Index: IDIndex, Model: &m.model}
}

//go:noinline
func (c declaration) delete(w *Write, id any) {
	filter, err := c.ByID(id)
	if err != nil {
		w.Collection, w.Err = c.Name(), err
		return
	}
	*w = Write{Collection: c.Name(), Index: IDIndex, Model: &mongo.DeleteOneModel{Filter: filter}}
}
