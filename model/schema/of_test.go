package schema_test

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
)

// What the tests of schemas are about: a document with a field of each kind that schemas tell apart.
type (
	sink struct {
		ID       string `bson:"_id"`
		SinkBase `bson:",inline"`
		Prices   map[string]int32 `bson:"prices"`
		*Mixin   `bson:",inline"`
		Words    map[string]string `bson:"words,omitempty"`
	}
	flat struct {
		ID       string `bson:"_id"`
		SinkBase `bson:",inline"`
	}
	SinkBase struct {
		Name  string          `bson:"name"`
		Nick  *string         `bson:"nick"`
		Title *string         `bson:"title,omitempty"`
		N     int             `bson:"n"`
		Small int8            `bson:"small"`
		Count uint32          `bson:"count"`
		Big   int64           `bson:"big"`
		Min   int64           `bson:"min,minsize"`
		Price float64         `bson:"price"`
		Cost  bson.Decimal128 `bson:"cost"`
		Ref   bson.ObjectID   `bson:"ref,omitempty"`
		At    time.Time       `bson:"at,omitempty"`
		Hash  [4]byte         `bson:"hash"`
		Bytes []byte          `bson:"bytes"`
		Tags  []string        `bson:"tags"`
		Pair  [2]int32        `bson:"pair"`
		Lines []sinkLine      `bson:"lines,omitempty"`
		Grid  [][]int32       `bson:"grid,omitempty"`
		Any   any             `bson:"any"`
		Meta  bson.M          `bson:"meta"`
	}
	sinkLine struct {
		SKU  string  `bson:"sku"`
		Qty  int32   `bson:"qty"`
		Note *string `bson:"note"`
	}
	Mixin struct {
		Mixed string `bson:"mixed"`
	}
)

var (
	sinks    = model.NewCollection[sink, string]("sinks")
	flats    = model.NewCollection[flat, string]("flats")
	flatRule = []schema.Field{
		{Path: "name", Enum: []any{"a", "b", "é"}},
		{Path: "nick", MinLength: 1, MaxLength: 3},
		{Path: "title", Pattern: "^[a-c]+$"},
		{Path: "n", Above: -3, MultipleOf: 2},
		{Path: "price", Min: 0, Max: 10, MultipleOf: 1},
		{Path: "tags", MaxItems: 3, Unique: true, Enum: []any{"x", "y", "z"}},
		{Path: "lines", MaxItems: 2},
		{Path: "lines.qty", Min: 1, Max: 5},
		{Path: "lines.note", Optional: true},
		{Path: "any.deep", Types: []string{"int", "string"}, Enum: []any{1, "x"}},
		{Path: "big", Optional: true},
	}
	sinkRule = append(slices.Clone(flatRule), schema.Field{Path: "prices.*", Min: 0, Max: 9})

	even   = schema.Of(flats, schema.Spec{Fields: flatRule})
	plain  = schema.Of(sinks, schema.Spec{Fields: sinkRule})
	closed = schema.Of(sinks, schema.Spec{Fields: sinkRule, Closed: true, Loose: true})
)

// need leaves a test out on a server whose $jsonSchema lacks what closed and mapped fields need.
func need(t *testing.T, db *mongo.Database) {
	t.Helper()
	mongotest.Need(t, db, mongotest.Feature{Name: "additionalProperties in $jsonSchema", Probe: func(
		ctx context.Context, db *mongo.Database,
	) error {
		_, err := db.Collection("need").
			CountDocuments(ctx, bson.D{{Key: "$jsonSchema", Value: bson.D{{Key: "additionalProperties", Value: false}}}})
		return err
	}})
}

func full() bool { return os.Getenv("DOCMODEL_FULL") != "" }

