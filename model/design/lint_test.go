package design_test

import (
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/model/design"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/relate/childrefs"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type lintPart struct {
	ID   string `bson:"_id"`
	Name string `bson:"name"`
}

type lintProduct struct {
	ID    string   `bson:"_id"`
	Maker string   `bson:"maker"`
	Name  string   `bson:"name"`
	Parts []string `bson:"parts,omitempty"`
	Notes []string `bson:"notes,omitempty"`
}

var (
	lintParts    = model.NewCollection[lintPart, string]("parts")
	lintProducts = model.NewCollection[lintProduct, string]("products")
	lintUses     = childrefs.New(lintProducts, "parts", lintParts)
)

// smells returns the rules and places of what a Lint finds.
func smells(l design.Lint) string {
	var out []string
	for _, s := range l.Smells() {
		out = append(out, s.Rule+" "+s.Place)
	}
	return strings.Join(out, "; ")
}

// Each rule finds what it is for, and nothing where it is kept.
func TestLint(t *testing.T) {
	bounded := []advise.Bound{
		{Path: "_id", Bytes: 20}, {Path: "maker", Bytes: 20}, {Path: "name", Bytes: 40},
		{Path: "parts", Items: 50, Bytes: 20}, {Path: "notes", Items: 10, Bytes: 100},
	}
	large := append([]advise.Bound(nil), bounded...)
	large[4].Items = 50_000
	many := []model.Index{}
	for _, f := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"} {
		many = append(many, model.NewIndex("products", bson.D{{Key: "name", Value: 1}, {Key: f, Value: 1}}))
	}
	shard := keys.NewShard(lintProducts, bson.D{{Key: "maker", Value: 1}}, keys.ShardSpec{})
	lookup := bson.D{{
		Key:   "$lookup",
		Value: bson.D{{Key: "from", Value: "parts"}, {Key: "as", Value: "x"}, {Key: "pipeline", Value: bson.A{}}},
	}}
	nested := bson.D{{
		Key: "$lookup",
		Value: bson.D{
			{Key: "from", Value: "parts"}, {Key: "as", Value: "x"}, {Key: "pipeline", Value: bson.A{lookup, lookup}},
		},
	}}
	uses := model.New("uses", lintUses)
	find := func(filter bson.D) model.Query { return lintProducts.Find(filter).Query }
	served := func(filter bson.D) model.Query {
		q := find(filter)
		q.Index = "name_1"
		return q
	}
	tests := []struct {
		name string
		lint design.Lint
		want string
	}{
		{"no model", design.Lint{}, ""},
		{"a list that nothing is known of", design.Lint{Model: uses}, "unbounded array products.parts"},
		{
			name: "a list with a bound",
			lint: design.Lint{Model: uses, Budgets: []*advise.Budget{advise.NewBudget(lintProducts, bounded...)}},
			want: "",
		},
		{
			name: "arrays without bounds",
			lint: design.Lint{Model: uses, Budgets: []*advise.Budget{advise.NewBudget(lintProducts, bounded[:4]...)}},
			want: "unbounded array products.notes",
		},
		{
			name: "a large document",
			lint: design.Lint{Model: uses, Budgets: []*advise.Budget{advise.NewBudget(lintProducts, large...)}},
			want: "bloated document products",
		},
		{"many indexes", design.Lint{Model: model.New("many", model.Entity(lintProducts, many...))}, "many indexes products"},
		{
			name: "an index that nothing uses",
			lint: design.Lint{
				Model: model.New("unused", model.Entity(lintProducts, model.NewIndex("products", bson.D{{Key: "name", Value: 1}}))),

				Runs: []design.Run{{Name: "by id", Of: lintProducts.ByID("x").Query}},
			},
			want: "needless index products.name_1",
		},
		{
			name: "an index that is used",
			lint: design.Lint{
				Model: model.New("used", model.Entity(lintProducts, model.NewIndex("products", bson.D{{Key: "name", Value: 1}}))),

				Runs: []design.Run{{Name: "by name", Of: served(bson.D{{Key: "name", Value: "x"}})}},
			},
			want: "",
		},
		{
			name: "a query that no index serves",
			lint: design.Lint{
				Model: model.New("none", model.Entity(lintProducts)),
				Runs:  []design.Run{{Name: "by name", Of: find(bson.D{{Key: "name", Value: "x"}})}},
			},
			want: "no index by name",
		},
		{
			name: "a query of all",
			lint: design.Lint{
				Model: model.New("all", model.Entity(lintProducts)),
				Runs:  []design.Run{{Name: "all", Of: find(nil)}},
			},
			want: "",
		},
		{"a pattern that ignores case", design.Lint{Model: model.New("i", model.Entity(lintProducts)), Runs: []design.Run{
			{Name: "like", Of: served(bson.D{{Key: "name", Value: bson.Regex{Pattern: "^x", Options: "i"}}})}}},
			"unanchored pattern like"},
		{"a pattern in the middle", design.Lint{Model: model.New("m", model.Entity(lintProducts)), Runs: []design.Run{
			{
				Name: "like",
				Of: served(bson.D{{
					Key:   "$or",
					Value: bson.A{bson.D{{Key: "name", Value: bson.D{{Key: "$regex", Value: "x"}}}}},
				}}),
			}}}, "unanchored pattern like"},
		{"a pattern at the beginning", design.Lint{Model: model.New("b", model.Entity(lintProducts)), Runs: []design.Run{
			{Name: "like", Of: served(bson.D{{Key: "name", Value: bson.D{{Key: "$regex", Value: "^x"}}}})}}}, ""},
		{"a hot document", design.Lint{Model: model.New("hot", model.Entity(lintProducts)), Runs: []design.Run{
			{
				Name:      "view",
				Of:        lintProducts.Update("x", bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: "y"}}}}),
				PerSecond: 500,
			}}}, "hot document view"},
		{"nested lookups", design.Lint{Model: model.New("l", model.Entity(lintProducts)), Runs: []design.Run{
			{Name: "join", Of: lintProducts.Aggregate(mongo.Pipeline{nested}).Aggregation}}}, "many $lookups join"},
		{"one lookup", design.Lint{Model: model.New("l", model.Entity(lintProducts)), Runs: []design.Run{
			{Name: "join", Of: lintProducts.Aggregate(mongo.Pipeline{lookup}).Aggregation}}}, ""},
		{"sent to all shards", design.Lint{Model: model.New("s", shard), Runs: []design.Run{
			{Name: "by name", Of: served(bson.D{{Key: "name", Value: "x"}})},
			{Name: "by maker", Of: served(bson.D{{Key: "maker", Value: "x"}})},
			{Name: "store", Of: lintProducts.InsertMany([]lintProduct{{ID: "a"}})}}}, "scatter-gather by name"},
		{
			name: "not a command",
			lint: design.Lint{Model: model.New("x", model.Entity(lintProducts)), Runs: []design.Run{{Name: "text", Of: "x"}}},
			want: "not a command text",
		},
		{
			name: "a query with an error",
			lint: design.Lint{
				Model: model.New("x", model.Entity(lintProducts)),
				Runs:  []design.Run{{Name: "bad", Of: find(bson.D{{Key: "nmae", Value: "x"}})}},
			},
			want: "not a command bad",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := smells(test.lint); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

type failures struct{ texts []string }

func (f *failures) Helper() {}

func (f *failures) Errorf(format string, args ...any) { f.texts = append(f.texts, format) }

// Want fails for what isn't accepted.
func TestLintWant(t *testing.T) {
	l := design.Lint{Model: model.New("uses", lintUses)}
	var f failures
	if l.Want(&f, "products.parts"); len(f.texts) != 0 {
		t.Errorf("an accepted smell fails the test: %q", f.texts)
	}
	if l.Want(&f); len(f.texts) != 1 {
		t.Errorf("%d failures", len(f.texts))
	}
}
