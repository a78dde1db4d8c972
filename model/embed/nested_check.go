package embed

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (n *nesting) checks() []model.Check {
	m := n.in
	inEach := n.outer.path + ".$[e]." + n.path
	var ways bson.A
	for _, c := range m.malformedAt(n.path) {
		ways = append(ways, n.outer.matching(c.(bson.D)))
	}
	return m.checksOf(arrayChecks{
		repeated: model.Check{
			Rule: "each key occurs once in " + m.path + " of one element", Pipeline: n.repeated(),
			Tell: found.DescribeRows(func(r repeatedInner, f *model.Finding) {
				f.ID, f.Problem = r.ID,
					fmt.Sprintf("holds the key %s %d times in the element %s", model.Shell(r.Key), r.Times, model.Shell(r.In))
			}),
			Mend: found.MendRows(m.checkName(repeatedKeys), m.docs.Name(), n.mendRepeated),
		},
		over: n.outer.matching(m.oversized("", n.path)),
		trim: mongo.UpdateOneModel{Update: m.trimmed(inEach), ArrayFilters: []any{m.oversized("e.", n.path)}},
		null: n.outer.matching(nullArray("", n.path)),
		empty: mongo.UpdateOneModel{
			Update:       bson.D{{Key: "$set", Value: bson.D{{Key: inEach, Value: bson.A{}}}}},
			ArrayFilters: []any{nullArray("e.", n.path)},
		},
		malformed: bson.D{{Key: "$or", Value: ways}},
	})
}

// A repeatedInner is a key that occurs more than once in the inner array of one element.
type repeatedInner struct {
	ID    bson.RawValue `bson:"id"`  // of the parent
	In    bson.RawValue `bson:"in"`  // key of the outer element
	Key   bson.RawValue `bson:"key"` // key of the inner elements
	Times int64         `bson:"times"`
}

// repeated counts keys for each position of an outer element, because two outer elements
// may have the same key.
func (n *nesting) repeated() mongo.Pipeline {
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "e", Value: "$" + n.outer.path}}}},
		{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$e"}, {Key: "includeArrayIndex", Value: "at"}}}},
		{{Key: "$match", Value: isKey("$e." + n.outer.key)}},
		{{
			Key:   "$project",
			Value: bson.D{{Key: "at", Value: 1}, {Key: "in", Value: "$e." + n.outer.key}, {Key: "n", Value: "$e." + n.path}},
		}},
		{{Key: "$unwind", Value: "$n"}},
		{{Key: "$match", Value: isKey("$n." + n.in.key)}},
		{{Key: "$group", Value: bson.D{
			{
				Key: "_id",
				Value: bson.D{
					{Key: "id", Value: "$_id"}, {Key: "at", Value: "$at"}, {Key: "in", Value: "$in"},
					{Key: "key", Value: "$n." + n.in.key},
				},
			},
			{Key: "times", Value: bson.D{{Key: "$sum", Value: 1}}},
		}}},
		{{Key: "$match", Value: bson.D{{Key: "times", Value: bson.D{{Key: "$gt", Value: 1}}}}}},
		{{Key: "$group", Value: bson.D{
			{
				Key:   "_id",
				Value: bson.D{{Key: "id", Value: "$_id.id"}, {Key: "in", Value: "$_id.in"}, {Key: "key", Value: "$_id.key"}},
			},
			{Key: "times", Value: bson.D{{Key: "$max", Value: "$times"}}},
		}}},
		{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "id", Value: "$_id.id"}, {Key: "in", Value: "$_id.in"},
			{Key: "key", Value: "$_id.key"}, {Key: "times", Value: 1},
		}}},
		{{Key: "$sort", Value: bson.D{{Key: "id", Value: 1}, {Key: "in", Value: 1}, {Key: "key", Value: 1}}}},
	}
}

// mendRepeated is the plan that removes repeated inner elements as Keep says.
func (n *nesting) mendRepeated(found []repeatedInner) model.Plan {
	var p model.Plan
	for i, r := range found {
		if r.ID.Type == 0 || !tellsApart(r.In) || !tellsApart(r.Key) {
			return model.NewPlan(model.Refused(n.in.docs.Name(),
				n.in.docs.Refuse(fmt.Sprintf("found[%d]", i), nil,
					"needs an id and two keys: pass the findings unchanged")))
		}
		in, key := r.In, r.Key
		p.Steps = append(p.Steps, model.Write{
			Collection: n.in.docs.Name(), Index: model.IDIndex, Idempotent: true,
			Model: &mongo.UpdateOneModel{
				Filter: bsondoc.JoinFilters(bson.D{{Key: "_id", Value: mql.Eq(r.ID)}},
					n.inElement(in, bson.D{{Key: n.path + "." + n.in.key, Value: mql.Eq(key)}})),
				Update: mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: n.outer.path, Value: n.distinct(in, key)}}}}},
			},
		})
	}
	p.Leaves = "some documents repaired; the others still have repeated keys, which the next check finds"
	return p
}

// distinct is the outer array, where elements with key in have one inner element of the
// key, or no exact copies.
func (n *nesting) distinct(in, key bson.RawValue) any {
	inner := "$$o." + n.path
	return bson.D{{
		Key: "$map",
		Value: bson.D{
			{Key: "input", Value: "$" + n.outer.path}, {Key: "as", Value: "o"},
			{Key: "in", Value: bson.D{{Key: "$cond", Value: bson.A{
				bson.D{{Key: "$and", Value: bson.A{
					bson.D{{Key: "$eq", Value: bson.A{"$$o." + n.outer.key, bson.D{{Key: "$literal", Value: in}}}}},
					bson.D{{Key: "$isArray", Value: bson.A{inner}}},
				}}},
				withValue("$$o", n.path, n.in.distinct(inner, key)), "$$o",
			}}}},
		},
	}}
}

// withValue is doc with v at path.
func withValue(doc, path string, v any) bson.D {
	name, rest, deeper := strings.Cut(path, ".")
	if deeper {
		v = withValue(doc+"."+name, rest, v)
	}
	return bson.D{{Key: "$mergeObjects", Value: bson.A{doc, bson.D{{Key: name, Value: v}}}}}
}