// A declaration that can't be right panics with what is wrong.
func TestOfPanics(t *testing.T) {
	type odd struct {
		ID  string `bson:"_id"`
		Fn  func() `bson:"fn"`
		Dot string `bson:"a.b"`
	}
	for _, c := range []struct {
		reason string
		spec   schema.Spec
	}{
		{"no such field", schema.Spec{Fields: []schema.Field{{Path: "nam", MinLength: 0, MaxLength: 1}}}},
		{"no such field below", schema.Spec{Fields: []schema.Field{{Path: "lines.sky", MinLength: 0, MaxLength: 1}}}},
		{"no map", schema.Spec{Fields: []schema.Field{{Path: "lines.*", MinLength: 0, MaxLength: 1}}}},
		{"no path", schema.Spec{Fields: []schema.Field{{Path: "a..b", MinLength: 0, MaxLength: 1}}}},
		{"values of another type", schema.Spec{Fields: []schema.Field{{Path: "name", Enum: []any{1}}}}},
		{"no values", schema.Spec{Fields: []schema.Field{{Path: "name", Enum: []any{}}}}},
		{"a value twice", schema.Spec{Fields: []schema.Field{{Path: "n", Enum: []any{1, 1.0}}}}},
		{"a document as value", schema.Spec{Fields: []schema.Field{{Path: "any", Enum: []any{bson.D{}}}}}},
		{"a range of texts", schema.Spec{Fields: []schema.Field{{Path: "name", Min: 1, Max: 2}}}},
		{"a range to a text", schema.Spec{Fields: []schema.Field{{Path: "n", Min: 1, Max: "2"}}}},
		{"two lower ends", schema.Spec{Fields: []schema.Field{{Path: "n", Min: 1, Above: 1}}}},
		{"required and optional", schema.Spec{Fields: []schema.Field{{Path: "n", Required: true, Optional: true}}}},
		{"the tag has no variants, of a field", schema.Spec{Fields: []schema.Field{{Path: "any", Tag: "kind"}}}},
		{"variants without a tag", schema.Spec{Variants: []schema.Variant{schema.As[sinkLine]("a")}}},
		{"a range turned round", schema.Spec{Fields: []schema.Field{{Path: "n", Min: 2, Max: 1}}}},
		{"a multiple of nothing", schema.Spec{Fields: []schema.Field{{Path: "n", MultipleOf: -1}}}},
		{"a multiple of a text", schema.Spec{Fields: []schema.Field{{Path: "name", MultipleOf: 1}}}},
		{"a pattern of numbers", schema.Spec{Fields: []schema.Field{{Path: "n", Pattern: "x"}}}},
		{"a pattern with lookahead", schema.Spec{Fields: []schema.Field{{Path: "name", Pattern: "a(?=b)"}}}},
		{"a length of numbers", schema.Spec{Fields: []schema.Field{{Path: "n", MinLength: 0, MaxLength: 1}}}},
		{"a length turned round", schema.Spec{Fields: []schema.Field{{Path: "name", MinLength: 2, MaxLength: 1}}}},
		{"items of a text", schema.Spec{Fields: []schema.Field{{Path: "name", MinItems: 0, MaxItems: 1}}}},
		{"items turned round", schema.Spec{Fields: []schema.Field{{Path: "tags", MinItems: 2, MaxItems: 1}}}},
		{"unique in a number", schema.Spec{Fields: []schema.Field{{Path: "n", Unique: true}}}},
		{"an optional _id", schema.Spec{Fields: []schema.Field{{Path: "_id", Optional: true}}}},
		{"a required value of a map", schema.Spec{Fields: []schema.Field{{Path: "prices.*", Required: true}}}},
		{"never null anyway", schema.Spec{Fields: []schema.Field{{Path: "name", NotNull: true}}}},
		{"wider than the type", schema.Spec{Fields: []schema.Field{{Path: "name", Types: []string{"string", "int"}}}}},
		{"no type", schema.Spec{Fields: []schema.Field{{Path: "any", Types: []string{}}}}},
		{"an unknown type", schema.Spec{Fields: []schema.Field{{Path: "any", Types: []string{"text"}}}}},
		{"a type twice", schema.Spec{Fields: []schema.Field{{Path: "any", Types: []string{"int", "int"}}}}},
		{
			reason: "variants of a number",
			spec: schema.Spec{
				Fields: []schema.Field{{Path: "n", Tag: "kind", Variants: []schema.Variant{schema.As[sinkLine]("a")}}},
			},
		},
		{"no variants", schema.Spec{Tag: "kind"}},
		{
			reason: "a tag twice",
			spec:   schema.Spec{Tag: "kind", Variants: []schema.Variant{schema.As[sinkLine]("a"), schema.As[sinkLine]("a")}},
		},
		{"a variant that isn't a struct", schema.Spec{Tag: "kind", Variants: []schema.Variant{schema.As[string]("a")}}},
		{"a tag that is no name", schema.Spec{Tag: "$kind", Variants: []schema.Variant{schema.As[sinkLine]("a")}}},
		{
			reason: "a rule about what a variant doesn't have",
			spec: schema.Spec{
				Tag:      "kind",
				Variants: []schema.Variant{schema.As[sinkLine]("a", schema.Field{Path: "x", Required: true})},
			},
		},
	} {
		testkit.WantDeclarationError(t, c.reason, func() { schema.Of(sinks, c.spec) })
	}
	testkit.WantDeclarationError(t, "functions", func() { schema.Of(model.NewCollection[odd, string]("odd"), schema.Spec{}) })
}

