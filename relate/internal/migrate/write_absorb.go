package migrate

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxGuard is how large what was read may be to be put whole into a filter, beside what is written: a statement has 16 MiB.
const maxGuard = 4 << 20

// belonging reads the documents of a batch of owners, in order, by the key of the owner. Ids that lead nowhere are
// reported, and so is a subdocument's second document.
func (e Embedding) belonging(b *batchReader, owners []bson.Raw) (map[string][]bson.Raw, error) {
	if e.refs == "" {
		out, err := e.docsOf(b, owners)
		for _, o := range owners {
			id := o.Lookup("_id")
			if docs := out[bsonval.Key(id)]; e.single && len(docs) > 1 {
				b.report(mismatchDuplicate, id, idsOf(docs, "_id")...)
				delete(out, bsonval.Key(id))
			}
		}
		return out, err
	}
	var all []bson.RawValue
	for _, o := range owners {
		all = append(all, e.ids(o)...)
	}
	byID, err := b.byID(e.docs, all, nil)
	out := map[string][]bson.Raw{}
	for _, o := range owners {
		id := o.Lookup("_id")
		var dangling []bson.RawValue
		for _, ref := range e.ids(o) {
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

// element is a document as it is embedded.
func (e Embedding) element(doc bson.Raw) (bson.RawValue, error) {
	out := bson.D{{Key: e.Key, Value: doc.Lookup("_id")}}
	fields, err := doc.Elements()
	if err != nil {
		return bson.RawValue{}, err
	}
	for _, f := range fields {
		switch name := f.Key(); name {
		case "_id", e.parent, e.order:
		case e.Key:
			return bson.RawValue{}, fmt.Errorf("the document has a field %q, which the element needs", name)
		default:
			if err := core.CheckKey(name); err != nil {
				return bson.RawValue{}, err
			}
			out = append(out, bson.E{Key: name, Value: f.Value()})
		}
	}
	return rawOf(out), nil
}

// copyDocs plans what a batch of owners shall embed.
func (e Embedding) copyDocs(b *batchReader, owners []bson.Raw) ([]model.Step, error) {
	docs, err := e.belonging(b, owners)
	if err != nil {
		return nil, err
	}
	doubled := b.reported(mismatchDuplicate)
	var steps []model.Step
	for _, o := range owners {
		id := o.Lookup("_id")
		elements, ok := e.elementsOf(b, id, docs[bsonval.Key(id)])
		if !ok || doubled[bsonval.Key(id)] {
			continue
		}
		was, want := valueAt(o, e.path), e.stored(elements)
		switch {
		case was.Equal(want), len(elements) == 0 && !idref.HoldsValue(was) && (e.refs == "" || !idref.HoldsValue(valueAt(o, e.refs))):
			continue
		case len(o)-len(was.Value)+len(want.Value)+len(e.path)+2 > core.MaxDocument:
			b.report(mismatchTooLarge, id, idsOf(docs[bsonval.Key(id)], "_id")...)
			continue
		}
		guard := bson.D{}
		if len(was.Value) <= maxGuard && len(was.Value)+len(want.Value) < core.MaxDocument-maxGuard/4 {
			guard = append(guard, bson.E{Key: e.path, Value: as(was)})
		}
		if refs := valueAt(o, e.refs); e.refs != "" && len(refs.Value)+len(want.Value) < core.MaxDocument-maxGuard {
			guard = append(guard, bson.E{Key: e.refs, Value: as(refs)})
		}
		steps = append(steps, guardedUpdate(e.owners, id, guard, setOrUnset(e.path, want)))
	}
	return steps, nil
}

// elementsOf makes the elements of an owner. One that can't be made is reported, and false is returned.
func (e Embedding) elementsOf(b *batchReader, owner bson.RawValue, docs []bson.Raw) ([]bson.RawValue, bool) {
	var out []bson.RawValue
	for _, d := range docs {
		v, err := e.element(d)
		if err != nil {
			b.refuse(owner, err.Error(), d.Lookup("_id"))
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

// embeds are the bodies of an owner's elements by their keys.
func (e Embedding) embeds(owner bson.Raw) map[string]map[string]bson.RawValue {
	out := map[string]map[string]bson.RawValue{}
	for _, el := range e.elements(owner) {
		out[bsonval.Key(e.keyOf(el))] = e.elementBody(el)
	}
	return out
}

// keys are the keys of an owner's elements.
func (e Embedding) keys(owner bson.Raw) []bson.RawValue {
	var out []bson.RawValue
	for _, el := range e.elements(owner) {
		out = append(out, e.keyOf(el))
	}
	return out
}

// compareDocs reports in what an owner's elements disagree with its documents.
func (e Embedding) compareDocs(b *batchReader, owner bson.Raw, docs []bson.Raw) {
	id := owner.Lookup("_id")
	embeds, keys := e.embeds(owner), e.keys(owner)
	var missing, differing []bson.RawValue
	for _, d := range docs {
		body, ok := embeds[bsonval.Key(d.Lookup("_id"))]
		if !ok {
			missing = append(missing, d.Lookup("_id"))
		} else if !sameBody(body, e.body(d)) {
			differing = append(differing, d.Lookup("_id"))
		}
	}
	b.reportSome(mismatchMissing, id, missing)
	b.reportSome(mismatchDiffering, id, differing)
	ids := idsOf(docs, "_id")
	in, extra := partBy(keys, ids)
	if e.refs != "" {
		b.reportSome(mismatchExtra, id, extra)
	}
	if len(missing) == 0 && !sameValues(in, ids) {
		b.reportSome(mismatchOrder, id, ids)
	}
}
