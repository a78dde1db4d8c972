package pipeline

// This file has the granularities of $bucketAuto, which round the bounds of buckets to preferred numbers.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/bucketAuto/#granularity

import (
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// rounder rounds a bound that isn't negative up or down to a preferred number. A preferred number is rounded to the
// next one, never to itself. Zero and infinity stay. The result of a decimal is a decimal.
//
//	POWERSOF2   3 is rounded to 2 or 4, 4 to 2 or 8
//	1-2-5       100 is rounded to 50 or 200
//	R5          0.5 is rounded to 0.4 or 0.63
type rounder interface {
	roundUp(v any) any
	roundDown(v any) any
}

// findGranularity returns the rounder of a name, such as "R5" or "POWERSOF2".
func findGranularity(name string) (rounder, error) {
	if name == "POWERSOF2" {
		return powersOfTwo{}, nil
	}
	if s, ok := preferredNumbers[name]; ok {
		return s, nil
	}
	return nil, mongoerr.New(40257, "Unknown rounding granularity '%s'", name)
}

// preferred is a series: its numbers of one decade, in ascending order. Those of other decades are the same numbers
// times a power of ten: of {10, 20, 50} also 1, 2, 5, and 100, 200, 500.
type preferred []float64

// preferredNumbers are the series by their names: the Renard series of ISO 3, the 1-2-5 series, and the E series of IEC
// 60063 (https://en.wikipedia.org/wiki/Preferred_number). R40 and R80 are as MongoDB has them, which isn't as in ISO 3.
var preferredNumbers = map[string]preferred{
	"1-2-5": {10, 20, 50},
	"R5":    {10, 16, 25, 40, 63},
	"R10":   {100, 125, 160, 200, 250, 315, 400, 500, 630, 800},
	"R20":   {100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800, 900},
	"R40": {
		100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212, 224, 236, 250, 265, 280, 300, 315, 355,
		375, 400, 425, 450, 475, 500, 530, 560, 600, 630, 670, 710, 750, 800, 850, 900, 950,
	},
	"R80": {
		103, 109, 115, 122, 128, 136, 145, 155, 165, 175, 185, 195, 206, 218, 230, 243, 258, 272, 290, 307, 325, 345,
		365, 387, 412, 437, 462, 487, 515, 545, 575, 615, 650, 690, 730, 775, 825, 875, 925, 975,
	},
	"E6":  {10, 15, 22, 33, 47, 68},
	"E12": {10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82},
	"E24": {10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91},
	"E48": {
		100, 105, 110, 115, 121, 127, 133, 140, 147, 154, 162, 169, 178, 187, 196, 205, 215, 226, 237, 249, 261, 274,
		287, 301, 316, 332, 348, 365, 383, 402, 422, 442, 464, 487, 511, 536, 562, 590, 619, 649, 681, 715, 750, 787,
		825, 866, 909, 953,
	},
	"E96": {
		100, 102, 105, 107, 110, 113, 115, 118, 121, 124, 127, 130, 133, 137, 140, 143, 147, 150, 154, 158, 162, 165,
		169, 174, 178, 182, 187, 191, 196, 200, 205, 210, 215, 221, 226, 232, 237, 243, 249, 255, 261, 267, 274, 280,
		287, 294, 301, 309, 316, 324, 332, 340, 348, 357, 365, 374, 383, 392, 402, 412, 422, 432, 442, 453, 464, 475,
		487, 499, 511, 523, 536, 549, 562, 576, 590, 604, 619, 634, 649, 665, 681, 698, 715, 732, 750, 768, 787, 806,
		825, 845, 866, 887, 909, 931, 953, 976,
	},
	"E192": {
		100, 101, 102, 104, 105, 106, 107, 109, 110, 111, 113, 114, 115, 117, 118, 120, 121, 123, 124, 126, 127, 129,
		130, 132, 133, 135, 137, 138, 140, 142, 143, 145, 147, 149, 150, 152, 154, 156, 158, 160, 162, 164, 165, 167,
		169, 172, 174, 176, 178, 180, 182, 184, 187, 189, 191, 193, 196, 198, 200, 203, 205, 208, 210, 213, 215, 218,
		221, 223, 226, 229, 232, 234, 237, 240, 243, 246, 249, 252, 255, 258, 261, 264, 267, 271, 274, 277, 280, 284,
		287, 291, 294, 298, 301, 305, 309, 312, 316, 320, 324, 328, 332, 336, 340, 344, 348, 352, 357, 361, 365, 370,
		374, 379, 383, 388, 392, 397, 402, 407, 412, 417, 422, 427, 432, 437, 442, 448, 453, 459, 464, 470, 475, 481,
		487, 493, 499, 505, 511, 517, 523, 530, 536, 542, 549, 556, 562, 569, 576, 583, 590, 597, 604, 612, 619, 626,
		634, 642, 649, 657, 665, 673, 681, 690, 698, 706, 715, 723, 732, 741, 750, 759, 768, 777, 787, 796, 806, 816,
		825, 835, 845, 856, 866, 876, 887, 898, 909, 920, 931, 942, 953, 965, 976, 988,
	},
}

// isFixed reports whether a number isn't rounded: zero, or an infinity.
func isFixed(v any) bool {
	f, _ := bsonval.Float(v)
	_, isDecimal := v.(bson.Decimal128)
	return bsonval.Compare(v, int32(0)) == 0 || math.IsInf(f, 0) || isDecimal && v.(bson.Decimal128).IsInf() != 0
}

// scaled is a series in one decade, as doubles or as decimals. Rounding moves it to the decade of a number.
type scaled struct {
	series  preferred
	convert func(f float64) any
	factor  any // a power of ten
}

// scale returns the series as decimals if v is a decimal, else as doubles.
func (p preferred) scale(v any) *scaled {
	s := &scaled{series: p, convert: func(f float64) any { return f }}
	if _, ok := v.(bson.Decimal128); ok {
		s.convert = func(f float64) any { d, _ := bsonval.Decimal(f); return d }
	}
	s.factor = s.convert(1)
	return s
}

// getNumber returns the i-th number of the series in its decade.
func (s *scaled) getNumber(i int) any {
	v, _ := bsonval.Mul(s.convert(s.series[i]), s.factor)
	return v
}

// The ends of the decade, and the steps to its neighbors.
func (s *scaled) findLeast() any    { return s.getNumber(0) }
func (s *scaled) findGreatest() any { return s.getNumber(len(s.series) - 1) }
func (s *scaled) enterHigher()      { s.factor, _ = bsonval.Mul(s.factor, s.convert(10)) }
func (s *scaled) enterLower()       { s.factor = bsonval.Div(s.factor, s.convert(10)) }

// roundUp returns the least preferred number above v. It first looks for the decade of v, upwards and then downwards.
func (p preferred) roundUp(v any) any {
	if isFixed(v) {
		return v
	}
	s := p.scale(v)
	for bsonval.Compare(v, s.findGreatest()) >= 0 {
		s.enterHigher()
	}
	for bsonval.Compare(v, s.findLeast()) < 0 {
		above := s.findLeast()
		if s.enterLower(); bsonval.Compare(v, s.findGreatest()) >= 0 {
			return above // v is between two decades
		}
	}
	// The decade is that of v.
	i := 0
	for i < len(p)-1 && bsonval.Compare(s.getNumber(i), v) <= 0 {
		i++
	}
	return s.getNumber(i)
}

// roundDown returns the greatest preferred number below v.
func (p preferred) roundDown(v any) any {
	if isFixed(v) {
		return v
	}
	s := p.scale(v)
	for bsonval.Compare(v, s.findLeast()) <= 0 {
		s.enterLower()
	}
	for bsonval.Compare(v, s.findGreatest()) > 0 {
		below := s.findGreatest()
		if s.enterHigher(); bsonval.Compare(v, s.findLeast()) <= 0 {
			return below
		}
	}
	i := len(p) - 1
	for i > 0 && bsonval.Compare(s.getNumber(i), v) >= 0 {
		i--
	}
	return s.getNumber(i)
}

// powersOfTwo rounds to powers of two, also to those below 1.
type powersOfTwo struct{}

// roundUp returns the least power of two above v.
func (powersOfTwo) roundUp(v any) any {
	if isFixed(v) {
		return v
	}
	exponent, _ := findExponent(v)
	return makePower(v, exponent+1)
}

// roundDown returns the greatest power of two below v.
func (powersOfTwo) roundDown(v any) any {
	if isFixed(v) {
		return v
	}
	exponent, exact := findExponent(v)
	if exact {
		exponent--
	}
	return makePower(v, exponent)
}

// findExponent returns the exponent of the greatest power of two that isn't above a number. exact is set if this power
// is the number itself. 200 bits are enough for all digits of a decimal.
func findExponent(v any) (exponent int, exact bool) {
	f := new(big.Float).SetPrec(200)
	if x, ok := v.(float64); ok {
		f.SetFloat64(x)
	} else {
		d, _ := bsonval.Decimal(v)
		f, _, _ = f.Parse(d.String(), 10) // a finite number
	}
	mantissa := new(big.Float)
	exponent = f.MantExp(mantissa) - 1
	return exponent, mantissa.Cmp(big.NewFloat(0.5)) == 0
}

// makePower returns 2 to the exponent: a decimal if v is a decimal, else an integer if it is whole and fits, else a
// double.
func makePower(v any, exponent int) any {
	if _, ok := v.(bson.Decimal128); ok {
		one, _ := bsonval.Decimal(int32(1))
		two, _ := bsonval.Decimal(int32(2))
		var power, base any = one, two
		for n := max(exponent, -exponent); n > 0; n /= 2 {
			if n%2 != 0 {
				power, _ = bsonval.Mul(power, base)
			}
			base, _ = bsonval.Mul(base, base)
		}
		if exponent < 0 {
			return bsonval.Div(one, power)
		}
		return power
	}
	if exponent >= 0 && exponent < 63 {
		return bsonval.Integer(1 << exponent)
	}
	return math.Ldexp(1, exponent)
}
