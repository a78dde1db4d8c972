package migrate

// The copy of Absorb: documents become elements.

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxGuard is the size up to which a value that was read goes whole into a filter, beside
// the value that is written. A statement may have 16 MiB.
const maxGuard = 4 << 20

// readBelonging reads the documents of a batch of owners, in order, by the owner's key.
// It reports ids without a document, and a second document of a subdocument.
func (e embedding) readBelonging(b *batchReader, owners []bson.Raw) (map[string][]bson.Raw, error) {
	if e.refs == "" {
		out, err := e.readDocs(b, owners)
		for _, o := range owners {
			id := o.Lookup("_id")
			// A subdocument has room for one document. Which one is meant, only a person
			// can say.
			if docs := out[bsonval.Key(id)]; e.single && len(docs) > 1 {
				b.report(mismatchDuplicate, id, readIDs(docs, "_id")...)
				delete(out, bsonval.Key(id))
			}
		}
		return out, err
	}
	var all []bson.RawValue
	for _, o := range owners {
		all = append(all, e.readRefs(o)...)
	}
	byID, err := b.readByID(e.docs, all, nil)
	out := map[string][]bson.Raw{}
	for _, o := range owners {
		id := o.Lookup("_id")
		var dangling []bson.RawValue
		for _, ref := range e.readRefs(o) {
			if d, ok := byID[bsonval.Key(ref)]; ok {
				out[bsonval.Key(id)] = append(out[bsonval.Key(id)], d)
			} else {
				dangling = append(dangling, ref)
			}
		}
		b.reportSome(mismatchDangling, id, dangling)
	}
	return out, err
}

// makeElement makes the element of a document.
func (e embedding) makeElement(doc bson.Raw) (bson.RawValue, error) {
	out := bson.D{{Key: e.Key, Value: doc.Lookup("_id")}}
	fields, err := doc.Elements()
	if err != nil {
		return bson.RawValue{}, err
	}
	for _, f := range fields {
		switch name := f.Key(); name {
		case "_id", e.parent, e.order:
		// The key is the document's _id. A field of that name would be lost.
		case e.Key:
			return bson.RawValue{}, fmt.Errorf("the document has a field %q, which the element needs", name)
		default:
			if err := core.CheckKey(name); err != nil {
				return bson.RawValue{}, err
			}
			out = append(out, bson.E{Key: name, Value: f.Value()})
		}
	}
	return encodeRaw(out), nil
}

// copyDocs plans the elements of a batch of owners.
func (e embedding) copyDocs(b *batchReader, owners []bson.Raw) ([]model.Step, error) {
	docs, err := e.readBelonging(b, owners)
	if err != nil {
		return nil, err
	}
	doubled := b.listReported(mismatchDuplicate)
	var steps []model.Step
	for _, o := range owners {
		id := o.Lookup("_id")
		elements, ok := e.makeElements(b, id, docs[bsonval.Key(id)])
		if !ok || doubled[bsonval.Key(id)] {
			continue
		}
		was, want := readValue(o, e.path), e.encodeList(elements)
		switch {
		// An owner without documents and without references keeps what it has: nothing,
		// or null.
		case was.Equal(want), len(elements) == 0 && !idref.IsValue(was) &&
			(e.refs == "" || !idref.IsValue(readValue(o, e.refs))):
			continue
		// The owner would exceed 16 MiB with its elements: a person must decide.
		case len(o)-len(was.Value)+len(want.Value)+len(e.path)+2 > core.MaxDocument:
			b.report(mismatchTooLarge, id, readIDs(docs[bsonval.Key(id)], "_id")...)
			continue
		}
		// The old list is in the filter, unless the command would then be too large.
		// Without it, a concurrent change of the list is overwritten. Programs change the
		// list only after Copy.
		guard := bson.D{}
		if len(was.Value) <= maxGuard && len(was.Value)+len(want.Value) < core.MaxDocument-maxGuard/4 {
			guard = append(guard, bson.E{Key: e.path, Value: matchAsRead(was)})
		}
		if refs := readValue(o, e.refs); e.refs != "" && len(refs.Value)+len(want.Value) < core.MaxDocument-maxGuard {
			guard = append(guard, bson.E{Key: e.refs, Value: matchAsRead(refs)})
		}
		steps = append(steps, updateIfUnchanged(e.owners, id, guard, setOrUnset(e.path, want)))
	}
	return steps, nil
}

// makeElements makes the elements of an owner. If one can't be made, it reports it and
// returns false: an owner is migrated whole or not at all.
func (e embedding) makeElements(b *batchReader, owner bson.RawValue, docs []bson.Raw) ([]bson.RawValue, bool) {
	var out []bson.RawValue
	for _, d := range docs {
		v, err := e.makeElement(d)
		if err != nil {
			b.refuse(owner, err.Error(), d.Lookup("_id"))
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

// mapBodies returns the fields of an owner's elements, by their keys.
func (e embedding) mapBodies(owner bson.Raw) map[string]map[string]bson.RawValue {
	out := map[string]map[string]bson.RawValue{}
	for _, el := range e.readElements(owner) {
		out[bsonval.Key(e.readKey(el))] = e.readElementBody(el)
	}
	return out
}

// listKeys returns the keys of an owner's elements.
func (e embedding) listKeys(owner bson.Raw) []bson.RawValue {
	var out []bson.RawValue
	for _, el := range e.readElements(owner) {
		out = append(out, e.readKey(el))
	}
	return out
}

// compareDocs reports where an owner's elements and documents disagree.
func (e embedding) compareDocs(b *batchReader, owner bson.Raw, docs []bson.Raw) {
	id := owner.Lookup("_id")
	embeds, keys := e.mapBodies(owner), e.listKeys(owner)
	var missing, differing []bson.RawValue
	for _, d := range docs {
		body, ok := embeds[bsonval.Key(d.Lookup("_id"))]
		if !ok {
			missing = append(missing, d.Lookup("_id"))
		} else if !isSameBody(body, e.readBody(d)) {
			differing = append(differing, d.Lookup("_id"))
		}
	}
	b.reportSome(mismatchMissing, id, missing)
	b.reportSome(mismatchDiffering, id, differing)
	ids := readIDs(docs, "_id")
	in, extra := partByValues(keys, ids)
	if e.refs != "" {
		b.reportSome(mismatchExtra, id, extra)
	}
	if len(missing) == 0 && !isSameList(in, ids) {
		b.reportSome(mismatchOrder, id, ids)
	}
}
