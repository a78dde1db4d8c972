package geofield

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Insert returns the write that stores a new document with the key of its point; one without a point (missing, null, or a zero
// [Point] with omitempty) gets none. Besides what [model.Collection.Insert] refuses: coordinates that are NaN, infinite or out of
// range, both 0 (see FieldSpec.Zero), what is no GeoJSON point, and a key that the document has already and that isn't its point's.
// The [*model.ValueError] names the field, such as loc.coordinates.1. An int64 of 0, an empty string and null count as no key.
//
// Cost and consistency: those of [model.Collection.Insert].
func (f *Field[D, K]) Insert(doc D) model.Write { return f.f.complete(f.owners.Insert(doc)) }

// InsertMany returns the plan that stores documents in order, each as [Field.Insert] does. A bad one refuses all of them.
//
// Cost: one command for each 25,000 documents or 16 MiB. It can be run again from any cut.
func (f *Field[D, K]) InsertMany(docs []D) model.Plan {
	return f.f.completeAll(f.owners.InsertMany(docs))
}

// Replace returns the write that stores a whole document over the one with its _id, as [model.Collection.Replace] does, with the key
// of its point. A document that was read, whose point was changed and whose key is still the old one, is refused: set the key to its
// zero value, or use [Field.Set]. The document must exist: else running it gives [model.ErrNotFound]. It is idempotent.
//
// Consistency: one document, atomic; what others changed of it since it was read is gone. Cost: one command, one document, found by
// _id; an entry of the index moves where the key does.
func (f *Field[D, K]) Replace(doc D) model.Write { return f.f.complete(f.owners.Replace(doc)) }

// Set returns the write that moves a document: point and key together, by $set, so that it merges with other updates of the document
// ([model.Merge]). The document must exist: else running it gives [model.ErrNotFound]. A height that the old point had is gone. It is
// idempotent; of two that run at the same time, the later one's point and key stay.
//
// Bad input, refused: a point as in [Field.Insert].
//
// Cost: one command, one document, found by _id; one entry of the index moves.
func (f *Field[D, K]) Set(id K, p geohash.Point) model.Write {
	set, err := f.f.fields(p)
	if err != nil {
		return model.Refused(f.f.Name(), err)
	}
	return f.owners.Update(id, bson.D{{Key: "$set", Value: set}})
}

// Unset returns the write that takes a document's place away: point and key together. The document must exist.
//
// Cost: one command, one document, found by _id.
func (f *Field[D, K]) Unset(id K) model.Write {
	return f.owners.Update(id, bson.D{{Key: "$unset", Value: bson.D{{Key: f.f.point, Value: ""}, {Key: f.f.key, Value: ""}}}})
}

// fields are what a document stores of a place.
func (f *field) fields(p geohash.Point) (bson.D, error) {
	if x := f.checkPoint(p); x.reason != "" {
		return nil, x.err(f.Docs, f.point)
	}
	return bson.D{{Key: f.point, Value: geoJSON(p)}, {Key: f.key, Value: f.keyOf(p)}}, nil
}

// Complete returns any write of the owners with the key beside the point: what stores or replaces a document as [Field.Insert] does;
// where an update sets the point, by $set or $setOnInsert, it sets the key too, and where one unsets the point, the key. A write that
// touches neither stays as it is. What would part the two is refused: a change of the key alone, of a part of the point, or by
// another operator, a key that isn't the point's, and an update by a pipeline, which can't be looked into. For a repository, whose
// writes all go through one place.
//
// A refused write stays refused, and a write to another collection is refused. A delete stays as it is.
//
// Cost and consistency: those of the write. Nothing of a filter, an expectation or a Done condition changes, so what could be run again
// still can. Whole documents that another technique stores are completed by [Field.Completed].
func (f *Field[D, K]) Complete(w model.Write) model.Write { return f.f.complete(w) }

func (f *field) completeAll(p model.Plan) model.Plan {
	for i, s := range p.Steps {
		w, ok := s.(model.Write)
		if !ok || w.Err != nil {
			continue
		}
		if w = f.complete(w); w.Err != nil {
			return model.RefusedPlan(f.Name(), fmt.Errorf("docmodel: document %d: %w", i, w.Err))
		}
		p.Steps[i] = w
	}
	return p
}

func (f *field) complete(w model.Write) model.Write {
	if w.Err != nil {
		return w
	}
	if w.Collection != f.Name() {
		return f.refuse("Collection", w.Collection, "is not the collection that the field is declared for")
	}
	var err error
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		c := *m
		c.Document, err = f.completeDocument(m.Document)
		w.Model = &c
	case *mongo.ReplaceOneModel:
		c := *m
		c.Replacement, err = f.completeDocument(m.Replacement)
		w.Model = &c
	case *mongo.UpdateOneModel:
		c := *m
		c.Update, err = f.completeUpdate(m.Update)
		w.Model = &c
	case *mongo.UpdateManyModel:
		c := *m
		c.Update, err = f.completeUpdate(m.Update)
		w.Model = &c
	}
	if err != nil {
		return model.Refused(f.Name(), err)
	}
	return w
}

