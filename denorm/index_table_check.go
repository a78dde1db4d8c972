package denorm

import (
	"fmt"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Checks returns the checks of the table: of entries whose document is gone or doesn't hold the value; if there are copies,
// of entries whose copied fields differ from the document's; of values that documents hold without an entry; and in a
// unique table, of values whose entry is another document's.
//
// Mending goes by what the documents say, and writes no document: it deletes surplus entries, sets copied fields and enters
// missing values. The Age of the first check is one minute, by the time in the entry's tokens: let it be longer than any plan
// takes, for an entry comes before its document. The Age of the others is 0. Nothing mends a value of two documents, for no
// document is to lose its value unasked: set one of the two.
//
// Cost: see [model.Check]. For each entry the server looks its document up by _id, for each value its entry. Mending writes one
// entry each, by _id.
func (x *IndexTable[D, K]) Checks() []model.Check { return x.t.checks() }

func (t *indexTable) checks() []model.Check {
	surplus := model.Check{
		Name: t.entries + ": surplus entries", Collection: t.entries, Age: time.Minute,
		Rule:     fmt.Sprintf("the document of each entry holds the value in %s of %s", t.path, t.docs),
		Pipeline: t.surplus(), Tell: core.Tells[surplusEntry](),
	}
	surplus.Mend = core.Mends(surplus.Name, t.entries, t.removeSurplus)
	stale := model.Check{
		Name: t.entries + ".doc: stale copies", Collection: t.entries,
		Rule:     fmt.Sprintf("the copied fields of each entry are those of its document of %s", t.docs),
		Pipeline: t.stale(), Tell: core.Tells[staleEntry](),
	}
	stale.Mend = core.Mends(stale.Name, t.entries, t.renew)
	missing := model.Check{
		Name: fmt.Sprintf("%s.%s: values without an entry in %s", t.docs, t.path, t.entries), Collection: t.docs,
		Rule:     fmt.Sprintf("each value has an entry in %s", t.entries),
		Pipeline: t.without("missing"), Tell: core.Tells[missingEntry](),
	}
	missing.Mend = core.Mends(missing.Name, t.entries, t.enterMissing)
	out := []model.Check{surplus}
	if len(t.copies) > 0 {
		out = append(out, stale)
	}
	out = append(out, missing)
	if t.unique {
		out = append(out, model.Check{
			Name: fmt.Sprintf("%s.%s: values of another document in %s", t.docs, t.path, t.entries), Collection: t.docs,
			Rule:     fmt.Sprintf("the entry of each value in %s is that of the document that holds it", t.entries),
			Pipeline: t.without("conflict"), Tell: core.Tells[takenEntry](),
		})
	}
	return out
}

// A surplusEntry is an entry whose document doesn't hold the value.
type surplusEntry struct {
	Entry bson.RawValue   `bson:"_id"`
	Value bson.RawValue   `bson:"v"`  // as it is stored
	ID    bson.RawValue   `bson:"id"` // the _id of the document
	Ops   []bson.ObjectID `bson:"ops"`
}

// Tell takes the latest claim for the beginning: the second in its token is over then.
func (d surplusEntry) Tell(f *model.Finding) {
	f.ID, f.Problem = d.Entry, fmt.Sprintf("the document %s doesn't hold %s", model.Shell(d.ID), cut(model.Shell(d.Value)))
	for _, op := range d.Ops {
		if t := op.Timestamp().Add(time.Second); t.After(f.Since) {
			f.Since = t
		}
	}
}

// A staleEntry is an entry whose copied fields are not the document's.
type staleEntry struct {
	Entry bson.RawValue `bson:"_id"`
	Value bson.RawValue `bson:"v"`
	ID    bson.RawValue `bson:"id"`
	Found bson.Raw      `bson:"found"` // nil if the entry has none
	Want  bson.Raw      `bson:"want"`
}

func (d staleEntry) Tell(f *model.Finding) {
	found := "nothing"
	if d.Found != nil {
		found = cut(model.Shell(d.Found))
	}
	f.ID, f.Problem = d.Entry, fmt.Sprintf("has %s of %s, which has %s", found, model.Shell(d.ID), cut(model.Shell(d.Want)))
}

// A missingEntry is a value of a document that has no entry.
type missingEntry struct {
	Value bson.RawValue `bson:"v"`
	ID    bson.RawValue `bson:"id"`
	Want  bson.Raw      `bson:"want"` // the fields to copy; nil if none are declared
}

func (d missingEntry) Tell(f *model.Finding) {
	f.ID, f.Problem = d.ID, fmt.Sprintf("holds %s, which has no entry", cut(model.Shell(d.Value)))
}

// A takenEntry is a unique value of a document whose entry is another document's.
type takenEntry struct {
	Value bson.RawValue `bson:"v"`
	ID    bson.RawValue `bson:"id"`
	Other bson.RawValue `bson:"other"` // the _id of the document whose entry it is
}

func (d takenEntry) Tell(f *model.Finding) {
	f.ID, f.Problem = d.ID, fmt.Sprintf("holds %s, whose entry is of %s", cut(model.Shell(d.Value)), model.Shell(d.Other))
}

// find is the filter of a value's entries.
func (t *indexTable) find(value any) (bson.D, error) {
	v, err := t.rawValue(t.field, value, true)
	if err != nil {
		return nil, err
	}
	list, err := t.values(v)
	switch {
	case err != nil:
		return nil, err
	case v.Type == bson.TypeArray:
		return nil, t.refused(t.path, nil, "an array is no value: look up one of its elements")
	case len(list) == 0:
		return nil, t.refused(t.path, nil, "null has no entries: ask the documents")
	case t.unique:
		return bson.D{{Key: "_id", Value: model.Eq(v)}}, nil
	}
	return t.ofValue(v), nil
}

// ofValue is the range of a value's entries, in a table that is not unique.
func (t *indexTable) ofValue(v bson.RawValue) bson.D {
	bound := func(id any) bson.D { return bson.D{{Key: "v", Value: v}, {Key: "id", Value: id}} }
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: bound(bson.MinKey{})}, {Key: "$lte", Value: bound(bson.MaxKey{})}}}}
}

