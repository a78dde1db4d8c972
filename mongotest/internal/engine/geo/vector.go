package geo

import "math"

// vec is a point of the unit sphere, or a direction in space.
type vec [3]float64

// dot is the dot product: the cosine of the angle between points of the sphere.
func (a vec) dot(b vec) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// cross is the cross product: a direction at right angles to both, whose length is the sine of the angle between
// points of the sphere.
func (a vec) cross(b vec) vec {
	return vec{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// plus returns a + times·b.
func (a vec) plus(b vec, times float64) vec {
	return vec{a[0] + times*b[0], a[1] + times*b[1], a[2] + times*b[2]}
}

// norm is the length.
func (a vec) norm() float64 { return math.Sqrt(a.dot(a)) }

// unit returns the point of the sphere in a direction. The zero vector has none, and stays.
func (a vec) unit() vec {
	if n := a.norm(); n > 0 {
		return vec{a[0] / n, a[1] / n, a[2] / n}
	}
	return a
}

// angle returns the angle between two directions. It is exact for small angles too, unlike the cosine's inverse.
func (a vec) angle(b vec) float64 { return math.Atan2(a.cross(b).norm(), a.dot(b)) }

// toArc returns the angle between a point and the arc from a to b.
func (a vec) toArc(from, to vec) float64 {
	n := from.cross(to).unit()
	if n.cross(from).dot(a) > 0 && to.cross(n).dot(a) > 0 {
		return math.Abs(math.Asin(max(-1, min(1, a.dot(n)))))
	}
	return min(a.angle(from), a.angle(to))
}

// aside returns some direction that is at right angles to a. No vertex of a shape lies there other than by chance, so
// that what begins there has no edge in common with the shape.
func (a vec) aside() vec {
	k := 2
	switch x, y, z := math.Abs(a[0]), math.Abs(a[1]), math.Abs(a[2]); {
	case x > y && x > z:
		k = 2
	case x <= y && y > z:
		k = 0
	default:
		k = 1
	}
	other := vec{0.012, 0.0053, 0.00457}
	other[k] = 1
	return a.cross(other).unit()
}
