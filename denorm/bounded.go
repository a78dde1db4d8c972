package denorm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/direction"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Keep says which elements a bounded array keeps.
type Keep uint8

const (
	Last  Keep = iota // the last in the array: those pushed last, or the greatest in the order By
	First             // the first in the array: those pushed first, or the smallest in the order By
)

// BoundedSpec says how an array is bounded. Max is required.
type BoundedSpec struct {
	Max  int  // how many elements are kept; at least 1
	Keep Keep // Last by default

	// By keeps the array sorted by fields of its elements, e.g. {time: 1} or {score: -1, id: 1}. Keep Last then keeps the
	// last in that order: the newest by {time: 1}. Keep First keeps the top by {score: -1}. MongoDB does not promise an
	// order among equal elements, so end it in a field that tells them apart. An array of scalars is sorted by the empty
	// name: {"": -1}. Nil keeps the order of pushing.
	By bson.D

	// Key is the path, within an element, of what identifies it. With it a push is skipped when the array holds the
	// element's key already, so that a push may be run again; and elements can be removed by key. "" means none.
	//
	// It recognizes what the array still holds: pushing again what was dropped long ago adds it again, unless By drops it.
	Key string
}

// Bounded is an array that keeps n elements, in the order of pushing or in one of its own: the last 1000 messages of a
// host in host.logmsgs. Push and bound are one atomic update. Make it with [NewBounded].
//
// Source: "$push with $each, $sort and $slice", "6 Rules of Thumb for MongoDB Schema Design", part 2 (seed 004);
// https://www.mongodb.com/docs/manual/reference/operator/update/slice/.
type Bounded[D, K any] struct {
	owners *model.Collection[D, K]
	field  model.Field
	spec   BoundedSpec
	bound  []byte // the elements of modifiers, encoded
}

// NewBounded declares that the array at a path of the owners' documents is bounded. It panics with a
// [*model.DeclarationError] when the path doesn't exist, is no array or lies inside another, when its nil slice is stored as
// null, on which $push fails, when Max is below 1, or when By or Key name a field that the elements don't have.
func NewBounded[D, K any](owners *model.Collection[D, K], path string, spec BoundedSpec) *Bounded[D, K] {
	b := &Bounded[D, K]{owners: owners, field: model.CheckArray(owners, path), spec: spec}
	b.spec.By = slices.Clone(spec.By)
	place := fmt.Sprintf("NewBounded of %s.%s", owners.Name(), path)
	switch {
	case spec.Max < 1:
		panic(&model.DeclarationError{Problem: fmt.Sprintf("Max is %d", spec.Max), Place: place, Remedy: "keep at least one element"})
	case spec.Keep > First:
		panic(&model.DeclarationError{Problem: fmt.Sprintf("Keep is %d", spec.Keep), Place: place, Remedy: "use denorm.Last or denorm.First"})
	}
	for i, e := range spec.By {
		if slices.ContainsFunc(spec.By[:i], func(x bson.E) bool { return x.Key == e.Key }) {
			panic(&model.DeclarationError{Problem: fmt.Sprintf("By names %q twice", e.Key), Place: place, Remedy: "name each field once"})
		}
		if e.Key != "" {
			model.MustField(owners, path+"."+e.Key)
		} else if len(spec.By) > 1 {
			panic(&model.DeclarationError{Problem: "By mixes an element's fields with the element itself", Place: place, Remedy: "name fields, or the empty name alone"})
		}
		if direction.Of(e.Value) == 0 {
			panic(&model.DeclarationError{Problem: fmt.Sprintf("By sorts %s by %s", e.Key, model.Shell(e.Value)), Place: place, Remedy: "sort by 1 or -1"})
		}
	}
	if spec.Key != "" {
		model.MustField(owners, path+"."+spec.Key)
	}
	bound, err := bson.Marshal(b.modifiers())
	if err != nil {
		panic(&model.DeclarationError{Problem: err.Error(), Place: place, Remedy: "sort by 1 or -1"})
	}
	b.bound = bound[4 : len(bound)-1]
	return b
}

