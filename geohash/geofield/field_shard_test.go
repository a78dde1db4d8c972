package geofield_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A place moves in a collection that isn't sharded by its _id: by a store. If its key is part of the shard key, the
// store's model has no Shard.
func TestFieldSharded(t *testing.T) {
	tenancy.Differs(t, "the cluster's documents have no tenant")
	paris, lyon := geohash.Point{Lat: 48.86, Lng: 2.33}, geohash.Point{Lat: 45.75, Lng: 4.85}
	place := bson.D{{Key: "loc", Value: geofield.Point(lyon)}}
	set := func(ctx context.Context, db model.DB, s *model.Store[cafe, int64]) error {
		_, _, err := s.Set(1, place).Run(ctx, db)
		return err
	}
	chains := model.NewStore(model.New("chains", byChain), cafes) // it doesn't know of shards
	var plain model.DB
	for name, c := range map[string]struct {
		key  bson.D
		move func(context.Context, model.DB, *model.Store[cafe, int64]) error
	}{
		"by another field": {bson.D{{Key: "chain", Value: 1}}, set},
		"by the place": {
			key: bson.D{{Key: "chain", Value: 1}, {Key: "geo", Value: 1}},
			move: func(ctx context.Context, db model.DB, s *model.Store[cafe, int64]) error {
				if err := set(ctx, db, s); !errors.As(err, new(*model.ValueError)) {
					t.Errorf("a store changes the shard key: %v", err)
				}
				old := bson.D{{Key: "_id", Value: int64(1)}, {Key: "chain", Value: "a"}, {Key: "geo", Value: int64(keyOf(paris))}}
				_, _, err := chains.SetOne(old, place).Run(ctx, plain)
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			client, stop := mongotest.Start(mongotest.NewShards(3), mongotest.Settings{Version: "7.0"})
			defer stop()
			ctx := t.Context()
			shard := keys.NewShard(cafes, c.key, keys.ShardSpec{})
			if err := client.Database("admin").RunCommand(ctx, shard.Command("shards")).Err(); err != nil {
				t.Fatal(err)
			}
			m := model.New("cafes", byChain, shard)
			plain = client.Database("shards")
			db, store := m.On(plain), model.NewStore(m, cafes)
			if _, _, err := store.Insert(cafe{ID: 1, Chain: "a", Loc: geofield.Point(paris)}).Run(ctx, db); err != nil {
				t.Fatal(err)
			}
			if err := c.move(ctx, db, store); err != nil {
				t.Error(err)
			}
			got, err := cafes.ByID(1).One(ctx, db)
			if err != nil || got.Loc != geofield.Point(lyon) || got.Geo != int64(keyOf(lyon)) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
