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
	fmt.Println(cell.Key.Cell(20), cell.Center())
	fmt.Printf("%.0f m across\n", cell.Diameter())

	key, err := geohash.Encode(geohash.Point{Lat: 42.605, Lng: -5.603})
	fmt.Println(cell.Range().Contains(key), key.Cell(25) == cell, err)

	cells, _ := cell.Neighbors()
	fmt.Println(cells[geohash.North], cells[geohash.East], cells[geohash.South], cells[geohash.West])
	last, err := geohash.Parse("zzzzz") // at the North Pole, and at 180 degrees
	cells, ok := last.Neighbors()
	fmt.Println(ok>>geohash.North&1 == 1, cells[geohash.East], err)

	// Output:
	// ezs42 25 {42.5830078125 -5.625 42.626953125 -5.5810546875}
	// {ezs420000000 ezs430000000}
	// ezs4 {42.60498046875 -5.60302734375}
	// 6067 m across
	// true true <nil>
	// ezs48 ezs43 ezs40 ezefr
	// false bpbpb <nil>
}
