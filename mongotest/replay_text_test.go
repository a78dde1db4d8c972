package mongotest

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// texted are documents that extended JSON could take for others.
var texted = []bson.D{
	{},
	{
		{Key: "a", Value: int32(1)}, {Key: "b", Value: int64(1)}, {Key: "c", Value: 1.0}, {Key: "d", Value: 1e300},
		{Key: "e", Value: math.Inf(-1)},
	},
	{{Key: "a", Value: math.Copysign(0, -1)}, {Key: "b", Value: math.NaN()}, {Key: "c", Value: -1.5}},
	{{Key: "$regex", Value: "^a"}, {Key: "$options", Value: "i"}},
	{{Key: "$date", Value: "now"}},
	{
		{Key: "$oid", Value: bson.D{{Key: "$oid", Value: 1}}},
		{Key: "x", Value: bson.A{bson.D{{Key: "$document", Value: 1}}}},
	},
	{
		{Key: "d", Value: bson.DateTime(1)}, {Key: "e", Value: bson.DateTime(-1)},
		{Key: "f", Value: bson.DateTime(math.MaxInt64)},
	},
	{
		{Key: "i", Value: bson.ObjectID{1}},
		{Key: "b", Value: bson.Binary{Subtype: 4, Data: make([]byte, 16)}},
		{Key: "t", Value: bson.Timestamp{T: 1, I: 2}},
	},
	{
		{Key: "r", Value: bson.Regex{Pattern: "a/b", Options: "i"}},
		{Key: "m", Value: bson.MinKey{}}, {Key: "n", Value: nil}, {Key: "u", Value: bson.Undefined{}},
	},
	{
		{Key: "js", Value: bson.JavaScript("f()")},
		{Key: "with", Value: bson.CodeWithScope{Code: "f()", Scope: bson.D{{Key: "x", Value: int32(1)}}}},
	},
	{
		{Key: "dec", Value: bson.NewDecimal128(1, 2)}, {Key: "sym", Value: bson.Symbol("s")},
		{Key: "", Value: "\n\"<&>\u2028"}, {Key: "", Value: true},
	},
	{{
		Key: "long",
		Value: bson.A{
			strings.Repeat("x", 100),
			bson.D{{Key: "y", Value: strings.Repeat("z", 100)}, {Key: "e", Value: bson.D{}}},
		},
	}},
}

func TestExtendedText(t *testing.T) {
	for _, d := range texted {
		raw := bson.Raw(encode(t, d))
		text, err := extendedText(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw})
		if err != nil {
			t.Errorf("%v: %v", d, err)
			continue
		}
		if got, err := parseExtended(text); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%s is read back as %v, %v", text, got, err)
		}
	}
	const want = `{
  "insert": "orders",
  "documents": [
    {
      "_id": {"$oid": "000000001d1d1d1d1d000001"},
      "at": {"$date": "2026-01-02T03:04:05.000Z"},
      "price": 1.0,
      "n": {"$numberLong": "1"}
    }
  ]
}`
	raw, err := parseExtended(want)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := extendedText(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw}); err != nil || text != want {
		t.Errorf("got %s, %v", text, err)
	}
}

func TestParseSessionErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     `no line begins with "server"`,
		"server {}\n> x {\"ping\": 1}":         "command 1, ping, has no reply",
		"server {}\n> x {\"ping\": 3000000000": "line 2: ping: 3000000000 is not an int32",
		"server {}\nnonsense":                  `line 2: "nonsense" is not a part of a recording`,
		"server {}\n> x {\"ping\": 1}\n< cut\n< cut": "line 4: ping has a second reply",
		"mongotest replay 2\nserver {}":              `line 1: "mongotest replay 2" is not a part of a recording of this version`,
		"}":                                          `line 1: "}" is not a part`,
	} {
		if _, err := parseSession(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// A recording is read or refused, and what is read is written as it was.
func FuzzParseSession(f *testing.F) {
	f.Add("mongotest replay 1\nserver {\"a\": {\"$numberLong\": \"1\"}}\n\n> x {\n  \"ping\": 1\n}\n< {\"ok\": 1.0}\n> y {\"a\": []}\n< abandoned\n")
	f.Add("server {\"$document\": {\"$oid\": \"x\"}}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSession(text)
		if err != nil {
			return
		}
		once, err := s.text()
		if err != nil {
			return // a database's name may hold anything
		}
		again, err := parseSession(once)
		if err != nil {
			t.Fatalf("%q is written as %q, and read with %v", text, once, err)
		}
		if twice, err := again.text(); err != nil || twice != once {
			t.Fatalf("%q is written as %q, then as %q, %v", text, once, twice, err)
		}
	})
}
