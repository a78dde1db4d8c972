package embed

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (m *embedding) checks() []model.Check {
	over, null := m.oversized("", m.path), nullArray("", m.path)
	return m.checksOf(arrayChecks{
		repeated: model.Check{
			Rule: "each key occurs once in " + m.path, Pipeline: m.repeated(),
			Tell: found.DescribeRows(func(r repeatedElement, f *model.Finding) {
				f.ID, f.Problem = r.ID, fmt.Sprintf("holds the key %s %d times", model.Shell(r.Key), r.Times)
			}),
			Mend: found.MendRows(m.checkName(repeatedKeys), m.docs.Name(), m.mendRepeated),
		},
		over: over, trim: mongo.UpdateOneModel{Update: m.trimmed(m.path)},
		null:      null,
		empty:     mongo.UpdateOneModel{Update: bson.D{{Key: "$set", Value: bson.D{{Key: m.path, Value: bson.A{}}}}}},
		malformed: bson.D{{Key: "$or", Value: m.malformedAt(m.path)}},
	})
}

// arrayChecks are the parts of an array's checks that differ between [Embedded] and
// [Nested]: how to find documents, and how to repair one.
type arrayChecks struct {
	repeated    model.Check
	over, null  bson.D
	trim, empty mongo.UpdateOneModel
	malformed   bson.D
}

const (
	repeatedKeys = "repeated keys"
	tooMany      = "too many elements"
	nullInstead  = "null"
	malformed    = "malformed"
)

// checkName returns the name of a check of the array.
func (m *embedding) checkName(finds string) string {
	return m.docs.Name() + "." + m.path + ": " + finds
}

func (m *embedding) checksOf(a arrayChecks) []model.Check {
	name := m.docs.Name()
	a.repeated.Name, a.repeated.Collection = m.checkName(repeatedKeys), name
	out := []model.Check{a.repeated}
	if m.max > 0 {
		c := model.Check{
			Name: m.checkName(tooMany), Collection: name,
			Rule: fmt.Sprintf("%s has at most %d elements", m.path, m.max), Pipeline: found.FindMatching(a.over),
			Tell: found.DescribeDocuments(fmt.Sprintf("%s has more than %d elements", m.path, m.max)),
		}
		if m.keep != KeepDistinct {
			c.Mend = found.MendMatching(c.Name, name, a.over,
				"some arrays repaired; the others have too many elements, which the next check finds", a.trim)
		}
		out = append(out, c)
	}
	null := model.Check{
		Name: m.checkName(nullInstead), Collection: name, Rule: m.path + " isn't null",
		Pipeline: found.FindMatching(a.null),
		Tell:     found.DescribeDocuments(m.path + " is null"),
	}
	null.Mend = found.MendMatching(null.Name, name, a.null,
		"some arrays repaired; the others are null, which the next check finds", a.empty)
	rule := fmt.Sprintf("an array of documents, each with a key at %s", m.key)
	return append(out, null, model.Check{
		Name: m.checkName(malformed), Collection: name, Rule: m.path + " is " + rule,
		Pipeline: found.FindMatching(a.malformed), Tell: found.DescribeDocuments(m.path + " isn't " + rule),
	})
}

// A repeatedElement is a key that occurs more than once in an array.
type repeatedElement struct {
	ID    bson.RawValue `bson:"id"` // of the parent
	Key   bson.RawValue `bson:"key"`
	Times int64         `bson:"times"`
}

func (m *embedding) repeated() mongo.Pipeline {
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "e", Value: "$" + m.path}}}},
		{{Key: "$unwind", Value: "$e"}},
		{{Key: "$match", Value: isKey("$e." + m.key)}},
		{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: bson.D{{Key: "id", Value: "$_id"}, {Key: "key", Value: "$e." + m.key}}},
			{Key: "times", Value: bson.D{{Key: "$sum", Value: 1}}},
		}}},
		{{Key: "$match", Value: bson.D{{Key: "times", Value: bson.D{{Key: "$gt", Value: 1}}}}}},
		{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "id", Value: "$_id.id"}, {Key: "key", Value: "$_id.key"},
			{Key: "times", Value: 1},
		}}},
		{{Key: "$sort", Value: bson.D{{Key: "id", Value: 1}, {Key: "key", Value: 1}}}},
	}
}

// isKey is the condition that the value of an expression can be an element's key.
func isKey(expr string) bson.D {
	none := bson.A{"missing", "undefined", "null", "regex", "array"}
	return bson.D{{
		Key: "$expr",
		Value: bson.D{{
			Key:   "$not",
			Value: bson.A{bson.D{{Key: "$in", Value: bson.A{bson.D{{Key: "$type", Value: expr}}, none}}}},
		}},
	}}
}

// oversized is the condition that the array at path has more than Max elements. prefix
// names the document that contains path.
func (m *embedding) oversized(prefix, path string) bson.D {
	is := bson.D{{Key: prefix + path, Value: bson.D{{Key: "$type", Value: "array"}}}}
	return append(append(is, beyond(prefix+path, m.max, true)...), noArrayAbove(prefix, path)...)
}

