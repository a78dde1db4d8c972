package pcre

import (
	"errors"
	"unicode"
	"unicode/utf8"
)

// The errors of a match that takes too much.
var (
	ErrMatchLimit = errors.New("match limit exceeded")
	ErrHeapLimit  = errors.New("heap limit exceeded")
)

// PCRE2's limits: how often a search goes back, and how much it may remember for that.
const (
	maxSteps  = 10_000_000
	maxFrames = 20 << 20 / 32
)

// machine runs a program on a text.
type machine struct {
	*program
	text  string
	from  int // where the search began
	reg   []int
	stack []frame
	steps int
	err   error
}

// frame is what is done when the machine goes back.
type frame struct {
	pc, at int
	low    int // of opStar: where its first rune may be given back; else -1
	reg    int // a register, which at is put back into; else -1
}

func (p *program) MatchString(s string) (bool, error) {
	at, err := p.find(s, 0)
	return at != nil, err
}

func (p *program) FindAll(s string, n int) (all [][]int, err error) {
	for from := 0; n < 0 || len(all) < n; {
		at, err := p.find(s, from)
		if at == nil || err != nil {
			return all, err
		}
		all = append(all, at)
		if from = at[1]; at[0] >= at[1] { // an empty match: the next begins behind the next rune
			_, size := utf8.DecodeRuneInString(s[from:])
			from += size
		}
		if from >= len(s) {
			break
		}
	}
	return all, nil
}

// find returns the first match that begins at from or after it.
func (p *program) find(s string, from int) ([]int, error) {
	m := &machine{program: p, text: s, from: from, reg: make([]int, p.registers)}
	for start := from; ; {
		for i := range m.reg {
			m.reg[i] = -1
		}
		m.reg[0] = start
		end, ok := m.run(0, start)
		if m.err != nil {
			return nil, m.err
		}
		if ok {
			m.reg[1] = end
			return m.reg[:2*(p.groups+1)], nil
		}
		if start >= len(s) || p.anchored() {
			return nil, nil
		}
		_, size := utf8.DecodeRuneInString(s[start:])
		start += size
	}
}

// anchored reports whether a match can begin only where the search does.
func (p *program) anchored() bool {
	first := p.code[0]
	return first.op == opAnchor && (first.at == textBegin || first.at == searchBegin)
}

// push remembers what to do when the machine goes back.
func (m *machine) push(f frame) {
	if len(m.stack) >= maxFrames {
		m.err = ErrHeapLimit
	}
	m.stack = append(m.stack, f)
}

// set changes a register, which going back undoes.
func (m *machine) set(reg, at int) {
	m.push(frame{at: m.reg[reg], low: -1, reg: reg})
	m.reg[reg] = at
}

// back goes back to the latest choice above the base of the stack.
func (m *machine) back(base int) (pc, at int, ok bool) {
	for len(m.stack) > base {
		top := len(m.stack) - 1
		f := m.stack[top]
		m.stack = m.stack[:top]
		if f.reg >= 0 {
			m.reg[f.reg] = f.at
			continue
		}
		if m.steps++; m.steps > maxSteps {
			m.err = ErrMatchLimit
		}
		if f.low >= 0 {
			_, size := utf8.DecodeLastRuneInString(m.text[:f.at])
			if f.at -= size; f.at > f.low {
				m.stack = append(m.stack, f)
			}
		}
		return f.pc, f.at, true
	}
	return 0, 0, false
}

// undo drops the choices above the base, and undoes what has been set since.
func (m *machine) undo(base int) {
	for top := len(m.stack) - 1; top >= base; top-- {
		if f := m.stack[top]; f.reg >= 0 {
			m.reg[f.reg] = f.at
		}
	}
	m.stack = m.stack[:base]
}

// commit drops the choices above the base, but not what going back undoes.
func (m *machine) commit(base int) {
	kept := m.stack[:base]
	for _, f := range m.stack[base:] {
		if f.reg >= 0 {
			kept = append(kept, f)
		}
	}
	m.stack = kept
}

// run matches from a place on, until opEnd. It returns where that was. Its choices stay on the stack.
func (m *machine) run(pc, at int) (end int, ok bool) {
	base := len(m.stack)
	for m.err == nil {
		in := &m.code[pc]
		if in.op == opEnd {
			return at, true
		}
		if next, to, ok := m.step(in, pc, at); ok {
			pc, at = next, to
		} else if pc, at, ok = m.back(base); !ok {
			return 0, false
		}
	}
	return 0, false
}