// Push returns the write that adds elements to an owner's array and drops what is over the bound. Elements must be of the
// array's element type, or a pointer to it; where that is not known, anything that BSON stores. The owner must exist: else
// running it gives model.ErrStale.
//
// Cost: one command, one document, found by _id. With a Key, one command more when nothing matched, to tell elements that
// are there from an owner that isn't; an array that holds some of the elements' keys but not all refuses them all as
// model.ErrStale, unless it is full and would drop the others again. Without a Key, a push that is run again adds its
// elements again.
func (b *Bounded[D, K]) Push(owner K, elements ...any) model.Write {
	return b.push(owner, false, nil, elements)
}

// PushWith is [Bounded.Push] with other operators on the same document, as one write: a counter, the time of the last push. It
// is what model.Merge makes of both, in fewer steps. The array's path, or one above or below it, gives a [*model.ConflictError].
//
// With a Key, a push that is skipped since the element is there skips the other operators too: a push that is run again doesn't
// count again.
//
// Cost: as Push.
func (b *Bounded[D, K]) PushWith(owner K, with bson.D, elements ...any) model.Write {
	if len(with) == 0 {
		return b.refuse("with", nil, "no operator was given: use Push")
	}
	return b.push(owner, false, with, elements)
}

// PushOrCreate is [Bounded.Push] for an owner that may not exist: then a document with this _id and the array alone is
// created. It is refused with a Key, for the guard would match no document and create a second; and with an empty _id, a zero
// ObjectID too, for no new one is made: its caller would not know it.
//
// Cost: one command, one document, by _id. Consistency: one atomic upsert; of two that create the same owner, the server has the
// second push to what the first created. Run again, it adds its elements again.
func (b *Bounded[D, K]) PushOrCreate(owner K, elements ...any) model.Write {
	if b.spec.Key != "" {
		return b.refuse(b.spec.Key, nil, "PushOrCreate can't recognize elements by key: create the owner first, then Push")
	}
	return b.push(owner, true, nil, elements)
}

func (b *Bounded[D, K]) push(owner K, upsert bool, with bson.D, elements []any) model.Write {
	if len(elements) == 0 {
		return b.refuse(b.field.Path, nil, "no element was given")
	}
	id, err := b.id(owner)
	if err != nil {
		return model.Refused(b.owners.Name(), err)
	}
	p := newPush()
	if err := b.appendPush(&p, elements); err != nil {
		return model.Refused(b.owners.Name(), err)
	}
	if !p.appendOthers(with, b.field.Path, b.owners.AppendElement) { // let it be refused, or united with care
		push := b.push(owner, upsert, nil, elements)
		w := model.Merge(push, b.owners.Update(owner, with))
		if w.Err == nil {
			w.Done, w.Once = push.Done, push.Once
		}
		return w
	}
	m, byID := &p.parts.model, bson.D(p.parts.filter[:])
	byID[0] = bson.E{Key: "_id", Value: model.Eq(id)}
	m.Filter, m.Update = byID, p.update()
	w := model.Write{Collection: b.owners.Name(), Model: m, Expect: model.One, Index: model.IDIndex}
	if upsert {
		m.Upsert = &upsert
	}
	if b.spec.Key == "" {
		return w
	}
	each, keys, err := b.keys(p.each)
	if err != nil {
		return model.Refused(b.owners.Name(), err)
	}
	path := b.field.Path + "." + b.spec.Key
	m.Filter = model.And(byID, bson.D{{Key: path, Value: bson.D{{Key: "$nin", Value: keys}}}})
	w.Done = model.And(byID, b.done(path, each, keys))
	w.Once = true
	return w
}

