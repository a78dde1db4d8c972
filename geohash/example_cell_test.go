package geohash_test

import (
	"fmt"

	"github.com/docmodel/docmodel/geohash"
)

const written = "ezs42" // as it stands in a URL

// A geohash is a rectangle: of all keys that begin with it.
func ExampleCell() {
	cell, err := geohash.Parse(written)
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
