package collation_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

func parse(t testing.TB, spec string) *Collator {
	t.Helper()
	c, err := Parse(document(t, spec), "collation")
	if err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	return c
}

func document(t testing.TB, text string) (d bson.D) {
	t.Helper()
	if err := bson.UnmarshalExtJSON([]byte(text), false, &d); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

// What ICU's and MongoDB's documentation say of the order of strings.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		reason, spec, a, b string
		want               int
	}{
		{"the simple collation compares bytes", `{"locale":"simple"}`, "B", "a", -1},
		{"a language doesn't", `{"locale":"en"}`, "B", "a", 1},
		{"strength 1 ignores accents", `{"locale":"en","strength":1}`, "a", "á", 0},
		{"strength 1 ignores case", `{"locale":"en","strength":1}`, "a", "A", 0},
		{"strength 2 tells accents", `{"locale":"en","strength":2}`, "a", "á", -1},
		{"strength 2 ignores case", `{"locale":"en","strength":2}`, "á", "Á", 0},
		{"strength 3 puts lower before upper case", `{"locale":"en"}`, "a", "A", -1},
		{"an accent counts more than case", `{"locale":"en"}`, "A", "á", -1},
		{"a letter counts more than an accent before it", `{"locale":"en"}`, "áa", "ab", -1},
		{"a composed letter equals the decomposed one", `{"locale":"en"}`, "\u00e1", "a\u0301", 0},
		{"also if normalization is asked for", `{"locale":"en","normalization":true}`, "\u00e1", "a\u0301", 0},
		{"full width is a tertiary difference", `{"locale":"en","strength":2}`, "a", "ａ", 0},
		{"and is told by strength 3", `{"locale":"en"}`, "a", "ａ", -1},
		{"a control character is ignored", `{"locale":"en","strength":3}`, "a\x01b", "ab", 0},
		{"but not by strength 5", `{"locale":"en","strength":5}`, "a\x01b", "ab", -1},
		{"ß is ss at strength 1", `{"locale":"de","strength":1}`, "straße", "strasse", 0},
		{"but not at strength 3", `{"locale":"de"}`, "straße", "strasse", 1},
		{"æ is a letter of two, ae, at strength 1", `{"locale":"en","strength":1}`, "æ", "ae", 0},
		{"the empty string comes first", `{"locale":"en"}`, "", "a", -1},
		{"a prefix comes first", `{"locale":"en"}`, "ab", "abc", -1},
		{"punctuation before digits before letters", `{"locale":"en"}`, "-", "1", -1},
		{"digits before letters", `{"locale":"en"}`, "9", "a", -1},

		{"caseLevel at strength 1 tells case", `{"locale":"en","strength":1,"caseLevel":true}`, "role", "Role", -1},
		{"but no accents", `{"locale":"en","strength":1,"caseLevel":true}`, "role", "rôle", 0},
		{"nor where accents stand before the case", `{"locale":"en","strength":1,"caseLevel":true}`, "áB", "aB", 0},
		{"caseLevel at strength 2 tells both", `{"locale":"en","strength":2,"caseLevel":true}`, "rôle", "Role", 1},
		{"caseFirst upper", `{"locale":"en","caseFirst":"upper"}`, "A", "a", -1},
		{"caseFirst lower", `{"locale":"en","caseFirst":"lower"}`, "a", "A", -1},
		{
			reason: "caseFirst upper in the case level",
			spec:   `{"locale":"en","strength":1,"caseLevel":true,"caseFirst":"upper"}`,
			a:      "A", b: "a", want: -1,
		},
		{"caseFirst counts before other tertiary differences", `{"locale":"en","caseFirst":"upper"}`, "Ａ", "a", -1},

		{"digits compare one by one", `{"locale":"en"}`, "10", "2", -1},
		{"numericOrdering compares numbers", `{"locale":"en","numericOrdering":true}`, "10", "2", 1},
		{"leading zeros don't count", `{"locale":"en","numericOrdering":true}`, "a01b", "a1b", 0},
		{"0 and a letter before 1 and a letter", `{"locale":"en","numericOrdering":true}`, "0a", "1a", -1},
		{"zeros are 0", `{"locale":"en","numericOrdering":true}`, "000", "0", 0},
		{"each part of a version is a number", `{"locale":"en","numericOrdering":true}`, "v0.10", "v0.9", 1},
		{"a minus is no sign", `{"locale":"en","numericOrdering":true}`, "-2", "-10", -1},
		{
			reason: "digits of other scripts are numbers",
			spec:   `{"locale":"en","numericOrdering":true,"strength":1}`,
			a:      "१०", b: "9", want: 1,
		},
		{"and equal", `{"locale":"en","numericOrdering":true,"strength":1}`, "१०", "10", 0},
		{"numbers before letters", `{"locale":"en","numericOrdering":true}`, "9999", "a", -1},

		{"shifted ignores punctuation", `{"locale":"en","alternate":"shifted"}`, "co-op", "coop", 0},
		{"and whitespace", `{"locale":"en","alternate":"shifted"}`, "a b", "ab", 0},
		{"but no symbols", `{"locale":"en","alternate":"shifted"}`, "a+b", "ab", -1},
		{"nor currencies", `{"locale":"en","alternate":"shifted"}`, "$a", "a", -1},
		{"strength 4 tells punctuation", `{"locale":"en","alternate":"shifted","strength":4}`, "co-op", "coop", -1},
		{"shifted with numbers", `{"locale":"en","alternate":"shifted","numericOrdering":true}`, "a-2", "a 10", -1},
		{"not shifted", `{"locale":"en","maxVariable":"space"}`, "co-op", "coop", -1},

		{"accents count from the front", `{"locale":"fr"}`, "coté", "côte", -1},
		{"but in Canada from the back", `{"locale":"fr_CA"}`, "coté", "côte", 1},
		{"which can be switched off", `{"locale":"fr_CA","backwards":false}`, "coté", "côte", -1},
		{"and on", `{"locale":"fr","backwards":true}`, "coté", "côte", 1},

		{"ä is a with an accent in a dictionary", `{"locale":"de"}`, "ä", "ad", -1},
		{"and ae in a phone book", `{"locale":"de@collation=phonebook"}`, "ä", "ad", 1},
		{"ñ is a letter after n", `{"locale":"es"}`, "nz", "ñ", -1},
		{"which an accent isn't", `{"locale":"es","strength":1}`, "n", "ñ", -1},
		{"in English it's an n", `{"locale":"en","strength":1}`, "n", "ñ", 0},
		{"å is after z", `{"locale":"sv"}`, "z", "å", -1},
		{"ä after å", `{"locale":"sv"}`, "å", "ä", -1},
		{"ö after ä", `{"locale":"sv"}`, "ä", "ö", -1},
		{"v and w are letters", `{"locale":"sv","strength":1}`, "v", "w", -1},
		{"ch is after h in Czech", `{"locale":"cs"}`, "hz", "ch", -1},
		{"ł after l in Polish", `{"locale":"pl"}`, "lz", "ł", -1},
		{"ı before i in Turkish", `{"locale":"tr"}`, "ı", "i", -1},
		{"I is ı in Turkish", `{"locale":"tr","strength":1}`, "I", "ı", 0},
		{"İ is i in Turkish", `{"locale":"tr","strength":1}`, "İ", "i", 0},
		{"cs is a letter in Hungarian", `{"locale":"hu"}`, "cz", "cs", -1},
		{"nj is a letter in Croatian", `{"locale":"hr"}`, "nz", "nj", -1},
		{"ș after s in Romanian", `{"locale":"ro"}`, "sz", "ș", -1},
		{"y is like i in Lithuanian", `{"locale":"lt","strength":1}`, "y", "i", 0},
		{"þ is after z in Icelandic", `{"locale":"is"}`, "z", "þ", -1},
		{"ô after o in Slovak", `{"locale":"sk"}`, "oz", "ô", -1},
		{"č after c in Slovenian", `{"locale":"sl"}`, "cz", "č", -1},
	} {
		by := parse(t, c.spec)
		if got := by.Compare(c.a, c.b); got != c.want {
			t.Errorf("%s: %s of %q and %q is %d", c.reason, c.spec, c.a, c.b, got)
		}
		if got := by.Compare(c.b, c.a); got != -c.want {
			t.Errorf("%s: %s of %q and %q is %d", c.reason, c.spec, c.b, c.a, got)
		}
	}
}

