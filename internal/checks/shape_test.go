package checks

import (
	"bytes"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// An encodedPart is a part in BSON.
type encodedPart struct {
	name  string
	place place
	value bson.RawValue
	err   error
}

func encodeParts(parts []part) []encodedPart {
	out := make([]encodedPart, len(parts))
	for i, p := range parts {
		raw, err := bson.Marshal(bson.D{{Key: "v", Value: p.value}})
		out[i] = encodedPart{p.name, p.place, bson.Raw(raw).Lookup("v"), err}
	}
	return out
}

// compareParts says how what a hostile string made differs from what a harmless one made, other than in values.
func compareParts(calm, wild []encodedPart) []string {
	if len(calm) != len(wild) {
		return []string{fmt.Sprintf("has %d parts instead of %d", len(wild), len(calm))}
	}
	var s shapes
	for i, a := range calm {
		b := wild[i]
		if a.err != nil || b.err != nil {
			s.problem(a.name, "can't be encoded: %v, %v", a.err, b.err)
			continue
		}
		s.compare(a.name, a.place, a.value, b.value)
	}
	return s.problems
}

// shapes walks two documents in step. What holds the harmless string in one may differ in the other.
type shapes struct{ problems []string }

func (s *shapes) problem(path, format string, args ...any) {
	s.problems = append(s.problems, path+" "+fmt.Sprintf(format, args...))
}

func (s *shapes) compare(path string, in place, calm, wild bson.RawValue) {
	if calm.Type != wild.Type {
		s.problem(path, "is a %s instead of a %s", wild.Type, calm.Type)
		return
	}
	switch calm.Type {
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		s.compareDocuments(path, in, calm, wild)
	case bson.TypeString:
		s.compareStrings(path, in, calm.StringValue(), wild.StringValue())
	case bson.TypeRegex:
		a, aFlags := calm.Regex()
		b, bFlags := wild.Regex()
		if aFlags != bFlags {
			s.problem(path, "has flags %q instead of %q", bFlags, aFlags)
		}
		s.comparePatterns(path, a, b)
	case bson.TypeJavaScript, bson.TypeCodeWithScope:
		s.problem(path, "is code")
	case bson.TypeBoolean, bson.TypeNull:
		if !bytes.Equal(calm.Value, wild.Value) {
			s.problem(path, "is %s instead of %s", wild, calm)
		}
	}
}

func (s *shapes) compareDocuments(path string, in place, calm, wild bson.RawValue) {
	a, errA := bson.Raw(calm.Value).Elements()
	b, errB := bson.Raw(wild.Value).Elements()
	if errA != nil || errB != nil || len(a) != len(b) {
		s.problem(path, "has %d elements instead of %d (%v, %v)", len(b), len(a), errA, errB)
		return
	}
	for i := range a {
		key := a[i].Key()
		at := path + "." + key
		switch {
		case key != b[i].Key():
			s.problem(path, "has the key %s instead of %q", clip(b[i].Key()), key)
		case strings.Contains(key, harmless):
			s.problem(path, "has a key made of the string: %q", key)
		default:
			s.compare(at, inside(in, key, calm.Type == bson.TypeArray), a[i].Value(), b[i].Value())
		}
	}
}

// inside is how the server reads the value of a key.
func inside(in place, key string, element bool) place {
	switch {
	case element:
		return in
	case in == filter && key == "$expr":
		return expression
	case in == filter && key == "$regex":
		return pattern
	case in == filter && key == "$jsonSchema":
		return names
	case in == expression && key == "$literal":
		return data
	case in == expression && key == "regex":
		return pattern
	case in != stages && in != expression:
		return in
	case key == "$match", key == "query", key == "restrictSearchWithMatch":
		return filter
	case slices.Contains(stagesOfStages, key):
		return stages
	}
	return expression
}

// stagesOfStages are the keys below which a stage holds names, other stages, or both.
var stagesOfStages = []string{"pipeline", "$lookup", "$graphLookup", "$unionWith", "$facet", "$merge", "$geoNear"}

func (s *shapes) compareStrings(path string, in place, calm, wild string) {
	if !strings.Contains(calm, harmless) {
		if calm != wild {
			s.problem(path, "is %s instead of %q", clip(wild), calm)
		}
		return
	}
	switch {
	case in == names:
		s.problem(path, "is a name made of the string: %q", calm)
	case in == pattern:
		s.comparePatterns(path, calm, wild)
	case in == expression && strings.HasPrefix(calm, "$"), in == stages && strings.HasPrefix(calm, "$"):
		s.problem(path, "is an expression made of the string: %q", calm)
	case in == expression && strings.HasPrefix(wild, "$"), in == stages && strings.HasPrefix(wild, "$"):
		s.problem(path, "is an expression: %s", clip(wild))
	}
}

// comparePatterns holds two regular expressions to the same structure: the string adds literals only.
func (s *shapes) comparePatterns(path, calm, wild string) {
	a, errA := structure(calm)
	b, errB := structure(wild)
	if errA != nil || errB != nil || a != b {
		s.problem(path, "is the pattern %s instead of %q: %s instead of %s (%v, %v)", clip(wild),
			calm, clip(b), a, errA, errB)
	}
}

// structure is a pattern with every run of literals written as x.
func structure(p string) (string, error) {
	re, err := syntax.Parse(p, syntax.Perl)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	writeStructure(&b, re)
	return b.String(), nil
}

func writeStructure(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral, syntax.OpEmptyMatch:
		b.WriteByte('x')
		return
	case syntax.OpConcat:
		literal := false
		for _, sub := range re.Sub {
			if sub.Op != syntax.OpLiteral || !literal {
				writeStructure(b, sub)
			}
			literal = sub.Op == syntax.OpLiteral
		}
		return
	}
	b.WriteString(re.Op.String() + "(")
	for _, sub := range re.Sub {
		writeStructure(b, sub)
	}
	b.WriteByte(')')
}

