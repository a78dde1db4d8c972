package geohash_test

import (
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/geohash"
)

var leon = geohash.Point{Lat: 42.605, Lng: -5.603}

// A place becomes one number, or one text, whose order keeps much of what is near together. Both are exact, and what is
// no place is an error.
func ExampleEncode() {
	key, err := geohash.Encode(leon)
	fmt.Println(int64(key), key, err)

	text, err := geohash.AppendEncode(nil, leon, 5)
	fmt.Println(string(text), err)

	fmt.Printf("%.1f cm off\n", 100*geohash.Distance(leon, key.Point()))

	_, err = geohash.Encode(geohash.Point{Lat: 112.5584, Lng: 37.8324})
	var coordinate *geohash.CoordinateError
	fmt.Println(err, errors.As(err, &coordinate))

	beyond := geohash.Point{Lat: -16.8, Lng: 180.2} // Fiji, as some maps have it
	_, err = geohash.Encode(beyond)
	fmt.Println(err)
	key, err = geohash.Encode(beyond.Normalize())
	fmt.Println(key, err)

	// Output:
	// 504126175824590610 ezs42s000esk <nil>
	// ezs42 <nil>
	// 0.2 cm off
	// geohash: Lat is 112.5584: must be within -90 to 90 true
	// geohash: Lng is 180.2: must be within -180 to 180
	// 2j00kt9sum4b <nil>
}
