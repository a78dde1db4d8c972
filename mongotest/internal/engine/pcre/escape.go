package pcre

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The escapes that this file reads:
//
//	\d \w \s \h \v, \D \W \S \H \V   sets of runes (set.go), and all other runes
//	\pL \p{Greek} \PL                Unicode properties
//	\N \R                            no newline; the end of a line
//	\A \z \Z \b \B \G \K             assertions, and the new begin of the match
//	\1 \g1 \g{-1} \k<name>           what a group has matched
//	\a \e \f \n \r \t \cA            control characters
//	\x41 \x{1F600} \o{101} \101      codes of runes
//	\.                               any other rune that is no letter and no digit: the rune itself

// anchors are the escapes for assertions about a place.
var anchors = map[byte]anchor{
	'A': textBegin, 'z': textEnd, 'Z': finalEnd, 'b': boundary, 'B': noBoundary, 'G': searchBegin,
}

// readEscape reads an escape outside a class, from behind its backslash.
func (p *parser) readEscape() (*node, error) {
	if p.rest == "" {
		return nil, errors.New("\\ at end of pattern")
	}
	c := p.rest[0]
	if s := escapeSets[c]; s != nil {
		p.rest = p.rest[1:]
		return &node{kind: oneOf, set: s}, nil
	}
	if at, ok := anchors[c]; ok {
		p.rest = p.rest[1:]
		return &node{kind: assertion, at: at}, nil
	}
	switch c {
	case 'p', 'P':
		s, err := p.readProperty()
		return &node{kind: oneOf, set: s}, err
	case 'N':
		if strings.HasPrefix(p.rest, "N{") {
			return nil, errors.New("\\N{...} isn't supported")
		}
		p.rest = p.rest[1:]
		return &node{kind: oneOf, set: newline.negate()}, nil
	case 'K':
		p.rest = p.rest[1:]
		return &node{kind: keep}, nil
	case 'R': // a line's end: \r\n together, or any vertical space
		p.rest = p.rest[1:]
		pair := &node{kind: concat, subs: []*node{{kind: literal, rune: '\r'}, {kind: literal, rune: '\n'}}}
		either := &node{kind: alternative, subs: []*node{pair, {kind: oneOf, set: vertical}}}
		return &node{kind: atomic, subs: []*node{either}}, nil
	case 'X', 'C':
		return nil, fmt.Errorf("\\%c isn't supported", c)
	case 'g', 'k':
		return p.readReference(c)
	}
	if n, ok := p.readNumber(); ok {
		return &node{kind: reference, n: n, fold: p.fold}, nil
	}
	r, err := p.readRune(false)
	return &node{kind: literal, rune: r, fold: p.fold}, err
}

// readNumber reads a reference by a number, and reports false if the digits are an octal code: there are fewer groups,
// and the number has two digits or more.
func (p *parser) readNumber() (int, bool) {
	i := 0
	for i < len(p.rest) && p.rest[i] >= '0' && p.rest[i] <= '9' {
		i++
	}
	if i == 0 || p.rest[0] == '0' {
		return 0, false
	}
	n, err := strconv.Atoi(p.rest[:i])
	if err != nil || n > 9 && n > p.total {
		return 0, false
	}
	p.rest = p.rest[i:]
	p.highest = max(p.highest, n)
	return n, true
}

// readReference reads \g and \k, which is c: \g2, \g{-1}, \g{name}, \k<name>, \k'name', \k{name}.
func (p *parser) readReference(c byte) (*node, error) {
	p.rest = p.rest[1:]
	open, name := byte(0), ""
	if p.rest != "" {
		open = p.rest[0]
	}
	switch {
	case open == '{' || c == 'k' && (open == '<' || open == '\''):
		end := strings.IndexByte(p.rest[1:], map[byte]byte{'{': '}', '<': '>', '\'': '\''}[open])
		if end <= 0 {
			return nil, fmt.Errorf("\\%c is not followed by a name or number in braces, angle brackets or quotes", c)
		}
		name, p.rest = p.rest[1:1+end], p.rest[end+2:]
	case c == 'g' && (open == '<' || open == '\''):
		return nil, errors.New("calls of groups aren't supported")
	case c == 'g':
		i := 0
		if strings.HasPrefix(p.rest, "-") || strings.HasPrefix(p.rest, "+") {
			i++
		}
		for i < len(p.rest) && p.rest[i] >= '0' && p.rest[i] <= '9' {
			i++
		}
		name, p.rest = p.rest[:i], p.rest[i:]
	}
	n, err := strconv.Atoi(name)
	switch {
	case name == "":
		return nil, fmt.Errorf("\\%c is not followed by a name or number", c)
	case err != nil || c == 'k':
		r := &node{kind: reference, name: name, fold: p.fold}
		p.named = append(p.named, r)
		return r, nil
	case name[0] == '-':
		n += p.groups + 1
	case name[0] == '+':
		n += p.groups
	}
	if n <= 0 {
		return nil, errors.New("reference to non-existent subpattern")
	}
	p.highest = max(p.highest, n)
	return &node{kind: reference, n: n, fold: p.fold}, nil
}

