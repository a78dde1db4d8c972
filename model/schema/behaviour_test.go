package schema_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/model/schema"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
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
	flatRule = []schema.Rule{
		schema.Field("name").Enum("a", "b", "é"),
		schema.Field("nick").Length(1, 3),
		schema.Field("title").Pattern("^[a-c]+$"),
		schema.Field("n").Between(-3, nil).MultipleOf(2),
		schema.Field("price").Range(0, 10).MultipleOf(1),
		schema.Field("tags").Items(0, 3).Unique().Enum("x", "y", "z"),
		schema.Field("lines").Items(0, 2),
		schema.Field("lines.qty").Range(1, 5),
		schema.Field("lines.note").Optional(),
		schema.Field("any.deep").Type("int", "string").Enum(1, "x"),
		schema.Field("big").Optional(),
	}
	sinkRule = append(slices.Clone(flatRule), schema.Field("prices.*").Range(0, 9))

	even   = schema.Of(flats, flatRule...)
	plain  = schema.Of(sinks, sinkRule...)
	closed = schema.Of(sinks, append(slices.Clone(sinkRule), schema.Closed(), schema.Loose())...)
)

// need leaves a test out on a server whose $jsonSchema lacks what closed and mapped fields need.
func need(t *testing.T, db *mongo.Database) {
	t.Helper()
	modeltest.Need(t, db, "additionalProperties in $jsonSchema", func(ctx context.Context, db *mongo.Database) error {
		_, err := db.Collection("need").CountDocuments(ctx, bson.D{{Key: "$jsonSchema", Value: bson.D{{Key: "additionalProperties", Value: false}}}})
		return err
	})
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
		rule   schema.Rule
	}{
		{"no such field", schema.Field("nam").Length(0, 1)},
		{"no such field below", schema.Field("lines.sky").Length(0, 1)},
		{"no map", schema.Field("lines.*").Length(0, 1)},
		{"no path", schema.Field("a..b").Length(0, 1)},
		{"values of another type", schema.Field("name").Enum(1)},
		{"no values", schema.Field("name").Enum()},
		{"a value twice", schema.Field("n").Enum(1, 1.0)},
		{"a document as value", schema.Field("any").Enum(bson.D{})},
		{"a range of texts", schema.Field("name").Range(1, 2)},
		{"a range to a text", schema.Field("n").Range(1, "2")},
		{"a range turned round", schema.Field("n").Range(2, 1)},
		{"a multiple of nothing", schema.Field("n").MultipleOf(0)},
		{"a multiple of a text", schema.Field("name").MultipleOf(1)},
		{"a pattern of numbers", schema.Field("n").Pattern("x")},
		{"a pattern with lookahead", schema.Field("name").Pattern("a(?=b)")},
		{"a length of numbers", schema.Field("n").Length(0, 1)},
		{"a length turned round", schema.Field("name").Length(2, 1)},
		{"items of a text", schema.Field("name").Items(0, 1)},
		{"items turned round", schema.Field("tags").Items(2, 1)},
		{"unique in a number", schema.Field("n").Unique()},
		{"an optional _id", schema.Field("_id").Optional()},
		{"a required value of a map", schema.Field("prices.*").Required()},
		{"never null anyway", schema.Field("name").NotNull()},
		{"wider than the type", schema.Field("name").Type("string", "int")},
		{"no type", schema.Field("any").Type()},
		{"an unknown type", schema.Field("any").Type("text")},
		{"a type twice", schema.Field("any").Type("int", "int")},
		{"variants of a number", schema.Field("n").OneOf("kind", schema.As[sinkLine]("a"))},
		{"no variants", schema.OneOf("kind")},
		{"a tag twice", schema.OneOf("kind", schema.As[sinkLine]("a"), schema.As[sinkLine]("a"))},
		{"a variant that is no struct", schema.OneOf("kind", schema.As[string]("a"))},
		{"a tag that is no name", schema.OneOf("$kind", schema.As[sinkLine]("a"))},
		{"a rule about what a variant doesn't have", schema.OneOf("kind", schema.As[sinkLine]("a", schema.Field("x").Required()))},
		{"a variant that is closed alone", schema.OneOf("kind", schema.As[sinkLine]("a", schema.Closed()))},
	} {
		wantDeclarationError(t, c.reason, func() { schema.Of(sinks, c.rule) })
	}
	wantDeclarationError(t, "functions", func() { schema.Of(model.NewCollection[odd, string]("odd")) })
}

