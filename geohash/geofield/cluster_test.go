package geofield_test

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/mongotest"
)

// What an index holds tells where, and how many.
func TestKeysAndClusters(t *testing.T) {
	t.Parallel()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		list := open(t, db, 500, byKey, byText, byChain)
		world := geohash.Box{South: -90, West: -180, North: 90, East: 180}
		got, err := byChain.Keys(world, bson.D{{Key: "chain", Value: "b"}}).
			Sorted(bson.D{{Key: "geo", Value: 1}}).One(t.Context(), db)
		var first struct {
			Chain string
			Geo   geohash.Key
			Seats *int
		}
		if err != nil || bson.Unmarshal(got, &first) != nil || first.Chain != "b" || first.Seats == nil ||
			got.Lookup("_id").Type != 0 {
			t.Errorf("the first key is %v, %v", got, err)
		}
		for _, bits := range []int{1, 5, 12, 25, 60} {
			want := map[geohash.Cell]int64{}
			for _, c := range list {
				want[geohash.Key(c.Geo).Cell(bits)]++
			}
			for reason, f := range map[string]*cafeField{"numbers": byKey, "texts": byText} {
				if f == byText && bits%5 > 0 {
					wantField(t, f.Clusters(world, bits).Err, "bits")
					continue
				}
				clusters, err := f.Clusters(world, bits).All(t.Context(), db)
				if err != nil || len(clusters) != len(want) ||
					!slices.IsSortedFunc(clusters, func(a, b geofield.Cluster) int { return int(a.Cell.Key>>40 - b.Cell.Key>>40) }) {
					t.Errorf("%d bits by %s: %d clusters, %v, want %d", bits, reason, len(clusters), err, len(want))
				}
				for _, c := range clusters {
					if want[c.Cell] != c.Count {
						t.Errorf("%d bits by %s: %v, want %d", bits, reason, c, want[c.Cell])
					}
				}
			}
		}
	})
	wantField(t, byKey.Clusters(geohash.Box{}, 0).Err, "bits")
	wantField(t, byKey.Clusters(geohash.Box{}, 61).Err, "bits")
	wantField(t, byKey.Clusters(geohash.Box{North: 91}, 5).Err, "North")
}
