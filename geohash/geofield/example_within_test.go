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

// A town has benches. An app shows those in the part of the map that a walker looks at.
type bench struct {
	ID  string         `bson:"_id"`
	At  geofield.Point `bson:"at"`
	Geo int64          `bson:"geo"`
}

var (
	benches    = model.NewCollection[bench, string]("benches")
	benchPlace = geofield.NewField(benches, "at", "geo", geofield.FieldSpec{Ranges: 2}) // 8 ranges are the default
)

// Within finds the places in an area. The query of a box is exact. The query of a circle
// also finds places around it, which Each, All and Count leave out.
func ExampleWithin() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("town")
	store := model.NewStore(model.New("town", benchPlace), benches)
	insert := store.InsertMany(
		bench{ID: "church", At: geofield.Point{Lat: 50.7340, Lng: 7.0998}},
		bench{ID: "market", At: geofield.Point{Lat: 50.7350, Lng: 7.1020}},
		bench{ID: "bridge", At: geofield.Point{Lat: 50.7390, Lng: 7.1100}},
	)
	if _, _, err := insert.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	near := benchPlace.Within(geohash.Circle{Center: geohash.Point{Lat: 50.7345, Lng: 7.1000}, Meters: 200})
	fmt.Println(near.Find)
	fmt.Println(near.Find.Cost())
	places, err := near.All(ctx, db)
	for _, place := range places {
		fmt.Printf("%s, %.0f m\n", place.Doc.ID, place.Meters)
	}
	fmt.Println(err)

	// The query is an ordinary Find, to which you can add a sort and conditions. A limit
	// is allowed for a box only.
	window := benchPlace.Within(geohash.Box{South: 50.734, West: 7.09, North: 50.74, East: 7.12})
	window.Find = window.Find.Sorted(bson.D{{Key: "_id", Value: 1}}).Limited(2)
	for place, err := range window.Each(ctx, db) {
		fmt.Println(place.Doc.ID, err)
	}
	near.Find = near.Find.Limited(2)
	_, err = near.All(ctx, db)
	fmt.Println(err)
	// Output:
	// db.benches.find({$or: [{geo: {$gte: Long('938473074547752960'), $lt: Long('938473080817188864')}}, {geo: {$gte: Long('938473091732865024'), $lt: Long('938473092271833088')}}]})
	// 1 command and one per further batch, by geo_1
	// church, 57 m
	// market, 151 m
	// <nil>
	// bridge <nil>
	// church <nil>
	// docmodel: benches: Limit: a limit or skip would count documents outside the area: end the loop over Each instead: Long('2')
}
