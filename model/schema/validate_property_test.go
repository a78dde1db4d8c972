// These tests compare Validate with $jsonSchema on the server, for random documents.

package schema_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// randomSink is a document that conforms to its type and to the rules.
func randomSink(r *rand.Rand, id string) sink {
	text := func() *string {
		if r.IntN(3) == 0 {
			return nil
		}
		s := strings.Repeat("a", 1+r.IntN(3))
		return &s
	}
	s := sink{ID: id, SinkBase: SinkBase{
		Name: []string{"a", "b", "é"}[r.IntN(3)], Nick: text(), Title: text(), N: 2*r.IntN(9) - 2, Small: int8(r.Int()),
		Count: r.Uint32(), Big: r.Int64() >> r.IntN(64), Min: r.Int64() >> r.IntN(64), Price: float64(r.IntN(11)),
		Cost: bson.NewDecimal128(0x3040000000000000, r.Uint64()>>40),
	}}
	if r.IntN(2) == 0 {
		s.Ref, s.At, s.Bytes, s.Mixin = bson.NewObjectID(), time.UnixMilli(r.Int64N(1e12)), []byte{1}, &Mixin{"m"}
		s.Prices, s.Meta, s.Words = map[string]int32{"k": r.Int32N(10)}, bson.M{"a": 1}, map[string]string{"w": "x"}
		s.Any = []any{nil, 1, "x", bson.D{{Key: "deep", Value: int32(1)}}}[r.IntN(4)]
		s.Grid = [][]int32{{1}, nil, {}}
	}
	for _, tag := range []string{"x", "y", "z"} {
		if r.IntN(2) == 0 {
			s.Tags = append(s.Tags, tag)
		}
	}
	for range r.IntN(3) {
		s.Lines = append(s.Lines, sinkLine{SKU: "s", Qty: 1 + r.Int32N(5), Note: text()})
	}
	return s
}

// oddValue is a value of any type, near the bounds of the rules.
func oddValue(r *rand.Rand, depth int) any {
	d, _ := bson.ParseDecimal128([]string{"2", "10.0", "1E+3", "NaN", "-Infinity", "0.5", "-0"}[r.IntN(7)])
	all := []any{
		nil, true, "a", "b", "abc", "a\n", "abcd", "x", "éé", int32(r.IntN(12) - 4), int64(r.IntN(12) - 4), int64(1) << 40,
		float64(r.IntN(24)) / 2, math.NaN(), math.Inf(1), 1e300, math.Copysign(0, -1), d, bson.NewObjectID(),
		time.UnixMilli(5), bson.Binary{Data: []byte{1}}, bson.Regex{Pattern: "a"},
	}
	switch n := r.IntN(len(all) + 6); {
	case n < len(all):
		return all[n]
	case n < len(all)+3 && depth > 0:
		list := bson.A{}
		for range r.IntN(4) {
			list = append(list, oddValue(r, depth-1))
		}
		return list
	case depth > 0:
		d := bson.D{}
		for range r.IntN(4) {
			d = append(d, bson.E{
				Key:   []string{"sku", "qty", "note", "deep", "k", "kind", "r", "w"}[r.IntN(8)],
				Value: oddValue(r, depth-1),
			})
		}
		return d
	}
	return "y"
}

// disturb changes a document in up to three places: other values, missing and further fields, at any depth.
func disturb(r *rand.Rand, d bson.D) bson.D {
	for range r.IntN(4) {
		if len(d) < 2 {
			break
		}
		i := 1 + r.IntN(len(d)-1)
		switch r.IntN(6) {
		case 0:
			d = slices.Delete(d, i, i+1)
		case 1:
			d = set(d, bson.E{Key: []string{"extra", "mixed", "ref", "kind"}[r.IntN(4)], Value: oddValue(r, 1)})
		case 2:
			if inner, ok := d[i].Value.(bson.D); ok && len(inner) > 0 {
				inner[r.IntN(len(inner))].Value = oddValue(r, 1)
			}
		case 3:
			if list, ok := d[i].Value.(bson.A); ok && len(list) > 0 {
				if inner, ok := list[0].(bson.D); ok && len(inner) > 0 {
					inner[r.IntN(len(inner))].Value = oddValue(r, 1)
				} else {
					list[r.IntN(len(list))] = oddValue(r, 1)
				}
			}
		default:
			d[i].Value = oddValue(r, 2)
		}
	}
	return d
}

