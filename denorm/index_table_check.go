package denorm

import (
	"fmt"
	"slices"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An IndexFault is what is wrong with an entry.
type IndexFault string

const (
	Surplus   IndexFault = "surplus"   // the document doesn't hold the value, or is gone
	StaleCopy IndexFault = "staleCopy" // the copied fields are not the document's
	Missing   IndexFault = "missing"   // the document holds the value, and has no entry
	Conflict  IndexFault = "conflict"  // the document holds a unique value whose entry is another document's
)

// An IndexDrift is a difference between the entries of an [IndexTable] and its documents, as a check found it.
type IndexDrift struct {
	Fault IndexFault      `bson:"fault"`
	Value bson.RawValue   `bson:"v"`              // as it is stored
	ID    bson.RawValue   `bson:"id"`             // the _id of the document
	Other bson.RawValue   `bson:"other"`          // the _id of the document whose entry it is; of a Conflict only
	Ops   []bson.ObjectID `bson:"ops,omitempty"`  // the claims of the entry
	Found bson.Raw        `bson:"found"`          // the entry's copied fields; nil if it has none
	Want  bson.Raw        `bson:"want,omitempty"` // the document's; nil if it is gone, or no fields are copied
}

// String is the drift for a reader: "surplus: 'Paris' of 7".
func (d IndexDrift) String() string {
	s := fmt.Sprintf("%s: %s of %s", d.Fault, model.Shell(d.Value), model.Shell(d.ID))
	if d.Fault == Conflict {
		s += ", held by " + model.Shell(d.Other)
	}
	return s
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
		lookup(t.docs, t.idPath(), "_id", "found"),
		{{Key: "$unwind", Value: "$found"}},
		{{Key: "$replaceRoot", Value: bson.D{{Key: "newRoot", Value: "$found"}}}},
		{{Key: "$match", Value: bson.D{{Key: t.path, Value: model.Eq(v)}}}},
	}, err
}

// lookup is the stage that adds the documents of another collection.
func lookup(from, local, foreign, as string) bson.D {
	return bson.D{{Key: "$lookup", Value: bson.D{
		{Key: "from", Value: from}, {Key: "localField", Value: local}, {Key: "foreignField", Value: foreign}, {Key: "as", Value: as},
	}}}
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

// checkEntries is the pipeline over the entries.
func (t *indexTable) checkEntries() mongo.Pipeline {
	held := bson.D{{Key: "$cond", Value: bson.A{
		bson.D{{Key: "$isArray", Value: "$src." + t.path}},
		bson.D{{Key: "$in", Value: bson.A{"$" + t.valuePath(), "$src." + t.path}}},
		bson.D{{Key: "$eq", Value: bson.A{"$" + t.valuePath(), "$src." + t.path}}},
	}}}
	fields := bson.D{
		{Key: "v", Value: "$" + t.valuePath()}, {Key: "id", Value: "$" + t.idPath()}, {Key: "ops", Value: 1},
		{Key: "held", Value: held}, {Key: "same", Value: literal(true)},
	}
	if len(t.copies) > 0 {
		fields[len(fields)-1].Value = bson.D{{Key: "$eq", Value: bson.A{"$doc", t.wanted("$src.")}}}
		fields = append(fields, bson.E{Key: "found", Value: "$doc"}, bson.E{Key: "want", Value: t.wanted("$src.")})
	}
	return mongo.Pipeline{
		lookup(t.docs, t.idPath(), "_id", "src"),
		{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$src"}, {Key: "preserveNullAndEmptyArrays", Value: true}}}},
		{{Key: "$project", Value: fields}},
		{{Key: "$match", Value: bson.D{{Key: "$or", Value: bson.A{bson.D{{Key: "held", Value: false}}, bson.D{{Key: "same", Value: false}}}}}}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$set", Value: bson.D{{Key: "fault", Value: bson.D{{Key: "$cond", Value: bson.A{
			"$held", literal(string(StaleCopy)), literal(string(Surplus)),
		}}}}}}},
		{{Key: "$unset", Value: bson.A{"_id", "held", "same"}}},
	}
}

