package bsonval_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

func idkDecimal(t testing.TB, s string) bson.Decimal128 {
	t.Helper()
	d, err := bson.ParseDecimal128(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Two values have one key exactly when the server holds them to be equal: all pairs of many kinds, alone and within
// documents.
func TestKey(t *testing.T) {
	var all []any
	for _, s := range []string{
		"0", "-0", "1", "1.00", "1E+2", "0.1", "0.5", "1E+19", "9223372036854775807", "9223372036854775808", "1E+6111",
		"1E-6176", "NaN", "Infinity", "-Infinity", "9007199254740993", "0.1000000000000000055511151231257827",
		"123456789012345678901234567890.1", "2E-5",
	} {
		all = append(all, idkDecimal(t, s))
	}
	all = append(all, int32(0), int32(1), int64(1), 1.0, int32(100), int64(1<<53+1), float64(1<<53),
		int64(math.MaxInt64), float64(1<<63), 1e19, 0.1, 0.5, 2e-5,
		math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), int64(math.MinInt64), float64(-1<<63),
		"", "1", "a",
		bson.Symbol("a"), bson.JavaScript("a"),
		true, false, nil, bson.Undefined{}, bson.MinKey{}, bson.MaxKey{}, bson.ObjectID{1}, bson.DateTime(1),
		bson.Timestamp{I: 1}, bson.Timestamp{T: 1},
		bson.Binary{Data: []byte("a")}, bson.Binary{Subtype: 4, Data: []byte("a")}, bson.Regex{Pattern: "a"},
		bson.Regex{Pattern: "a", Options: "i"})
	r := rand.New(rand.NewPCG(1, 2))
	for range 250 { // documents and arrays of few of them, and of each other
		some := []any{all[r.IntN(len(all))], int32(r.IntN(2)), float64(r.IntN(2)), "a", all[len(all)-1-r.IntN(8)]}
		r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		switch r.IntN(3) {
		case 0:
			all = append(all, bson.A(some[:r.IntN(3)]))
		default:
			doc := bson.D{}
			for _, v := range some[:r.IntN(3)] {
				doc = append(doc, bson.E{Key: []string{"a", "b"}[r.IntN(2)], Value: v})
			}
			all = append(all, doc)
		}
	}
	raw, decoded, keys := make([]bson.RawValue, len(all)), make([]any, len(all)), make([]string, len(all))
	for i, v := range all {
		raw[i] = encode(t, v)
		doc, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
		if err != nil {
			t.Fatal(err)
		}
		back, err := bsonval.Decode(doc)
		if err != nil {
			t.Fatal(err)
		}
		decoded[i], keys[i] = back[0].Value, bsonval.Key(raw[i])
	}
	equal := 0
	for i := range all {
		for j := range i {
			same := bsonval.Compare(decoded[i], decoded[j]) == 0
			if raw[i].Type != raw[j].Type && (raw[i].Type == bson.TypeUndefined || raw[j].Type == bson.TypeUndefined) {
				same = false
			}
			if same {
				equal++
			}
			if got := keys[i] == keys[j]; got != same {
				t.Errorf("%s and %s: the same key %t, equal %t", raw[i], raw[j], got, same)
			}
		}
	}
	if equal < 100 {
		t.Errorf("%d pairs are equal", equal)
	}
}
