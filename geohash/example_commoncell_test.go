package geohash_test

import (
	"fmt"

	"github.com/docmodel/docmodel/geohash"
)

func keyAt(lat, lng float64) geohash.Key {
	k, err := geohash.Encode(geohash.Point{Lat: lat, Lng: lng})
	if err != nil {
		panic(err)
	}
	return k
}

// What two keys have in common at their beginning bounds how far apart they are: with a few operations on bits, and
// nothing else read. Places in different cells can be near all the same.
func ExampleCommonCell() {
	louvre, eiffel := keyAt(48.8606, 2.3376), keyAt(48.8584, 2.2945)
	fmt.Println(louvre, eiffel)

	common := geohash.CommonCell(louvre, eiffel)
	fmt.Printf("%s, %d bits: at most %.0f m; it is %.0f m\n",
		common, common.Bits, common.Diameter(), geohash.Distance(louvre.Point(), eiffel.Point()))

	greenwich, park := keyAt(51.4779, -0.0001), keyAt(51.4779, 0.0001)
	common = geohash.CommonCell(greenwich, park)
	fmt.Printf("%d bits: at most %.0f km; it is %.0f m\n",
		common.Bits, common.Diameter()/1000, geohash.Distance(greenwich.Point(), park.Point()))

	// Output:
	// u09tvny1wh0b u09tunquc9zh
	// u09t, 24 bits: at most 8077 m; it is 3163 m
	// 0 bits: at most 20015 km; it is 14 m
}
