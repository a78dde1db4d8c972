package main

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
)

// An Airport stores its place as a GeoJSON point, with the point's key beside it.
type Airport struct {
	Code    string         `bson:"_id"` // from IATA, else from ICAO
	Name    string         `bson:"name"`
	City    string         `bson:"city"`
	Country string         `bson:"country"` // ISO 3166
	At      geofield.Point `bson:"at"`
	Geo     int64          `bson:"geo"`
}

var (
	airports = model.NewCollection[Airport, string]("airports")
	place    = geofield.NewField(airports, "at", "geo", geofield.FieldSpec{Sphere: true})

	everything   = model.New("places", place)
	airportStore = model.NewStore(everything, airports)
)

// airports.csv contains the world's larger airports, and small ones where there are few:
// the Arctic, Antarctica, islands around the antimeridian. Coordinates are precise to
// about a kilometre.
//
//go:embed airports.csv
var table string

// read reads the table.
func read(table string) ([]Airport, error) {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		return nil, err
	}
	var list []Airport
	for i, row := range rows {
		if i == 0 {
			continue // the header
		}
		lat, err := strconv.ParseFloat(row[4], 64)
		if err != nil {
			return nil, fmt.Errorf("airports.csv:%d: %w", i+1, err)
		}
		lng, err := strconv.ParseFloat(row[5], 64)
		if err != nil {
			return nil, fmt.Errorf("airports.csv:%d: %w", i+1, err)
		}
		list = append(list, Airport{Code: row[0], Name: row[1], City: row[2], Country: row[3], At: geofield.Point{Lat: lat, Lng: lng}})
	}
	return list, nil
}
