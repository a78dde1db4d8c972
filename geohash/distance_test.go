package geohash_test

import (
	"math"
	"math/big"
	"testing"

	. "github.com/docmodel/docmodel/geohash"
)

func TestDistance(t *testing.T) {
	quarter := math.Pi * EarthRadius / 2
	tests := []struct {
		reason string
		a, b   Point
		want   float64
	}{
		{"a point and itself", Point{42.605, -5.603}, Point{42.605, -5.603}, 0},
		{"on both sides of the antimeridian", Point{10, 180}, Point{10, -180}, 0},
		{"at the pole", Point{90, 10}, Point{90, -120}, 0},
		{"at the other pole", Point{-90, 180}, Point{-90, 1}, 0},
		{"a quarter of the equator", Point{0, 0}, Point{0, 90}, quarter},
		{"across the antimeridian", Point{0, 135}, Point{0, -135}, quarter},
		{"equator to pole", Point{0, 77}, Point{90, -5}, quarter},
		{"pole to pole", Point{90, 0}, Point{-90, 0}, 2 * quarter},
		{"antipodes", Point{30, 40}, Point{-30, -140}, 2 * quarter},
		{"a degree", Point{0, 0}, Point{1, 0}, quarter / 90},
		{"a nanodegree", Point{}, Point{0, 1e-9}, quarter / 90e9},
		{"out of range is wrapped", Point{0, 190}, Point{95, 10}, Distance(Point{0, -170}, Point{85, -170})},
	}
	for _, tt := range tests {
		if got, back := Distance(tt.a, tt.b), Distance(tt.b, tt.a); got != back || math.Abs(got-tt.want) > 1e-15*tt.want {
			t.Errorf("%s: %v and %v, not %v", tt.reason, got, back, tt.want)
		}
	}
	if d := Distance(Point{math.NaN(), 0}, Point{}); !math.IsNaN(d) {
		t.Error(d)
	}
	if d := Distance(Point{}, Point{0, math.Inf(1)}); !math.IsNaN(d) {
		t.Error(d)
	}
}

// Distances near and far are good to some units in the last place: compared with 200 bits.
func TestDistanceDigits(t *testing.T) {
	r := newPoints(10)
	worst := 0.0
	for range scale(300, 10) {
		a := r.next()
		b := r.next()
		switch r.IntN(3) {
		case 0: // near
			b = inside(Point{
				Lat: a.Lat + r.NormFloat64()*math.Pow(10, -12*r.Float64()),
				Lng: a.Lng + r.NormFloat64()*math.Pow(10, -12*r.Float64()),
			})
		case 1: // nearly opposite
			b = inside(Point{
				Lat: -a.Lat + r.NormFloat64()*math.Pow(10, -12*r.Float64()),
				Lng: a.Lng + 180 + r.NormFloat64()*math.Pow(10, -12*r.Float64()),
			}.Normalize())
		}
		want, got := bigDistance(a, b), Distance(a, b)
		if off := math.Abs(got-want) / max(want, 1e-30); want > 0 && off > worst {
			worst = off
		}
	}
	if worst > 2e-15 {
		t.Errorf("off by %g of the distance", worst)
	}
	t.Logf("off by at most %.2g of the distance", worst)
}

// bigDistance is the haversine formula by series, of numbers with 300 bits.
func bigDistance(a, b Point) float64 {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	half := func(degrees *big.Float) *big.Float {
		return new(big.Float).Quo(new(big.Float).Mul(degrees, bigPi), number(360))
	}
	square := func(x *big.Float) *big.Float { return new(big.Float).Mul(x, x) }
	lat := bigSine(half(new(big.Float).Sub(number(a.Lat), number(b.Lat))))
	lng := bigSine(half(new(big.Float).Sub(number(a.Lng), number(b.Lng))))
	cosA := bigSine(half(new(big.Float).Add(number(180), new(big.Float).Mul(number(2), number(a.Lat)))))
	cosB := bigSine(half(new(big.Float).Add(number(180), new(big.Float).Mul(number(2), number(b.Lat)))))
	h := new(big.Float).Add(square(lat), new(big.Float).Mul(new(big.Float).Mul(cosA, cosB), square(lng)))
	if h.Cmp(number(0.5)) > 0 { // the angle from the other side, so that float64 has its digits
		rest := new(big.Float).Sub(number(1), h)
		if rest.Sign() < 0 {
			rest = number(0)
		}
		f, _ := rest.Sqrt(rest).Float64()
		return EarthRadius * (math.Pi - 2*math.Asin(f))
	}
	f, _ := new(big.Float).Sqrt(h).Float64()
	return 2 * EarthRadius * math.Asin(f)
}

var bigPi, _, _ = big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798", 10, 300, big.ToNearestEven)

func bigSine(x *big.Float) *big.Float {
	sum, term := new(big.Float).Set(x), new(big.Float).Set(x)
	for n := int64(2); n < 90; n += 2 {
		term.Mul(term, x).Mul(term, x).Quo(term, new(big.Float).SetInt64(-n*(n+1)))
		sum.Add(sum, term)
	}
	return sum
}
