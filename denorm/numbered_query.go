package denorm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// equal matches an element whose fields hold these values.
func (n *numbered) equal(fields bson.D) (bson.D, error) {
	values, err := n.equalities(fields)
	if err != nil {
		return nil, err
	}
	absent := true // does it match where there is no element?
	for i, v := range values {
		raw := v.Value.(bson.RawValue)
		if raw.Type == bson.TypeArray {
			return nil, n.refused(n.path+"."+v.Key, nil, "a list within the list is never stored")
		}
		absent = absent && raw.Type == bson.TypeNull
		values[i].Value = model.Eq(raw)
	}
	return n.anywhere(values, absent), nil
}

// match matches an element that fulfils conditions of operators.
func (n *numbered) match(conditions bson.D) (bson.D, error) {
	if err := n.conditionsOn(conditions); err != nil {
		return nil, err
	}
	held := make(bson.D, len(conditions))
	for i, c := range conditions {
		v, err := encodedValue(n.encode, c.Value)
		if err != nil {
			return nil, n.refused(n.path+"."+c.Key, nil, err.Error())
		}
		doc, ok := v.DocumentOK()
		var first bson.RawElement
		if ok {
			first, err = doc.IndexErr(0)
		}
		if !ok || err != nil || !strings.HasPrefix(first.Key(), "$") {
			return nil, n.refused(n.path+"."+c.Key, nil, "the condition is not one of operators: use Equal for values")
		}
		held[i] = bson.E{Key: c.Key, Value: v}
	}
	return n.anywhere(held, true), nil
}

// anywhere matches conditions at one position, whichever. Where they could hold of a position without an element, the count
// must reach it.
func (n *numbered) anywhere(conditions bson.D, absent bool) bson.D {
	or := make(bson.A, n.max)
	for i := range or {
		at := make(bson.D, 0, len(conditions)+1)
		for _, column := range n.columns() { // in the order of the index
			if j := slices.IndexFunc(conditions, func(c bson.E) bool { return c.Key == column }); j >= 0 {
				at = append(at, bson.E{Key: n.name(column, i+1), Value: conditions[j].Value})
			}
		}
		if absent {
			at = append(at, bson.E{Key: n.path, Value: bson.D{{Key: "$gte", Value: i + 1}}})
		}
		or[i] = at
	}
	return bson.D{{Key: "$or", Value: or}}
}

func (n *numbered) index(position int) model.Index {
	var keys bson.D
	for _, c := range n.columns() {
		keys = append(keys, bson.E{Key: n.name(c, position), Value: 1})
	}
	x := model.NewIndex(n.collection, keys)
	x.Why = fmt.Sprintf("%s by element %d of %s", n.collection, position, n.path)
	return x
}

// serves is the index that conditions are served by at the first position, or "".
func (n *numbered) serves(conditions bson.D) string {
	if !slices.ContainsFunc(conditions, func(c bson.E) bool { return c.Key == n.columns()[0] }) {
		return ""
	}
	return n.index(1).Name
}

// documents is the pipeline of a query whose results are nested again.
func (n *numbered) documents(q model.Query) (p mongo.Pipeline) {
	if len(q.Filter) > 0 {
		p = append(p, bson.D{{Key: "$match", Value: q.Filter}})
	}
	if len(q.Sort) > 0 {
		p = append(p, bson.D{{Key: "$sort", Value: q.Sort}})
	}
	if q.Skip > 0 {
		p = append(p, bson.D{{Key: "$skip", Value: q.Skip}})
	}
	if q.Limit > 0 {
		p = append(p, bson.D{{Key: "$limit", Value: q.Limit}})
	}
	return append(p, n.nest()...)
}

// nest are the stages that make the list of the numbered fields.
func (n *numbered) nest() mongo.Pipeline {
	list := make(bson.A, n.max)
	for i := range list {
		if len(n.fields) == 0 {
			list[i] = "$" + n.name(n.columns()[0], i+1)
			continue
		}
		e := bson.D{}
		for _, f := range n.fields {
			e = append(e, bson.E{Key: f, Value: "$" + n.name(f, i+1)})
		}
		list[i] = e
	}
	count := "$" + n.path
	within := mql.Op("$toInt", mql.Op("$max", 0, mql.Op("$min", count, n.max))) // whatever number stands there, so that no document fails the query
	return mongo.Pipeline{
		{{Key: "$set", Value: bson.D{{Key: n.path, Value: mql.Op("$cond", mql.Op("$isNumber", count), mql.Op("$slice", list, within), count)}}}},
		{{Key: "$unset", Value: toA(n.all(1))}},
	}
}