// step does one instruction, and returns the next and the place.
func (m *machine) step(in *instruction, pc, at int) (next, to int, ok bool) {
	switch in.op {
	case opRune, opSet:
		r, size := m.rune(at)
		return pc + 1, at + size, size > 0 && in.takes(r)
	case opStar:
		return pc + 1, m.star(in, pc, at), true
	case opSplit:
		m.push(frame{pc: in.y, at: at, low: -1, reg: -1})
		return in.x, at, true
	case opJump:
		return in.x, at, true
	case opSave:
		m.set(in.n, at)
		return pc + 1, at, true
	case opClose:
		m.set(2*in.n, m.reg[in.x])
		m.set(2*in.n+1, at)
		return pc + 1, at, true
	case opMoved:
		if m.reg[in.n] == at {
			return in.x, at, true
		}
		return pc + 1, at, true
	case opRef:
		to, ok = m.again(in, at)
		return pc + 1, to, ok
	case opAnchor:
		return pc + 1, at, m.holds(in.at, at)
	case opBack:
		to, ok = m.before(at, in.n)
		return pc + 1, to, ok
	case opCond:
		if m.reg[2*in.n+1] < 0 {
			return in.y, at, true
		}
		return pc + 1, at, true
	}
	return m.part(in, pc, at)
}

// part runs a lookaround or an atomic group.
func (m *machine) part(in *instruction, pc, at int) (next, to int, ok bool) {
	base := len(m.stack)
	end, matched := m.run(pc+1, at)
	switch {
	case in.op == opAtomic:
		m.commit(base)
		return in.x, end, matched
	case matched && !in.neg:
		m.commit(base)
		return in.x, at, true
	case matched:
		m.undo(base)
	case in.neg:
		return in.x, at, true
	}
	return in.y, at, in.y > 0
}

func (m *machine) rune(at int) (r rune, size int) {
	if at < len(m.text) && m.text[at] < utf8.RuneSelf {
		return rune(m.text[at]), 1
	}
	return utf8.DecodeRuneInString(m.text[at:])
}

// takes reports whether the instruction takes the rune.
func (in *instruction) takes(r rune) bool {
	if in.op != opRune {
		return in.set.has(r)
	}
	return r == in.rune || in.fold && sameFold(r, in.rune)
}

func sameFold(a, b rune) bool {
	for f := unicode.SimpleFold(a); f != a; f = unicode.SimpleFold(f) {
		if f == b {
			return true
		}
	}
	return a == b
}

// star takes as many runes as there are.
func (m *machine) star(in *instruction, pc, at int) int {
	end := at
	for end < len(m.text) {
		r, size := m.rune(end)
		if !in.takes(r) {
			break
		}
		end += size
	}
	if end > at {
		m.push(frame{pc: pc + 1, at: end, low: at, reg: -1})
	}
	return end
}

// again takes what a group has matched.
func (m *machine) again(in *instruction, at int) (int, bool) {
	begin, end := m.reg[2*in.n], m.reg[2*in.n+1]
	if end < 0 || begin < 0 {
		return 0, false
	}
	for begin < end {
		want, n := m.rune(begin)
		got, size := m.rune(at)
		if size == 0 || got != want && !(in.fold && sameFold(got, want)) {
			return 0, false
		}
		begin, at = begin+n, at+size
	}
	return at, true
}

// before goes back some runes.
func (m *machine) before(at, n int) (int, bool) {
	for range n {
		_, size := utf8.DecodeLastRuneInString(m.text[:at])
		if size == 0 {
			return 0, false
		}
		at -= size
	}
	return at, true
}

// holds reports whether an assertion holds at a place.
func (m *machine) holds(a anchor, at int) bool {
	last := len(m.text)
	switch a {
	case textBegin:
		return at == 0
	case lineBegin:
		return at == 0 || at < last && m.text[at-1] == '\n'
	case textEnd:
		return at == last
	case finalEnd:
		return at == last || at == last-1 && m.text[at] == '\n'
	case lineEnd:
		return at == last || m.text[at] == '\n'
	case searchBegin:
		return at == m.from
	}
	isWord := func(i int) bool { return i >= 0 && i < last && words.has(rune(m.text[i])) }
	return (isWord(at-1) != isWord(at)) == (a == boundary)
}
