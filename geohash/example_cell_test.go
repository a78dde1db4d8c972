package geohash_test

import (
	"fmt"

	"github.com/docmodel/docmodel/geohash"
)

// A geohash is a rectangle: of all keys that begin with it.
func ExampleCell() {
	cell, err := geohash.Parse("ezs42")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cell, cell.Bits, cell.Box())
	fmt.Println(cell.Range())
	fmt.Println(cell.Parent(20), cell.Center())
	fmt.Printf("%.0f m across\n", cell.Diameter())

	key, err := geohash.Encode(geohash.Point{Lat: 42.605, Lng: -5.603})
	fmt.Println(cell.Contains(key), key.Cell(25) == cell, err)

	cells, ok := cell.Neighbors()
	for d, c := range cells {
		fmt.Print(geohash.Direction(d), " ", c, " ", ok>>d&1 == 1, "\n")
	}
	_, there := geohash.MustParse("zzzzz").Neighbor(geohash.North)
	east, _ := geohash.MustParse("zzzzz").Neighbor(geohash.East)
	fmt.Println(there, east)

	// Output:
	// ezs42 25 {42.5830078125 -5.625 42.626953125 -5.5810546875}
	// {ezs420000000 ezs430000000}
	// ezs4 {42.60498046875 -5.60302734375}
	// 6067 m across
	// true true <nil>
	// North ezs48 true
	// NorthEast ezs49 true
	// East ezs43 true
	// SouthEast ezs41 true
	// South ezs40 true
	// SouthWest ezefp true
	// West ezefr true
	// NorthWest ezefx true
	// false bpbpb
}

// What two keys have in common at their beginning bounds how far apart they are: with a few operations on bits, and nothing else
// read. Places in different cells can be near all the same.
func ExampleCommonCell() {
	key := func(lat, lng float64) geohash.Key {
		k, err := geohash.Encode(geohash.Point{Lat: lat, Lng: lng})
		if err != nil {
			fmt.Println(err)
		}
		return k
	}
	louvre, eiffel := key(48.8606, 2.3376), key(48.8584, 2.2945)
	fmt.Println(louvre, eiffel)

	common := geohash.CommonCell(louvre, eiffel)
	fmt.Printf("%s, %d bits: at most %.0f m; it is %.0f m\n",
		common, common.Bits, common.Diameter(), geohash.Distance(louvre.Point(), eiffel.Point()))

	greenwich, park := key(51.4779, -0.0001), key(51.4779, 0.0001)
	common = geohash.CommonCell(greenwich, park)
	fmt.Printf("%d bits: at most %.0f km; it is %.0f m\n",
		common.Bits, common.Diameter()/1000, geohash.Distance(greenwich.Point(), park.Point()))

	// Output:
	// u09tvny1wh0b u09tunquc9zh
	// u09t, 24 bits: at most 8077 m; it is 3163 m
	// 0 bits: at most 20015 km; it is 14 m
}
