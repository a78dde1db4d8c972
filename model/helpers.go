package model

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Small functions on values, which every layer uses.

// appendNew appends a string that the list doesn't have.
func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// pick returns a if cond is true, and else b.
func pick[T any](cond bool, a, b T) T {
	if cond {
		return a
	}
	return b
}

// orEmpty returns the document, or an empty one for nil, which the driver refuses.
func orEmpty(d bson.D) bson.D {
	if d == nil {
		return bson.D{}
	}
	return d
}
