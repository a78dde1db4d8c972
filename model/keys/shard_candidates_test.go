package keys_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// What a model's indexes say about keys of a collection: those that break nothing and target most come first.
func TestShardCandidates(t *testing.T) {
	index := func(unique bool, fields ...string) model.Index {
		var key bson.D
		for _, f := range fields {
			key = append(key, bson.E{Key: f, Value: 1})
		}
		x := model.NewIndex("measurements", key)
		x.Unique = unique
		return x
	}
	for _, test := range []struct {
		reason  string
		indexes []model.Index
		want    []string
	}{
		{"no index", nil, []string{"{_id: 'hashed'}: 0 of 0 indexes targeted"}},
		{"one of two fields", []model.Index{index(false, "device", "at")}, []string{
			"{device: 1, at: 1}: 1 of 1 indexes targeted", "{device: 1}: 1 of 1 indexes targeted",
			"{_id: 'hashed'}: 0 of 1 indexes targeted",
		}},
		{"a unique one", []model.Index{index(true, "device"), index(false, "device", "at")}, []string{
			"{device: 1}: 2 of 2 indexes targeted", "{device: 1, at: 1}: 2 of 2 indexes targeted, 1 broken",
			"{_id: 'hashed'}: 0 of 2 indexes targeted, 1 broken",
		}},
		{"two unique ones", []model.Index{index(true, "device"), index(true, "at")}, []string{
			"{device: 1}: 1 of 2 indexes targeted, 1 broken", "{at: 1}: 1 of 2 indexes targeted, 1 broken",
			"{_id: 'hashed'}: 0 of 2 indexes targeted, 2 broken",
		}},
		{
			reason:  "one that orders nothing",
			indexes: []model.Index{model.NewIndex("measurements", bson.D{{Key: "device", Value: "2dsphere"}})},
			want: []string{
				"{_id: 'hashed'}: 0 of 1 indexes targeted",
			},
		},
	} {
		var got []string
		for _, c := range keys.ShardCandidates(model.New("m", model.Entity(measurements, test.indexes...)), "measurements") {
			got = append(got, fmt.Sprint(c))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q\nwant %q", test.reason, got, test.want)
		}
	}
}
