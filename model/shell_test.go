package model_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"
)

// TestShellOfEachType renders a value of each BSON type, and those whose JavaScript form is not the obvious one.
func TestShellOfEachType(t *testing.T) {
	type inner struct{ A int }
	var b strings.Builder
	for _, c := range []struct {
		v      any
		reason string
	}{
		{nil, "null"},
		{true, "boolean"},
		{int32(-5), "int32: a whole number is one in mongosh"},
		{5, "an int that fits 32 bits is stored as int32"},
		{int64(5), "int64"},
		{int64(math.MinInt64), "int64 beyond what a double holds"},
		{5.5, "double"},
		{5.0, "a whole double: a bare 5 would be stored as int32"},
		{math.Copysign(0, -1), "negative zero"},
		{1e300, "a large double"},
		{math.NaN(), "not a number"},
		{math.Inf(1), "infinity"},
		{math.Inf(-1), "negative infinity"},
		{"", "an empty string"},
		{"it's \"quoted\" \\ `é` 世界 \U0001F600", "quotes, backslash, beyond ASCII"},
		{"a\nb\tc\x00d\x7f\u2028", "what ends a line, and what can't be seen"},
		{"$where", "an operator as a string"},
		{"a\xffb", "not UTF-8"},
		{oid(1), "ObjectID"},
		{time.Date(2024, 2, 29, 1, 2, 3, 4_000_000, time.FixedZone("", 3600)), "a date, in UTC"},
		{bson.DateTime(253402300800000), "a date beyond the year 9999"},
		{bson.DateTime(-62198755200000), "a date before the year 0"},
		{bson.Decimal128{}, "decimal"},
		{[]byte("bytes"), "binary"},
		{bson.Binary{Subtype: 4, Data: []byte("0123456789abcdef")}, "a UUID"},
		{bson.Binary{Subtype: 4, Data: []byte("short")}, "subtype 4, and no UUID"},
		{bson.Binary{Subtype: 0x80, Data: nil}, "a subtype of the user's own"},
		{bson.Regex{Pattern: "^a/'b", Options: "im"}, "a pattern with quotes"},
		{bson.Regex{Pattern: "^.*"}, "a pattern without flags"},
		{bson.Regex{Pattern: "(?i)a", Options: ""}, "a pattern that JavaScript refuses"},
		{bson.Regex{Pattern: "a b", Options: "x"}, "a flag that JavaScript doesn't know"},
		{bson.Regex{}, "an empty pattern, which JavaScript rewrites"},
		{bson.Timestamp{T: 7, I: 8}, "timestamp"},
		{bson.MinKey{}, "minKey"},
		{bson.MaxKey{}, "maxKey"},
		{bson.Undefined{}, "undefined"},
		{bson.Symbol("s'"), "symbol"},
		{bson.JavaScript("f('x')"), "code"},
		{bson.CodeWithScope{Code: "f", Scope: d("x", int64(1))}, "code with its scope"},
		{bson.D{}, "an empty document"},
		{
			v:      d("a", 1, "_b$9", 2, "9a", 3, "a.b", 4, "a'b", 5, "é", 6, "", 7, "__proto__", 8, "$set", 9),
			reason: "names that are identifiers, and others",
		},
		{bson.A{1, bson.A{}, bson.A{nil}}, "arrays"},
		{mongo.Pipeline{d("$match", bson.D{}), d("$limit", 1)}, "a pipeline"},
		{[]bson.D{d("a", 1)}, "a list of documents"},
		{inner{1}, "a struct"},
		{[]string(nil), "a nil slice is stored as null"},
		{bson.Raw{5, 0, 0, 0, 0}, "raw bytes"},
		{bson.RawValue{Type: bson.TypeInt64, Value: []byte{1, 0, 0, 0, 0, 0, 0, 0}}, "a raw value"},
		{make(chan int), "what BSON can't hold"},
	} {
		fmt.Fprintf(&b, "%-60s // %s\n", model.Shell(c.v), c.reason)
	}
	golden(t, "shell.golden", b.String())
}

