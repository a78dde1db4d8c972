package pcre

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The grammar of expressions, as the functions of this package read it:
//
//	alternatives = sequence {"|" sequence}
//	sequence     = {(quoted | atom) [quantifier]}
//	quoted       = "\Q" text "\E"
//	quantifier   = ("*" | "+" | "?" | "{n}" | "{n,}" | "{n,m}") ["?" | "+"]
//	atom         = escape | class | group | "." | "^" | "$" | any other rune
//
// Comments, (?#…), may be anywhere between atoms. With the option x so may white space and # to the end of a line.

// parser reads an expression from left to right. The functions read… take what they read off rest.
type parser struct {
	flags                  // at the place that is read
	rest    string         // what isn't read yet
	depth   int            // how many parentheses are open
	groups  int            // how many capturing groups have begun
	total   int            // how many of them the whole expression has, by the reading before
	names   map[string]int // the numbers of groups by their names
	named   []*node        // the nodes that refer to a group by its name
	highest int            // the highest number of a group to which a node refers
}

const (
	maxDepth  = 250   // PCRE2's limit of nested parentheses
	maxRepeat = 65535 // PCRE2's limit of a repeat's number
)

// parse reads an expression, and returns it with its number of groups. Whether \11 is a reference or an octal code
// depends on how many groups there are, so a first reading counts them.
func parse(pattern string, f flags) (*node, int, error) {
	total := 0
	for {
		p := &parser{flags: f, rest: pattern, total: total, names: map[string]int{}}
		n, err := p.readAlternatives()
		switch {
		case err != nil:
			return nil, 0, err
		case p.rest != "":
			return nil, 0, errors.New("unmatched closing parenthesis")
		case p.groups != total: // the first reading: read again, now that the number is known
			total = p.groups
			continue
		case p.highest > total:
			return nil, 0, errors.New("reference to non-existent subpattern")
		}
		return n, total, p.resolveNames()
	}
}

// resolveNames gives the nodes that refer to a group by its name the group's number. The group may come later.
func (p *parser) resolveNames() error {
	for _, n := range p.named {
		at, ok := p.names[n.name]
		if !ok {
			return fmt.Errorf("reference to non-existent subpattern %q", n.name)
		}
		n.n = at
	}
	return nil
}

// skip takes text off rest, and reports whether it was there.
func (p *parser) skip(text string) bool {
	rest, ok := strings.CutPrefix(p.rest, text)
	p.rest = rest
	return ok
}

