package pcre

import (
	"fmt"
	"strings"
	"unicode"
)

// set is a set of runes: a class, or what an escape such as \d stands for.
type set struct {
	neg    bool
	fold   bool
	ranges [][2]rune
	parts  []*set
	table  *unicode.RangeTable
}

func (s *set) has(r rune) bool {
	in := s.holds(r)
	if !in && s.fold {
		for f := unicode.SimpleFold(r); f != r && !in; f = unicode.SimpleFold(f) {
			in = s.holds(f)
		}
	}
	return in != s.neg
}

func (s *set) holds(r rune) bool {
	for _, x := range s.ranges {
		if x[0] <= r && r <= x[1] {
			return true
		}
	}
	for _, p := range s.parts {
		if p.has(r) {
			return true
		}
	}
	return s.table != nil && unicode.Is(s.table, r)
}

func ranges(pairs ...rune) *set {
	s := &set{}
	for i := 0; i < len(pairs); i += 2 {
		s.ranges = append(s.ranges, [2]rune{pairs[i], pairs[i+1]})
	}
	return s
}

func (s *set) not() *set {
	n := *s
	n.neg = !n.neg
	return &n
}

// The sets of escapes. Without PCRE2_UCP, which MongoDB doesn't set, they are those of ASCII.
var (
	digits     = ranges('0', '9')
	words      = ranges('0', '9', 'A', 'Z', '_', '_', 'a', 'z')
	spaces     = ranges('\t', '\r', ' ', ' ')
	horizontal = ranges('\t', '\t', ' ', ' ', 0xa0, 0xa0, 0x1680, 0x1680, 0x180e, 0x180e, 0x2000, 0x200a, 0x202f, 0x202f,
		0x205f, 0x205f, 0x3000, 0x3000)
	vertical = ranges('\n', '\r', 0x85, 0x85, 0x2028, 0x2029)
	newline  = ranges('\n', '\n')
	anyRune  = ranges(0, unicode.MaxRune)
)

var escapeSets = map[byte]*set{
	'd': digits, 'D': digits.not(), 'w': words, 'W': words.not(), 's': spaces, 'S': spaces.not(),
	'h': horizontal, 'H': horizontal.not(), 'v': vertical, 'V': vertical.not(),
}

// posix are the named classes, as they are within brackets.
var posix = map[string]*set{
	"alnum": ranges('0', '9', 'A', 'Z', 'a', 'z'), "alpha": ranges('A', 'Z', 'a', 'z'), "ascii": ranges(0, 0x7f),
	"blank": ranges('\t', '\t', ' ', ' '), "cntrl": ranges(0, 0x1f, 0x7f, 0x7f), "digit": digits,
	"graph": ranges('!', '~'), "lower": ranges('a', 'z'), "print": ranges(' ', '~'),
	"punct": ranges('!', '/', ':', '@', '[', '`', '{', '~'), "space": spaces, "upper": ranges('A', 'Z'), "word": words,
	"xdigit": ranges('0', '9', 'A', 'F', 'a', 'f'),
}

// property returns the runes of a Unicode property, such as L, Lu, L& or Greek.
func property(name string) (*set, error) {
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