func wantDeclarationError(t *testing.T, reason string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if _, ok := recover().(*model.DeclarationError); !ok {
			t.Errorf("%s: no *model.DeclarationError", reason)
		}
	}()
	f()
}

// What is opaque is said.
func TestOpaque(t *testing.T) {
	want := []schema.Opaque{{"any", "interface {} is anything"}, {"meta", "bson.M is a document of anything"}}
	if got := plain.Opaque(); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	type tree struct {
		ID   string  `bson:"_id"`
		Kids []*tree `bson:"kids,omitempty"`
	}
	trees := schema.Of(model.NewCollection[tree, string]("trees"))
	if got := trees.Opaque(); len(got) != 1 || got[0].Path != "kids" {
		t.Errorf("a type that holds itself: %v", got)
	}
	if err := trees.Validate(tree{ID: "a", Kids: []*tree{{ID: "b"}, nil}}); err != nil {
		t.Error(err)
	}
}

// Validate names field, rule and value.
func TestViolations(t *testing.T) {
	title, nick := "d", "long nick"
	doc := sink{ID: "a", Prices: map[string]int32{"eur": 10}, SinkBase: SinkBase{
		Name: "c", Nick: &nick, Title: &title, N: 3, Price: 10.5, Tags: []string{"x", "x", "w", "y"},
		Lines: []sinkLine{{Qty: 1}, {Qty: 9}}, Any: bson.D{{Key: "deep", Value: true}},
	}}
	err := plain.Validate(doc)
	var all schema.Violations
	if !errors.As(err, &all) {
		t.Fatalf("got %v", err)
	}
	want := []string{
		"name enum", "nick maxLength", "title pattern", "n multipleOf", "price maximum", "price multipleOf", "tags maxItems",
		"tags.1 uniqueItems", "tags.2 enum", "lines.1.qty maximum", "any.deep bsonType", "prices.eur maximum",
	}
	var got []string
	for _, v := range all {
		got = append(got, v.Path+" "+v.Rule)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	var bad *model.ValueError
	if !errors.As(err, &bad) || bad.Field != "name" || bad.Collection != "sinks" {
		t.Errorf("no *model.ValueError of the first field: %v", bad)
	}
	if s := err.Error(); s != "docmodel: sinks: name: enum ['a', 'b', 'é']: 'c'; and 11 more" {
		t.Error(s)
	}
	if err := plain.Validate(sink{}); !errors.As(err, &bad) || bad.Field != "_id" {
		t.Errorf("a document without an _id: %v", err)
	}
	if err := plain.ValidateRaw(bson.Raw("short")); !errors.As(err, &bad) {
		t.Errorf("no BSON: %v", err)
	}
	if err := plain.ValidateRaw(bson.Raw{5, 0, 0, 0, 0}); !errors.As(err, &all) || all[0].Rule != "required" || all[0].Value.Type != 0 {
		t.Errorf("an empty document: %v", err)
	}
}

// A validation is put in place, found in place, changed and taken away.
func TestEnsure(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		v := schema.Of(tagged, schema.Field("n").Range(0, 5)).Enforced("", "")
		for _, step := range []struct {
			reason, diff string
			v            schema.Validation
		}{
			{"the collection is new", "collection", v},
			{"another level", "validationLevel", schema.Validation{Collection: v.Collection, Validator: v.Validator, Level: schema.Moderate}},
			{"another action", "validationLevel, validationAction", schema.Validation{Collection: v.Collection, Validator: v.Validator, Action: schema.Warn}},
			{"another validator", "validator, validationAction", schema.Of(tagged).Enforced(schema.Strict, schema.Refuse)},
			{"none", "validator", schema.Validation{Collection: v.Collection}},
		} {
			diff, err := step.v.Diff(t.Context(), db)
			if err != nil || diff.String() != step.diff {
				t.Fatalf("%s: differs in %q, %v", step.reason, diff, err)
			}
			if err := step.v.Ensure(t.Context(), db); err != nil {
				t.Fatalf("%s: %v", step.reason, err)
			}
			if diff, err := step.v.Diff(t.Context(), db); err != nil || !diff.Empty() {
				t.Fatalf("%s: differs afterwards in %q, %v", step.reason, diff, err)
			}
		}
		var bad *model.ValueError
		for _, v := range []schema.Validation{{}, {Collection: "c", Level: "some"}, {Collection: "c", Action: "ask"}} {
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
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		modeltest.NeedValidators(t, db)
		ctx := t.Context()
		s := schema.Of(tagged, schema.Field("n").Range(0, 5))
		if _, err := db.Collection("tagged").InsertOne(ctx, bson.D{{Key: "_id", Value: "old"}, {Key: "n", Value: "text"}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Enforced(schema.Moderate, schema.Refuse).Ensure(ctx, db); err != nil {
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
		_, err = tagged.Update("old", bson.D{{Key: "$set", Value: bson.D{{Key: "x", Value: 1}}}}).Run(ctx, db)
		wantCode("what was wrong before", err, false)
		p := model.NewPlan(tagged.Insert(taggedDoc{"b", 6}))
		p.Options.BypassDocumentValidation = true
		_, err = p.Run(ctx, db)
		wantCode("bypassed", err, false)
		wrong, err := s.Nonconforming().Sorted(bson.D{{Key: "_id", Value: 1}}).All(ctx, db)
		if err != nil || len(wrong) != 2 || s.ValidateRaw(wrong[0]) == nil || s.ValidateRaw(wrong[1]) == nil {
			t.Errorf("nonconforming: %v, %v", wrong, err)
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
	s := schema.Of(model.NewCollection[extra, string]("extras"), schema.Closed())
	got := model.Shell(s.JSONSchema())
	want := "{bsonType: 'object', required: ['_id', 'any', 'line'], properties: {_id: {bsonType: 'string'}, any: {}, line: {bsonType: 'object', " +
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
		c := model.NewCollection[sink, string]("sinks", model.CollectionOptions{BSON: &o})
		return model.Shell(schema.Of(c).JSONSchema())
	}
	for _, c := range []struct {
		reason string
		o      options.BSONOptions
		has    string
		not    string
	}{
		{"nil slices are null", options.BSONOptions{}, "tags: {bsonType: ['array', 'null'],", "tags: {bsonType: 'array',"},
		{"or empty", options.BSONOptions{NilSliceAsEmpty: true}, "tags: {bsonType: 'array',", "tags: {bsonType: ['array', 'null'],"},
		{"or maps", options.BSONOptions{NilMapAsEmpty: true}, "prices: {bsonType: 'object',", "prices: {bsonType: ['object', 'null'],"},
		{"or bytes", options.BSONOptions{NilByteSliceAsEmpty: true}, "bytes: {bsonType: 'binData'}", "bytes: {bsonType: ['binData', 'null']}"},
		{"integers as small as may be", options.BSONOptions{IntMinSize: true}, "big: {bsonType: ['int', 'long']}", "big: {bsonType: 'long'}"},
		{"nothing empty is stored", options.BSONOptions{OmitEmpty: true}, "nick: {bsonType: 'string'}", "'price'"},
	} {
		if got := with(c.o); !contains(got, c.has) || contains(got, c.not) {
			t.Errorf("%s: %s", c.reason, got)
		}
	}
}
