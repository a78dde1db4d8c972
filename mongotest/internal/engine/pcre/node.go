package pcre

import "fmt"

// The tree of (a|b)+\1:
//
//	concat
//	  repeat 1 to unbounded
//	    capture 1
//	      alternative
//	        literal a
//	        literal b
//	  reference 1

// kind is what a node of a parsed expression is. The comments say what the node matches.
type kind uint8

const (
	empty       kind = iota
	literal          // the rune
	oneOf            // a rune of the set
	concat           // the subs, one after the other
	alternative      // one of the subs
	capture          // the sub, as group n
	repeat           // the sub, min to max times
	look             // the sub, before or behind the place
	atomic           // the sub, without going back into it
	conditional      // subs[0] if group n took part, or the assertion test holds; else subs[1]
	reference        // what group n matched
	assertion        // the place itself
	keep             // \K
	back             // goes back n runes
)

// node is a part of a parsed expression. Which fields count depends on its kind.
type node struct {
	kind     kind
	rune     rune
	fold     bool
	set      *set
	subs     []*node
	n        int    // a group's number
	name     string // of the group that is meant, before it is resolved
	min, max int    // repeat; max is -1 without a bound
	lazy     bool
	neg      bool   // look: it must not match
	behind   bool   // look
	test     *node  // conditional: a look
	at       anchor // assertion
}

// anchor is an assertion about a place.
type anchor uint8

const (
	textBegin anchor = iota
	lineBegin
	textEnd  // at the very end
	finalEnd // at the end, or before a final newline
	lineEnd  // before a newline, or at the end
	boundary // of a word
	noBoundary
	searchBegin // \G
)

// unbounded is the max of a repeat without a greatest number.
const unbounded = -1

// runeSet returns the set of a node that takes one rune, nil for other nodes. A repeat of such a node is one
// instruction.
func (n *node) runeSet() *set {
	switch n.kind {
	case oneOf:
		return n.set
	case literal:
		return &set{ranges: [][2]rune{{n.rune, n.rune}}, fold: n.fold}
	}
	return nil
}

// countWidth returns how many runes a node takes, or false if that isn't fixed.
func (n *node) countWidth() (int, bool) {
	switch n.kind {
	case literal, oneOf:
		return 1, true
	case empty, look, assertion, keep:
		return 0, true
	case capture, atomic:
		return n.subs[0].countWidth()
	case concat:
		sum := 0
		for _, s := range n.subs {
			w, ok := s.countWidth()
			if !ok {
				return 0, false
			}
			sum += w
		}
		return sum, true
	// All alternatives must have the same width, except at the top of a lookbehind.
	case alternative, conditional:
		first, ok := n.subs[0].countWidth()
		for _, s := range n.subs[1:] {
			w, fixed := s.countWidth()
			ok = ok && fixed && w == first
		}
		return first, ok
	case repeat:
		w, ok := n.subs[0].countWidth()
		return w * n.min, ok && n.min == n.max
	}
	return 0, false
}

// countBehindWidths returns the widths of the alternatives of a lookbehind. Each must be fixed, but they may differ
// from each other.
func (n *node) countBehindWidths() ([]int, error) {
	list := []*node{n}
	if n.kind == alternative {
		list = n.subs
	}
	widths := make([]int, len(list))
	for i, s := range list {
		w, ok := s.countWidth()
		if !ok {
			return nil, fmt.Errorf("lookbehind assertion is not fixed length")
		}
		widths[i] = w
	}
	return widths, nil
}
