package keys_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A store writes documents whose shard key isn't the _id, also on servers where findAndModify needs the whole key: it reads the key
// before, unless the filter tells it.
func TestShardStores(t *testing.T) {
	tenancy.Differs(t, "the cluster's documents have no tenant")
	type area struct {
		ID      int32  `bson:"_id"`
		Region  string `bson:"region"`
		Name    string `bson:"name"`
		Version int64  `bson:"version"`
	}
	areas := model.NewCollection[area, int32]("areas")
	shard := keys.NewShard(areas, shardD("region", 1), keys.ShardSpec{})
	plain := model.New("plain", model.Entity(areas), shard)
	versioned := model.New("versioned", embed.NewVersioned(areas, embed.VersionedSpec{}), shard)
	for name, m := range map[string]*model.Model{"plain": plain, "versioned": versioned} {
		for _, transactions := range []bool{false, true} {
			t.Run(name+map[bool]string{true: " in transactions"}[transactions], func(t *testing.T) {
				client, stop := modeltest.Start(modeltest.WithShards(modeltest.NewShards(3)), modeltest.WithVersion("7.0"))
				defer stop()
				ctx := t.Context()
				if err := client.Database("admin").RunCommand(ctx, shard.Command("shards")).Err(); err != nil {
					t.Fatal(err)
				}
				db, store := m.On(client.Database("shards")), model.NewStore(m, areas)
				if transactions {
					var err error
					if db, err = model.WithTransactions(ctx, db); err != nil {
						t.Fatal(err)
					}
				}
				named := bson.D{{Key: "name", Value: "b"}}
				for _, c := range []struct {
					change model.Change[model.Stored[area]]
					want   area
				}{
					{store.Insert(area{ID: 1, Region: "eu", Name: "a"}), area{1, "eu", "a", 0}},
					{store.Ensure(area{ID: 1, Region: "eu", Name: "z"}), area{1, "eu", "a", 0}},
					{store.Ensure(area{ID: 2, Region: "us", Name: "z"}), area{2, "us", "z", 0}},
					{store.Set(1, named), area{1, "eu", "b", 0}},
					{store.SetOne(bson.D{{Key: "_id", Value: int32(1)}, {Key: "region", Value: "eu"}}, bson.D{{Key: "name", Value: "c"}}), area{1, "eu", "c", 0}},
					{store.Edit(1, func(a *area) error { a.Name += "d"; return nil }), area{1, "eu", "cd", 0}},
					{store.Where(bson.D{{Key: "name", Value: "cd"}}, model.ErrGuard).Delete(1), area{1, "eu", "cd", 0}},
					{store.Delete(2), area{2, "us", "z", 0}},
				} {
					s, _, err := c.change.Run(ctx, db)
					if s.Doc.Version = 0; err != nil || s.Doc != c.want {
						t.Errorf("%s: %+v, %v, want %+v", c.change.Name, s.Doc, err, c.want)
					}
				}
				if _, _, err := store.Delete(2).Run(ctx, db); !errors.Is(err, model.ErrNotFound) {
					t.Errorf("a missing document: %v", err)
				}
			})
		}
	}
}
