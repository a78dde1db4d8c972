package pcre

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The groups that this file reads:
//
//	(…)                             captures, with a number
//	(?<name>…) (?P<name>…) (?'name'…)   captures, with a number and a name
//	(?:…)                           only groups
//	(?>…)                           atomic: once it has matched, the matcher doesn't go back into it
//	(?=…) (?!…)                     lookahead: what follows matches, or doesn't
//	(?<=…) (?<!…)                   lookbehind: what comes before matches, or doesn't
//	(?(1)…|…) (?(<name>)…|…)        the first alternative if the group took part, else the second
//	(?(?=…)…|…)                     the first alternative if the lookaround holds, else the second
//	(?i) (?-i) (?^i) (?i:…)         options
//	(?P=name)                       what the group has matched

// readGroup reads a group, from behind its parenthesis.
func (p *parser) readGroup() (*node, error) {
	switch {
	case strings.HasPrefix(p.rest, "*"):
		return nil, errors.New("verbs such as (*SKIP) aren't supported")
	case !p.skip("?"):
		return p.readCapture("")
	}
	for _, l := range []struct {
		sign        string
		neg, behind bool
	}{{"=", false, false}, {"!", true, false}, {"<=", false, true}, {"<!", true, true}} {
		if p.skip(l.sign) {
			return p.readLook(l.neg, l.behind)
		}
	}
	switch {
	case p.skip(":"):
		return p.readInside()
	case p.skip(">"):
		n, err := p.readInside()
		return &node{kind: atomic, subs: []*node{n}}, err
	case p.skip("("):
		return p.readConditional()
	case p.skip("|"):
		return nil, errors.New("branch reset groups aren't supported")
	case p.skip("C"):
		return nil, errors.New("callouts aren't supported")
	case p.skip("P="): // (?P=name) is what the group has matched
		name, err := p.readName(")")
		n := &node{kind: reference, name: name, fold: p.fold}
		p.named = append(p.named, n)
		return n, err
	// (?R), (?1), (?&name), (?P>name), (?+1) and (?-1) run a group's expression again.
	case p.rest != "" && (strings.IndexByte("R&0123456789+", p.rest[0]) >= 0) || strings.HasPrefix(p.rest, "P>") ||
		len(p.rest) > 1 && p.rest[0] == '-' && p.rest[1] >= '0' && p.rest[1] <= '9':
		return nil, errors.New("recursion and calls of groups aren't supported")
	}
	for open, end := range map[string]string{"P<": ">", "<": ">", "'": "'"} {
		if p.skip(open) {
			name, err := p.readName(end)
			if err != nil {
				return nil, err
			}
			return p.readCapture(name)
		}
	}
	return p.readOptions()
}

// readInside reads the alternatives of a group, and its closing parenthesis.
func (p *parser) readInside() (*node, error) {
	n, err := p.readAlternatives()
	if err == nil && !p.skip(")") {
		err = errors.New("missing closing parenthesis")
	}
	return n, err
}

// readCapture reads a group that captures. name is "" if it has only a number. Groups are numbered by their opening
// parentheses.
func (p *parser) readCapture(name string) (*node, error) {
	p.groups++
	out := &node{kind: capture, n: p.groups}
	if name != "" {
		if _, taken := p.names[name]; taken {
			return nil, fmt.Errorf("two named subpatterns have the same name %q", name)
		}
		p.names[name] = out.n
	}
	n, err := p.readInside()
	out.subs = []*node{n}
	return out, err
}

// readLook reads a lookahead or, with behind, a lookbehind. neg says that it must not match. What a lookbehind matches
// must have a fixed width, because the matcher goes back by it.
func (p *parser) readLook(neg, behind bool) (*node, error) {
	n, err := p.readInside()
	if err == nil && behind {
		_, err = n.countBehindWidths()
	}
	return &node{kind: look, subs: []*node{n}, neg: neg, behind: behind}, err
}

// readName reads a group's name until the sign end.
func (p *parser) readName(end string) (string, error) {
	name, rest, ok := strings.Cut(p.rest, end)
	for i, r := range name {
		if !words.contains(r) || i == 0 && digits.contains(r) {
			ok = false
		}
	}
	if !ok || name == "" {
		return "", errors.New("subpattern name expected")
	}
	p.rest = rest
	return name, nil
}

// readConditional reads (?(condition)yes|no), from behind its second parenthesis. A condition is a group, which must
// have taken part, or a lookaround.
func (p *parser) readConditional() (*node, error) {
	out := &node{kind: conditional}
	if strings.HasPrefix(p.rest, "?") {
		test, err := p.readGroup()
		if err != nil {
			return nil, err
		}
		if test.kind != look {
			return nil, errors.New("assertion expected after (?( or (?(?C)")
		}
		out.test = test
	} else if err := p.readCondition(out); err != nil {
		return nil, err
	}
	n, err := p.readInside()
	if err != nil {
		return nil, err
	}
	// Without a second alternative it may match nothing.
	switch {
	case n.kind != alternative:
		out.subs = []*node{n, {kind: empty}}
	case len(n.subs) == 2:
		out.subs = n.subs
	default:
		return nil, errors.New("conditional subpattern contains more than two branches")
	}
	return out, nil
}

// readCondition reads the number or the name of a group. -1 is the group before, +1 the next one.
func (p *parser) readCondition(out *node) error {
	text, rest, ok := strings.Cut(p.rest, ")")
	if !ok {
		return errors.New("missing closing parenthesis for condition")
	}
	p.rest = rest
	if n, err := strconv.Atoi(text); err == nil {
		switch {
		case text[0] == '-':
			n += p.groups + 1
		case text[0] == '+':
			n += p.groups
		}
		if n <= 0 {
			return errors.New("reference to non-existent subpattern")
		}
		out.n, p.highest = n, max(p.highest, n)
		return nil
	}
	if strings.HasPrefix(text, "R") || text == "DEFINE" || strings.HasPrefix(text, "VERSION") {
		return fmt.Errorf("the condition %q isn't supported", text)
	}
	out.name = strings.Trim(text, "<>'")
	p.named = append(p.named, out)
	return nil
}

// readOptions reads (?i), which holds until the end of the group around it, and (?i:…). A ^ switches all options off,
// and a
// - those that follow it.
func (p *parser) readOptions() (*node, error) {
	was, set := p.flags, true
	for {
		if p.rest == "" {
			return nil, errors.New("missing closing parenthesis")
		}
		c := p.rest[0]
		p.rest = p.rest[1:]
		switch c {
		case '^':
			p.flags = flags{}
		case '-':
			set = false
		case 'i':
			p.fold = set
		case 'm':
			p.multiline = set
		case 's':
			p.dotAll = set
		case 'x':
			p.extended = set
		case ')':
			return &node{kind: empty}, nil
		case ':':
			n, err := p.readInside()
			p.flags = was
			return n, err
		default:
			return nil, fmt.Errorf("unrecognized or unsupported character %q after (?", c)
		}
	}
}
