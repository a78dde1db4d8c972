package keys_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A store writes documents whose shard key isn't the _id, also on servers where findAndModify needs the whole key: it
// reads the key before, unless the filter tells it.
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
				client, stop := mongotest.Start(mongotest.NewShards(3), mongotest.Settings{Version: "7.0"})
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
					change model.ChangeOf[model.Stored[area]]
					want   area
				}{
					{store.Insert(area{ID: 1, Region: "eu", Name: "a"}), area{1, "eu", "a", 0}},
					{store.Ensure(area{ID: 1, Region: "eu", Name: "z"}), area{1, "eu", "a", 0}},
					{store.Ensure(area{ID: 2, Region: "us", Name: "z"}), area{2, "us", "z", 0}},
					{store.Set(1, named), area{1, "eu", "b", 0}},
					{
						change: store.SetOne(bson.D{{Key: "_id", Value: int32(1)}, {Key: "region", Value: "eu"}},
							bson.D{{Key: "name", Value: "c"}}),
						want: area{1, "eu", "c", 0},
					},
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

// A transaction of a server without bulkWrite holds a parent that is sharded by another field than its _id.
func TestShardStoreHolds(t *testing.T) {
	tenancy.Differs(t, "the cluster's documents have no tenant")
	type shop struct {
		ID     int32  `bson:"_id"`
		Area   int32  `bson:"area"`
		Region string `bson:"region"`
	}
	type area struct {
		ID     int32  `bson:"_id"`
		Region string `bson:"region"`
		Shops  int64  `bson:"shops"`
	}
	areas, shops := model.NewCollection[area, int32]("areas"), model.NewCollection[shop, int32]("shops")
	shard := keys.NewShard(areas, shardD("region", 1), keys.ShardSpec{})
	regions := copies.New(areas, shops, copies.Spec{
		KeyPath: "area",
		Fields:  []copies.Field{{From: "region", To: "region"}},
	})
	m := model.New("held", shard, regions,
		parentref.New(shops, "area", areas, parentref.Spec{MustExist: true}),
		counter.New(shops, "area", areas, counter.Spec{Count: "shops"}))
	client, stop := mongotest.Start(mongotest.NewShards(3), mongotest.Settings{Version: "7.0"})
	defer stop()
	ctx := t.Context()
	if err := client.Database("admin").RunCommand(ctx, shard.Command("shards")).Err(); err != nil {
		t.Fatal(err)
	}
	db, err := model.WithTransactions(ctx, m.On(client.Database("shards")))
	if err != nil {
		t.Fatal(err)
	}
	areaStore, shopStore := model.NewStore(m, areas), model.NewStore(m, shops)
	_, _, errEU := areaStore.Insert(area{ID: 1, Region: "eu"}).Run(ctx, db)
	_, _, errUS := areaStore.Insert(area{ID: 2, Region: "us"}).Run(ctx, db)
	_, _, errNew := shopStore.Insert(shop{ID: 1, Area: 1}).Run(ctx, db)
	_, _, errMove := shopStore.Set(1, bson.D{{Key: "area", Value: int32(2)}}).Run(ctx, db)
	_, _, errAgain := shopStore.Insert(shop{ID: 2, Area: 2}).Run(ctx, db)
	if err := errors.Join(errEU, errUS, errNew, errMove, errAgain); err != nil {
		t.Fatal(err)
	}
	if _, _, err := shopStore.Insert(shop{ID: 3, Area: 9}).Run(ctx, db); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("of no area: %v", err)
	}
	for id, want := range map[int32]int64{1: 0, 2: 2} {
		if a, err := areas.ByID(id).One(ctx, db); err != nil || a.Shops != want {
			t.Errorf("%+v, %v, want %d", a, err, want)
		}
	}
}

type parcel struct {
	ID   string `bson:"_id"`
	Zone int64  `bson:"zone"`
	Text string `bson:"text"`
}

// A new document of a sequence needs a key. The shard key of a stored one can't change.
func TestStoreKeys(t *testing.T) {
	parcels := model.NewCollection[parcel, string]("parcels")
	sequence := keys.NewSequence(parcels,
		model.NewCollection[keys.SequenceCounter[string], string]("counters"), keys.SequenceSpec{})
	shard := keys.NewShard(parcels, bson.D{{Key: "zone", Value: 1}, {Key: "_id", Value: 1}}, keys.ShardSpec{Moves: true})
	store := model.NewStore(model.New("m", sequence, shard), parcels)
	id, _ := sequence.Key("ann", 1)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			change model.ChangeOf[model.Stored[parcel]]
			field  string
		}{
			{store.Insert(parcel{ID: "ann"}), "key"},
			{store.Insert(parcel{ID: id, Zone: 3}), ""},
			{store.Set(id, bson.D{{Key: "zone", Value: int64(4)}}), "zone"},
			{store.Edit(id, func(p *parcel) error { p.Text = "x"; return nil }), ""},
			{store.Delete(id), ""},
		} {
			_, _, err := c.change.Run(t.Context(), db)
			var value *model.ValueError
			if errors.As(err, &value) && value.Field != c.field || value == nil && (err != nil || c.field != "") {
				t.Errorf("%s: %v, want a refusal of %q", c.change.Name, err, c.field)
			}
		}
	})
}
