package main

import (
	"math"
	"math/rand/v2"
	"testing"

	peer "github.com/mmcloughlin/geohash"

	"github.com/docmodel/docmodel/geohash"
)

// The peer's keys, texts and boxes are ours, away from edges; and covers hold what is in their circles, but for the one that doesn't
// claim to near poles.
func TestGeohashesAreEqual(t *testing.T) {
	d, err := newGeoData()
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range d.points {
		box, ours := peer.BoundingBox(d.texts[i]), d.cells[i].Box()
		if uint64(d.keys[i]) != peer.EncodeInt(p.Lat, p.Lng)>>4 || d.texts[i] != peer.Encode(p.Lat, p.Lng) ||
			math.Abs(box.MinLat-ours.South)+math.Abs(box.MaxLng-ours.East) > 1e-12 {
			t.Errorf("%v: %s, and %s", p, d.texts[i], peer.Encode(p.Lat, p.Lng))
		}
		n, bits := peer.ConvertStringToInt(d.texts[i])
		if n != uint64(d.keys[i]) || bits != geohash.MaxBits {
			t.Errorf("%s: %x, and %x of %d bits", d.texts[i], int64(d.keys[i]), n, bits)
		}
	}
	r := rand.New(rand.NewPCG(7, 8))
	for _, c := range append(coverers(8), geofireCoverer) {
		for _, circle := range d.circles {
			area, holds := c.cover(circle)
			if p := walk(r, circle); !holds(p) || area < 3*math.Pow(circle.Meters/geohash.EarthRadius, 2) {
				t.Fatalf("%s of %v: area %v, %v in it: %t", c.name, circle, area, p, holds(p))
			}
		}
	}
}