// edges are values that the engines of patterns and numbers could see differently.
var edges = []bson.E{
	{Key: "title", Value: "a\n"}, {Key: "title", Value: "a\nb"}, {Key: "title", Value: "a\n\n"},
	{Key: "nick", Value: "\u00e9e\u0301"}, {Key: "price", Value: 3.0000001}, {Key: "price", Value: math.Copysign(0, -1)},
	{Key: "price", Value: math.NaN()}, {Key: "price", Value: math.Inf(1)}, {Key: "n", Value: int64(1) << 62},
	{Key: "n", Value: int64(-3)}, {Key: "tags", Value: bson.A{"x", "x"}}, {Key: "tags", Value: bson.A{}},
	{Key: "any", Value: bson.D{{Key: "deep", Value: nil}}},
}

// rounded is a multiple of 1 for MongoDB, which rounds doubles to 15 digits first; DocumentDB doesn't.
var rounded = bson.E{Key: "price", Value: 3.0000000000000004}

func set(d bson.D, e bson.E) bson.D {
	d = slices.DeleteFunc(d, func(x bson.E) bool { return x.Key == e.Key })
	return append(d, e)
}

func asD(t testing.TB, v any) bson.D {
	t.Helper()
	raw, err := bson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var d bson.D
	if err := bson.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Whatever the driver writes for the type conforms to what is described of it, closed too.
func TestDriverWritesConform(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	bare, shut, loose := schema.Of(sinks, schema.Spec{}), schema.Of(sinks, schema.Spec{Closed: true}),
		schema.Of(sinks, schema.Spec{Loose: true})
	for i := range 300 {
		doc := randomSink(r, fmt.Sprint(i))
		for _, s := range []*schema.Schema[sink, string]{bare, shut, loose} {
			if err := s.Validate(doc); err != nil {
				t.Fatalf("%v\nof %+v", err, doc)
			}
		}
	}
	if err := bare.Validate(sink{ID: "zero"}); err != nil {
		t.Error(err)
	}
}

// Validate says of random documents what $jsonSchema does.
func TestValidateAgrees(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	n := 400
	if full() {
		n = 2000
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, s := range []struct {
			name      string
			random    func(*rand.Rand) any
			validator bson.D
			validate  func(bson.Raw) error
			all       bool // it has what not every server does
			edges     []bson.E
		}{
			{"rules", flatOf, even.Validation().Validator, even.ValidateRaw, false, edges},
			{"maps", sinkOf, plain.Validation().Validator, plain.ValidateRaw, true, append(edges, rounded)},
			{"closed", sinkOf, closed.Validation().Validator, closed.ValidateRaw, true, nil},
			{"variants", shapeOf, shapes.Validation().Validator, shapes.ValidateRaw, false, nil},
			{"closed variants", shapeOf, shutShapes.Validation().Validator, shutShapes.ValidateRaw, true, nil},
		} {
			t.Run(s.name, func(t *testing.T) {
				if s.all {
					need(t, db)
				}
				r := rand.New(rand.NewPCG(7, uint64(i)))
				docs := make([]any, n)
				conform := map[string]bool{}
				refused := 0
				for k := range docs {
					d := asD(t, s.random(r))
					if k < len(s.edges) {
						d = set(d, s.edges[k])
					} else {
						d = disturb(r, d)
					}
					d[0].Value = fmt.Sprint(k)
					raw, err := bson.Marshal(d)
					if err != nil {
						t.Fatal(err)
					}
					docs[k], conform[fmt.Sprint(k)] = bson.Raw(raw), s.validate(raw) == nil
					if !conform[fmt.Sprint(k)] {
						refused++
					}
				}
				if refused == 0 || refused == n {
					t.Fatalf("%d of %d are refused: nothing is tried", refused, n)
				}
				c := db.Collection(fmt.Sprint("c", i))
				if _, err := c.InsertMany(t.Context(), docs); err != nil {
					t.Fatal(err)
				}
				cur, err := c.Find(t.Context(), s.validator)
				if err != nil {
					t.Fatal(err)
				}
				var found []bson.Raw
				if err := cur.All(t.Context(), &found); err != nil {
					t.Fatal(err)
				}
				matched := map[string]bool{}
				for _, d := range found {
					matched[d.Lookup("_id").StringValue()] = true
				}
				for k, d := range docs {
					if matched[fmt.Sprint(k)] != conform[fmt.Sprint(k)] {
						t.Fatalf("$jsonSchema says %t, Validate %v, of %s", matched[fmt.Sprint(k)], s.validate(d.(bson.Raw)), d)
					}
				}
				t.Logf("%d of %d refused", refused, n)
			})
		}
	})
}