var specs = []string{
	`{"locale":"simple"}`, `{"locale":"en"}`, `{"locale":"en","strength":1}`, `{"locale":"en","strength":2}`,
	`{"locale":"en","strength":5}`, `{"locale":"en","strength":1,"caseLevel":true}`,
	`{"locale":"en","caseFirst":"upper"}`, `{"locale":"de@collation=phonebook"}`,
	`{"locale":"en","numericOrdering":true}`, `{"locale":"en","alternate":"shifted","strength":4}`,
	`{"locale":"fr_CA"}`, `{"locale":"hu"}`, `{"locale":"cs","strength":2}`,
	`{"locale":"tr","alternate":"shifted","numericOrdering":true}`,
}

func randomString(r *rand.Rand) string {
	alphabet := []rune("aAáÁbBcCsSzZéE\u0301\u0308ñıIİß019 -.+١九あアæ\x00")
	s := make([]rune, r.IntN(7))
	for i := range s {
		s[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(s)
}

// Compare is the order of the keys, which is total: equal strings have equal keys, in a map and in an index, and at
// strength 3 those are the strings that are equal at no lower strength less.
func TestKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, spec := range specs {
		by := parse(t, spec)
		for range 3000 {
			a, b, c := randomString(r), randomString(r), randomString(r)
			n := by.Compare(a, b)
			if n != cmp.Compare(by.Key(a), by.Key(b)) || n != -by.Compare(b, a) {
				t.Fatalf("%s: %q and %q compare as %d, their keys %x and %x otherwise", spec, a, b,
					n, by.Key(a), by.Key(b))
			}
			if n <= 0 && by.Compare(b, c) <= 0 && by.Compare(a, c) > 0 {
				t.Fatalf("%s: %q, %q and %q aren't in an order", spec, a, b, c)
			}
			if (n == 0) != slices.Equal(by.AppendKey(nil, a), by.AppendKey(nil, b)) {
				t.Fatalf("%s: %q and %q have the wrong keys", spec, a, b)
			}
			if a == b && n != 0 {
				t.Fatalf("%s: %q doesn't equal itself", spec, a)
			}
		}
	}
}

// What a lower strength tells apart, a higher one does too.
func TestStrengths(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, locale := range []string{"en", "sv", "hu", "de@collation=phonebook"} {
		var by []*Collator
		for n := range 5 {
			c, err := Parse(bson.D{{Key: "locale", Value: locale}, {Key: "strength", Value: int32(n + 1)}}, "collation")
			if err != nil {
				t.Fatal(err)
			}
			by = append(by, c)
		}
		for range 3000 {
			a, b := randomString(r), randomString(r)
			for n := range 4 {
				if x := by[n].Compare(a, b); x != 0 && by[n+1].Compare(a, b) != x {
					t.Fatalf("%s: %q and %q: %d at strength %d, then %d", locale, a, b, x, n+1, by[n+1].Compare(a, b))
				}
			}
		}
	}
}

// Strings compare so within documents and arrays too; other values as ever, and names byte by byte.
func TestValues(t *testing.T) {
	by := parse(t, `{"locale":"en","strength":2}`)
	for _, c := range []struct {
		reason string
		a, b   any
		want   int
	}{
		{"an array", bson.A{"a", int32(1)}, bson.A{"A", 1.0}, 0},
		{"a document", bson.D{{Key: "x", Value: "a"}}, bson.D{{Key: "x", Value: "A"}}, 0},
		{"names", bson.D{{Key: "x", Value: "a"}}, bson.D{{Key: "X", Value: "a"}}, 1},
		{
			reason: "nested",
			a:      bson.D{{Key: "x", Value: bson.A{bson.D{{Key: "y", Value: "b"}}}}},
			b:      bson.D{{Key: "x", Value: bson.A{bson.D{{Key: "y", Value: "B"}}}}},
			want:   0,
		},
		{"a symbol", bson.Symbol("a"), "A", 0},
		{"JavaScript", bson.JavaScript("a"), bson.JavaScript("A"), 1},
		{"types", int32(5), "1", -1},
		{"numbers", int32(5), 5.0, 0},
		{"null", nil, "a", -1},
	} {
		if got := by.Compare(c.a, c.b); got != c.want {
			t.Errorf("%s: %d", c.reason, got)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		reason, spec string
		code         int32
	}{
		{"no locale", `{"strength":1}`, 40414},
		{"nothing", `{}`, 40414},
		{"a locale that isn't a string", `{"locale":1}`, mongoerr.TypeMismatch},
		{"an empty locale", `{"locale":""}`, mongoerr.BadValue},
		{"a locale that MongoDB doesn't have", `{"locale":"xx"}`, mongoerr.BadValue},
		{"a country that MongoDB doesn't have", `{"locale":"en_GB"}`, mongoerr.BadValue},
		{"a tag", `{"locale":"en-US"}`, mongoerr.BadValue},
		{"a locale that isn't served", `{"locale":"ja"}`, mongoerr.NotImplemented},
		{"x/text has Norwegian's table but never finds it", `{"locale":"nb"}`, mongoerr.NotImplemented},
		{"simple and more", `{"locale":"simple","strength":1}`, mongoerr.FailedToParse},
		{"an unknown field", `{"locale":"en","x":1}`, 40415},
		{"strength 0", `{"locale":"en","strength":0}`, mongoerr.FailedToParse},
		{"strength 6", `{"locale":"en","strength":6}`, 51024},
		{"strength -1", `{"locale":"en","strength":-1}`, 51024},
		{"strength 'x'", `{"locale":"en","strength":"x"}`, mongoerr.TypeMismatch},
		{"caseLevel 1", `{"locale":"en","caseLevel":1}`, mongoerr.TypeMismatch},
		{"caseFirst 'x'", `{"locale":"en","caseFirst":"x"}`, mongoerr.BadValue},
		{"caseFirst at strength 2", `{"locale":"en","strength":2,"caseFirst":"upper"}`, mongoerr.BadValue},
		{"backwards at strength 1", `{"locale":"en","strength":1,"backwards":true}`, mongoerr.BadValue},
		{"backwards null", `{"locale":"en","backwards":null}`, mongoerr.TypeMismatch},
		{"alternate 'x'", `{"locale":"en","alternate":"x"}`, mongoerr.BadValue},
		{"maxVariable 'x'", `{"locale":"en","maxVariable":"x"}`, mongoerr.BadValue},
		{"another version", `{"locale":"en","version":"58"}`, mongoerr.IncompatibleCollationVersion},
		{"caseLevel of letters of the language", `{"locale":"sv","caseLevel":true}`, mongoerr.NotImplemented},
		{"caseFirst of letters of the language", `{"locale":"es","caseFirst":"upper"}`, mongoerr.NotImplemented},
		{
			reason: "spaces alone shifted",
			spec:   `{"locale":"en","alternate":"shifted","maxVariable":"space"}`,
			code:   mongoerr.NotImplemented,
		},
	} {
		if _, err := Parse(document(t, c.spec), "collation"); mongoerr.CodeOf(err) != c.code {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
	want := document(t,
		`{"locale":"fr_CA","caseLevel":false,"caseFirst":"off","strength":{"$numberInt":"3"},"numericOrdering":false,
		"alternate":"non-ignorable","maxVariable":"punct","normalization":false,"backwards":true,"version":"57.1"}`)
	if got := parse(t, `{"locale":"fr_CA"}`).
		Document(); !slices.EqualFunc(got, want, func(a, b bson.E) bool { return a == b }) {
		t.Errorf("complete document: %v", got)
	}
	if !IsSame(parse(t, `{"locale":"en"}`), parse(t, `{"locale":"en","strength":3,"version":"57.1"}`)) ||
		IsSame(nil, parse(t, `{"locale":"en"}`)) {
		t.Error("the same collation isn't the one with the same complete document")
	}
}

func BenchmarkKey(b *testing.B) {
	by := parse(b, `{"locale":"en","strength":2}`)
	for b.Loop() {
		by.Key("A string of some words")
	}
}
