package pcre

import (
	"fmt"
	"strings"
	"unicode"
)

// Three sets: [^a-c\d] is the negation of a range and a part, [[:alpha:]] has a part, \p{Greek} has a table.

// set is a set of runes: a class, or what an escape such as \d stands for.
type set struct {
	neg    bool                // all runes but these
	fold   bool                // upper and lower case are the same
	ranges [][2]rune           // the first and the last rune of each
	parts  []*set              // sets within a class
	table  *unicode.RangeTable // of a Unicode property
}

// contains reports whether a rune is in the set.
func (s *set) contains(r rune) bool {
	in := s.containsExact(r)
	if !in && s.fold {
		for f := unicode.SimpleFold(r); f != r && !in; f = unicode.SimpleFold(f) {
			in = s.containsExact(f)
		}
	}
	return in != s.neg
}

// containsExact is contains without neg and fold.
func (s *set) containsExact(r rune) bool {
	for _, x := range s.ranges {
		if x[0] <= r && r <= x[1] {
			return true
		}
	}
	for _, p := range s.parts {
		if p.contains(r) {
			return true
		}
	}
	return s.table != nil && unicode.Is(s.table, r)
}

// newSet returns a set of ranges. pairs are the first and the last rune of each.
func newSet(pairs ...rune) *set {
	s := &set{}
	for i := 0; i < len(pairs); i += 2 {
		s.ranges = append(s.ranges, [2]rune{pairs[i], pairs[i+1]})
	}
	return s
}

// negate returns the set of all other runes.
func (s *set) negate() *set {
	n := *s
	n.neg = !n.neg
	return &n
}

// The sets of escapes. Without PCRE2_UCP, which MongoDB doesn't set, they are those of ASCII.
var (
	digits     = newSet('0', '9')
	words      = newSet('0', '9', 'A', 'Z', '_', '_', 'a', 'z')
	spaces     = newSet('\t', '\r', ' ', ' ')
	horizontal = newSet('\t', '\t', ' ', ' ', 0xa0, 0xa0, 0x1680, 0x1680, 0x180e, 0x180e, 0x2000, 0x200a,
		0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000)
	vertical = newSet('\n', '\r', 0x85, 0x85, 0x2028, 0x2029)
	newline  = newSet('\n', '\n')
	anyRune  = newSet(0, unicode.MaxRune)
)

// escapeSets are the sets of escapes such as \d, by their letters.
var escapeSets = map[byte]*set{
	'd': digits, 'D': digits.negate(), 'w': words, 'W': words.negate(), 's': spaces, 'S': spaces.negate(),
	'h': horizontal, 'H': horizontal.negate(), 'v': vertical, 'V': vertical.negate(),
}

// posix are the named classes, as they are within brackets: [:alpha:]. Like the escapes they only have runes of ASCII.
var posix = map[string]*set{
	"alnum": newSet('0', '9', 'A', 'Z', 'a', 'z'), "alpha": newSet('A', 'Z', 'a', 'z'), "ascii": newSet(0, 0x7f),
	"blank": newSet('\t', '\t', ' ', ' '), "cntrl": newSet(0, 0x1f, 0x7f, 0x7f), "digit": digits,
	"graph": newSet('!', '~'), "lower": newSet('a', 'z'), "print": newSet(' ', '~'),
	"punct": newSet('!', '/', ':', '@', '[', '`', '{', '~'), "space": spaces, "upper": newSet('A', 'Z'), "word": words,
	"xdigit": newSet('0', '9', 'A', 'F', 'a', 'f'),
}

// findProperty returns the runes of a Unicode property, such as L, Lu, L& or Greek. A ^ before it means all others.
func findProperty(name string) (*set, error) {
	name, neg := strings.CutPrefix(name, "^")
	s := &set{neg: neg}
	switch {
	case name == "Any":
		s.parts = []*set{anyRune}
	case name == "L&":
		s.parts = []*set{{table: unicode.Lu}, {table: unicode.Ll}, {table: unicode.Lt}}
	case unicode.Categories[name] != nil:
		s.table = unicode.Categories[name]
	case unicode.Scripts[name] != nil:
		s.table = unicode.Scripts[name]
	default:
		return nil, fmt.Errorf("unknown property %q after \\P or \\p", name)
	}
	return s, nil
}
