package bounded

import (
	"fmt"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// refuseWrite is a write that gives an error.
func (b *untypedBounded) refuseWrite(field string, v any, reason string) model.Write {
	return model.Refused(b.docs.Name(), b.docs.Refuse(field, v, reason))
}

// pushElements is the push of elements, with other operators. update makes a write of
// these operators, if they can't be joined with the push here.
func (b *untypedBounded) pushElements(owner any, elements []any, with bson.D, update func() model.Write) model.Write {
	if update != nil && len(with) == 0 {
		return b.refuseWrite("with", nil, "no operator was given: use Push")
	}
	if len(elements) == 0 {
		return b.refuseWrite(b.field.Path, nil, "no element was given: give at least one")
	}
	id, err := b.docs.EncodeID("_id", owner)
	if err == nil {
		err = b.docs.CheckUpdate(with)
	}
	if err != nil {
		return model.Refused(b.docs.Name(), err)
	}
	p := newPush()
	if err := b.appendPush(&p, elements); err != nil {
		return model.Refused(b.docs.Name(), err)
	}
	if b.spec.Create {
		with = addVersion(with, b.docs.VersionField())
	}
	if !p.appendOthers(with, b.field.Path, b.docs) { // let it be refused, or united with care
		return b.mergeWrites(b.pushElements(owner, elements, nil, nil), update())
	}
	m, byID := &p.parts.model, bson.D(p.parts.filter[:])
	byID[0] = bson.E{Key: "_id", Value: mql.Eq(id)}
	m.Filter, m.Update = byID, p.endUpdate()
	w := model.Write{Collection: b.docs.Name(), Model: m, Expect: model.One, Index: model.IDIndex}
	if upsert := b.spec.Create; upsert {
		m.Upsert = &upsert
	}
	if b.spec.Key == "" {
		return w
	}
	each, keys, err := b.readKeys(p.each)
	if err != nil {
		return model.Refused(b.docs.Name(), err)
	}
	path := b.field.Path + "." + b.spec.Key
	m.Filter = bsondoc.JoinFilters(byID, bson.D{{Key: path, Value: bson.D{{Key: "$nin", Value: keys}}}})
	w.Done = bsondoc.JoinFilters(byID, b.matchPushed(path, each, keys))
	w.Idempotent = true
	return w
}

// mergeWrites merges the push with an update of the same owner. The update upserts too if
// the push does.
func (b *untypedBounded) mergeWrites(push, update model.Write) model.Write {
	if m, ok := update.Model.(*mongo.UpdateOneModel); ok && b.spec.Create {
		m.SetUpsert(true)
	}
	w := model.Merge(push, update)
	if w.Err == nil {
		w.Done, w.Idempotent = push.Done, push.Idempotent
	}
	return w
}

// readKeys reads the elements of an encoded array, and the key of each. Each must have
// one, and no key may occur twice.
func (b *untypedBounded) readKeys(array bson.RawArray) (each []bson.RawValue, keys bson.A, err error) {
	if each, err = array.Values(); err != nil {
		return nil, nil, err
	}
	keys = make(bson.A, len(each))
	seen := map[string]bool{}
	for i, e := range each {
		key, field := stored.ElementAt(e, b.spec.Key), fmt.Sprintf("%s[%d].%s", b.field.Path, i, b.spec.Key)
		switch name := bsonval.Key(key); {
		case !stored.IsKey(key):
			return nil, nil, b.docs.Refuse(field, nil, "the element has no key: give a value to the spec's Key field")
		case seen[name]:
			return nil, nil, b.docs.Refuse(field, key, "two elements have the same key: give each key once")
		default:
			seen[name] = true
		}
		keys[i] = key
	}
	return each, keys, nil
}

// pullKeys is the update that removes elements by their keys.
func (b *untypedBounded) pullKeys(keys []any) (bson.D, error) {
	switch {
	case b.spec.Key == "":
		return nil, b.docs.Refuse(b.field.Path, nil, "the spec has no Key: declare one")
	case len(keys) == 0:
		return nil, b.docs.Refuse(b.field.Path, nil, "no key was given: give at least one")
	}
	in, err := b.docs.Raw(bson.A(keys))
	if err != nil {
		return nil, b.docs.Refuse(b.spec.Key, nil, err.Error())
	}
	for _, k := range core.Elements(in) {
		if !stored.IsKey(k) {
			return nil, b.docs.Refuse(b.field.Path+"."+b.spec.Key, k, commands.NotAKey)
		}
	}
	return mql.Op("$pull", bson.D{{Key: b.field.Path, Value: bson.D{{Key: b.spec.Key, Value: mql.Op("$in", in)}}}}), nil
}
