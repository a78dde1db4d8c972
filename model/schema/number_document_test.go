package schema_test

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func numDoc(t testing.TB, d bson.D) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// A whole document leaves with strings for the numbers at risk alone, and comes back.
func TestNumberDocuments(t *testing.T) {
	t.Parallel()
	price, err := bson.ParseDecimal128("19.90")
	if err != nil {
		t.Fatal(err)
	}
	id := bson.ObjectID{0x50, 0x7f, 11: 1}
	doc := numDoc(t, bson.D{
		{Key: "_id", Value: id}, {Key: "n", Value: int64(9007199254740993)}, {Key: "small", Value: int64(5)},
		{Key: "text", Value: "9007199254740993"},
		{
			Key: "items",
			Value: bson.A{
				bson.D{{Key: "price", Value: price}, {Key: "at", Value: time.UnixMilli(1).UTC()}},
				math.NaN(), 0.5, nil, true,
			},
		},
		{Key: "é\"</", Value: bson.D{{Key: "x", Value: bson.A{}}, {Key: "y", Value: bson.D{}}}},
		{Key: "re", Value: bson.Regex{Pattern: "^a", Options: "i"}}, {Key: "bin", Value: bson.Binary{Data: []byte{1}}},
		{Key: "min", Value: bson.MinKey{}}, {Key: "$where"[1:], Value: "$where"},
	})
	text, risky, err := schema.DocumentJSON(doc)
	want := `{"_id":{"$oid":"507f00000000000000000001"},"n":"9007199254740993","small":5,"text":"9007199254740993",` +
		`"items":[{"price":"19.90","at":{"$date":"1970-01-01T00:00:00.001Z"}},"NaN",0.5,null,true],"é\"\u003c/":{"x":[],"y":{}},` +
		`"re":{"$regularExpression":{"pattern":"^a","options":"i"}},"bin":{"$binary":{"base64":"AQ==","subType":"00"}},"min":{"$minKey":1},"where":"$where"}`
	if err != nil || string(text) != want || !json.Valid(text) ||
		!slices.Equal(risky, []string{"n", "items.0.price", "items.1"}) {
		t.Fatalf("%s\n%q, %v", text, risky, err)
	}
	back, err := schema.DocumentFromJSON(text, risky)
	if err != nil {
		t.Fatal(err)
	}
	if diff := mongotest.Diff(doc, back); diff != "" {
		t.Error(diff)
	}
	var read any // a reader that takes numbers as binary64
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(read)
	if err != nil {
		t.Fatal(err)
	}
	if back, err = schema.DocumentFromJSON(again, risky); err != nil || back.Lookup("n").AsInt64() != 9007199254740993 ||
		back.Lookup("items", "0", "price").Decimal128() != price {
		t.Errorf("%s, %v", back, err)
	}
}

