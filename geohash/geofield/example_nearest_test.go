package geofield_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// A driver looks for the nearest petrol stations, two on a page.
type station struct {
	ID  string         `bson:"_id"`
	At  geofield.Point `bson:"at"`
	Geo int64          `bson:"geo"`
}

var (
	stations     = model.NewCollection[station, string]("stations")
	stationPlace = geofield.NewField(stations, "at", "geo", geofield.FieldSpec{})
)

// Nearest returns places in the order of distance. It reads a circle first. It reads a
// ring around the circle only if more places are needed.
func ExampleNearest() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("roads")
	store := model.NewStore(model.New("roads", stationPlace), stations)
	insert := store.InsertMany(
		station{ID: "harbour", At: geofield.Point{Lat: 51.520, Lng: 7.450}},
		station{ID: "airport", At: geofield.Point{Lat: 51.518, Lng: 7.612}},
		station{ID: "centre", At: geofield.Point{Lat: 51.514, Lng: 7.465}}, station{
			ID: "zoo", At: geofield.Point{Lat: 51.473, Lng: 7.470},
		},
	)
	if _, _, err := insert.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	here := geohash.Point{Lat: 51.510, Lng: 7.460}
	spec := geofield.NearestSpec{Start: 2000, Max: 20000}
	var mark geofield.Mark // the zero Mark is the beginning
	for page := 1; page <= 2; page++ {
		places, err := stationPlace.Nearest(here, spec, mark, 2).All(ctx, db)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, place := range places {
			fmt.Printf("page %d: %d. %s, %.1f km\n", page, place.Rank, place.Doc.ID, place.Meters/1000)
			mark = place.Mark // the next page begins after this place
		}
	}

	// First.Err holds the error of bad input. No command is sent.
	nowhere := stationPlace.Nearest(geohash.Point{Lat: 95}, spec, geofield.Mark{}, 2)
	fmt.Println(nowhere.First.Err)
	// Output:
	// page 1: 1. centre, 0.6 km
	// page 1: 2. harbour, 1.3 km
	// page 2: 3. zoo, 4.2 km
	// page 2: 4. airport, 10.6 km
	// docmodel: stations: Lat: must be within -90 to 90: Double(95)
}
