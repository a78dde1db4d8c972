package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"math"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/direction"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// pageToken is the content of a token.
type pageToken struct {
	Query     []byte          `bson:"q"`
	Backwards bool            `bson:"b,omitempty"`
	Inclusive bool            `bson:"i,omitempty"`
	From      []bson.RawValue `bson:"v"`
}

// queryDigest returns a digest that identifies the query.
func queryDigest(q *Query) ([]byte, error) {
	own := *q
	own.Limit, own.Options = 0, ReadOptions{Collation: q.Options.Collation, Let: q.Options.Let}
	raw, err := q.codec.Document(own.Command())
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw)
	return sum[:12], nil
}

// token returns the token of the page that begins after a document with these sort
// fields. If inclusive, the page begins with the document.
func (p paging) token(from []bson.RawValue, backwards, inclusive bool) (string, error) {
	raw, err := bson.Marshal(pageToken{p.query, backwards, inclusive, from})
	if err != nil {
		panic(err) // a value that a document contained can be encoded again
	}
	if base64.RawURLEncoding.EncodedLen(len(raw)) > maxToken {
		return "", p.refuseLength(from)
	}
	return base64.RawURLEncoding.EncodeToString(raw), nil
}

// refuseLength returns the error for a document whose sort values are too long for a
// token. It names the longest value's field.
func (p paging) refuseLength(from []bson.RawValue) error {
	longest := 0
	var id any
	for i, v := range from {
		if len(v.Value) > len(from[longest].Value) {
			longest = i
		}
		if p.by[i].Key == "_id" {
			id = v
		}
	}
	return &ValueError{Collection: p.collection, Field: p.by[longest].Key, Value: id,
		Reason: "is too long for the token of a page, in the document with this _id"}
}

// read decodes a token and checks it. Anybody can have made the token.
func (p *paging) read(token string) error {
	refused := func(reason string) error {
		return &ValueError{Collection: p.collection, Field: "token", Value: clip(token, 80), Reason: reason}
	}
	notToken := func() error {
		return refused("isn't the token of a page: pass the token of the previous page, or \"\" for the first page")
	}
	if len(token) > maxToken {
		return notToken()
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	var t pageToken
	if err != nil || bson.Raw(raw).Validate() != nil || core.CheckDepth(bson.Raw(raw)) != nil ||
		bson.Unmarshal(raw, &t) != nil {
		return notToken()
	}
	if !bytes.Equal(t.Query, p.query) {
		return refused("is the token of another query: start again with an empty token")
	}
	if len(t.From) != len(p.by) {
		return notToken()
	}
	for i, v := range t.From {
		if p.refuse(p.by[i].Key, v) != "" {
			return notToken()
		}
	}
	p.backwards, p.inclusive, p.from = t.Backwards, t.Inclusive, t.From
	return nil
}

// after returns the filters for the documents after the page's start, or one nil filter
// for the first page. The server sorts values of one type together. The first filter
// finds documents with the same type in the first sort field, within index bounds. The
// second filter finds all documents after them.
func (p paging) after() []bson.D {
	if p.from == nil {
		return []bson.D{nil}
	}
	var branches bson.A
	var out []bson.D
	equal := bson.D{}
	for i, s := range p.sort() {
		within, beyond := sortsAfter(p.from[i], direction.Parse(s.Value) > 0)
		if i == 0 {
			out = append(out, bson.D{{Key: s.Key, Value: bound(p.from[0], within)}}, anyOf(s.Key, beyond))
			beyond = nil
		}
		if within != nil {
			beyond = append(beyond, within)
		}
		for _, v := range beyond {
			branches = append(branches, bsondoc.JoinFilters(equal, bson.D{{Key: s.Key, Value: v}}))
		}
		equal = append(equal[:len(equal):len(equal)], bson.E{Key: s.Key, Value: mql.Eq(p.from[i])})
	}
	if p.inclusive {
		branches = append(branches, equal)
	}
	out[0] = append(out[0], bson.E{Key: "$or", Value: branches})
	if len(branches) == 0 {
		out = out[1:]
	}
	return slices.DeleteFunc(out, func(d bson.D) bool { return d == nil })
}

// bound returns the condition that a field equals v, or sorts after v with the same type.
func bound(v bson.RawValue, within any) any {
	cond, ok := within.(bson.D)
	if !ok {
		return mql.Eq(v)
	}
	return bson.D{{Key: map[string]string{"$gt": "$gte", "$lt": "$lte"}[cond[0].Key], Value: v}}
}

// anyOf returns a filter that matches if one of the conditions on a field is true. It
// returns nil if there are no conditions.
func anyOf(key string, conditions []any) bson.D {
	var branches bson.A
	for _, v := range conditions {
		branches = append(branches, bson.D{{Key: key, Value: v}})
	}
	switch len(branches) {
	case 0:
		return nil
	case 1:
		return branches[0].(bson.D)
	}
	return bson.D{{Key: "$or", Value: branches}}
}

// typeRanks lists the types in the server's sort order. Types of one rank are compared by
// value. A missing field sorts as null.
var typeRanks = [][]bson.Type{
	{bson.TypeMinKey}, {bson.TypeNull}, {bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128},
	{bson.TypeString, bson.TypeSymbol}, {bson.TypeEmbeddedDocument}, {bson.TypeArray}, {bson.TypeBinary},
	{bson.TypeObjectID}, {bson.TypeBoolean}, {bson.TypeDateTime}, {bson.TypeTimestamp}, {bson.TypeRegex},
	{bson.TypeDBPointer}, {bson.TypeJavaScript}, {bson.TypeCodeWithScope},
	{bson.TypeMaxKey},
}

func typeRank(t bson.Type) int {
	for i, types := range typeRanks {
		for _, x := range types {
			if x == t {
				return i
			}
		}
	}
	return -1
}

// sortsAfter returns conditions for the values after v. within matches values of v's
// type, or is nil. Each value of another type after v matches a condition of beyond. A
// comparison operator matches only values of v's rank. NaN is less than all other numbers
// and matches no comparison, so it counts as a separate type.
func sortsAfter(v bson.RawValue, ascending bool) (within any, beyond []any) {
	rank, number := typeRank(v.Type), typeRank(bson.TypeDouble)
	nan := rank == number && isNaN(v)
	switch {
	// the type has only one value
	case v.Type == bson.TypeNull || v.Type == bson.TypeMinKey || v.Type == bson.TypeMaxKey || nan:
	case ascending:
		within = bson.D{{Key: "$gt", Value: v}}
	default:
		within = bson.D{{Key: "$lt", Value: v}}
	}
	switch {
	case nan && ascending:
		beyond = append(beyond, bson.D{{Key: "$gte", Value: math.Inf(-1)}})
	case rank == number && !nan && !ascending:
		beyond = append(beyond, math.NaN())
	}
	var types bson.A
	for i, of := range typeRanks {
		if i == rank || ascending != (i > rank) {
			continue
		}
		if of[0] == bson.TypeNull { // $type doesn't match missing fields
			beyond = append(beyond, nil)
			continue
		}
		for _, t := range of {
			types = append(types, int32(int8(t)))
		}
	}
	if len(types) > 0 {
		beyond = append(beyond, bson.D{{Key: "$type", Value: types}})
	}
	return within, beyond
}

func isNaN(v bson.RawValue) bool {
	if f, ok := v.DoubleOK(); ok {
		return math.IsNaN(f)
	}
	d, ok := v.Decimal128OK()
	return ok && d.IsNaN()
}