// The comparison sees what it must.
func TestCompareParts(t *testing.T) {
	tests := []struct {
		reason string
		in     place
		make   func(s string) any
		wild   string
		ok     bool
	}{
		{"a value of a filter", filter, func(s string) any { return bson.D{{Key: "a", Value: s}} }, "$where", true},
		{"a key", filter, func(s string) any { return bson.D{{Key: s, Value: 1}} }, "b", false},
		{"a key after a fixed part", data, func(s string) any { return bson.D{{Key: "a." + s, Value: 1}} }, "b", false},
		{
			reason: "a value of $match", in: stages,
			make: func(s string) any { return bson.A{bson.D{{Key: "$match", Value: bson.D{{Key: "a", Value: s}}}}} },
			wild: "$name", ok: true,
		},
		{
			reason: "a bare string of an expression", in: stages,
			make: func(s string) any { return bson.A{bson.D{{Key: "$set", Value: bson.D{{Key: "a", Value: s}}}}} },
			wild: "$name", ok: false,
		},
		{"a quoted string of an expression", stages, func(s string) any {
			return bson.A{bson.D{{Key: "$set", Value: bson.D{{Key: "a", Value: bson.D{{Key: "$literal", Value: s}}}}}}}
		}, "$name", true},
		{"$expr in a filter", filter, func(s string) any {
			return bson.D{{Key: "$expr", Value: bson.D{{Key: "$eq", Value: bson.A{"$a", s}}}}}
		}, "$b", false},
		{"a condition instead of a value", filter, func(s string) any {
			if s == harmless {
				return bson.D{{Key: "a", Value: s}}
			}
			return bson.D{{Key: "a", Value: bson.D{{Key: "$gt", Value: ""}}}}
		}, "{}", false},
		{
			reason: "an unescaped pattern", in: filter,
			make: func(s string) any { return bson.D{{Key: "a", Value: bson.Regex{Pattern: "^" + s}}} },
			wild: ".*", ok: false,
		},
		{"an escaped pattern", filter, func(s string) any {
			return bson.D{{Key: "a", Value: bson.Regex{Pattern: "^" + strings.NewReplacer(".", `\.`, "*", `\*`).Replace(s)}}}
		}, ".*", true},
		{
			reason: "$regex with a string", in: filter,
			make: func(s string) any { return bson.D{{Key: "a", Value: bson.D{{Key: "$regex", Value: s}}}} },
			wild: "a|b", ok: false,
		},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := compareParts(encodeParts([]part{{"p", test.in, test.make(harmless)}}),
				encodeParts([]part{{"p", test.in, test.make(test.wild)}}))
			if (len(got) == 0) != test.ok {
				t.Errorf("problems: %q", got)
			}
		})
	}
}
