package migrate

// The copy of Extract: elements become documents with a mark.

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

// An extracted is an owner with the documents that its elements become, each with its
// mark.
type extracted struct {
	owner bson.Raw
	ids   []bson.RawValue
	docs  []bson.Raw // marked
}

// extractAll makes the documents of a batch of owners. An owner with an element that
// can't be extracted is reported and left out.
func (x *extraction) extractAll(b *batchReader, owners []bson.Raw) []extracted {
	var out []extracted
	// Ids of documents of this batch. Two owners with one id would overwrite each other's
	// document in turn, whenever Copy runs.
	taken := map[string]bson.RawValue{}
	for _, o := range owners {
		e, ok := x.extract(b, o)
		if !ok {
			continue
		}
		id := o.Lookup("_id")
		// Two elements of one owner with one id: nobody can say which one is right.
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

// extract makes the documents of one owner.
func (x *extraction) extract(b *batchReader, owner bson.Raw) (extracted, bool) {
	out := extracted{owner: owner}
	id := owner.Lookup("_id")
	for i, element := range x.readElements(owner) {
		child, doc, err := x.makeDocument(id, i, element)
		if err != nil {
			// An element without a valid id is named by its index.
			b.refuse(id, err.Error(), encodeRaw(int32(i)))
			return out, false
		}
		out.ids, out.docs = append(out.ids, child), append(out.docs, doc)
	}
	return out, true
}

// makeDocument makes the document of an element.
func (x *extraction) makeDocument(owner bson.RawValue, i int, element bson.RawValue) (bson.RawValue, bson.Raw, error) {
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
			// Without a Key, an element's field with the empty name is refused, as it
			// can't be in a path.
			if name != "" {
				continue
			}
			fallthrough
		// The element's own field would be overwritten by the migration's.
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
	// The checksum is of the document without the mark, as isOwn computes it again.
	plain, err := bson.Marshal(doc)
	if err != nil {
		return none, nil, err
	}
	marked, err := bson.Marshal(
		append(
			doc,
			bson.E{Key: x.mark, Value: bson.D{{Key: "of", Value: owner}, {Key: "sum", Value: computeChecksum(plain)}}},
		),
	)
	return id, marked, err
}

// computeChecksum returns a checksum of a document's content, for its mark.
func computeChecksum(doc bson.Raw) string {
	// Eight bytes are enough to notice a change: this is no protection against an
	// attacker.
	h := sha256.Sum256(doc)
	return hex.EncodeToString(h[:8])
}

// isOwn reports whether a stored document is a copy that nobody has changed: its checksum
// is the mark's.
func (e embedding) isOwn(doc bson.Raw, owner bson.RawValue) bool {
	mark := readValue(doc, e.mark)
	m, ok := mark.DocumentOK()
	if !ok || bsonval.Key(m.Lookup("of")) != bsonval.Key(owner) {
		return false
	}
	// The order of the fields counts here: an update that only moves a field is a change
	// too, and the document isn't the migration's any more.
	elems, _ := doc.Elements()
	var plain bson.D
	for _, f := range elems {
		if f.Key() != e.mark {
			plain = append(plain, bson.E{Key: f.Key(), Value: f.Value()})
		}
	}
	raw, err := bson.Marshal(plain)
	sum, ok := m.Lookup("sum").StringValueOK()
	return err == nil && ok && computeChecksum(raw) == sum
}

// hasSameContent compares a stored document with an extracted one, without their marks.
func (e embedding) hasSameContent(stored, want bson.Raw) bool {
	if !isSameBody(e.readBody(stored), e.readBody(want)) {
		return false
	}
	for _, f := range []string{e.parent, e.order} {
		if f != "" && bsonval.Key(readValue(stored, f)) != bsonval.Key(readValue(want, f)) {
			return false
		}
	}
	return true
}

// copyOwners plans the documents and references of a batch of owners.
func (x *extraction) copyOwners(b *batchReader, owners []bson.Raw) ([]model.Step, error) {
	all := x.extractAll(b, owners)
	var ids []bson.RawValue
	for _, e := range all {
		ids = append(ids, e.ids...)
	}
	stored, err := b.readByID(x.docs, ids, nil)
	if err != nil {
		return nil, err
	}
	// Three lists, so that the steps of one kind are next to each other and go in few
	// commands. The references come last: they never name a document that doesn't exist.
	var replace, insert, refs []model.Step
	for _, e := range all {
		owner := e.owner.Lookup("_id")
		var occupied []bson.RawValue
		var replaced, inserted []model.Step
		for i, want := range e.docs {
			was, ok := stored[bsonval.Key(e.ids[i])]
			switch {
			case !ok:
				inserted = append(inserted, x.writeCopy(&mongo.InsertOneModel{Document: want}))
			// Nothing to write: the last copy, or the new program itself, stored it.
			case x.hasSameContent(was, want):
			// The element has changed since the last copy. The filter is the whole copy
			// as it was read.
			case x.isOwn(was, owner):
				replaced = append(
					replaced, x.writeCopy(&mongo.ReplaceOneModel{Filter: core.AsRead(was), Replacement: want}),
				)
			default:
				occupied = append(occupied, e.ids[i])
			}
		}
		if len(occupied) > 0 {
			b.report(mismatchOccupied, owner, occupied...)
			continue
		}
		insert, replace = append(insert, inserted...), append(replace, replaced...)
		if step := x.updateRefs(e); step != nil {
			refs = append(refs, *step)
		}
	}
	return append(append(replace, insert...), refs...), nil
}

// writeCopy stores a document as its element says. With a scope's fields, it would differ
// from the element.
func (x *extraction) writeCopy(m mongo.WriteModel) model.Write {
	return model.Write{Collection: x.docs, Index: model.IDIndex, Final: true, Model: m}
}

// updateRefs is the update of an owner's references, or nil if they are right.
func (x *extraction) updateRefs(e extracted) *model.Write {
	if x.refs == "" {
		return nil
	}
	was, want := readValue(e.owner, x.refs), x.encodeList(e.ids)
	// The references are right already. A missing array isn't, if an empty one belongs
	// there.
	if isSameList(listValues(was), e.ids) && (was.Type != 0 || want.Type == 0) {
		return nil
	}
	if !idref.IsValue(was) && want.Type == 0 {
		return nil
	}
	w := updateIfUnchanged(
		x.owners, e.owner.Lookup("_id"), bson.D{{Key: x.refs, Value: matchAsRead(was)}}, setOrUnset(x.refs, want),
	)
	return &w
}
