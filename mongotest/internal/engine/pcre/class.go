package pcre

import (
	"errors"
	"strings"
	"unicode/utf8"
)

var errClass = errors.New("missing terminating ] for character class")

// class reads a class from behind its bracket.
func (p *parser) class() (*node, error) {
	s := &set{fold: p.fold}
	s.neg = p.skip("^")
	for first := true; ; first = false {
		if p.rest == "" {
			return nil, errClass
		}
		if !first && p.skip("]") {
			return &node{kind: oneOf, set: s}, nil
		}
		if err := p.item(s); err != nil {
			return nil, err
		}
	}
}

// item reads one item of a class: a rune, a range, a named class, or an escape.
func (p *parser) item(s *set) error {
	if text, ok := p.quoted(); ok {
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
				named = named.not()
			}
			s.parts = append(s.parts, named)
			p.rest = p.rest[end+2:]
			return nil
		}
	}
	low, part, err := p.member()
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
		if strings.HasPrefix(p.rest, "[:") {
			part = anyRune
		} else if high, part, err = p.member(); err != nil {
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

// member reads a rune of a class, or an escape that stands for a set.
func (p *parser) member() (rune, *set, error) {
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
		s, err := p.property()
		return 0, s, err
	case c == 'b':
		p.rest = p.rest[1:]
		return '\b', nil, nil
	case strings.IndexByte("BRXNgk", c) >= 0:
		return 0, nil, errors.New("escape sequence is invalid in character class")
	}
	r, err := p.char(true)
	return r, nil, err
}
