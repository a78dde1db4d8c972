package mongotest_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest"
)

type diffItem struct {
	SKU string `bson:"sku"`
	Qty int32  `bson:"qty"`
}

type diffOrder struct {
	ID    int32          `bson:"_id"`
	Items []diffItem     `bson:"items"`
	Tags  map[string]int `bson:"tags,omitempty"`
	Extra any            `bson:"extra,omitempty"`
}

func raw(t *testing.T, v any) bson.Raw {
	t.Helper()
	b, err := bson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDiff(t *testing.T) {
	order := diffOrder{ID: 1, Items: []diffItem{{"a", 1}, {"b", 2}}}
	stored := bson.D{{Key: "_id", Value: int32(1)}, {Key: "items", Value: bson.A{
		bson.D{{Key: "sku", Value: "a"}, {Key: "qty", Value: int32(1)}},
		bson.D{{Key: "sku", Value: "b"}, {Key: "qty", Value: int32(2)}},
	}}}
	swapped := bson.D{stored[1], stored[0]}
	tests := []struct {
		name, reason string
		want, got    any
		opts         []mongotest.DiffOption
		diff         string
	}{
		{"struct and D", "a struct is what it is stored as", order, stored, nil, ""},
		{"struct and Raw", "encoded forms are compared", &order, raw(t, stored), nil, ""},
		{"M", "a map has no order", bson.M{"items": stored[1].Value, "_id": int32(1)}, swapped, nil, ""},
		{"nested M", "nor has one inside", bson.D{{Key: "a", Value: bson.M{"x": 1, "y": 2}}},
			bson.D{{Key: "a", Value: bson.D{{Key: "y", Value: 2}, {Key: "x", Value: 1}}}}, nil, ""},
		{"map in a struct", "its encoding has no order either", diffOrder{Tags: map[string]int{"x": 1, "y": 2}},
			bson.D{{Key: "_id", Value: int32(0)}, {Key: "items", Value: nil},
				{Key: "tags", Value: bson.D{{Key: "y", Value: 2}, {Key: "x", Value: 1}}}}, nil, ""},
		{"order", "the order of fields is part of a document", order, swapped, nil,
			"(document): order of fields: want _id, items; got items, _id\n"},
		{"order ignored", "unless it is asked not to be", order, swapped,
			[]mongotest.DiffOption{mongotest.IgnoreOrder}, ""},
		{
			name: "order inside an interface", reason: "an any that holds no map keeps the order",
			want: diffOrder{Extra: bson.D{{Key: "x", Value: 1}, {Key: "y", Value: 2}}},

			got:  diffOrder{Extra: bson.D{{Key: "y", Value: 2}, {Key: "x", Value: 1}}},
			opts: nil,
			diff: "extra: order of fields: want x, y; got y, x\n",
		},
		{"type", "an int32 is no int64", bson.M{"n": int32(2)}, bson.M{"n": int64(2)}, nil,
			"n: want int32 2, got int64 Long('2')\n"},
		{"path", "the place is given as MongoDB writes it", order,
			diffOrder{ID: 1, Items: []diffItem{{"a", 1}, {"b", 3}}}, nil,
			"items.1.qty: want int32 2, got int32 3\n"},
		{"missing", "one side has nothing", bson.D{{Key: "a", Value: nil}}, bson.D{}, nil,
			"a: want null, got nothing\n"},
		{"more elements", "an element that only one side has", bson.A{}, bson.A{bson.D{{Key: "sku", Value: "c"}}}, nil,
			"0: want nothing, got document {sku: 'c'}\n"},
		{"list of structs", "slices are compared too", order.Items, stored[1].Value, nil, ""},
		{"kinds", "a document is no array", bson.M{"a": bson.D{}}, bson.M{"a": bson.A{}}, nil,
			"a: want document {}, got array []\n"},
		{"scalars", "a time is stored in milliseconds", time.UnixMilli(5).Add(time.Microsecond), bson.DateTime(5), nil, ""},
		{"nil", "", nil, nil, nil, ""},
		{
			name: "duplicate fields", reason: "BSON can hold a name twice",
			want: bson.D{{Key: "a", Value: 1}, {Key: "a", Value: 2}},
			got:  bson.D{{Key: "a", Value: 1}}, opts: nil,
			diff: "a′: want int32 2, got nothing\n",
		},
		{"not storable", "what can't be encoded is said", bson.M{"f": func() {}}, bson.M{}, nil,
			"want can't be stored: no encoder found for func()\n"},
		{
			name: "bad bytes", reason: "so are bytes that are no BSON", want: bson.D{}, got: bson.Raw{1, 2}, opts: nil,
			diff: "got can't be stored: too few bytes to read next component\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := mongotest.Diff(tt.want, tt.got, tt.opts...); got != tt.diff {
				t.Errorf("%s:\n got %q\nwant %q", tt.reason, got, tt.diff)
			}
		})
	}
}
