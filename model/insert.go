package model

import (
	"fmt"
	"reflect"

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
// It expects that one exists: else running it gives [ErrStale], and nothing is created. It overwrites whatever changed since
// the document was read; where that matters, use operators, or [Versioned.Replace].
//
// Consistency: one document, atomic; run again it stores the same. Cost: one command, one document, found by _id.
func (c *Collection[D, K]) Replace(doc D) (w Write) {
	declOf(c).replace(&w, &doc)
	return w
}

// Update returns the write that applies update operators to the document with the _id. It expects that one exists: else
// running it gives [ErrStale], and nothing is created. The update is copied. It is refused where it has no operator, or a name
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
func (c *declaration) insert(w *Write, doc any) {
	raw, _, err := c.checked(doc)
	if err != nil {
		w.Collection, w.Err = c.orZero().name, err
		return
	}
	*w = Write{Collection: c.name, Model: &mongo.InsertOneModel{Document: raw}, Index: IDIndex}
}

func (c *declaration) insertMany(n int, doc func(int) any) Plan {
	p := Plan{Steps: make([]Step, 0, n)}
	for i := range n {
		var w Write
		if c.insert(&w, doc(i)); w.Err != nil {
			return RefusedPlan(c.orZero().name, fmt.Errorf("docmodel: document %d: %w", i, w.Err))
		}
		p.Steps = append(p.Steps, w)
	}
	return p
}

//go:noinline
func (c *declaration) replace(w *Write, doc any) {
	raw, id, err := c.checked(doc)
	if err != nil {
		w.Collection, w.Err = c.orZero().name, err
		return
	}
	*w = Write{
		Collection: c.name, Expect: One, Index: IDIndex,
		Model: &mongo.ReplaceOneModel{Filter: bson.D{{Key: "_id", Value: Eq(id)}}, Replacement: raw},
	}
}

//go:noinline
func (c *declaration) update(w *Write, id any, update bson.D) {
	c = c.orZero()
	v, err := c.encodedID(id)
	if err != nil {
		w.Collection, w.Err = c.name, err
		return
	}
	u, err := c.codec.copyD(update)
	if err != nil {
		w.Collection, w.Err = c.name, &ValueError{Collection: c.name, Field: "update", Reason: err.Error()}
		return
	}
	if err := checkOperators(c.name, u); err != nil {
		w.Collection, w.Err = c.name, err
		return
	}
	m := &struct { // in one allocation
		model mongo.UpdateOneModel
		id    [1]bson.E
	}{id: [1]bson.E{{Key: "_id", Value: Eq(v)}}}
	m.model.Filter, m.model.Update = bson.D(m.id[:]), u
	*w = Write{Collection: c.name, Expect: One, Index: IDIndex, Model: &m.model}
}

//go:noinline
func (c *declaration) delete(w *Write, id any) {
	c = c.orZero()
	filter, err := c.idFilter(id)
	if err != nil {
		w.Collection, w.Err = c.orZero().name, err
		return
	}
	*w = Write{Collection: c.name, Index: IDIndex, Model: &mongo.DeleteOneModel{Filter: filter}}
}

func (c *declaration) idFilter(id any) (bson.D, error) {
	v, err := c.encodedID(id)
	if err != nil {
		return nil, err
	}
	return bson.D{{Key: "_id", Value: Eq(v)}}, nil
}

// encodedID checks an _id and encodes it.
func (c *declaration) encodedID(id any) (any, error) {
	c = c.orZero()
	if err := c.checkID("_id", id); err != nil {
		return nil, err
	}
	v, err := c.codec.value(id)
	if err != nil {
		return nil, &ValueError{Collection: c.name, Field: "_id", Reason: err.Error()}
	}
	return v, nil
}

// checked encodes the document that ptr points at and checks what would be stored.
func (c *declaration) checked(ptr any) (raw bson.Raw, id bson.RawValue, err error) {
	if c == nil {
		return nil, id, c.refuse("document", nil, "the zero Collection: declare it with NewCollection")
	}
	doc := reflect.ValueOf(ptr).Elem().Interface()
	if isNilDocument(doc) {
		return nil, id, c.refuse("document", nil, "is nil")
	}
	if raw, err = c.codec.document(doc); err != nil {
		return nil, id, c.refuse("document", nil, err.Error())
	}
	if err := raw.Validate(); err != nil {
		return nil, id, c.refuse("document", nil, err.Error())
	}
	if len(raw) > MaxDocument {
		return nil, id, c.refuse("document", nil, fmt.Sprintf("is %d bytes, more than MongoDB's 16 MiB for a document", len(raw)))
	}
	id = raw.Lookup("_id")
	if below, reason := refusedID(id); reason != "" {
		return nil, id, c.refuse("_id"+below, pick[any](id.Type == 0, nil, id), reason)
	}
	if typed, empty := c.emptyID(ptr); empty {
		return nil, id, c.refuse("_id", typed, "the id is empty")
	}
	if field, err := checkKeys(raw, "", 1); err != nil {
		return nil, id, c.refuse(field, nil, err.Error())
	}
	return raw, id, nil
}

// MaxDepth is the nesting of documents and arrays that MongoDB stores.
const MaxDepth = 100

// checkKeys walks an encoded document and returns the path of the first field whose name is refused.
func checkKeys(doc bson.Raw, prefix string, depth int) (string, error) {
	if depth > MaxDepth {
		return prefix, fmt.Errorf("is nested deeper than MongoDB's %d levels", MaxDepth)
	}
	elems, err := doc.Elements()
	if err != nil {
		return prefix, err
	}
	for _, e := range elems {
		key := e.Key()
		path := key
		if prefix != "" {
			path = prefix + "." + key
		}
		if err := CheckKey(key); err != nil {
			return path, err
		}
		v := e.Value()
		if v.Type == bson.TypeEmbeddedDocument || v.Type == bson.TypeArray {
			if path, err := checkKeys(bson.Raw(v.Value), path, depth+1); err != nil {
				return path, err
			}
		}
	}
	return "", nil
}

// checkOperators says why a document is not an update by operators, or returns nil. Values are not looked at.
func checkOperators(collection string, update bson.D) error {
	if len(update) == 0 {
		return &ValueError{Collection: collection, Field: "update", Reason: "has no operator"}
	}
	for _, e := range update {
		if len(e.Key) < 2 || e.Key[0] != '$' {
			return &ValueError{Collection: collection, Field: e.Key, Reason: "is not an update operator; Replace stores whole documents"}
		}
	}
	return nil
}
