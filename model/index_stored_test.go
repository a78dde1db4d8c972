package model_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"

	"github.com/docmodel/docmodel/internal/tenancy"
)

// TestDiffOptions: an index that the driver created with an option is the declared one only if nothing depends on the
// option.
func TestDiffOptions(t *testing.T) {
	tenancy.Differs(t, "unique indexes are led by the tenant, the others aren't")
	o := options.Index
	cases := []struct {
		reason   string
		declared model.Index
		keys     bson.D
		options  *options.IndexOptionsBuilder
		want     string // "", changed or missing
		engine   bool   // only there
	}{
		{"nothing", ix("a", 1), d("a", 1), o(), "", false},
		{"read backwards", ix("a", 1), d("a", -1), o(), "", false},
		{"another name", ix("a", 1), d("a", 1), o().SetName("x"), "", false},
		{"unique", ix("a", 1), d("a", 1), o().SetUnique(true), "changed", false},
		{"not unique", unique(ix("a", 1)), d("a", 1), o(), "changed", false},
		{"hidden", ix("a", 1), d("a", 1), o().SetHidden(true), "changed", true},
		{"hidden, another name", ix("a", 1), d("a", 1), o().SetHidden(true).SetName("x"), "changed", true},
		{"sparse", ix("a", 1), d("a", 1), o().SetSparse(true), "changed", false},
		{"sparse, another name", ix("a", 1), d("a", 1), o().SetSparse(true).SetName("x"), "missing", false},
		{"partial", ix("a", 1), d("a", 1), o().SetPartialFilterExpression(d("a", 1)), "changed", false},
		{"TTL", ix("a", 1), d("a", 1), o().SetExpireAfterSeconds(60), "changed", false},
		{"another TTL", expiring(ix("a", 1), time.Hour), d("a", 1), o().SetExpireAfterSeconds(60), "changed", false},
		{
			reason: "collation", declared: ix("a", 1), keys: d("a", 1),
			options: o().SetCollation(&options.Collation{Locale: "en", Strength: 2}),
			want:    "changed", engine: true,
		},
		{"version", ix("a", 1), d("a", 1), o().SetVersion(2), "", false},
		{"wildcard", ix("$**", 1), d("$**", 1), o(), "", false},
		{"wildcardProjection", ix("$**", 1), d("$**", 1), o().SetWildcardProjection(d("a", 1)), "changed", false},
		{"2dsphere", ix("loc", "2dsphere"), d("loc", "2dsphere"), o().SetSphereVersion(3), "", false},
		{"hashed", ix("a", "hashed"), d("a", "hashed"), o(), "", false},
		{"text", ix("b", "text", "a", "text"), d("b", "text", "a", "text"), o(), "", false},
		{
			reason: "text of other fields", declared: ix("b", "text", "a", "text"), keys: d("b", "text"),
			options: o().SetName("b_text_a_text"), want: "changed", engine: false,
		},
		{
			reason: "text and other keys", declared: ix("x", 1, "b", "text", "a", "text", "y", -1),
			keys: d("x", 1, "b", "text", "a", "text", "y", -1), options: o(), want: "", engine: true,
		},
		{"text of all fields", ix("$**", "text"), d("$**", "text"), o(), "", true},
		{"weights", ix("b", "text", "a", "text"), d("b", "text", "a", "text"), o().SetWeights(d("a", 5)), "changed", false},
		{"language", ix("b", "text"), d("b", "text"), o().SetDefaultLanguage("none"), "changed", true},
		{"language_override", ix("b", "text"), d("b", "text"), o().SetLanguageOverride("tongue"), "changed", true},
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		engine := strings.HasSuffix(t.Name(), "/engine")
		for _, c := range cases {
			t.Run(c.reason, func(t *testing.T) {
				if c.engine && !engine {
					t.Skip("server lacks: the option")
				}
				if err := parts.Of(db).Drop(t.Context()); err != nil {
					t.Fatal(err)
				}
				if _, err := parts.Of(db).Indexes().
					CreateOne(t.Context(), mongo.IndexModel{Keys: c.keys, Options: c.options}); err != nil {
					t.Fatal(err)
				}
				wantDiff(t, db, c.declared, c.want)
			})
		}
	})
}

func wantDiff(t *testing.T, db *mongo.Database, declared model.Index, want string) {
	t.Helper()
	diff, err := model.New("test", wants{declared}).Indexes().Diff(t.Context(), db)
	got := ""
	switch {
	case len(diff.Changed) > 0:
		got = "changed"
	case len(diff.Missing) > 0:
		got = "missing"
	}
	if extra := want == "missing"; err != nil || got != want || (len(diff.Extra) > 0) != extra {
		t.Errorf("%+v, %v, want %q", diff, err, want)
	}
}

// TestDiffInheritedCollation: an index without a collation inherits the collection's.
func TestDiffInheritedCollation(t *testing.T) {
	tenancy.Differs(t, "a scope is refused in such a collection")
	db := mongotest.NewClient(t).Database("test")
	caseless := &options.Collation{Locale: "en", Strength: 2}
	if err := db.CreateCollection(t.Context(), "parts", options.CreateCollection().SetCollation(caseless)); err != nil {
		t.Fatal(err)
	}
	set := model.New("test", wants{ix("a", 1), ix("b", 1)}).Indexes()
	for range 2 {
		if err := set.Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	if diff, err := set.Diff(t.Context(), db); err != nil || !diff.Empty() {
		t.Errorf("%+v, %v", diff, err)
	}
	if err := parts.Of(db).Indexes().DropAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	simple := mongo.IndexModel{
		Keys:    d("a", 1),
		Options: options.Index().SetCollation(&options.Collation{Locale: "simple"}),
	}
	if _, err := parts.Of(db).Indexes().CreateOne(t.Context(), simple); err != nil {
		t.Fatal(err)
	}
	wantDiff(t, db, ix("a", 1), "changed")
}
