package geofield_test

import (
	"testing"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Whatever a document says of its place: it is refused, or stored with the key of its point.
func FuzzInsert(f *testing.F) {
	seed := func(loc any, key any) {
		raw, err := bson.Marshal(bson.D{
			{Key: "_id", Value: 1},
			{Key: "at", Value: bson.D{{Key: "loc", Value: loc}, {Key: "geo", Value: key}}},
		})
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(raw))
	}
	seed(geo("Point", 2.5, 48.5), nil)
	seed(geo("Point", 180, -90), int64(0))
	seed(geo("Point", 200, -90), int64(7))
	seed(bson.A{1, 2}, "x")
	seed(nil, nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		var doc bson.D
		if bson.Unmarshal(data, &doc) != nil {
			return
		}
		w := looseKey.Complete(loose.Insert(doc))
		if w.Err != nil {
			return
		}
		raw := w.Model.(*mongo.InsertOneModel).Document.(bson.Raw)
		loc, _ := core.ValueAt(raw, "at.loc")
		key, _ := core.ValueAt(raw, "at.geo")
		if loc.Type == 0 || loc.Type == bson.TypeNull {
			if key.Type != 0 && key.Type != bson.TypeNull {
				t.Errorf("a key without a point: %s", model.Shell(raw))
			}
			return
		}
		var p geofield.Point
		if err := p.UnmarshalBSONValue(byte(loc.Type), loc.Value); err != nil {
			t.Fatalf("stored is %s: %v", model.Shell(raw), err)
		}
		if want, err := geohash.Encode(geohash.Point(p)); err != nil || key.Type != bson.TypeInt64 ||
			key.Int64() != int64(want) {
			t.Errorf("stored is %s, want key %d, %v", model.Shell(raw), want, err)
		}
	})
}
