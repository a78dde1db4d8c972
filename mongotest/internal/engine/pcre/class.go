package pcre

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// A class such as [^a-z\d[:space:]-] is a set. Its items are runes, ranges, escapes for a rune or a set, and named
// classes. A hyphen that can't be a range's is itself.

// errClass is the error of a class without an end.
var errClass = errors.New("missing terminating ] for character class")

// readClass reads a class from behind its bracket. A ] in the first place is a rune of the class.
func (p *parser) readClass() (*node, error) {
	s := &set{fold: p.fold}
	s.neg = p.skip("^")
	for first := true; ; first = false {
		if p.rest == "" {
			return nil, errClass
		}
		if !first && p.skip("]") {
			return &node{kind: oneOf, set: s}, nil
		}
		if err := p.readItem(s); err != nil {
			return nil, err
		}
	}
}

// readItem reads one item of a class into s: a rune, a range, a named class such as [:alpha:], or an escape.
func (p *parser) readItem(s *set) error {
	if text, ok := p.readQuoted(); ok {
		for _, r := range text {
			s.ranges = append(s.ranges, [2]rune{r, r})
		}
		return nil
	}
	if strings.HasPrefix(p.rest, "[:") {
		if end := strings.Index(p.rest, ":]"); end > 0 && !strings.Contains(p.rest[2:end], "]") {
			name, neg := strings.CutPrefix(p.rest[2:end], "^")
			named := posix[name]
			if named == nil {
				return errors.New("unknown POSIX class name")
			}
			if neg {
				named = named.negate()
			}
			s.parts = append(s.parts, named)
			p.rest = p.rest[end+2:]
			return nil
		}
	}
	low, part, err := p.readMember()
	if err != nil {
		return err
	}
	if part != nil {
		s.parts = append(s.parts, part)
		return nil
	}
	high := low
	if len(p.rest) > 1 && p.rest[0] == '-' && p.rest[1] != ']' {
		was := p.rest
		p.rest = p.rest[1:]
		// A hyphen before a named class or a set is no range.
		if strings.HasPrefix(p.rest, "[:") {
			part = anyRune
		} else if high, part, err = p.readMember(); err != nil {
			return err
		}
		switch {
		case part != nil: // the hyphen is itself
			p.rest, high = was, low
			p.rest = p.rest[1:]
			s.ranges = append(s.ranges, [2]rune{'-', '-'})
		case high < low:
			return errors.New("range out of order in character class")
		}
	}
	s.ranges = append(s.ranges, [2]rune{low, high})
	return nil
}

// readMember reads a rune of a class, or an escape that stands for a set. Then the set isn't nil.
func (p *parser) readMember() (rune, *set, error) {
	r, n := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[n:]
	if r != '\\' {
		return r, nil, nil
	}
	if p.rest == "" {
		return 0, nil, errors.New("\\ at end of pattern")
	}
	switch c := p.rest[0]; {
	case escapeSets[c] != nil:
		p.rest = p.rest[1:]
		return 0, escapeSets[c], nil
	case c == 'p' || c == 'P':
		s, err := p.readProperty()
		return 0, s, err
	case c == 'b':
		p.rest = p.rest[1:]
		return '\b', nil, nil
	case strings.IndexByte("BRXNgk", c) >= 0:
		return 0, nil, errors.New("escape sequence is invalid in character class")
	}
	r, err := p.readRune(true)
	return r, nil, err
}
