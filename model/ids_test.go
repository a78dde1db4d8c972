package model_test

import (
	"math"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestCompareIDs(t *testing.T) {
	ascending := []any{
		math.NaN(), math.Inf(-1), int64(math.MinInt64), -1.5, int32(-1), -0.5, int32(0), 0.5, int64(1), 1.5,
		float64(1 << 53), int64(1<<53 + 1), int64(math.MaxInt64), float64(1 << 63), math.Inf(1),
		"", "A", "a", "é", bson.D{{Key: "a", Value: 1}}, bson.Binary{Data: []byte("x")}, bson.Binary{Data: []byte("ab")},
		bson.ObjectID{1}, bson.ObjectID{2}, bson.DateTime(-1), bson.DateTime(1), bson.DateTime(256), bson.Timestamp{T: 1, I: 300}, bson.Timestamp{T: 256},
	}
	var ids []bson.RawValue
	for _, v := range ascending {
		typ, data, err := bson.MarshalValue(v)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, bson.RawValue{Type: typ, Value: data})
	}
	for i, a := range ids {
		for j, b := range ids {
			if got, want := sign(model.CompareIDs(a, b)), sign(i-j); got != want {
				t.Errorf("%v beside %v: %d, want %d", ascending[i], ascending[j], got, want)
			}
		}
	}
	if !slices.IsSortedFunc(ids, model.CompareIDs) {
		t.Error("not sorted")
	}
	one, long := bson.RawValue{Type: bson.TypeInt32, Value: []byte{1, 0, 0, 0}}, bson.RawValue{Type: bson.TypeInt64, Value: []byte{1, 0, 0, 0, 0, 0, 0, 0}}
	if model.CompareIDs(one, long) == 0 || model.CompareIDs(one, one) != 0 {
		t.Error("1 and 1 of another type aren't told apart")
	}
}

func sign(n int) int { return min(max(n, -1), 1) }
