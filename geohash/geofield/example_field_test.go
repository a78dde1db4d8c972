package geofield_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Sights of a city, which a map shows and a walker asks for: what is near, of which kind?
type sight struct {
	ID   string         `bson:"_id"`
	Kind string         `bson:"kind"`
	At   geofield.Point `bson:"at"`  // GeoJSON: the truth
	Geo  int64          `bson:"geo"` // its key, by which an ordinary index finds it
}

var (
	sights = model.NewCollection[sight, string]("sights")
	// Two ranges, so that commands can be read here; 8 is the default.
	sightPlace = geofield.NewField(sights, "at", "geo", geofield.FieldSpec{Prefix: []string{"kind"}, Ranges: 2})
	paris      = model.New("paris", sightPlace)
	sightStore = model.NewStore(paris, sights)
)

func ExampleField() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("paris")

	insert := sightStore.InsertMany(
		sight{ID: "Notre-Dame", Kind: "church", At: geofield.Point{Lat: 48.8530, Lng: 2.3499}},
		sight{ID: "Sainte-Chapelle", Kind: "church", At: geofield.Point{Lat: 48.8554, Lng: 2.3450}},
		sight{ID: "Sacré-Cœur", Kind: "church", At: geofield.Point{Lat: 48.8867, Lng: 2.3431}},
		sight{ID: "Musée d'Orsay", Kind: "museum", At: geofield.Point{Lat: 48.8600, Lng: 2.3266}},
	)
	if _, _, err := insert.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(paris.Indexes())

	// Churches within 1.5 km of the Louvre: few ranges of keys, and the exact circle when they are read.
	louvre := geohash.Point{Lat: 48.8606, Lng: 2.3376}
	church := bson.D{{Key: "kind", Value: "church"}}
	near := sightPlace.Within(geohash.Circle{Center: louvre, Meters: 1500}, church)
	fmt.Println(near.Find)
	fmt.Println(near.Find.Cost())
	for place, err := range near.Each(ctx, db) {
		fmt.Printf("%s, %.0f m, %v\n", place.Doc.ID, place.Meters, err)
	}
	// The nearest, in order.
	nearest, err := sightPlace.Nearest(louvre, geofield.NearestSpec{Where: church}, geofield.Mark{}, 2).All(ctx, db)
	for _, place := range nearest {
		fmt.Printf("%d. %s, %.0f m\n", place.Rank, place.Doc.ID, place.Meters)
	}
	fmt.Println(err)

	// A map's window is exact on the server.
	fmt.Println(sightPlace.Within(geohash.Box{South: 48.8529, West: 2.3498, North: 48.8531, East: 2.35}, church).Find)

	// Point and key are written together, and what is no place is refused.
	moved, _, err := sightStore.Set("Musée d'Orsay", bson.D{{
		Key: "at", Value: geofield.Point{Lat: 48.86, Lng: 2.3265},
	}}).Run(ctx, db)
	fmt.Println(moved.Doc.Geo, err)
	_, _, err = sightStore.Insert(sight{
		ID: "Louvre", Kind: "museum", At: geofield.Point{Lat: 112, Lng: 2.3376},
	}).Run(ctx, db)
	fmt.Println(err)

	// Output:
	// db.sights.createIndex({kind: 1, geo: 1})
	// db.sights.find({$or: [{kind: 'church', geo: {$gte: Long('937093791708348416'), $lt: Long('937093829356421120')}}, {kind: 'church', geo: {$gte: Long('937096728660672512'), $lt: Long('937096761208471552')}}]})
	// 1 command and one per further batch, by kind_1_geo_1
	// Notre-Dame, 1234 m, <nil>
	// Sainte-Chapelle, 792 m, <nil>
	// 1. Sainte-Chapelle, 792 m
	// 2. Notre-Dame, 1234 m
	// <nil>
	// db.sights.find({$or: [{kind: 'church', geo: {$gte: Long('937093818535577856'), $lt: Long('937093818535641088')}}, {kind: 'church', geo: {$gte: Long('937093818535969024'), $lt: Long('937093818537177088')}}], 'at.coordinates.1': {$gte: 48.8529, $lte: 48.8531}, 'at.coordinates.0': {$gte: 2.3498, $lte: 2.35}})
	// 937093796158687760 <nil>
	// docmodel: sights: at.coordinates.1: the latitude must be within -90 to 90: Double(112)
}
