// This test of the whole package holds which functions allocate nothing.

package geohash_test

import (
	"testing"

	. "github.com/docmodel/docmodel/geohash"
)

// What is promised to allocate nothing doesn't.
func TestAllocations(t *testing.T) {
	p, edge, pole := Point{57.64911, 10.40744}, Point{45, -90}, Point{90, 180}
	text := make([]byte, 0, MaxChars)
	ranges := make([]Range, 0, 64)
	c := mustParse("u4pruydqqvj")
	near, wide := Circle{p, 1000}.Cover(nil, 8), Circle{p, 3000}.Cover(nil, 8)
	var keep struct {
		k     Key
		b     Box
		p     Point
		c     Cell
		cells [8]Cell
		f     float64
		ok    bool
	}
	for name, f := range map[string]func(){
		"Encode":                     func() { keep.k, _ = Encode(p) },
		"Encode, on an edge":         func() { keep.k, _ = Encode(edge) },
		"Encode, at the end":         func() { keep.k, _ = Encode(pole) },
		"AppendEncode":               func() { _, _ = AppendEncode(text, p, 12) },
		"AppendEncode, less":         func() { _, _ = AppendEncode(text, p, 7) },
		"AppendEncode, at the end":   func() { _, _ = AppendEncode(text, pole, 12) },
		"Parse":                      func() { keep.c, _ = Parse("u4pruydqqvj8") },
		"Parse, less":                func() { keep.c, _ = Parse("U4PRU") },
		"Key.Point":                  func() { keep.p = c.Key.Point() },
		"Key.Cell":                   func() { keep.c = c.Key.Cell(20) },
		"Cell.Box":                   func() { keep.b = c.Box() },
		"Cell.Center":                func() { keep.p = c.Center() },
		"Cell.Diameter":              func() { keep.f = c.Diameter() },
		"Cell.Neighbors":             func() { keep.cells, _ = c.Neighbors() },
		"Cell.Neighbors, at a pole":  func() { keep.cells, _ = mustParse("zz").Neighbors() },
		"CommonCell":                 func() { keep.c = CommonCell(c.Key, c.Key+99) },
		"Distance":                   func() { keep.f = Distance(p, edge) },
		"Circle.Contains":            func() { keep.ok = Circle{p, 1000}.Contains(edge) },
		"Circle.Cover":               func() { _ = Circle{p, 1000}.Cover(ranges, 8) },
		"Circle.Cover, many":         func() { _ = Circle{p, 1000}.Cover(ranges, 64) },
		"Circle.Cover, at the pole":  func() { _ = Circle{pole, 1000}.Cover(ranges, 8) },
		"Circle.Cover, of the world": func() { _ = Circle{pole, 1e9}.Cover(ranges, 8) },
		"Box.Cover":                  func() { _ = Box{-1, 179, 1, -179}.Cover(ranges, 8) },
		"Box.Contains":               func() { keep.ok = Box{-1, 179, 1, -179}.Contains(p) },
		"Subtract":                   func() { _ = Subtract(ranges, wide, near) },
		"Range.Cells": func() {
			for c := range wide[0].Cells() {
				keep.c = c
			}
		},
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	// 1, but under the race detector
	if n := testing.AllocsPerRun(100, func() { _ = Circle{p, 1000}.Cover(nil, 8) }); n > 2 {
		t.Errorf("Circle.Cover into nothing: %v allocations", n)
	}
}