func (f *field) refuse(path string, v any, reason string) model.Write {
	return model.Refused(f.Name(), f.Refuse(path, v, reason))
}

// completeDocument is a whole document with its key.
func (f *field) completeDocument(doc any) (bson.Raw, error) {
	raw, err := f.rawOf(doc)
	if err != nil {
		return nil, err
	}
	s := f.look(raw)
	switch {
	case s.flaw.reason != "":
		return nil, s.flaw.err(f.Docs, f.point)
	case s.right:
		return raw, nil
	case !emptyKey(s.key):
		return nil, f.Refuse(f.key, s.key, "is not the key of the document's point: leave it empty")
	}
	return core.SetFields(raw, bson.D{{Key: f.key, Value: s.want}}) // null without a point, as 0 is a key, near the South Pole
}

// rawOf encodes a document.
func (f *field) rawOf(doc any) (bson.Raw, error) {
	if raw, ok := doc.(bson.Raw); ok {
		return raw, nil
	}
	v, err := f.Raw(doc)
	if err != nil {
		return nil, f.Refuse("document", nil, err.Error())
	}
	if inner, ok := v.DocumentOK(); ok {
		return inner, nil
	}
	return nil, f.Refuse("document", nil, "is no document")
}

// emptyKey reports whether a document has no key yet.
func emptyKey(v bson.RawValue) bool {
	switch v.Type {
	case 0, bson.TypeNull:
		return true
	case bson.TypeInt64, bson.TypeInt32:
		return v.AsInt64() == 0
	case bson.TypeString:
		return v.StringValue() == ""
	}
	return false
}

// completeUpdate is an update by operators that sets the key with the point.
func (f *field) completeUpdate(update any) (any, error) {
	raw, err := f.rawOf(update)
	if err != nil {
		return nil, f.Refuse("update", nil, "is a pipeline, or no document of operators: what it does to the point can't be seen")
	}
	var d bson.D
	if err := bson.Unmarshal(raw, &d); err != nil {
		return nil, f.Refuse("update", nil, err.Error())
	}
	touched := false
	for i, op := range d {
		fields, _ := op.Value.(bson.D)
		uses, err := f.uses(op.Key, fields)
		if err != nil {
			return nil, err
		}
		if !uses {
			continue
		}
		touched = true
		if d[i].Value, err = f.completeOperator(op.Key, fields, raw.Lookup(op.Key)); err != nil {
			return nil, err
		}
	}
	if !touched {
		return update, nil
	}
	return d, nil
}

// uses reports whether an operator's fields touch point or key.
func (f *field) uses(op string, fields bson.D) (bool, error) {
	touches := func(path string) bool { return core.Overlap(path, f.point) || core.Overlap(path, f.key) }
	for _, e := range fields {
		to, _ := e.Value.(string)
		if touches(e.Key) || op == "$rename" && touches(to) {
			switch op {
			case "$set", "$setOnInsert", "$unset":
				return true, nil
			}
			return false, f.Refuse(e.Key, nil, op+" would part the point and its key: use $set, $setOnInsert or $unset")
		}
	}
	return false, nil
}

// completeOperator is the fields of a $set, $setOnInsert or $unset that touch point or key, completed.
func (f *field) completeOperator(op string, fields bson.D, stored bson.RawValue) (bson.D, error) {
	has := func(path string) bool {
		return slices.ContainsFunc(fields, func(e bson.E) bool { return e.Key == path })
	}
	for _, e := range fields {
		if (core.Overlap(e.Key, f.point) || core.Overlap(e.Key, f.key)) && e.Key != f.point && e.Key != f.key {
			return nil, f.Refuse(e.Key, nil, "is a part of the place, or holds it: set the point as a whole")
		}
	}
	if !has(f.point) {
		return nil, f.Refuse(f.key, nil, "the key is changed without its point")
	}
	if op == "$unset" {
		if has(f.key) {
			return fields, nil
		}
		return append(slices.Clone(fields), bson.E{Key: f.key, Value: ""}), nil
	}
	p, x := pointOf(lookup(stored, f.point))
	if x.reason == "" {
		x = f.checkPoint(p)
	}
	if x.reason != "" {
		return nil, x.err(f.Docs, f.point)
	}
	want := f.keyOf(p)
	if !has(f.key) {
		return append(slices.Clone(fields), bson.E{Key: f.key, Value: want}), nil
	}
	if given := lookup(stored, f.key); !f.isKey(given, want) {
		return nil, f.Refuse(f.key, given, "is not the key of the point")
	}
	return fields, nil
}

// lookup finds a key that may hold dots, as operators have them.
func lookup(doc bson.RawValue, key string) (v bson.RawValue) {
	elements, err := bson.Raw(doc.Value).Elements()
	if err != nil {
		return v
	}
	for _, e := range elements {
		if e.Key() == key {
			v = e.Value()
		}
	}
	return v
}
