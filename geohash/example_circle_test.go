package geohash_test

import (
	"fmt"

	"github.com/docmodel/docmodel/geohash"
)

var sights = []struct {
	name string
	at   geohash.Point
}{
	{"Notre-Dame", geohash.Point{Lat: 48.8530, Lng: 2.3499}},
	{"Palais-Royal", geohash.Point{Lat: 48.8638, Lng: 2.3371}},
	{"Opéra Garnier", geohash.Point{Lat: 48.8720, Lng: 2.3316}},
	{"Pont Neuf", geohash.Point{Lat: 48.8570, Lng: 2.3414}},
}

// Which places are within a kilometre of the Louvre? Few ranges of keys hold them all, so that any ordered index finds
// them; what lies in the ranges around the circle is left out by its distance.
func ExampleCircle_Cover() {
	circle := geohash.Circle{Center: geohash.Point{Lat: 48.8606, Lng: 2.3376}, Meters: 1000}
	if err := circle.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	cover := circle.Cover(nil, 4)
	for _, r := range cover {
		fmt.Println(r.Lo, "to below", r.Hi)
	}
	for _, place := range sights {
		key, err := geohash.Encode(place.at)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, r := range cover {
			if r.Contains(key) { // what an index finds
				fmt.Println(place.name, circle.Contains(place.at))
			}
		}
	}

	// Two kilometres: the rest only.
	wider := geohash.Circle{Center: circle.Center, Meters: 2000}
	fmt.Println(len(geohash.Subtract(nil, wider.Cover(nil, 4), cover)), "ranges more")

	// To look at on a map.
	fmt.Println(len(geohash.AppendGeoJSON(nil, cover)), "bytes of GeoJSON")

	// Output:
	// u09tuvv00000 to below u09tv0000000
	// u09tvj2h0000 to below u09tvx0h0000
	// u09whbp00000 to below u09whbph0000
	// u09wj0000000 to below u09wj2j00000
	// Notre-Dame false
	// Palais-Royal true
	// Opéra Garnier false
	// Pont Neuf true
	// 7 ranges more
	// 3524 bytes of GeoJSON
}
