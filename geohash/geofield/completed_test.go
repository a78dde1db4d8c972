package geofield_test

import (
	"testing"
	"time"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A visit is a document whose key can be absent.
type visit struct {
	ID    int64           `bson:"_id"`
	At    time.Time       `bson:"at"`
	Tags  []string        `bson:"tags"`
	Where *geofield.Point `bson:"where,omitempty"`
	Geo   int64           `bson:"geo,omitempty"`
}

var (
	visits  = model.NewCollection[visit, int64]("cafes")
	visited = geofield.NewField(visits, "where", "geo", geofield.FieldSpec{Zero: true})
)

// A completed document, stored by whoever stores it, is what Insert would have stored.
func TestCompleted(t *testing.T) {
	t.Parallel()
	paris := geofield.Point{Lat: 48.86, Lng: 2.33}
	at := time.Date(2020, 1, 2, 3, 4, 5, 6, time.Local)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, v := range []visit{
			{At: at, Tags: []string{"x"}, Where: &paris}, {At: at}, {At: at, Where: &geofield.Point{}},
		} {
			v.ID = int64(i + 1)
			got, err := visited.Completed(v)
			if err != nil {
				t.Fatal(err)
			}
			if v.Geo != 0 || got.Where != nil && (got.Where == v.Where || *got.Where != *v.Where) {
				t.Errorf("the caller's document is changed, or shared: %v, %v", v, got)
			}
			again, err := visited.Completed(got)
			if err != nil || mongotest.Diff(got, again) != "" {
				t.Errorf("completed twice: %v, %v", again, err)
			}
			run(t, db, visited.Complete(visits.Insert(v)), visits.Replace(got))
			var stored visit
			raw, err := (&model.Find[bson.Raw]{Query: visits.ByID(v.ID).Query}).One(t.Context(), db)
			if err != nil || bson.Unmarshal(raw, &stored) != nil || mongotest.Diff(stored, got) != "" {
				t.Errorf("%v is stored, %v, not %v", raw, err, got)
			}
			if _, err := raw.LookupErr("geo"); (err == nil) != (i == 0) { // a zero Point isn't stored
				t.Errorf("%v has a key, or none", raw)
			}
		}
		if found, err := visited.Checks()[0].All(t.Context(), db); err != nil || len(found) > 0 {
			t.Errorf("the check finds %v, %v", found, err)
		}
	})
	loc := geo("Point", 3, 4)
	d, err := looseKey.Completed(looseDoc(loc, bson.E{Key: "more", Value: 1}))
	if want := looseDoc(loc, bson.E{Key: "more", Value: 1}, bson.E{
		Key:   "geo",
		Value: int64(keyOf(geohash.Point{Lat: 4, Lng: 3})),
	}); err != nil || mongotest.Diff(want, d) != "" {
		t.Errorf("got %v, %v", d, err)
	}
	if d, err := byText.Completed(cafe{ID: 1}); err != nil || d.Hash != "" {
		t.Errorf("without a point: %v, %v", d, err)
	}
}

func TestCompletedRefuses(t *testing.T) {
	t.Parallel()
	_, err := byKey.Completed(cafe{ID: 1}) // an int64 that is always stored
	wantField(t, err, "geo")
	_, err = visited.Completed(visit{Where: &geofield.Point{Lat: -90, Lng: -180}, ID: 1})
	wantField(t, err, "geo")
	_, err = byKey.Completed(cafe{ID: 1, Loc: geofield.Point{Lat: 91}})
	wantField(t, err, "loc.coordinates.1")
	_, err = byKey.Completed(cafe{ID: 1, Loc: geofield.Point{Lat: 1}, Geo: 5})
	wantField(t, err, "geo")
	_, err = looseKey.Completed(looseDoc(geo("Point", 0, 0)))
	wantField(t, err, "at.loc.coordinates")
	_, err = looseKey.Completed(looseDoc(func() {}))
	wantField(t, err, "document")
}
