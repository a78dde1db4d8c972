package geo

import (
	"fmt"
	"math"
	"slices"
)

// ring is a closed line without the repetition of its first vertex, counterclockwise around the smaller of its two
// sides, which is its inside.
type ring struct {
	at     []vec
	origin bool // the point origin is inside
}

// origin is a point that no vertex of a shape is at, other than by chance.
var origin = vec{0.00457, 1, 0.0321}.unit()

// newRing returns the ring of three vertices or more.
func newRing(at []vec) ring {
	if signedArea(at) < 0 {
		at = slices.Clone(at)
		slices.Reverse(at)
	}
	r := ring{at: at}
	// The second vertex is inside if what lies aside of it is.
	r.origin = inOrder(at[1].aside(), at[0], at[2], at[1]) != r.contains(at[1])
	return r
}

// signedArea returns the area to the left of the line, less the whole sphere if that is the smaller side.
func signedArea(at []vec) float64 {
	sum := 0.0
	for i := 2; i < len(at); i++ {
		a, b, c := at[0], at[i-1], at[i]
		sum += 2 * math.Atan2(a.dot(b.cross(c)), 1+a.dot(b)+b.dot(c)+c.dot(a))
	}
	return math.Remainder(sum, 4*math.Pi)
}

// edges calls yield with the ends of each edge, the closing one first.
func (r ring) edges(yield func(a, b vec) bool) {
	last := r.at[len(r.at)-1]
	for _, v := range r.at {
		if !yield(last, v) {
			return
		}
		last = v
	}
}

// contains reports whether the point is inside: a path from the origin passes an odd number of edges, or an even
// number if the origin itself is inside. Of a point on an edge or a vertex, the answer is such that it is inside one
// of two rings that have the edge in common.
func (r ring) contains(p vec) bool {
	inside := r.origin
	for a, b := range r.edges {
		if passes(origin, p, a, b) {
			inside = !inside
		}
	}
	return inside
}

// touches reports whether the point is on an edge.
func (r ring) touches(p vec) bool {
	for a, b := range r.edges {
		if p.toArc(a, b) <= tolerance {
			return true
		}
	}
	return false
}

// distance returns the least angle between a point and the edges.
func (r ring) distance(p vec) float64 {
	least := math.Inf(1)
	for a, b := range r.edges {
		least = min(least, p.toArc(a, b))
	}
	return least
}

// pointInside returns some point inside, close to the middle of an edge.
func (r ring) pointInside() vec {
	a, b := r.at[0], r.at[1]
	return a.plus(b, 1).unit().plus(a.cross(b).unit(), min(1e-6, a.angle(b)*1e-3)).unit()
}

// describeProblem says why the vertices make no ring, or "".
func describeProblem(at []vec) string {
	for i := range at {
		for k := range i {
			if at[i] == at[k] {
				return fmt.Sprintf("Duplicate vertices: %d and %d", k, i)
			}
		}
	}
	n := len(at)
	for i := range n {
		if at[i].plus(at[(i+1)%n], 1).norm() < 1e-15 {
			return fmt.Sprintf("Vertices %d and %d are antipodal", i, (i+1)%n)
		}
		for k := i + 2; k < n; k++ {
			if crosses(at[i], at[i+1], at[k], at[(k+1)%n]) > 0 {
				return fmt.Sprintf("Edges %d and %d cross", i, k)
			}
		}
	}
	return ""
}