// id is an owner's _id, checked and encoded.
func (b *Bounded[D, K]) id(owner K) (any, error) {
	id, err := b.owners.Encode(owner)
	if v, ok := id.(bson.ObjectID); ok && !v.IsZero() || err != nil {
		return id, err // CheckID would allocate another
	}
	return id, b.owners.CheckID("_id", owner)
}

// modifiers are those of $push after $each: what keeps the bound.
func (b *Bounded[D, K]) modifiers() bson.D {
	slice := bson.E{Key: "$slice", Value: b.spec.Max}
	if b.spec.Keep == Last {
		slice.Value = -b.spec.Max
	}
	switch {
	case len(b.spec.By) == 1 && b.spec.By[0].Key == "":
		return bson.D{{Key: "$sort", Value: b.spec.By[0].Value}, slice}
	case len(b.spec.By) > 0:
		return bson.D{{Key: "$sort", Value: slices.Clone(b.spec.By)}, slice}
	}
	return bson.D{slice}
}

// keys reads the elements of an encoded array, and the key of each; each must have one, and none may come twice.
func (b *Bounded[D, K]) keys(array bson.RawArray) (each []bson.RawValue, keys bson.A, err error) {
	if each, err = array.Values(); err != nil {
		return nil, nil, err
	}
	keys = make(bson.A, len(each))
	seen := map[string]bool{}
	for i, e := range each {
		key, field := elementAt(e, b.spec.Key), fmt.Sprintf("%s[%d].%s", b.field.Path, i, b.spec.Key)
		switch name := bsonval.Key(key); {
		case !isKey(key):
			return nil, nil, b.refused(field, nil, "the element has no key")
		case seen[name]:
			return nil, nil, b.refused(field, key, "two elements have the same key")
		default:
			seen[name] = true
		}
		keys[i] = key
	}
	return each, keys, nil
}

// elementAt is what an element holds at a path, or the value itself at the empty one.
func elementAt(v bson.RawValue, path string) bson.RawValue {
	if path == "" {
		return v
	}
	doc, _ := v.DocumentOK()
	return doc.Lookup(strings.Split(path, ".")...)
}

// isKey reports whether a value can tell elements apart.
func isKey(v bson.RawValue) bool {
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined, bson.TypeRegex, bson.TypeArray:
		return false
	}
	return true
}

// Remove returns the write that takes elements out by their keys; keys that the array doesn't hold are passed over. It is
// idempotent. It needs a spec with a Key.
//
// Cost: one command, one document, found by _id.
func (b *Bounded[D, K]) Remove(owner K, keys ...any) model.Write {
	switch {
	case b.spec.Key == "":
		return b.refuse(b.field.Path, nil, "elements have no Key to be removed by")
	case len(keys) == 0:
		return b.refuse(b.field.Path, nil, "no key was given")
	}
	in, err := b.owners.Encode(bson.A(keys))
	if err != nil {
		return b.refuse(b.spec.Key, nil, err.Error())
	}
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: in}})
	if err != nil {
		return b.refuse(b.spec.Key, nil, err.Error())
	}
	values, err := bson.Raw(raw).Lookup("v").Array().Values()
	if err != nil {
		return b.refuse(b.spec.Key, nil, err.Error())
	}
	for _, k := range values {
		if !isKey(k) {
			return b.refuse(b.field.Path+"."+b.spec.Key, k, "is not a key: null would match elements without one, a regular expression is a pattern")
		}
	}
	cond := bson.D{{Key: b.spec.Key, Value: bson.D{{Key: "$in", Value: in}}}}
	return b.owners.Update(owner, bson.D{{Key: "$pull", Value: bson.D{{Key: b.field.Path, Value: cond}}}})
}

// Clear returns the write that empties an owner's array, or gives it an empty one. The owner must exist: else running it gives
// model.ErrStale. It is idempotent.
//
// Cost: one command, one document, found by _id. Consistency: one atomic update; what is pushed at the same time is there after it or
// gone with the rest.
func (b *Bounded[D, K]) Clear(owner K) model.Write {
	return b.owners.Update(owner, bson.D{{Key: "$set", Value: bson.D{{Key: b.field.Path, Value: bson.A{}}}}})
}