// MongoDB lets a document hold a field twice, and $jsonSchema looks at the first, but at each that no property names;
// DocumentDB looks at each.
func TestValidateTwice(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		need(t, db)
		zero := set(asD(t, sink{ID: "0"}), bson.E{Key: "name", Value: "a"})
		twice := func(name string, first, second any) bson.D {
			return append(set(slices.Clone(zero), bson.E{Key: name, Value: first}), bson.E{Key: name, Value: second})
		}
		words := func(first, second any) bson.D { return bson.D{{Key: "w", Value: first}, {Key: "w", Value: second}} }
		for i, x := range []struct {
			d    bson.D
			want bool
		}{
			{twice("name", "a", 1), true},
			{twice("name", 1, "a"), false},
			{append(slices.Clone(zero), bson.E{Key: "words", Value: words("a", "b")}), true},
			{append(slices.Clone(zero), bson.E{Key: "words", Value: words("a", 1)}), false},
			{append(slices.Clone(zero), bson.E{Key: "words", Value: words(1, "a")}), false},
		} {
			x.d[0].Value = fmt.Sprint(i)
			raw, err := bson.Marshal(x.d)
			if err != nil {
				t.Fatal(err)
			}
			if err := plain.ValidateRaw(raw); (err == nil) != x.want {
				t.Errorf("Validate says %v of %s", err, bson.Raw(raw))
			}
			if _, err := db.Collection("c").InsertOne(t.Context(), bson.Raw(raw)); err != nil {
				t.Fatal(err)
			}
			n, err := db.Collection("c").
				CountDocuments(t.Context(), bson.D{{
					Key:   "$and",
					Value: bson.A{bson.D{{Key: "_id", Value: x.d[0].Value}}, plain.Validation().Validator},
				}})
			if err != nil || (n == 1) != x.want {
				t.Errorf("$jsonSchema finds %d, %v of %s", n, err, bson.Raw(raw))
			}
		}
	})
}

// Shapes of many kinds, told by a tag.
type (
	shapeDoc struct {
		ID   string `bson:"_id"`
		Area *int32 `bson:"area,omitempty"`
	}
	circle struct {
		Kind string  `bson:"kind"`
		R    float64 `bson:"r"`
	}
	square struct {
		W int32    `bson:"w"`
		K []string `bson:"k,omitempty"`
	}
)

var (
	shapeDocs  = model.NewCollection[shapeDoc, string]("shapes")
	shapeForms = []schema.Variant{
		schema.As[circle]("circle", schema.Field{Path: "r", Above: 0}),
		schema.As[square]("square"),
	}
	shapes     = schema.Of(shapeDocs, schema.Spec{Tag: "kind", Variants: shapeForms})
	shutShapes = schema.Of(shapeDocs, schema.Spec{Tag: "kind", Variants: shapeForms, Closed: true})
)

func sinkOf(r *rand.Rand) any { return randomSink(r, "x") }
func flatOf(r *rand.Rand) any { return flat{"x", randomSink(r, "x").SinkBase} }

func shapeOf(r *rand.Rand) any {
	d := bson.D{{Key: "_id", Value: "x"}}
	if r.IntN(2) == 0 {
		d = append(d, bson.E{Key: "area", Value: int32(3)})
	}
	if r.IntN(2) == 0 {
		return append(d, bson.E{Key: "kind", Value: "circle"}, bson.E{Key: "r", Value: float64(r.IntN(3))})
	}
	d = append(d, bson.E{Key: "kind", Value: "square"}, bson.E{Key: "w", Value: int32(1)})
	if r.IntN(2) == 0 {
		d = append(d, bson.E{Key: "k", Value: bson.A{"x"}})
	}
	return d
}
