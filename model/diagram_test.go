package model_test

import (
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ties is a technique that is nothing but its relations.
type ties []model.Relation

func (ties) Indexes() []model.Index        { return nil }
func (ties) Checks() []model.Check         { return nil }
func (ties) Footprints() []model.Footprint { return nil }
func (t ties) Relations() []model.Relation { return t }

// Indexes of one's own go with the collection that they are of.
func TestEntityIndexes(t *testing.T) {
	open := model.NewCollection[bson.D, string]("open")
	own := model.NewIndex("open", bson.D{{Key: "a", Value: 1}})
	if got := model.New("test", model.Entity(open, own)).Indexes().String(); got != "db.open.createIndex({a: 1})\n" {
		t.Error(got)
	}
	defer func() {
		if bad, ok := recover().(*model.DeclarationError); !ok || bad.Remedy == "" {
			t.Errorf("an index of another collection: panics with %v", bad)
		}
	}()
	model.Entity(open, model.NewIndex("other", own.Keys))
}

func TestDiagram(t *testing.T) {
	open := model.NewCollection[bson.D, string]("open")
	type inner struct{ At bson.DateTime }
	typed := model.NewCollection[struct {
		ID    int32 `bson:"_id"`
		Inner inner
		List  []inner
		Any   any
		Map   map[string]int
		Bytes []byte
		Dec   bson.Decimal128
		Small int16
		Big   uint64
		Real  float32
		Yes   *bool
	}, int32]("typed")
	for _, test := range []struct {
		reason, want string
		of           []model.Technique
	}{
		{"nothing", "erDiagram\n", nil},
		{
			reason: "an open collection",
			want:   "erDiagram\n    \"open\" {\n        any _id PK\n    }\n",
			of:     []model.Technique{model.Entity(open), model.Entity(open)},
		},
		{
			reason: "types",
			want: strings.Join([]string{
				"erDiagram", `    "typed" {`, "        int _id PK", "        document inner", "        document[] list",
				"        any any",
				"        any map", "        binData bytes", "        decimal dec", "        int small",
				"        long big", "        double real", "        bool yes", "    }\n",
			}, "\n"),

			of: []model.Technique{model.Entity(typed)},
		},
		{
			reason: "ends, and who calls one relation what",
			want: strings.Join([]string{
				"erDiagram", `    "b" {`, "        any _id PK", "    }", `    "a" {`, "        any _id PK",
				`        any x_y FK "x.y"`, "    }",
				`    "a" |o--o{ "b" : "x.y: one, two"`, `    "a" ||--o| "b" : "_id"`,
				"    \"a\" }o--|| \"b\" : \"x.y\"\n",
			}, "\n"),

			of: []model.Technique{ties{
				{From: "a", To: "b", FromPath: "x.y", ToPath: "_id", FromEnd: model.ZeroOrOne, ToEnd: model.Many, Label: "one"},
				{From: "a", To: "b", FromPath: "_id", ToPath: "_id", FromEnd: model.ExactlyOne, ToEnd: model.ZeroOrOne},
				{From: "a", To: "b", FromPath: "x.y", ToPath: "_id", FromEnd: model.ZeroOrOne, ToEnd: model.Many, Label: "two"},
			}, ties{
				{From: "a", To: "b", FromPath: "x.y", ToPath: "_id", FromEnd: model.ZeroOrOne, ToEnd: model.Many, Label: "one"},
				{From: "a", To: "b", FromPath: "x.y", ToPath: "_id", FromEnd: model.Many, ToEnd: model.ExactlyOne},
			}},
		},
		{
			reason: "names that Mermaid has no escape for",
			want: strings.Join([]string{
				"erDiagram", `    "q_q" {`, "        any _id PK", "    }", `    "a_b__c é" {`, "        any _id PK",

				`        any _0___x FK "0.é-x"`, "    }",
				"    \"a_b__c é\" |o--o| \"q_q\" : \"0.é-x: _ _ _\"\n",
			}, "\n"),

			of: []model.Technique{ties{{From: "a\"b\\%c é", To: "q\nq", FromPath: "0.é-x", ToPath: "_id", Label: "\" % \\"}}},
		},
	} {
		if got := model.New("test", test.of...).Diagram(); got != test.want {
			t.Errorf("%s:\n%q\nwant\n%q", test.reason, got, test.want)
		}
	}
}