// documents is the pipeline from a value's entries to the documents that hold it.
func (t *indexTable) documents(value any) (mongo.Pipeline, error) {
	filter, err := t.find(value)
	if err != nil {
		return nil, err
	}
	v, err := t.rawValue(t.field, value, true)
	return mongo.Pipeline{
		{{Key: "$match", Value: filter}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		mql.Lookup(t.docs, t.idPath(), "_id", "found"),
		{{Key: "$unwind", Value: "$found"}},
		{{Key: "$replaceRoot", Value: bson.D{{Key: "newRoot", Value: "$found"}}}},
		{{Key: "$match", Value: bson.D{{Key: t.path, Value: model.Eq(v)}}}},
	}, err
}

func (t *indexTable) idPath() string {
	if t.unique {
		return "id"
	}
	return "_id.id"
}

func (t *indexTable) valuePath() string {
	if t.unique {
		return "_id"
	}
	return "_id.v"
}

// wanted is the expression of the copied fields of a document that lies at a prefix.
func (t *indexTable) wanted(prefix string) bson.D {
	return shapeOf(t.copies).build(func(path string) (any, bool) { return prefix + path, true })
}

// held is the expression that the document of an entry, under src, holds its value.
func (t *indexTable) held() bson.D {
	value, at := "$"+t.valuePath(), "$src."+t.path
	return mql.Op("$cond", mql.Op("$isArray", at), mql.Op("$in", value, at), mql.Op("$eq", value, at))
}

// surplus is the pipeline over the entries that finds those whose document doesn't hold the value.
func (t *indexTable) surplus() mongo.Pipeline {
	return mongo.Pipeline{
		mql.Lookup(t.docs, t.idPath(), "_id", "src"),
		{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$src"}, {Key: "preserveNullAndEmptyArrays", Value: true}}}},
		{{Key: "$project", Value: bson.D{
			{Key: "v", Value: "$" + t.valuePath()}, {Key: "id", Value: "$" + t.idPath()}, {Key: "ops", Value: 1}, {Key: "held", Value: t.held()},
		}}},
		{{Key: "$match", Value: bson.D{{Key: "held", Value: false}}}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$unset", Value: "held"}},
	}
}

// stale is the pipeline over the entries that finds those with other fields than their document.
func (t *indexTable) stale() mongo.Pipeline {
	return mongo.Pipeline{
		mql.Lookup(t.docs, t.idPath(), "_id", "src"),
		{{Key: "$unwind", Value: "$src"}},
		{{Key: "$project", Value: bson.D{
			{Key: "v", Value: "$" + t.valuePath()}, {Key: "id", Value: "$" + t.idPath()}, {Key: "found", Value: "$doc"}, {Key: "want", Value: t.wanted("$src.")},
			{Key: "held", Value: t.held()}, {Key: "same", Value: mql.Op("$eq", "$doc", t.wanted("$src."))},
		}}},
		{{Key: "$match", Value: bson.D{{Key: "held", Value: true}, {Key: "same", Value: false}}}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$unset", Value: bson.A{"held", "same"}}},
	}
}

// without is the pipeline over the documents that finds the values without an entry, or those whose entry is another
// document's.
func (t *indexTable) without(fault string) mongo.Pipeline {
	fields := bson.D{{Key: "v", Value: "$" + t.path}}
	group := bson.D{{Key: "_id", Value: bson.D{{Key: "v", Value: "$v"}, {Key: "id", Value: "$_id"}}}}
	out := bson.D{{Key: "_id", Value: 0}, {Key: "v", Value: "$_id.v"}, {Key: "id", Value: "$_id.id"}}
	local, wrong := "_id", bson.D{{Key: "entry", Value: bson.D{{Key: "$size", Value: 0}}}}
	if t.unique {
		local = "_id.v"
	}
	if fault == "conflict" {
		wrong = mql.Op("$expr", mql.Op("$and", mql.Op("$ne", "$entry", bson.A{}), mql.Op("$not", bson.A{mql.Op("$in", "$_id.id", "$entry.id")})))
		out = append(out, bson.E{Key: "other", Value: mql.Op("$arrayElemAt", "$entry.id", 0)})
	} else if len(t.copies) > 0 {
		fields = append(fields, bson.E{Key: "want", Value: t.wanted("$")})
		group = append(group, bson.E{Key: "want", Value: bson.D{{Key: "$first", Value: "$want"}}})
		out = append(out, bson.E{Key: "want", Value: 1})
	}
	return mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: t.path, Value: bson.D{{Key: "$exists", Value: true}}}}}},
		{{Key: "$project", Value: fields}},
		{{Key: "$unwind", Value: "$v"}},
		{{Key: "$match", Value: bson.D{{Key: "v", Value: bson.D{{Key: "$ne", Value: nil}}}}}},
		{{Key: "$group", Value: group}},
		mql.Lookup(t.entries, local, "_id", "entry"),
		{{Key: "$match", Value: wrong}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$project", Value: out}},
	}
}