// Slice returns the query of one owner with n of its kept elements: the first n, or with a negative n the last. 0 is
// refused. Other fields come whole.
//
// Cost: one command, served by _id.
func (b *Bounded[D, K]) Slice(owner K, n int) model.Find[D] {
	f := b.owners.ByID(owner)
	f.Projection = bson.D{{Key: b.field.Path, Value: bson.D{{Key: "$slice", Value: n}}}}
	if n == 0 && f.Err == nil {
		f.Err = b.refused("n", n, "must not be 0")
	}
	return f
}

// Checks returns one check, of arrays over the bound: written before it was declared, or by code that doesn't know of it.
// Mending keeps what a push would keep. An array within its bound isn't touched.
//
// Cost: see [model.Check]; mending writes one document each, by _id.
func (b *Bounded[D, K]) Checks() []model.Check {
	collection, path := b.owners.Name(), b.field.Path
	name := fmt.Sprintf("%s.%s: oversized arrays", collection, path)
	update := bson.D{{Key: "$push", Value: bson.D{{Key: path, Value: append(bson.D{{Key: "$each", Value: bson.A{}}}, b.modifiers()...)}}}}
	return []model.Check{{
		Name: name, Collection: collection, Rule: fmt.Sprintf("an array holds at most %d elements", b.spec.Max),
		Pipeline: mongo.Pipeline{
			{{Key: "$match", Value: b.over()}},
			{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
			{{Key: "$project", Value: bson.D{{Key: "n", Value: mql.Op("$size", "$"+path)}}}},
		},
		Tell: core.Tells[oversizedArray](), Mend: core.Mends(name, collection, updateEach(collection, b.over(), update)),
	}}
}

// An oversizedArray holds more elements than its bound.
type oversizedArray struct {
	ID bson.RawValue `bson:"_id"`
	N  int64         `bson:"n"`
}

func (o oversizedArray) Tell(f *model.Finding) {
	f.ID, f.Problem = o.ID, fmt.Sprintf("holds %d elements", o.N)
}

// over matches an array that has an element after the last that is kept.
func (b *Bounded[D, K]) over() bson.D {
	return bson.D{
		{Key: b.field.Path, Value: bson.D{{Key: "$type", Value: "array"}}}, // not a document with a field of that number
		{Key: fmt.Sprintf("%s.%d", b.field.Path, b.spec.Max), Value: bson.D{{Key: "$exists", Value: true}}},
	}
}

// Validator returns the $jsonSchema that makes the server refuse an array over the bound, for the validator option of
// create or collMod, alone or under $and with others
// (https://www.mongodb.com/docs/manual/core/schema-validation/specify-json-schema/). Not every server enforces it.
func (b *Bounded[D, K]) Validator() bson.D {
	schema := bson.D{{Key: "bsonType", Value: "array"}, {Key: "maxItems", Value: b.spec.Max}}
	parts := strings.Split(b.field.Path, ".")
	for _, part := range slices.Backward(parts) {
		schema = bson.D{{Key: "properties", Value: bson.D{{Key: part, Value: schema}}}}
	}
	return bson.D{{Key: "$jsonSchema", Value: schema}}
}

// Indexes returns none: every write finds its owner by _id.
func (b *Bounded[D, K]) Indexes() []model.Index { return nil }

// Relations returns none: the elements live in their owner.
func (b *Bounded[D, K]) Relations() []model.Relation { return nil }

func (b *Bounded[D, K]) refused(field string, v any, reason string) error {
	return &model.ValueError{Collection: b.owners.Name(), Field: field, Value: v, Reason: reason}
}

func (b *Bounded[D, K]) refuse(field string, v any, reason string) model.Write {
	return model.Refused(b.owners.Name(), b.refused(field, v, reason))
}