// What is opaque is said.
func TestOpaque(t *testing.T) {
	want := map[string]string{"any": "interface {} can be any value", "meta": "bson.M is a document with any fields"}
	if got := plain.Opaque(); !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	type tree struct {
		ID   string  `bson:"_id"`
		Kids []*tree `bson:"kids,omitempty"`
	}
	trees := schema.Of(model.NewCollection[tree, string]("trees"), schema.Spec{})
	if got := trees.Opaque(); len(got) != 1 || got["kids"] == "" {
		t.Errorf("a type that holds itself: %v", got)
	}
	if err := trees.Validate(tree{ID: "a", Kids: []*tree{{ID: "b"}, nil}}); err != nil {
		t.Error(err)
	}
}

// A validation is put in place, found in place, changed and taken away.
func TestEnsure(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		v := schema.Of(tagged, schema.Spec{Fields: []schema.Field{{Path: "n", Min: 0, Max: 5}}}).Validation()
		for _, step := range []struct {
			reason, diff string
			v            model.Validation
		}{
			{"the collection is new", "collection", v},
			{
				reason: "another level", diff: "validationLevel",
				v: model.Validation{Collection: v.Collection, Validator: v.Validator, Level: "moderate"},
			},
			{
				reason: "another action", diff: "validationLevel, validationAction",
				v: model.Validation{Collection: v.Collection, Validator: v.Validator, Action: "warn"},
			},
			{"another validator", "validator, validationAction", schema.Of(tagged, schema.Spec{}).Validation()},
			{"none", "validator", model.Validation{Collection: v.Collection}},
		} {
			_, differs, err := step.v.Diff(t.Context(), db)
			if got := strings.Join(differs, ", "); err != nil || got != step.diff {
				t.Fatalf("%s: differs in %q, %v", step.reason, got, err)
			}
			if err := step.v.Ensure(t.Context(), db); err != nil {
				t.Fatalf("%s: %v", step.reason, err)
			}
			want := cmp.Or(step.v.Level, "strict")
			if have, differs, err := step.v.Diff(t.Context(), db); err != nil || len(differs) > 0 || have.Level != want {
				t.Fatalf("%s: differs afterwards in %q, %+v, %v", step.reason, differs, have, err)
			}
		}
		var bad *model.ValueError
		for _, v := range []model.Validation{{}, {Collection: "c", Level: "some"}, {Collection: "c", Action: "ask"}} {
			if err := v.Ensure(t.Context(), db); !errors.As(err, &bad) {
				t.Errorf("%s: %v", v, err)
			}
		}
	})
}

type taggedDoc struct {
	ID string `bson:"_id"`
	N  int32  `bson:"n"`
}

var tagged = model.NewCollection[taggedDoc, string]("tagged")

