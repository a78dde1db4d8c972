package bsonval_test

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// The values are those that MongoDB's own test (src/mongo/db/hasher_test.cpp) has found by experiment.
func TestHash64(t *testing.T) {
	oid, _ := bson.ObjectIDFromHex("010203040506070809101112")
	decimal := func(s string) bson.Decimal128 {
		d, err := bson.ParseDecimal128(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	bytes6 := []byte{0, 1, 2, 3, 4, 6}
	uuid := bson.Binary{Subtype: 4, Data: []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}
	scope := bson.D{{Key: "c", Value: true}}
	for _, test := range []struct {
		v    any
		want int64
	}{
		{int32(42), -944302157085130861}, {42.123, -944302157085130861}, {int64(42), -944302157085130861},
		{decimal("42.9"), -944302157085130861}, {int32(0), 4854801880128277513}, {0.456, 4854801880128277513},
		{math.NaN(), 4854801880128277513}, {decimal("NaN"), 4854801880128277513}, {int32(1), 5902408780260971510},
		{1.987, 5902408780260971510}, {decimal("1"), 5902408780260971510}, {int32(-1), 1140205862565771219},
		{-1.789, 1140205862565771219}, {decimal("-1.789"), 1140205862565771219},
		{int32(math.MinInt32), 6165898260261354870},
		{float64(math.MinInt32), 6165898260261354870}, {int64(math.MaxInt32), 1143184177162245883},
		{math.MaxFloat64, 921523596458303250}, {int64(math.MaxInt64), 921523596458303250},
		{decimal("Infinity"), 921523596458303250}, {decimal("1E+30"), 921523596458303250},
		{-math.MaxFloat64, 4532067210535695462}, {int64(math.MinInt64), 4532067210535695462},
		{decimal("-Infinity"), 4532067210535695462}, {decimal("-1E+30"), 4532067210535695462},
		{bson.MinKey{}, 7961148599568647290}, {bson.MaxKey{}, 5504842513779440750},
		{bson.Undefined{}, 40158834000849533},
		{"abc", 8478485326885698097}, {bson.Symbol("abc"), 8478485326885698097}, {"", 2049396243249673340},
		{bson.D{{Key: "a", Value: "abc"}, {Key: "b", Value: int64(123)}}, 4771603801758380216},
		{bson.D{}, 7980500913326740417},
		{bson.A{"bar", "baz", "qux"}, -2938911267422831539}, {bson.A{}, 8849948234993459283},
		{bson.Binary{Data: bytes6}, 7252465090394235301},
		{bson.Binary{Subtype: 0x80, Data: bytes6}, 5736670452907618262},
		{uuid, 6084661258071355978},
		{oid, -5588663249627035708}, {bson.NilObjectID, -4293118519463489418}, {true, 6405873908747105701},
		{false, 6289544573401934092}, {bson.DateTime(0x5566778811223344), 4476222765095560467},
		{bson.DateTime(0), -1178696894582842035}, {bson.Regex{Pattern: "mongodb"}, -7275792090268217043},
		{bson.Regex{Pattern: ".*", Options: "i"}, 7095855029187981886},
		{bson.DBPointer{DB: "c", Pointer: oid}, 940175826736461384},
		{bson.JavaScript("func f() { return 1; }"), 6861638109178014270},
		{bson.CodeWithScope{Code: "func f() { return 1; }", Scope: scope}, 501342939894575968},
	} {
		typ, data, err := bson.MarshalValue(test.v)
		if err != nil {
			t.Fatal(err)
		}
		if got := bsonval.Hash64(bson.RawValue{Type: typ, Value: data}); got != test.want {
			t.Errorf("%v: %d, want %d", test.v, got, test.want)
		}
	}
	null, missing := bsonval.Hash64(bson.RawValue{Type: bson.TypeNull}), bsonval.Hash64(bson.RawValue{})
	if missing != null {
		t.Errorf("a missing value has the hash %d, and null %d", missing, null)
	}
}