// trimmed is the update that keeps the first or the last Max elements of the array at
// path.
func (m *embedding) trimmed(path string) bson.D {
	n := m.max
	if m.keep == KeepLast {
		n = -n
	}
	return bson.D{{
		Key:   "$push",
		Value: bson.D{{Key: path, Value: bson.D{{Key: "$each", Value: bson.A{}}, {Key: "$slice", Value: n}}}},
	}}
}

// nullArray is the condition that path is null instead of an array. prefix names the
// document that contains path.
func nullArray(prefix, path string) bson.D {
	is := bson.D{{
		Key:   prefix + path,
		Value: bson.D{{Key: "$type", Value: "null"}, {Key: "$not", Value: bson.D{{Key: "$type", Value: "array"}}}},
	}}
	return append(is, noArrayAbove(prefix, path)...)
}

// above returns the paths of the documents around path.
func above(path string) (out []string) {
	for i, c := range path {
		if c == '.' {
			out = append(out, path[:i])
		}
	}
	return out
}

// noArrayAbove is the condition that no array is above path. An update by path can't
// reach into an array.
func noArrayAbove(prefix, path string) (out bson.D) {
	for _, p := range above(path) {
		out = append(out, bson.E{
			Key:   prefix + p,
			Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$type", Value: "array"}}}},
		})
	}
	return out
}

// notDocument returns the conditions under which path is set to a value that isn't a
// document.
func notDocument(path string) bson.A {
	return bson.A{
		bson.D{{
			Key:   path,
			Value: bson.D{{Key: "$exists", Value: true}, {Key: "$not", Value: bson.D{{Key: "$type", Value: "object"}}}},
		}},
		// an array of documents also matches $type "object"
		bson.D{{Key: path, Value: bson.D{{Key: "$type", Value: "array"}}}},
	}
}

// malformedAt returns the conditions under which path is neither null nor an array that
// writes by key can reach.
func (m *embedding) malformedAt(path string) bson.A {
	bad := []bson.D{{{Key: "$not", Value: bson.D{{Key: "$type", Value: "object"}}}}, {{Key: m.key, Value: nil}}}
	for _, p := range append(above(m.key), m.key) { // no array may be on the way to the key
		bad = append(bad, bson.D{{Key: p, Value: bson.D{{Key: "$type", Value: "array"}}}})
	}
	bad = append(bad, bson.D{{Key: m.key, Value: bson.D{{Key: "$type", Value: bson.A{"regex", "undefined"}}}}})
	out := bson.A{
		bson.D{{
			Key: path,
			Value: bson.D{
				{Key: "$exists", Value: true},
				{Key: "$not", Value: bson.D{{Key: "$type", Value: bson.A{"array", "null"}}}},
			},
		}},
	}
	for _, p := range above(path) {
		out = append(out, notDocument(p)...)
	}
	for _, c := range bad {
		out = append(out, bson.D{{Key: path, Value: bson.D{{Key: "$elemMatch", Value: c}}}})
	}
	return out
}

// mendRepeated is the plan that removes repeated elements as Keep says.
func (m *embedding) mendRepeated(found []repeatedElement) model.Plan {
	var p model.Plan
	for i, r := range found {
		if r.ID.Type == 0 || !tellsApart(r.Key) {
			return model.NewPlan(model.Refused(m.docs.Name(),
				m.docs.Refuse(fmt.Sprintf("found[%d]", i), nil, "needs an id and a key: pass the findings unchanged")))
		}
		id, key := r.ID, r.Key
		p.Steps = append(p.Steps, model.Write{
			Collection: m.docs.Name(), Index: model.IDIndex, Idempotent: true,
			Model: &mongo.UpdateOneModel{
				Filter: bsondoc.JoinFilters(bson.D{{Key: "_id", Value: mql.Eq(id)}}, m.holds(key)),
				Update: mongo.Pipeline{{{
					Key:   "$set",
					Value: bson.D{{Key: m.path, Value: m.distinct("$"+m.path, key)}},
				}}},
			},
		})
	}
	p.Leaves = "some documents repaired; the others still have repeated keys, which the next check finds"
	return p
}

// distinct is the array with one element of the key, or, with KeepDistinct, without exact
// copies.
func (m *embedding) distinct(array string, key bson.RawValue) any {
	again := bson.A{"$$this." + m.key, "$$value." + m.key}
	if m.keep == KeepDistinct {
		again = bson.A{"$$this", "$$value"}
	}
	reverse := func(v any) any {
		if m.keep == KeepLast {
			return bson.D{{Key: "$reverseArray", Value: v}}
		}
		return v
	}
	return reverse(bson.D{{Key: "$reduce", Value: bson.D{
		{Key: "input", Value: reverse(array)}, {Key: "initialValue", Value: bson.A{}},
		{Key: "in", Value: bson.D{{Key: "$cond", Value: bson.A{
			bson.D{{Key: "$and", Value: bson.A{
				bson.D{{Key: "$eq", Value: bson.A{"$$this." + m.key, bson.D{{Key: "$literal", Value: key}}}}},
				bson.D{{Key: "$in", Value: again}},
			}}},
			"$$value", bson.D{{Key: "$concatArrays", Value: bson.A{"$$value", bson.A{"$$this"}}}},
		}}}},
	}}})
}