func TestNumberDocumentRefusals(t *testing.T) {
	t.Parallel()
	for _, bad := range []bson.D{
		{{Key: "$a", Value: 1}}, {{Key: "a.b", Value: 1}}, {{Key: "", Value: 1}},
		{{Key: "a", Value: bson.A{bson.D{{Key: "$x", Value: 1}}}}},
	} {
		_, _, err := schema.DocumentJSON(numDoc(t, bad))
		testkit.WantValueError(t, model.Shell(bad), err)
	}
	_, _, err := schema.DocumentJSON(bson.Raw{5, 0, 0, 0})
	testkit.WantValueError(t, "half a document", err)
	for _, bad := range []string{
		"", "1", "[]", "null", `{"a":1`, `{"a":1}x`, `{"a":1}{}`, `{"a":1,"a":2}`, `{"a.b":1}`, `{"a":{"$where":1}}`,
		`{"$oid":"507f00000000000000000001"}`, `{"a":{"$oid":"x"}}`, `{"a":{"b":1,"$gt":2}}`, `{"":1}`, `{"n":"x"}`,
		`{"n":"0x1"}`, `{"a":1e9999999}`, `{"a":{"$a":{"b":1}}}`, `{"a":]}`,
		strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200),
		`{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}",
	} {
		_, err := schema.DocumentFromJSON([]byte(bad), []string{"n"})
		if len(bad) > 50 {
			bad = bad[:50]
		}
		testkit.WantValueError(t, bad, err)
		if err != nil && strings.Contains(err.Error(), "<nil>") {
			t.Errorf("%s: %v tells no reason", bad, err)
		}
	}
}

func FuzzDocumentFromJSON(f *testing.F) {
	f.Add(`{"a":[1,{"b":"9007199254740993"}],"c":{"$oid":"507f00000000000000000001"}}`)
	f.Add(`{"a":{"$date":{"$numberLong":"1"}},"b":1e400}`)
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := schema.DocumentFromJSON([]byte(text), []string{"a.1.b"})
		if err != nil {
			return
		}
		out, risky, err := schema.DocumentJSON(doc)
		if err != nil {
			t.Fatalf("%s is read as %s and not written: %v", text, doc, err)
		}
		back, err := schema.DocumentFromJSON(out, risky)
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if diff := mongotest.Diff(doc, back); diff != "" {
			t.Errorf("%s: %s", out, diff)
		}
	})
}

// The fields of a type that are at risk are found, wherever they are.
func TestNumberRisks(t *testing.T) {
	t.Parallel()
	type inner struct {
		Views uint64
		Next  *inner `bson:"next"`
	}
	type Common struct {
		Version int64 `bson:"v"`
	}
	type doc struct {
		ID       int64 `bson:"_id"`
		Common   `bson:",inline"`
		Quoted   int64                    `bson:"quoted" json:",string"`
		UQuoted  *uint64                  `bson:"uquoted" json:"u,string"`
		Hidden   int64                    `bson:"hidden" json:"-"`
		Unstored int64                    `bson:"-"`
		Small    int32                    `bson:"small"`
		Took     time.Duration            `bson:"took,omitempty"`
		Price    bson.Decimal128          `bson:"price"`
		Prices   []*bson.Decimal128       `bson:"prices"`
		Rate     float64                  `bson:"rate"`
		Any      any                      `bson:"any"`
		ByDay    map[string][]inner       `bson:"byDay"`
		Text     json.Number              `bson:"text"`
		Big      *big.Int                 `bson:"big"`
		Fine     schema.Number            `bson:"fine"`
		At       time.Time                `bson:"at"`
		Bytes    []byte                   `bson:"bytes"`
		Extra    map[string]bson.RawValue `bson:",inline"`
		Nested   struct {
			N [2][]int `bson:"n"`
		} `bson:"nested"`
	}
	var got []string
	silent := 0
	for _, r := range schema.NumberRisks(model.NewCollection[doc, int64]("docs")) {
		got = append(got, r.Path+" "+r.Type)
		if r.Silent {
			silent++
		}
		if r.Reason == "" || r.Remedy == "" || !strings.Contains(r.String(), r.Path) {
			t.Errorf("%+v", r)
		}
	}
	want := []string{
		"_id int64", "v int64", "uquoted uint64", "took time.Duration", "price bson.Decimal128", "prices bson.Decimal128",
		"rate float64", "any interface {}", "byDay.*.views uint64", "text json.Number", "big big.Int",
		"nested.n int", "* bson.RawValue",
	}
	if !slices.Equal(got, want) || silent != 7 {
		t.Errorf("%q, %d silent", got, silent)
	}
	if got := schema.NumberRisks(model.NewCollection[bson.D, any]("any")); len(got) != 1 || got[0].Path != "" {
		t.Errorf("%v", got)
	}
}

// moneyRisk is stored as another type by a registry.
type moneyRisk struct {
	Cents int64
	Sum   uint64
}

// The collection's own options say how fields are named, and what isn't known.
func TestNumberRisksByOptions(t *testing.T) {
	t.Parallel()
	type doc struct {
		ID     int64     `json:"_id"`
		Total  int64     `json:"total_sum,omitempty"`
		Quoted int64     `json:"quoted,string"`
		Hidden int64     `json:"-"`
		Other  float64   `json:"o" bson:"other"`
		Money  moneyRisk `json:"money"`
	}
	paths := func(o model.CollectionOptions) string {
		var out []string
		for _, r := range schema.NumberRisks(model.NewCollectionWith[doc, int64]("docs", o)) {
			out = append(out, r.Path+";")
		}
		return strings.Join(out, " ")
	}
	registry := bson.NewRegistry()
	registry.RegisterTypeEncoder(reflect.TypeFor[moneyRisk](),
		bson.ValueEncoderFunc(func(_ bson.EncodeContext, w bson.ValueWriter, _ reflect.Value) error {
			return w.WriteString("1.00")
		}))
	tagged := &options.BSONOptions{UseJSONStructTags: true}
	for _, c := range []struct {
		options model.CollectionOptions
		want    string
	}{
		{model.CollectionOptions{BSON: tagged}, "_id; total_sum; other; money.cents; money.sum;"},
		{model.CollectionOptions{BSON: tagged, Registry: registry}, ";"}, // of the whole document nothing is known,
	} {
		if got := paths(c.options); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