// readProperty reads \p or \P, such as \pL or \p{Greek}. \P has the runes without the property.
func (p *parser) readProperty() (*set, error) {
	neg := p.rest[0] == 'P'
	p.rest = p.rest[1:]
	var name string
	if strings.HasPrefix(p.rest, "{") {
		end := strings.IndexByte(p.rest, '}')
		if end < 0 {
			return nil, errors.New("malformed \\P or \\p sequence")
		}
		name, p.rest = p.rest[1:end], p.rest[end+1:]
	} else {
		if p.rest == "" {
			return nil, errors.New("malformed \\P or \\p sequence")
		}
		name, p.rest = p.rest[:1], p.rest[1:]
	}
	s, err := findProperty(name)
	if err == nil && neg {
		s = s.negate()
	}
	return s, err
}

// controls are the escapes of control characters.
var controls = map[byte]rune{'a': '\a', 'e': 0x1b, 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// readRune reads an escape that stands for one rune, from behind its backslash.
func (p *parser) readRune(inClass bool) (rune, error) {
	r, n := utf8.DecodeRuneInString(p.rest)
	c := p.rest[0]
	p.rest = p.rest[n:]
	if x, ok := controls[c]; ok {
		return x, nil
	}
	switch {
	case c == 'x':
		return p.readHex()
	case c == 'o':
		if digits, ok := p.readBraced(); ok {
			return makeRune(digits, 8)
		}
		return 0, errors.New("missing opening brace after \\o")
	case c == 'c': // \cA is control-A
		if p.rest == "" || p.rest[0] < 0x20 || p.rest[0] > 0x7e {
			return 0, errors.New("\\c must be followed by a printable ASCII character")
		}
		r = unicode.ToUpper(rune(p.rest[0])) ^ 0x40
		p.rest = p.rest[1:]
		return r, nil
	case c >= '0' && c <= '7':
		i := 0
		for i < len(p.rest) && i < 2 && p.rest[i] >= '0' && p.rest[i] <= '7' {
			i++
		}
		digits := string(c) + p.rest[:i]
		p.rest = p.rest[i:]
		return makeRune(digits, 8)
	case c == '8' || c == '9':
		return r, nil
	case c < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
		return 0, errors.New("unrecognized character follows \\")
	}
	return r, nil
}

// readHex reads a code of up to two digits, or one in braces, from behind \x.
func (p *parser) readHex() (rune, error) {
	if digits, ok := p.readBraced(); ok {
		return makeRune(digits, 16)
	}
	i := 0
	for i < len(p.rest) && i < 2 && posix["xdigit"].contains(rune(p.rest[i])) {
		i++
	}
	digits := p.rest[:i]
	p.rest = p.rest[i:]
	if digits == "" {
		return 0, nil
	}
	return makeRune(digits, 16)
}

// readBraced reads what is in braces, false if no brace follows.
func (p *parser) readBraced() (string, bool) {
	end := strings.IndexByte(p.rest, '}')
	if !strings.HasPrefix(p.rest, "{") || end < 0 {
		return "", false
	}
	text := p.rest[1:end]
	p.rest = p.rest[end+1:]
	return text, true
}

// makeRune returns the rune of a code. Surrogates are no runes.
func makeRune(digits string, base int) (rune, error) {
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > unicode.MaxRune || n >= 0xd800 && n < 0xe000 {
		return 0, fmt.Errorf("character code point value %q is invalid", digits)
	}
	return rune(n), nil
}