func toA(list []string) bson.A {
	out := make(bson.A, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func (n *numbered) checks() []model.Check {
	place := n.collection + "." + n.path
	name, is := place+": wrong counts", mql.Op("$expr", n.miscounted())
	set := bson.D{{Key: "$set", Value: bson.D{{Key: n.path, Value: n.highest()}}}}
	return []model.Check{{
		Name: name, Collection: n.collection, Rule: "a list's count is that of its numbered fields",
		Pipeline: n.finding(is), Tell: core.Tells[wrongCount](), Mend: core.Mends(name, n.collection, updateEach(n.collection, is, mongo.Pipeline{set})),
	}, {
		Name: place + ": lists that aren't flat", Collection: n.collection,
		Rule:     fmt.Sprintf("a list is stored flat and holds at most %d elements", n.max),
		Pipeline: n.finding(mql.Op("$expr", n.unfit())), Tell: core.Tells[wrongCount](),
	}}
}

// A wrongCount is a list whose count isn't that of its numbered fields.
type wrongCount struct {
	ID      bson.RawValue `bson:"_id"`
	Nested  bool          `bson:"nested"`  // an array stands for the list
	Count   bson.RawValue `bson:"count"`   // what stands for the list, unless it is an array; of type 0 for nothing
	Highest int           `bson:"highest"` // the highest position that has a field
}

func (w wrongCount) Tell(f *model.Finding) {
	f.ID, f.Problem = w.ID, "has no count"
	switch {
	case w.Nested:
		f.Problem = "holds an array"
	case w.Count.Type != 0:
		f.Problem = "counts " + cut(model.Shell(w.Count))
	}
	f.Problem += fmt.Sprintf(", the last numbered field is at %d", w.Highest)
}

// highest is the expression of the highest position that has a field.
func (n *numbered) highest() bson.D {
	there := bson.A{}
	for i := n.max; i > 0; i-- {
		any := bson.A{}
		for _, c := range n.columns() {
			any = append(any, mql.Op("$ne", mql.Op("$type", "$"+n.name(c, i)), "missing"))
		}
		there = append(there, bson.D{{Key: "case", Value: mql.Op("$or", any...)}, {Key: "then", Value: i}})
	}
	return mql.Op("$switch", bson.D{{Key: "branches", Value: there}, {Key: "default", Value: 0}})
}

// sound is the expression that a count fits the highest position. An element can be without fields, but not a plain value.
func (n *numbered) sound(count string, highest any) bson.D {
	whole := mql.Op("$and", mql.Op("$isNumber", count), mql.Op("$gte", count, highest), mql.Op("$lte", count, n.max), mql.Op("$eq", count, mql.Op("$trunc", count)))
	if len(n.fields) == 0 {
		whole = mql.Op("$and", mql.Op("$isNumber", count), mql.Op("$eq", count, highest))
	}
	none := mql.Op("$and", mql.Op("$in", mql.Op("$type", count), bson.A{"missing", "null"}), mql.Op("$eq", highest, 0))
	return mql.Op("$or", none, whole)
}

// finding is the pipeline of the documents that a filter matches.
func (n *numbered) finding(is bson.D) mongo.Pipeline {
	array, count := mql.Op("$isArray", "$"+n.path), "$"+n.path
	return mongo.Pipeline{
		{{Key: "$match", Value: is}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$project", Value: bson.D{
			{Key: "nested", Value: array}, {Key: "count", Value: mql.Op("$cond", array, "$$REMOVE", count)}, {Key: "highest", Value: n.highest()},
		}}},
	}
}

// unfit is the expression that a list is an array, or counts too many.
func (n *numbered) unfit() bson.D {
	count := "$" + n.path
	return mql.Op("$or", mql.Op("$isArray", count), mql.Op("$and", mql.Op("$isNumber", count), mql.Op("$gt", count, n.max)))
}

// miscounted is the expression that a list's count can be set, and is wrong.
func (n *numbered) miscounted() bson.D {
	return mql.Op("$let", bson.D{
		{Key: "vars", Value: bson.D{{Key: "highest", Value: n.highest()}}},
		{Key: "in", Value: mql.Op("$and", mql.Op("$not", n.sound("$"+n.path, "$$highest")), mql.Op("$not", n.unfit()))},
	})
}

// convert is the plan for a batch of nested documents.
func (n *numbered) convert(docs []bson.Raw) (model.Plan, error) {
	var p model.Plan
	for _, doc := range docs {
		doc = slices.Clone(doc)
		v := doc.Lookup(n.path)
		if v.Type != bson.TypeArray {
			continue
		}
		list, err := n.listed(v)
		if err == nil {
			err = n.fits(len(list))
		}
		if err != nil {
			return model.Plan{}, fmt.Errorf("document %s: %w", cut(model.Shell(doc.Lookup("_id"))), err)
		}
		p.Steps = append(p.Steps, model.Write{Collection: n.collection, Index: model.IDIndex, Once: true, Model: &mongo.UpdateOneModel{
			Filter: bson.D{{Key: "_id", Value: model.Eq(doc.Lookup("_id"))}, {Key: n.path, Value: model.Eq(v)}},
			Update: n.set(list),
		}})
	}
	return p, nil
}