// mend is the plan of one write for each of n findings, which are of these values and documents.
func (t *indexTable) mend(n int, of func(i int) (v, id bson.RawValue), write func(i int, v, id bson.RawValue) model.Write) (p model.Plan) {
	for i := range n {
		v, id := of(i)
		if !isKey(id) || !isKey(v) {
			return model.RefusedPlan(t.entries, t.refused(fmt.Sprintf("found[%d]", i), nil, "has no value or no _id: pass what the check returned"))
		}
		p.Steps = append(p.Steps, write(i, clone(v), clone(id)))
	}
	if len(p.Steps) > 1 {
		p.Leaves = "some entries mended, others not yet"
	}
	return p
}

// removeSurplus deletes entries whose claims are as they were found.
func (t *indexTable) removeSurplus(found []surplusEntry) model.Plan {
	return t.mend(len(found), func(i int) (v, id bson.RawValue) { return found[i].Value, found[i].ID }, func(i int, v, id bson.RawValue) model.Write {
		ops := bson.A{}
		for _, op := range found[i].Ops {
			ops = append(ops, op)
		}
		return t.remove(t.key(v, id), ops)
	})
}

// renew sets copied fields that are as they were found.
func (t *indexTable) renew(found []staleEntry) model.Plan {
	return t.mend(len(found), func(i int) (v, id bson.RawValue) { return found[i].Value, found[i].ID }, func(i int, v, id bson.RawValue) model.Write {
		filter := append(t.key(v, id), bson.E{Key: "doc", Value: bson.D{{Key: "$exists", Value: false}}})
		if found[i].Found != nil {
			filter[len(filter)-1].Value = bson.D{{Key: "$eq", Value: slices.Clone(found[i].Found)}}
		}
		return t.update(filter, bson.D{{Key: "$set", Value: bson.D{{Key: "doc", Value: slices.Clone(found[i].Want)}}}})
	})
}

// enterMissing enters values that still have no entry.
func (t *indexTable) enterMissing(found []missingEntry) model.Plan {
	return t.mend(len(found), func(i int) (v, id bson.RawValue) { return found[i].Value, found[i].ID }, func(i int, v, id bson.RawValue) model.Write {
		return t.ensure(v, id, slices.Clone(found[i].Want))
	})
}

// ensure enters a value unless it is entered.
func (t *indexTable) ensure(v, id bson.RawValue, copies any) model.Write {
	fields := bson.D{{Key: "ops", Value: bson.A{}}, {Key: "sure", Value: true}}
	if len(t.copies) > 0 {
		fields = append(bson.D{{Key: "doc", Value: copies}}, fields...)
	}
	key := t.key(v, id)
	if t.unique {
		fields = append(bson.D{{Key: "id", Value: id}}, fields...)
	}
	w := t.update(key[:1:1], bson.D{{Key: "$setOnInsert", Value: fields}})
	upsert := true
	w.Model.(*mongo.UpdateOneModel).Upsert = &upsert
	return w
}

// projection is what a rebuild reads.
func (ts indexTables) projection() (d bson.D) {
	for _, path := range ts.held() {
		d = append(d, bson.E{Key: path, Value: 1})
	}
	return d
}

// rebuild is the plan for a batch of documents.
func (ts indexTables) rebuild(docs []bson.Raw) (model.Plan, error) {
	states := make([][]indexState, len(docs))
	for i, doc := range docs {
		var err error
		if states[i], err = ts.states(slices.Clone(doc)); err != nil {
			return model.Plan{}, fmt.Errorf("document %s: %w", cut(model.Shell(doc.Lookup("_id"))), err)
		}
	}
	var p model.Plan
	for i, t := range ts { // table by table, so that the writes of one share a command
		for _, of := range states {
			for _, v := range of[i].values {
				p.Steps = append(p.Steps, t.ensure(v, of[i].id, of[i].copies))
			}
		}
	}
	return p, nil
}
