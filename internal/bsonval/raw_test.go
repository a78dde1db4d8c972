package bsonval_test

import (
	"math"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

func TestCompareIDs(t *testing.T) {
	decimal := func(s string) bson.Decimal128 {
		d, err := bson.ParseDecimal128(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	ascending := []any{
		bson.MinKey{}, bson.Null{}, math.NaN(), math.Inf(-1), int64(math.MinInt64), -1.5, int32(-1), -0.5, int32(0),
		decimal("0.1"), 0.5, int64(1), 1.5, float64(1 << 53), int64(1<<53 + 1), int64(math.MaxInt64), float64(1 << 63),
		decimal("1E40"), math.Inf(1), "", "A", "a", "aa", "b", "é", bson.D{}, bson.D{{Key: "b", Value: 1}},
		bson.D{{Key: "b", Value: 1}, {Key: "a", Value: 1}}, bson.D{{Key: "b", Value: 300}},
		bson.D{{Key: "a", Value: "x"}},
		bson.Binary{Data: []byte("x")}, bson.Binary{Data: []byte("ab")}, bson.ObjectID{1}, bson.ObjectID{2},
		false, true,
		bson.DateTime(-1), bson.DateTime(1), bson.DateTime(256), bson.Timestamp{T: 1, I: 300}, bson.Timestamp{T: 256},
		bson.MaxKey{},
	}
	var ids []bson.RawValue
	for _, v := range ascending {
		ids = append(ids, encode(t, v))
	}
	for i, a := range ids {
		for j, b := range ids {
			if got, want := sign(bsonval.CompareIDs(a, b)), sign(i-j); got != want {
				t.Errorf("%v beside %v: %d, want %d", ascending[i], ascending[j], got, want)
			}
		}
	}
	if !slices.IsSortedFunc(ids, bsonval.CompareIDs) {
		t.Error("not sorted")
	}
	one, long := bson.RawValue{Type: bson.TypeInt32, Value: []byte{1, 0, 0, 0}}, bson.RawValue{
		Type: bson.TypeInt64, Value: []byte{1, 0, 0, 0, 0, 0, 0, 0},
	}
	if bsonval.CompareIDs(one, long) == 0 || bsonval.CompareIDs(one, one) != 0 {
		t.Error("1 and 1 of another type aren't told apart")
	}
}

func encode(t testing.TB, v any) bson.RawValue {
	t.Helper()
	doc, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		t.Fatal(err)
	}
	return bson.Raw(doc).Lookup("v")
}

func sign(n int) int { return min(max(n, -1), 1) }

// The order is the server's.
func TestCompareIDsAsTheServer(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		docs := []any{}
		for _, id := range []any{
			300, int64(255), -5.5, "aa", "b", "B", bson.D{{Key: "a", Value: 1}}, bson.D{{Key: "a", Value: -300}},
			bson.D{{Key: "a", Value: "x"}}, bson.D{{Key: "b", Value: 1}},
			bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 2}},
			bson.ObjectID{9}, bson.ObjectID{1}, true, bson.DateTime(256), bson.DateTime(255),
		} {
			docs = append(docs, bson.D{{Key: "_id", Value: id}})
		}
		if _, err := db.Collection("ids").InsertMany(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
		var last bson.RawValue
		sorted := model.NewCollection[bson.Raw, any]("ids").Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}})
		for doc, err := range sorted.Each(t.Context(), db) {
			if err != nil {
				t.Fatal(err)
			}
			id := doc.Lookup("_id")
			if last.Type != 0 && bsonval.CompareIDs(last, id) >= 0 {
				t.Errorf("the server has %v before %v", last, id)
			}
			last = id
		}
	})
}