// readAlternatives reads a|b|c until the end or a closing parenthesis. Options that are set within hold until there.
func (p *parser) readAlternatives() (*node, error) {
	was := p.flags
	defer func() { p.flags = was }()
	if p.depth++; p.depth > maxDepth {
		return nil, errors.New("parentheses are too deeply nested")
	}
	defer func() { p.depth-- }()
	var list []*node
	for {
		n, err := p.readSequence()
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		if !p.skip("|") {
			break
		}
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return &node{kind: alternative, subs: list}, nil
}

// readSequence reads one alternative: atoms with their quantifiers.
func (p *parser) readSequence() (*node, error) {
	n := &node{kind: concat}
	for {
		p.skipBlank()
		if text, ok := p.readQuoted(); ok {
			for _, r := range text {
				n.subs = append(n.subs, &node{kind: literal, rune: r, fold: p.fold})
			}
			if text == "" {
				continue
			}
			// A quantifier is of the last rune only.
		} else {
			if p.rest == "" || p.rest[0] == '|' || p.rest[0] == ')' {
				return n, nil
			}
			one, err := p.readAtom()
			if err != nil {
				return nil, err
			}
			n.subs = append(n.subs, one)
		}
		last := &n.subs[len(n.subs)-1]
		repeated, err := p.readQuantifier(*last)
		if err != nil {
			return nil, err
		}
		*last = repeated
	}
}

// skipBlank skips comments, and with the option x also white space.
func (p *parser) skipBlank() {
	for {
		switch {
		case strings.HasPrefix(p.rest, "(?#"):
			_, p.rest, _ = strings.Cut(p.rest, ")")
		case p.extended && p.rest != "" && strings.IndexByte(" \t\n\v\f\r", p.rest[0]) >= 0:
			p.rest = p.rest[1:]
		case p.extended && strings.HasPrefix(p.rest, "#"):
			_, p.rest, _ = strings.Cut(p.rest, "\n")
		default:
			return
		}
	}
}

// readQuoted reads \Q…\E, whose text is literal, and an \E alone, which means nothing.
func (p *parser) readQuoted() (string, bool) {
	if p.skip(`\E`) {
		return "", true
	}
	if !p.skip(`\Q`) {
		return "", false
	}
	text, rest, _ := strings.Cut(p.rest, `\E`)
	p.rest = rest
	return text, true
}

// readAtom reads what a quantifier may follow: a rune, an escape, a class, a group or an anchor.
func (p *parser) readAtom() (*node, error) {
	r, size := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[size:]
	switch r {
	case '\\':
		return p.readEscape()
	case '[':
		return p.readClass()
	case '(':
		return p.readGroup()
	case '.':
		if p.dotAll {
			return &node{kind: oneOf, set: anyRune}, nil
		}
		return &node{kind: oneOf, set: newline.negate()}, nil
	case '^':
		if p.multiline {
			return &node{kind: assertion, at: lineBegin}, nil
		}
		return &node{kind: assertion, at: textBegin}, nil
	case '$':
		if p.multiline {
			return &node{kind: assertion, at: lineEnd}, nil
		}
		return &node{kind: assertion, at: finalEnd}, nil
	case '*', '+', '?':
		return nil, errors.New("quantifier does not follow a repeatable item")
	}
	return &node{kind: literal, rune: r, fold: p.fold}, nil
}

// readQuantifier reads the quantifier that may follow a node, and returns the node with it. A ? behind a quantifier
// makes it lazy, a + possessive: an atomic group.
func (p *parser) readQuantifier(n *node) (*node, error) {
	p.skipBlank()
	low, high := 0, unbounded
	switch {
	case p.skip("*"):
	case p.skip("+"):
		low = 1
	case p.skip("?"):
		high = 1
	default:
		var ok bool
		var err error
		if low, high, ok, err = p.readBounds(); !ok || err != nil {
			return n, err
		}
	}
	out := &node{kind: repeat, subs: []*node{n}, min: low, max: high}
	switch {
	case p.skip("?"):
		out.lazy = true
	case p.skip("+"):
		out = &node{kind: atomic, subs: []*node{out}}
	}
	// A second quantifier, as in a**, is an error.
	p.skipBlank()
	if p.rest != "" && strings.IndexByte("*+?", p.rest[0]) >= 0 {
		return nil, errors.New("quantifier does not follow a repeatable item")
	}
	return out, nil
}

// readBounds reads {n}, {n,} or {n,m}. Other braces are literals: ok is false.
func (p *parser) readBounds() (low, high int, ok bool, err error) {
	end := strings.IndexByte(p.rest, '}')
	if !strings.HasPrefix(p.rest, "{") || end < 0 {
		return 0, 0, false, nil
	}
	first, second, two := strings.Cut(p.rest[1:end], ",")
	number := func(s string) int {
		if s == "" || strings.Trim(s, "0123456789") != "" {
			return -1
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			return maxRepeat + 1
		}
		return n
	}
	low = number(first)
	high = low
	if two {
		if high = number(second); second == "" {
			high = unbounded
		} else if high < 0 {
			return 0, 0, false, nil
		}
	}
	switch {
	case low < 0:
		return 0, 0, false, nil
	case low > maxRepeat || high > maxRepeat:
		return 0, 0, false, errors.New("number too big in {} quantifier")
	case high != unbounded && high < low:
		return 0, 0, false, errors.New("numbers out of order in {} quantifier")
	}
	p.rest = p.rest[end+1:]
	return low, high, true, nil
}