// The server refuses what Validate refuses, and what code beside the library writes.
func TestEnforced(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Validators)
		ctx := t.Context()
		s := schema.Of(tagged, schema.Spec{Fields: []schema.Field{{Path: "n", Min: 0, Max: 5}}})
		if _, err := db.Collection("tagged").
			InsertOne(ctx, bson.D{{Key: "_id", Value: "old"}, {Key: "n", Value: "text"}}); err != nil {
			t.Fatal(err)
		}
		v := s.Validation()
		v.Level = "moderate"
		if err := v.Ensure(ctx, db); err != nil {
			t.Fatal(err)
		}
		wantCode := func(what string, err error, refused bool) {
			t.Helper()
			var server mongo.ServerError // DocumentDB has another code
			got := errors.As(err, &server) && (server.HasErrorCode(121) || server.HasErrorMessage("Document failed validation"))
			if got != refused || err != nil && !got {
				t.Errorf("%s: %v", what, err)
			}
		}
		_, err := tagged.Insert(taggedDoc{"a", 5}).Run(ctx, db)
		wantCode("what conforms", err, false)
		_, err = tagged.Insert(taggedDoc{"b", 6}).Run(ctx, db)
		wantCode("out of range", err, true)
		_, err = tagged.Update("a", bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}).Run(ctx, db)
		wantCode("an update out of range", err, true)
		_, err = tagged.Unchecked().Update("old", bson.D{{Key: "$set", Value: bson.D{{Key: "x", Value: 1}}}}).Run(ctx, db)
		wantCode("what was wrong before", err, false)
		p := model.NewPlan(tagged.Insert(taggedDoc{"b", 6}))
		p.Options.BypassDocumentValidation = true
		_, err = p.Run(ctx, db)
		wantCode("bypassed", err, false)
		_, wrong := testkit.FindingsOf(t, db, s.Checks()[0])
		want := []string{
			`tagged 'b': n: maximum 5: 6`, `tagged 'old': n: bsonType 'int': 'text'`,
		}
		if !slices.Equal(wrong, want) {
			t.Errorf("found %q\nwant  %q", wrong, want)
		}
	})
}

// What an inlined map adds, and what omitempty never leaves out.
func TestShapes(t *testing.T) {
	type extra struct {
		ID   string           `bson:"_id"`
		Any  any              `bson:"any"`
		Line sinkLine         `bson:"line,omitempty"`
		Rest map[string]int32 `bson:",inline"`
	}
	s := schema.Of(model.NewCollection[extra, string]("extras"), schema.Spec{Closed: true})
	got := model.Shell(s.JSONSchema())
	want :=
		"{bsonType: 'object', required: ['_id', 'any', 'line'], properties: {_id: {bsonType: 'string'}, any: {}, line: {bsonType: 'object', " +
			"required: ['sku', 'qty', 'note'], properties: {sku: {bsonType: 'string'}, qty: {bsonType: 'int'}, note: {bsonType: ['string', 'null']}}, " +
			"additionalProperties: false}}, additionalProperties: {bsonType: 'int'}}"
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if err := s.Validate(extra{ID: "a", Any: "x", Rest: map[string]int32{"b": 1}}); err != nil {
		t.Error(err)
	}
}

// Options of the collection change what is described.
func TestOptions(t *testing.T) {
	with := func(o options.BSONOptions) string {
		c := model.NewCollectionWith[sink, string]("sinks", model.CollectionOptions{BSON: &o})
		return model.Shell(schema.Of(c, schema.Spec{}).JSONSchema())
	}
	for _, c := range []struct {
		reason string
		o      options.BSONOptions
		has    string
		not    string
	}{
		{"nil slices are null", options.BSONOptions{}, "tags: {bsonType: ['array', 'null'],", "tags: {bsonType: 'array',"},
		{
			reason: "or empty", o: options.BSONOptions{NilSliceAsEmpty: true}, has: "tags: {bsonType: 'array',",
			not: "tags: {bsonType: ['array', 'null'],",
		},
		{
			reason: "or maps", o: options.BSONOptions{NilMapAsEmpty: true}, has: "prices: {bsonType: 'object',",
			not: "prices: {bsonType: ['object', 'null'],",
		},
		{
			reason: "or bytes", o: options.BSONOptions{NilByteSliceAsEmpty: true}, has: "bytes: {bsonType: 'binData'}",
			not: "bytes: {bsonType: ['binData', 'null']}",
		},
		{
			reason: "integers as small as may be", o: options.BSONOptions{IntMinSize: true},
			has: "big: {bsonType: ['int', 'long']}", not: "big: {bsonType: 'long'}",
		},
		{"nothing empty is stored", options.BSONOptions{OmitEmpty: true}, "nick: {bsonType: 'string'}", "'price'"},
	} {
		if got := with(c.o); !contains(got, c.has) || contains(got, c.not) {
			t.Errorf("%s: %s", c.reason, got)
		}
	}
}
