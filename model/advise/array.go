package advise

import "math"

// ArrayBytes is the size in BSON of an array of n elements, each of as many bytes as a value has without type and name. An
// element's name is its index in decimal, so that it takes 3 bytes in the first ten places, and 6 from the ten thousandth on
// (https://bsonspec.org/spec.html). It is math.MaxInt64 if it doesn't fit one.
func ArrayBytes(n, each int64) int64 {
	size := int64(5)
	for low, digits := int64(0), int64(1); low < n; digits++ {
		high := min(n, pow10(digits))
		per := 2 + digits + each
		if high-low > (math.MaxInt64-size)/per {
			return math.MaxInt64
		}
		size += (high - low) * per
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

// maxItems is how many elements of that size an array of at most size bytes holds.
func maxItems(size, each int64) int64 {
	low, high := int64(0), max(size, 0) // each takes more than a byte
	for low < high {
		mid := low + (high-low+1)/2
		if ArrayBytes(mid, each) <= size {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}
