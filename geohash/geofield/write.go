package geofield

import (
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Complete adds the key (the point's geohash) to a write that no store makes, such as an
// upsert:
//
//   - An inserted or replacing document gets the key. Leave the key in the document empty.
//     An invalid point (see FieldSpec.Zero) or a wrong key gives a [*model.ValueError].
//   - $set, $setOnInsert or $unset of the point also sets or unsets the key.
//   - Any other update of the point or key gives a [*model.ValueError].
//   - An update pipeline gives a ValueError.
//   - Deletions and updates of other fields stay unchanged.
func (f *Field[D, K]) Complete(w model.Write) model.Write { return f.f.complete(w) }

func (f *field) complete(w model.Write) model.Write {
	if w.Err != nil {
		return w
	}
	if w.Collection != f.Name() {
		return f.refuse("Collection", w.Collection, "isn't the collection that the field is declared for")
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

// completeDocument returns a whole document with its key.
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
		return nil, f.Refuse(f.key, s.key, "isn't the key of the document's point: leave the field empty")
	}
	// null without a point, as 0 is a key, near the South Pole
	return core.SetFields(raw, bson.D{{Key: f.key, Value: s.want}})
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
	return nil, f.Refuse("document", nil, "isn't a document")
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

// completeUpdate returns an update by operators that sets the key with the point.
func (f *field) completeUpdate(update any) (any, error) {
	raw, err := f.rawOf(update)
	if err != nil {
		return nil, f.Refuse("update", nil, "must be a document of update operators, not a pipeline")
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

// uses reports whether an operator's fields touch point or key. It refuses operators that
// would change only one of them.
func (f *field) uses(op string, fields bson.D) (bool, error) {
	touches := func(path string) bool { return core.Overlap(path, f.point) || core.Overlap(path, f.key) }
	for _, e := range fields {
		to, _ := e.Value.(string)
		if touches(e.Key) || op == "$rename" && touches(to) {
			switch op {
			case "$set", "$setOnInsert", "$unset":
				return true, nil
			}
			return false, f.Refuse(e.Key, nil, op+" would change the point without its key: use $set, $setOnInsert or $unset")
		}
	}
	return false, nil
}

// completeOperator returns the fields of a $set, $setOnInsert or $unset that touches
// point or key, with the key.
func (f *field) completeOperator(op string, fields bson.D, stored bson.RawValue) (bson.D, error) {
	has := func(path string) bool {
		return slices.ContainsFunc(fields, func(e bson.E) bool { return e.Key == path })
	}
	for _, e := range fields {
		if (core.Overlap(e.Key, f.point) || core.Overlap(e.Key, f.key)) && e.Key != f.point && e.Key != f.key {
			return nil, f.Refuse(e.Key, nil, "is part of the point or key, or contains it: set the whole point")
		}
	}
	if !has(f.point) {
		return nil, f.Refuse(f.key, nil, "would change without its point: set the point, the key is added")
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
		return nil, f.Refuse(f.key, given, "isn't the key of the point")
	}
	return fields, nil
}

// lookup returns the value of a key that can contain dots, as in operators.
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
