package migrate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// extracted is an owner with the documents that its elements become.
type extracted struct {
	owner bson.Raw
	ids   []bson.RawValue
	docs  []bson.Raw // marked
}

// extractAll makes the documents of a batch of owners. An owner with an element that can't be extracted is reported, and
// left out.
func (x *Extraction) extractAll(b *batchReader, owners []bson.Raw) []extracted {
	var out []extracted
	taken := map[string]bson.RawValue{}
	for _, o := range owners {
		e, ok := x.extract(b, o)
		if !ok {
			continue
		}
		id := o.Lookup("_id")
		if _, again := splitDuplicates(e.ids); len(again) > 0 {
			b.report(mismatchDuplicate, id, again...)
			continue
		}
		var occupied []bson.RawValue
		for _, child := range e.ids {
			if _, ok := taken[bsonval.Key(child)]; ok {
				occupied = append(occupied, child)
			}
		}
		if len(occupied) > 0 {
			b.report(mismatchOccupied, id, occupied...)
			continue
		}
		for _, child := range e.ids {
			taken[bsonval.Key(child)] = id
		}
		out = append(out, e)
	}
	return out
}

func (x *Extraction) extract(b *batchReader, owner bson.Raw) (extracted, bool) {
	out := extracted{owner: owner}
	id := owner.Lookup("_id")
	for i, element := range x.elements(owner) {
		child, doc, err := x.document(id, i, element)
		if err != nil {
			b.refuse(id, err.Error(), rawOf(int32(i)))
			return out, false
		}
		out.ids, out.docs = append(out.ids, child), append(out.docs, doc)
	}
	return out, true
}

// document makes the document of an element.
func (x *Extraction) document(owner bson.RawValue, i int, element bson.RawValue) (bson.RawValue, bson.Raw, error) {
	none := bson.RawValue{}
	raw, ok := element.DocumentOK()
	if !ok {
		return none, nil, fmt.Errorf("the element is a %s, not a document", element.Type)
	}
	id, err := x.IDOf(owner, i, element)
	if err != nil {
		return none, nil, err
	}
	doc := bson.D{{Key: "_id", Value: id}}
	fields, err := raw.Elements()
	if err != nil {
		return none, nil, err
	}
	for _, f := range fields {
		switch name := f.Key(); name {
		case x.Key:
			if name != "" {
				continue
			}
			fallthrough
		case "_id", x.parent, x.order, x.mark:
			return none, nil, fmt.Errorf("the element has a field %q, which the document needs", name)
		default:
			if err := core.CheckKey(name); err != nil {
				return none, nil, err
			}
			doc = append(doc, bson.E{Key: name, Value: f.Value()})
		}
	}
	if x.parent != "" {
		doc = append(doc, bson.E{Key: x.parent, Value: owner})
	}
	if x.order != "" {
		doc = append(doc, bson.E{Key: x.order, Value: int32(i)})
	}
	plain, err := bson.Marshal(doc)
	if err != nil {
		return none, nil, err
	}
	marked, err := bson.Marshal(append(doc, bson.E{Key: x.mark, Value: bson.D{{Key: "of", Value: owner}, {Key: "sum", Value: checksum(plain)}}}))
	return id, marked, err
}

func checksum(doc bson.Raw) string {
	h := sha256.Sum256(doc)
	return hex.EncodeToString(h[:8])
}

// isOwn reports whether a stored document is a copy that nobody changed.
func (e Embedding) isOwn(doc bson.Raw, owner bson.RawValue) bool {
	mark := valueAt(doc, e.mark)
	m, ok := mark.DocumentOK()
	if !ok || bsonval.Key(m.Lookup("of")) != bsonval.Key(owner) {
		return false
	}
	elems, _ := doc.Elements()
	var plain bson.D
	for _, f := range elems {
		if f.Key() != e.mark {
			plain = append(plain, bson.E{Key: f.Key(), Value: f.Value()})
		}
	}
	raw, err := bson.Marshal(plain)
	sum, ok := m.Lookup("sum").StringValueOK()
	return err == nil && ok && checksum(raw) == sum
}

// says reports whether a stored document holds what an extracted one does, marks aside.
func (e Embedding) says(stored, want bson.Raw) bool {
	if !sameBody(e.body(stored), e.body(want)) {
		return false
	}
	for _, f := range []string{e.parent, e.order} {
		if f != "" && bsonval.Key(valueAt(stored, f)) != bsonval.Key(valueAt(want, f)) {
			return false
		}
	}
	return true
}

// copyOwners plans the documents and references of a batch of owners.
func (x *Extraction) copyOwners(b *batchReader, owners []bson.Raw) ([]model.Step, error) {
	all := x.extractAll(b, owners)
	var ids []bson.RawValue
	for _, e := range all {
		ids = append(ids, e.ids...)
	}
	stored, err := b.byID(x.docs, ids, nil)
	if err != nil {
		return nil, err
	}
	var replace, insert, refs []model.Step
	for _, e := range all {
		owner := e.owner.Lookup("_id")
		var occupied []bson.RawValue
		var replaced, inserted []model.Step
		for i, want := range e.docs {
			was, ok := stored[bsonval.Key(e.ids[i])]
			switch {
			case !ok:
				inserted = append(inserted, x.copied(&mongo.InsertOneModel{Document: want}))
			case x.says(was, want):
			case x.isOwn(was, owner):
				replaced = append(replaced, x.copied(&mongo.ReplaceOneModel{Filter: core.AsRead(was), Replacement: want}))
			default:
				occupied = append(occupied, e.ids[i])
			}
		}
		if len(occupied) > 0 {
			b.report(mismatchOccupied, owner, occupied...)
			continue
		}
		insert, replace = append(insert, inserted...), append(replace, replaced...)
		if step := x.refStep(e); step != nil {
			refs = append(refs, *step)
		}
	}
	return append(append(replace, insert...), refs...), nil
}

// copied stores a document as its element says: with a scope's fields, it would differ from the element.
func (x *Extraction) copied(m mongo.WriteModel) model.Write {
	return model.Write{Collection: x.docs, Index: model.IDIndex, Final: true, Model: m}
}

// refStep is the update of an owner's references, or nil when they are right.
func (x *Extraction) refStep(e extracted) *model.Write {
	if x.refs == "" {
		return nil
	}
	was, want := valueAt(e.owner, x.refs), x.stored(e.ids)
	if sameValues(listed(was), e.ids) && (was.Type != 0 || want.Type == 0) {
		return nil
	}
	if !idref.HoldsValue(was) && want.Type == 0 {
		return nil
	}
	w := guardedUpdate(x.owners, e.owner.Lookup("_id"), bson.D{{Key: x.refs, Value: as(was)}}, setOrUnset(x.refs, want))
	return &w
}
