package model

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Insert returns the write that stores doc. [Write].Err is set if doc is over 16 MiB, has
// an empty _id, or has a field name with a dot, a NUL or a leading "$".
//
// The write is atomic. While the stored document is unchanged, a retry does nothing. A
// different document with the _id gives a duplicate key error. Cost: one command.
func (c *Collection[D, K]) Insert(doc D) (w Write) {
	declOf(c).insert(&w, &doc)
	return w
}

// InsertMany returns the plan that stores documents in order. A document that is invalid
// for [Collection.Insert] gives an error, and nothing is stored. After a duplicate key
// error, earlier documents stay stored. A retry skips documents that are stored
// unchanged.
// Cost: one command for each 25,000 documents or 16 MiB.
func (c *Collection[D, K]) InsertMany(docs []D) Plan {
	return declOf(c).insertMany(len(docs), func(i int) any { return &docs[i] })
}

// Replace returns the write that replaces the document with doc's _id. A missing document
// gives [ErrNotFound]. For an invalid doc, see [Collection.Insert]. The write and its
// retries overwrite the changes of other clients. To keep these changes, use
// [Collection.Update] or embed.Versioned.
//
// Consistency: atomic. Cost: one command, by _id.
func (c *Collection[D, K]) Replace(doc D) (w Write) {
	declOf(c).replace(&w, &doc)
	return w
}

// Update returns the write that applies update operators to the document with this _id. A
// missing document gives [ErrNotFound]. If the operators are missing or invalid, or don't
// fit the type D, [Write].Err is set.
//
// Consistency: atomic. A second run repeats $inc and $push: see [Plan.Repeatable].
//
// Cost: one command, by _id.
func (c *Collection[D, K]) Update(id K, update bson.D) (w Write) {
	declOf(c).update(&w, id, update)
	return w
}

// Delete returns the write that deletes the document with the _id. A missing document
// isn't an error.
//
// Consistency: atomic. Cost: one command, by _id.
func (c *Collection[D, K]) Delete(id K) (w Write) {
	declOf(c).delete(&w, id)
	return w
}

// insert fills in the write. It takes a pointer because a copy would be compiled for
// every document type.
//
//go:noinline
func (c declaration) insert(w *Write, doc any) {
	raw, _, err := c.EncodeChecked(doc)
	if err != nil {
		w.Collection, w.Err = c.Name(), err
		return
	}
	*w = Write{
		Collection: c.Name(), Model: &mongo.InsertOneModel{Document: raw}, Index: IDIndex, Keyed: c.IsKeyed(), plain: true,
	}
}

func (c declaration) insertMany(n int, doc func(int) any) Plan {
	p := Plan{Steps: make([]Step, 0, n)}
	for i := range n {
		var w Write
		if c.insert(&w, doc(i)); w.Err != nil {
			return NewPlan(Refused(c.Name(), fmt.Errorf("docmodel: document %d: %w", i, w.Err)))
		}
		p.Steps = append(p.Steps, w)
	}
	return p
}

//go:noinline
func (c declaration) replace(w *Write, doc any) {
	raw, id, err := c.EncodeChecked(doc)
	if err != nil {
		w.Collection, w.Err = c.Name(), err
		return
	}
	*w = Write{
		Collection: c.Name(), Expect: One, Index: IDIndex, Keyed: c.IsKeyed(), plain: true,
		Model: &mongo.ReplaceOneModel{Filter: bson.D{{Key: "_id", Value: mql.Eq(id)}}, Replacement: raw},
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
		room  [96]byte // for a small update
	}{id: [1]bson.E{{Key: "_id", Value: mql.Eq(v)}}}
	if m.model.Update, err = c.Docs.Update(m.room[:], update); err != nil {
		w.Collection, w.Err = c.Name(), err
		return
	}
	m.model.Filter = bson.D(m.id[:])
	*w = Write{Collection: c.Name(), Expect: One, Index: IDIndex, Keyed: c.IsKeyed(), plain: true, Model: &m.model}
}

//go:noinline
func (c declaration) delete(w *Write, id any) {
	filter, err := c.ByID(id)
	if err != nil {
		w.Collection, w.Err = c.Name(), err
		return
	}
	*w = Write{
		Collection: c.Name(), Index: IDIndex, Keyed: c.IsKeyed(), plain: true, Model: &mongo.DeleteOneModel{Filter: filter},
	}
}
