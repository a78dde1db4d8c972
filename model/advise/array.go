package advise

import "math"

// arrayBytes is the size in BSON of an array of n elements. each is the bytes of a value
// without type and name; a negative value counts as 0. An element's name is its index in
// decimal (https://bsonspec.org/spec.html). The result is math.MaxInt64 on overflow.
func arrayBytes(n, each int64) int64 {
	size, each := int64(5), max(0, each)
	for low, digits := int64(0), int64(1); low < n; digits++ {
		high := min(n, pow10(digits))
		size = plus(size, times(high-low, plus(2+digits, each)))
		low = high
	}
	return size
}

func pow10(digits int64) int64 {
	if digits > 18 {
		return math.MaxInt64
	}
	p := int64(1)
	for range digits {
		p *= 10
	}
	return p
}

// plus and times are for numbers that aren't negative. They return math.MaxInt64 on
// overflow.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func times(a, b int64) int64 {
	if a != 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}
