package geo

// This file has the one question that all others come down to, on which side of an arc a point lies, without
// rounding.

import "math/big"

// orient returns 1 if the three points are in counterclockwise order on the sphere, -1 if they are in clockwise
// order, and 0 only if two of them are the same. Points on one great circle are ordered as if each were moved a
// little, the lesser ones by more, always in the same way: "simulation of simplicity" (Edelsbrunner and Mücke, 1990).
func orient(a, b, c vec) int {
	if a == b || b == c || c == a {
		return 0
	}
	det := a.cross(b).dot(c)
	const tooSmall = 2e-15
	switch {
	case det > tooSmall:
		return 1
	case det < -tooSmall:
		return -1
	}
	sign := 1
	if less(b, a) {
		a, b, sign = b, a, -sign
	}
	if less(c, b) {
		b, c, sign = c, b, -sign
	}
	if less(b, a) {
		a, b, sign = b, a, -sign
	}
	return sign * exactOrient(a, b, c)
}

// less orders vectors by their coordinates. orient needs any order that is always the same.
func less(a, b vec) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// exactOrient is orient for points in ascending order, without any rounding.
func exactOrient(a, b, c vec) int {
	x, y, z := exact(a), exact(b), exact(c)
	yz := exactCross(y, z)
	det := new(big.Float)
	for i := range 3 {
		det.Add(det, new(big.Float).Mul(x[i], yz[i]))
	}
	// The terms of the determinant of the moved points, by the size of what they are multiplied with.
	zx, xy := exactCross(z, x), exactCross(x, y)
	for _, term := range []int{
		det.Sign(), yz[2].Sign(), yz[1].Sign(), yz[0].Sign(),
		zx[2].Sign(), z[0].Sign(), -z[1].Sign(), zx[1].Sign(), z[2].Sign(),
		xy[2].Sign(), -y[0].Sign(), y[1].Sign(), x[0].Sign(),
	} {
		if term != 0 {
			return term
		}
	}
	return 1
}

// digits are enough for products of three coordinates and their sums.
const digits = 1 << 11

// exact returns a vector whose coordinates can be multiplied and added without rounding.
func exact(v vec) (out [3]*big.Float) {
	for i, f := range v {
		out[i] = new(big.Float).SetPrec(digits).SetFloat64(f)
	}
	return out
}

// exactCross is the cross product without rounding.
func exactCross(a, b [3]*big.Float) (out [3]*big.Float) {
	for i := range out {
		j, k := (i+1)%3, (i+2)%3
		left := new(big.Float).Mul(a[j], b[k])
		out[i] = left.Sub(left, new(big.Float).Mul(a[k], b[j]))
	}
	return out
}

// inOrder reports whether one meets a, b and c in this order when turning counterclockwise about o.
func inOrder(a, b, c, o vec) bool {
	n := 0
	if orient(b, o, a) >= 0 {
		n++
	}
	if orient(c, o, b) >= 0 {
		n++
	}
	if orient(a, o, c) > 0 {
		n++
	}
	return n >= 2
}

// crosses returns 1 if the arcs ab and cd cross within both, 0 if they have an end in common, and -1 otherwise.
func crosses(a, b, c, d vec) int {
	if a == c || a == d || b == c || b == d {
		return 0
	}
	first := orient(a, c, b)
	if first == orient(c, b, d) && first == orient(b, d, a) && first == orient(d, a, c) {
		return 1
	}
	return -1
}

// passes reports whether a path along ab passes to the other side of a ring at its edge cd. Where they have an end in
// common, one of the ring's two edges there counts, or none, or both, so that the path passes if it goes on beyond.
func passes(a, b, c, d vec) bool {
	if n := crosses(a, b, c, d); n != 0 {
		return n > 0
	}
	switch {
	case a == b || c == d:
		return false
	case a == d:
		return inOrder(a.aside(), c, b, a)
	case b == c:
		return inOrder(b.aside(), d, a, b)
	case a == c:
		return inOrder(a.aside(), d, b, a)
	}
	return inOrder(b.aside(), c, a, b)
}
