// Package collation compares strings by the rules of a language, as MongoDB's collations do
// (https://www.mongodb.com/docs/manual/reference/collation/).
//
// A collation as a command has it, and as listCollections shows it, complete:
//
//	{locale: "de", strength: 2}
//	{locale: "de", caseLevel: false, caseFirst: "off", strength: 2, numericOrdering: false,
//	 alternate: "non-ignorable", maxVariable: "punct", normalization: false, backwards: false, version: "57.1"}
//
// A [Collator] turns a string into a key, whose bytes are in the order of the strings. Everything else follows from
// that: [Collator.Index] puts the keys in the place of a value's strings, and the results compare as package bsonval
// compares. An index holds such values.
//
// The steps from a document to a key:
//
//  1. [Parse] reads the document, fills in the defaults, and refuses what MongoDB refuses, with its codes (spec.go,
//     check.go).
//  2. It refuses by name what MongoDB has and this package doesn't. MongoDB uses ICU 57. This package uses the
//     tables of golang.org/x/text/collate, and builds the keys itself, since x/text knows neither ICU's case level
//     nor its caseFirst, and puts "0a" after "1a" by numbers. What these tables can't do as ICU does it is refused
//     (locale.go, checkServed).
//  3. [Collator.Key] asks x/text for the weights of a string, level by level, and joins the levels that the
//     strength wants (key.go): base letters, accents, cases, punctuation, code points.
//
// Invariants:
//
//   - Keys compare byte by byte as their strings do. Two keys are equal exactly if their strings are equal under
//     the collation.
//   - A key isn't valid UTF-8. It must never be sent to a client; [Hex] makes it printable, for explain.
//   - The nil Collator is the simple collation, for which a string is its own key.
//   - Equal documents give the same Collator, and [IsSame] tells whether an index can serve a query.
//   - A Collator is immutable and safe for concurrent use.
//
// The engine's commands parse collations. Indexes, queries, updates, pipelines and expressions compare by them.
package collation

import (
	"encoding/hex"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/order"
)

// Collator compares values under a collation. The nil Collator is the simple one, and compares
// strings byte by byte. A Collator is immutable and safe for concurrent use.
type Collator struct {
	spec    spec
	workers sync.Pool // of *worker
}

// collators holds one Collator for each spec, since its workers are costly to make.
var collators sync.Map // spec to *Collator

// findCollator returns the one Collator of a spec.
func findCollator(s spec) *Collator {
	c, ok := collators.Load(s)
	if !ok {
		c, _ = collators.LoadOrStore(s, &Collator{spec: s})
	}
	return c.(*Collator)
}

// IsSame reports whether two collators are the same collation. An index serves a query's strings
// only then.
func IsSame(a, b *Collator) bool { return a == b || a != nil && b != nil && a.spec == b.spec }

// Document returns the complete collation document, as listCollections and listIndexes show it.
func (c *Collator) Document() bson.D {
	if c == nil {
		return bson.D{{Key: "locale", Value: Simple}}
	}
	return c.spec.document()
}

// Compare is [bsonval.Compare] under the collation.
func (c *Collator) Compare(a, b any) int {
	if c == nil {
		return bsonval.Compare(a, b)
	}
	return bsonval.Compare(c.Index(a), c.Index(b))
}

// AppendKey is [bsonval.AppendKey] under the collation.
func (c *Collator) AppendKey(dst []byte, v any) []byte { return bsonval.AppendKey(dst, c.Index(v)) }

// Index returns v with its strings replaced by their keys, at any depth: the result of two values
// compares as the values do under the collation. It returns v itself when v has no string.
func (c *Collator) Index(v any) any {
	if c == nil {
		return v
	}
	switch v := v.(type) {
	case string:
		return c.Key(v)
	case bson.Symbol:
		return c.Key(string(v))
	case bson.D:
		out := slices.Clone(v)
		for i := range out {
			out[i].Value = c.Index(out[i].Value)
		}
		return out
	case bson.A:
		out := slices.Clone(v)
		for i := range out {
			out[i] = c.Index(out[i])
		}
		return out
	}
	return v
}

// Sort returns a sort under the collation.
func (c *Collator) Sort(s *order.Sort) *order.Sort {
	if c == nil || s == nil {
		return s
	}
	return s.As(c.Index)
}

// Applies reports whether a collation matters for comparisons with a value of v's type.
func Applies(v any) bool {
	switch v.(type) {
	case string, bson.Symbol, bson.D, bson.A:
		return true
	}
	return false
}

// Hex returns what [Collator.Index] returned with each key as hexadecimal digits, since a key isn't
// valid UTF-8. before and after surround the digits.
func Hex(v any, before, after string) any {
	switch v := v.(type) {
	case string:
		return before + hex.EncodeToString([]byte(v)) + after
	case bson.D:
		out := slices.Clone(v)
		for i := range out {
			out[i].Value = Hex(out[i].Value, before, after)
		}
		return out
	case bson.A:
		out := slices.Clone(v)
		for i := range out {
			out[i] = Hex(out[i], before, after)
		}
		return out
	}
	return v
}
