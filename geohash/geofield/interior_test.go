package geofield

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/geohash"
)

// Whatever has a key in the interior is nearer than the rim, also in the corners of its cells; and the interior is
// worth having.
func TestInterior(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	share, n := 0.0, 0
	for i := range 300 {
		c := geohash.Circle{
			Center: geohash.Point{Lat: math.Asin(random.Float64()*2-1) * 180 / math.Pi, Lng: random.Float64()*360 - 180},
			Meters: math.Exp(random.Float64() * 17),
		}
		if i%10 == 0 {
			c.Center.Lat = math.Copysign(90-random.Float64()*random.Float64()*0.01, c.Center.Lat)
		}
		last := geohash.Key(-1)
		area := 0.0
		for _, r := range interior(c, 16) {
			if r.Lo <= last || r.Hi <= r.Lo {
				t.Fatalf("%v: %v after %d", c, r, last)
			}
			last = r.Hi
			for cell := range r.Cells() {
				b := cell.Box()
				area += (math.Sin(b.North*math.Pi/180) - math.Sin(b.South*math.Pi/180)) * (b.East - b.West) / 720
				for range 4 {
					p := geohash.Point{
						Lat: b.South + random.Float64()*(b.North-b.South),
						Lng: b.West + random.Float64()*(b.East-b.West),
					}
					for _, p := range []geohash.Point{
						p, {Lat: b.South, Lng: b.West}, {Lat: b.South, Lng: b.East}, {Lat: b.North, Lng: b.West},
						{Lat: b.North, Lng: b.East}, {Lat: p.Lat, Lng: b.East}, {Lat: b.North, Lng: p.Lng},
					} {
						if d := geohash.Distance(c.Center, p); !(d < c.Meters) {
							t.Fatalf("%v holds %v of %v, %g m away", c, p, cell, d)
						}
					}
				}
			}
		}
		if lat := math.Abs(c.Center.Lat); lat < 60 && c.Meters > 10 && c.Meters < 1e6 {
			share += area / ((1 - math.Cos(c.Meters/geohash.EarthRadius)) / 2)
			n++
		}
	}
	if share /= float64(n); share < 0.6 {
		t.Errorf("an interior is %.2f of its circle on average", share)
	}
	t.Logf("an interior is %.2f of its circle on average", share)
}
