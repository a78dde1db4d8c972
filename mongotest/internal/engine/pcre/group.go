package pcre

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// group reads a group, from behind its parenthesis.
func (p *parser) group() (*node, error) {
	switch {
	case strings.HasPrefix(p.rest, "*"):
		return nil, errors.New("verbs such as (*SKIP) aren't supported")
	case !p.skip("?"):
		return p.captured("")
	}
	for _, l := range []struct {
		sign        string
		neg, behind bool
	}{{"=", false, false}, {"!", true, false}, {"<=", false, true}, {"<!", true, true}} {
		if p.skip(l.sign) {
			return p.look(l.neg, l.behind)
		}
	}
	switch {
	case p.skip(":"):
		return p.inside()
	case p.skip(">"):
		n, err := p.inside()
		return &node{kind: atomic, subs: []*node{n}}, err
	case p.skip("("):
		return p.conditional()
	case p.skip("|"):
		return nil, errors.New("branch reset groups aren't supported")
	case p.skip("C"):
		return nil, errors.New("callouts aren't supported")
	case p.skip("P="):
		name, err := p.name(")")
		n := &node{kind: reference, name: name, fold: p.fold}
		p.named = append(p.named, n)
		return n, err
	case p.rest != "" && (strings.IndexByte("R&0123456789+", p.rest[0]) >= 0) || strings.HasPrefix(p.rest, "P>") ||
		len(p.rest) > 1 && p.rest[0] == '-' && p.rest[1] >= '0' && p.rest[1] <= '9':
		return nil, errors.New("recursion and calls of groups aren't supported")
	}
	for open, end := range map[string]string{"P<": ">", "<": ">", "'": "'"} {
		if p.skip(open) {
			name, err := p.name(end)
			if err != nil {
				return nil, err
			}
			return p.captured(name)
		}
	}
	return p.options()
}

// inside reads the alternatives of a group, and its closing parenthesis.
func (p *parser) inside() (*node, error) {
	n, err := p.alternatives()
	if err == nil && !p.skip(")") {
		err = errors.New("missing closing parenthesis")
	}
	return n, err
}

func (p *parser) captured(name string) (*node, error) {
	p.groups++
	out := &node{kind: capture, n: p.groups}
	if name != "" {
		if _, taken := p.names[name]; taken {
			return nil, fmt.Errorf("two named subpatterns have the same name %q", name)
		}
		p.names[name] = out.n
	}
	n, err := p.inside()
	out.subs = []*node{n}
	return out, err
}

func (p *parser) look(neg, behind bool) (*node, error) {
	n, err := p.inside()
	if err == nil && behind {
		_, err = n.behindWidths()
	}
	return &node{kind: look, subs: []*node{n}, neg: neg, behind: behind}, err
}

// name reads a group's name until a sign.
func (p *parser) name(end string) (string, error) {
	name, rest, ok := strings.Cut(p.rest, end)
	for i, r := range name {
		if !words.has(r) || i == 0 && digits.has(r) {
			ok = false
		}
	}
	if !ok || name == "" {
		return "", errors.New("subpattern name expected")
	}
	p.rest = rest
	return name, nil
}

// conditional reads (?(condition)yes|no), from behind its second parenthesis.
func (p *parser) conditional() (*node, error) {
	out := &node{kind: conditional}
	if strings.HasPrefix(p.rest, "?") {
		test, err := p.group()
		if err != nil {
			return nil, err
		}
		if test.kind != look {
			return nil, errors.New("assertion expected after (?( or (?(?C)")
		}
		out.test = test
	} else if err := p.condition(out); err != nil {
		return nil, err
	}
	n, err := p.inside()
	if err != nil {
		return nil, err
	}
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

// condition reads the number or the name of a group.
func (p *parser) condition(out *node) error {
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

// options reads (?i), which holds until the end of the group, and (?i:…).
func (p *parser) options() (*node, error) {
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
			n, err := p.inside()
			p.flags = was
			return n, err
		default:
			return nil, fmt.Errorf("unrecognized or unsupported character %q after (?", c)
		}
	}
}