// TestStrings renders each kind of value as the command that a person would paste.
func TestStrings(t *testing.T) {
	yes := true
	set := d("$set", d("name", "x"))
	all := model.ReadOptions{
		Hint: "a_1",
		Collation: &options.Collation{Locale: "en", Strength: 2, CaseLevel: true, CaseFirst: "upper", NumericOrdering: true,
			Alternate: "shifted", MaxVariable: "space", Normalization: true, Backwards: true}, Comment: "why", Let: d("x", 1),
		AllowDiskUse: true, BatchSize: 5,
	}
	found := products.Find(d("name", "it's")).Sorted(d("name", 1, "_id", -1)).Limited(5)
	found.Skip, found.Projection, found.Options = 2, d("name", 1), all
	piped := products.Aggregate(mongo.Pipeline{d("$match", d("name", "x"))})
	pipedAll := *piped
	pipedAll.Options = all
	modify := products.Modify(d("name", "x"), set)
	modify.After, modify.Upsert, modify.Sort, modify.Projection = true, true, d("name", 1), d("name", 1)
	modify.ArrayFilters = bson.A{d("e.id", 1)}
	modify.Options = model.ModifyOptions{Hint: "a_1", Collation: all.Collation, Comment: "why", Let: d("x", 1)}
	remove := &model.Modify[product]{
		FindAndModify: model.FindAndModify{Collection: "products", Filter: d("name", "x"), Remove: true},
	}
	index := model.NewIndex("products", d("name", 1, "at", -1))
	unique := index
	unique.Unique, unique.Partial, unique.ExpireAfter, unique.Name = true, d("name", d("$exists", true)), 90e9, "mine"
	atOnce := index
	atOnce.ExpireAfter = -1
	write := func(m mongo.WriteModel) model.Write { return model.Write{Collection: "products", Model: m} }
	var b strings.Builder
	for _, s := range []fmt.Stringer{
		products.Find(nil), products.ByID(oid(1)), found, model.Project[struct{ Name string }](products.Find(nil)),
		products.Find(nil).Limited(-1), products.ByID(bson.ObjectID{}),
		piped, &pipedAll, model.AggregateAs[bson.D](products, nil), modify, remove,
		&model.Modify[product]{FindAndModify: model.FindAndModify{Collection: "products"}},
		parts.Insert(part{ID: 1, Name: "bolt"}), parts.Replace(part{ID: 1, Name: "nut"}), parts.Update(1, set),
		parts.Delete(1), parts.Named("odd name").Delete(1), parts.Named("a.b").Delete(1), parts.Named("stats").Delete(1),
		parts.Named("_x").Delete(1),
		write(&mongo.UpdateOneModel{Filter: d("_id", 1), Update: set, Upsert: &yes, ArrayFilters: []any{d("e.x", 1)},
			Collation: all.Collation, Hint: "a_1", Sort: d("a", 1)}),
		write(&mongo.UpdateManyModel{Filter: bson.D{}, Update: mongo.Pipeline{set}}),
		write(&mongo.DeleteManyModel{Filter: d("a", 1), Hint: d("a", 1)}),
		write(&mongo.ReplaceOneModel{Filter: d("a", 1), Replacement: d("b", 1), Upsert: &yes}),
		model.Write{Collection: "products"}, model.Refused("products", fmt.Errorf("bad input")),
		model.MergeInto{Collection: "products", Pipeline: mongo.Pipeline{d("$out", "copy")}},
		model.MergeInto{Collection: "products", Err: fmt.Errorf("bad input")},
		model.NewPlan(parts.Delete(1), parts.Delete(2)), model.Plan{},
		model.NewPlan(model.Refused("parts", fmt.Errorf("bad input"))),
		index, unique, atOnce,
		model.New("test", wants{index, model.NewIndex("products", d("name", 1))}).Indexes(),
		model.Applied, model.Unknown, model.Already, model.NotSent, model.Cost{}, model.Cost{Commands: 1, Written: 1},
		model.Cost{Commands: 2, Unbounded: true, Indexes: []string{"a", "b"}},
		model.Cost{Commands: 1, Written: 2, Unbounded: true, Batches: true}, model.Cost{Commands: 3, Returned: 5},
	} {
		fmt.Fprintf(&b, "%-20T %s\n", s, strings.TrimSuffix(s.String(), "\n"))
	}
	golden(t, "strings.golden", strings.ReplaceAll(b.String(), "github.com/docmodel/docmodel/", ""))
}

// wants is a technique that wants indexes.
type wants []model.Index

func (w wants) Indexes() []model.Index        { return w }
func (w wants) Relations() []model.Relation   { return nil }
func (w wants) Checks() []model.Check         { return nil }
func (w wants) Footprints() []model.Footprint { return nil }