// checkDocuments is the pipeline over the documents.
func (t *indexTable) checkDocuments() mongo.Pipeline {
	fields := bson.D{{Key: "v", Value: "$" + t.path}}
	group := bson.D{{Key: "_id", Value: bson.D{{Key: "v", Value: "$v"}, {Key: "id", Value: "$_id"}}}}
	out := bson.D{{Key: "_id", Value: 0}, {Key: "v", Value: "$_id.v"}, {Key: "id", Value: "$_id.id"}, {Key: "fault", Value: literal(string(Missing))}}
	if len(t.copies) > 0 {
		fields = append(fields, bson.E{Key: "want", Value: t.wanted("$")})
		group = append(group, bson.E{Key: "want", Value: bson.D{{Key: "$first", Value: "$want"}}})
		out = append(out, bson.E{Key: "want", Value: 1})
	}
	local, mine := "_id", bson.D{{Key: "entry", Value: bson.D{{Key: "$size", Value: 0}}}}
	if t.unique {
		local = "_id.v"
		mine = bson.D{{Key: "$expr", Value: bson.D{{Key: "$not", Value: bson.A{bson.D{{Key: "$in", Value: bson.A{"$_id.id", "$entry.id"}}}}}}}}
		out = append(out, bson.E{Key: "other", Value: bson.D{{Key: "$arrayElemAt", Value: bson.A{"$entry.id", 0}}}})
		out[3].Value = bson.D{{Key: "$cond", Value: bson.A{
			bson.D{{Key: "$eq", Value: bson.A{"$entry", bson.A{}}}}, literal(string(Missing)), literal(string(Conflict)),
		}}}
	}
	return mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: t.path, Value: bson.D{{Key: "$exists", Value: true}}}}}},
		{{Key: "$project", Value: fields}},
		{{Key: "$unwind", Value: "$v"}},
		{{Key: "$match", Value: bson.D{{Key: "v", Value: bson.D{{Key: "$ne", Value: nil}}}}}},
		{{Key: "$group", Value: group}},
		lookup(t.entries, local, "_id", "entry"),
		{{Key: "$match", Value: mine}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$project", Value: out}},
	}
}

// repair is the plan that mends drifts.
func (t *indexTable) repair(found []IndexDrift, limit time.Time) model.Plan {
	var p model.Plan
	for i, d := range found {
		if !isKey(d.ID) || !isKey(d.Value) {
			return model.RefusedPlan(t.entries, t.refused(fmt.Sprintf("found[%d]", i), nil, "has no value or no _id: pass what the checks returned"))
		}
		v, id := clone(d.Value), clone(d.ID)
		switch d.Fault {
		case Surplus:
			if slices.ContainsFunc(d.Ops, func(op bson.ObjectID) bool { return !op.Timestamp().Before(limit.Truncate(time.Second)) }) {
				continue
			}
			ops := bson.A{}
			for _, op := range d.Ops {
				ops = append(ops, op)
			}
			p.Steps = append(p.Steps, t.remove(t.key(v, id), ops))
		case Missing:
			p.Steps = append(p.Steps, t.ensure(v, id, slices.Clone(d.Want)))
		case StaleCopy:
			filter := append(t.key(v, id), bson.E{Key: "doc", Value: bson.D{{Key: "$exists", Value: false}}})
			if d.Found != nil {
				filter[len(filter)-1].Value = bson.D{{Key: "$eq", Value: slices.Clone(d.Found)}}
			}
			p.Steps = append(p.Steps, t.update(filter, bson.D{{Key: "$set", Value: bson.D{{Key: "doc", Value: slices.Clone(d.Want)}}}}))
		case Conflict:
		default:
			return model.RefusedPlan(t.entries, t.refused(fmt.Sprintf("found[%d].Fault", i), string(d.Fault), "is none of the faults"))
		}
	}
	if len(p.Steps) > 1 {
		p.Leaves = "some entries mended, others not yet"
	}
	return p
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
