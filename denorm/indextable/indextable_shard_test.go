package indextable_test

import (
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A search by value needn't ask all shards if the entries are sharded by _id, whether values are unique or not.
func TestIndexTableShards(t *testing.T) {
	for name, c := range map[string]struct {
		query model.Query
		want  keys.Scope
	}{
		"any number of documents": {byCity.Lookup("Rome").Query, keys.SomeShards},
		"at most one document":    {byEmail.Lookup("a@x").Query, keys.OneShard},
	} {
		entries := model.NewCollection[bson.D, any](c.query.Collection)
		byID := keys.NewShard(entries, bson.D{{Key: "_id", Value: 1}}, keys.ShardSpec{})
		if got := keys.Targets(model.New("index", byID), c.query)[0]; got.Scope != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
