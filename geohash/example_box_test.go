package geohash_test

import (
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/geohash"
)

// The islands of Fiji lie on both sides of the antimeridian. So the West of the box
// is greater than its East.
var (
	fiji    = geohash.Box{South: -19.5, West: 176.5, North: -15.5, East: -178}
	islands = []struct {
		name string
		at   geohash.Point
	}{
		{"Viti Levu", geohash.Point{Lat: -17.8, Lng: 178.0}},
		{"Taveuni", geohash.Point{Lat: -16.8, Lng: -179.97}},
		{"Tongatapu", geohash.Point{Lat: -21.2, Lng: -175.2}},
	}
)

// A few ranges of keys cover the box, so an ordinary index finds the points in it.
func ExampleBox() {
	fmt.Println(fiji.Validate())
	cover := fiji.Cover(nil, 3)
	for _, r := range cover {
		fmt.Println(r.Lo, "to below", r.Hi)
	}
	for _, island := range islands {
		key, err := geohash.Encode(island.at)
		if err != nil {
			fmt.Println(err)
			return
		}
		covered := false
		for _, r := range cover {
			covered = covered || r.Contains(key)
		}
		fmt.Println(island.name, "- in the ranges:", covered, "- in the box:", fiji.Contains(island.at))
	}

	// A box with a wrong coordinate contains nothing. Validate says why.
	wrong := geohash.Box{South: -95, West: 170, North: -15, East: 180}
	err := wrong.Validate()
	var coordinate *geohash.CoordinateError
	fmt.Println(errors.As(err, &coordinate), err)
	fmt.Println(len(wrong.Cover(nil, 3)), "ranges")
	// Output:
	// <nil>
	// 2h8100000000 to below 2hcs00000000
	// 2j0000000000 to below 2j1s00000000
	// rut900000000 to below rvq000000000
	// Viti Levu - in the ranges: true - in the box: true
	// Taveuni - in the ranges: true - in the box: true
	// Tongatapu - in the ranges: false - in the box: false
	// true geohash: South is -95: must be within -90 to 90
	// 0 ranges
}
