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

// machine runs a program on a text. It is made for each search. How a+ab is matched with aab at the place 0, by the
// program 0 opRune a, 1 opStar a, 2 opRune a, 3 opRune b, 4 opEnd:
//
//	0 takes the first a
//	1 takes the second a, and pushes a frame: at instruction 2, places 2 down to 1
//	2 fails at b, so the machine goes back: instruction 2 at the place 1
//	2 takes the second a
//	3 takes b
//	4 ends: the match is from 0 to 3
type machine struct {
	*program
	text  string
	from  int     // where the search began
	reg   []int   // the registers, -1 for one without a place
	stack []frame // what to do when the machine goes back
	steps int     // how often it has gone back
	err   error   // a limit that was reached
}

// frame is what is done when the machine goes back.
type frame struct {
	pc, at int // go on with the instruction pc at the place at
	low    int // of opStar: give back a rune at a time, down to this place; else -1
	reg    int // only put at back into this register; else -1
}

// MatchString reports whether there is a match: see Regexp.
func (p *program) MatchString(s string) (bool, error) {
	at, err := p.findMatch(s, 0)
	return at != nil, err
}

// FindAll returns the matches one after the other: see Regexp. Each search begins where the last match ended, so that
// \G means this place.
func (p *program) FindAll(s string, n int) (all [][]int, err error) {
	for from := 0; n < 0 || len(all) < n; {
		at, err := p.findMatch(s, from)
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

// findMatch returns the first match that begins at from or after it, as the registers of the groups, nil if there is
// none.
func (p *program) findMatch(s string, from int) ([]int, error) {
	m := &machine{program: p, text: s, from: from, reg: make([]int, p.registers)}
	for start := from; ; {
		for i := range m.reg {
			m.reg[i] = -1
		}
		m.reg[0] = start // \K moves it
		end, ok := m.run(0, start)
		if m.err != nil {
			return nil, m.err
		}
		if ok {
			m.reg[1] = end
			return m.reg[:2*(p.groups+1)], nil
		}
		if start >= len(s) || p.isAnchored() {
			return nil, nil
		}
		_, size := utf8.DecodeRuneInString(s[start:])
		start += size
	}
}

// isAnchored reports whether a match can begin only where the search does, so that no other place need be tried.
func (p *program) isAnchored() bool {
	// An alternative at the top begins with a split, so it isn't found to be anchored. It is only slower.
	first := p.code[0]
	return first.op == opAnchor && (first.at == textBegin || first.at == searchBegin)
}

// pushFrame remembers what to do when the machine goes back. Its limit is PCRE2's heap limit.
func (m *machine) pushFrame(f frame) {
	if len(m.stack) >= maxFrames {
		m.err = ErrHeapLimit
	}
	m.stack = append(m.stack, f)
}

// setRegister changes a register, which going back undoes.
func (m *machine) setRegister(reg, at int) {
	m.pushFrame(frame{at: m.reg[reg], low: -1, reg: reg})
	m.reg[reg] = at
}

// goBack goes back to the latest choice above the base of the stack, and returns where to go on. It reports false if
// there is no choice left. Registers that were set after the choice get their old places on the way. Only choices count
// for the match limit.
func (m *machine) goBack(base int) (pc, at int, ok bool) {
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
		// A star has one frame for all its runes: give back the last one, and stay on the stack while there are more.
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

// undoChoices drops the choices above the base, and undoes what has been set since.
func (m *machine) undoChoices(base int) {
	for top := len(m.stack) - 1; top >= base; top-- {
		if f := m.stack[top]; f.reg >= 0 {
			m.reg[f.reg] = f.at
		}
	}
	m.stack = m.stack[:base]
}

// dropChoices drops the choices above the base, but not what going back undoes. An atomic group has no choices after
// it.
func (m *machine) dropChoices(base int) {
	kept := m.stack[:base]
	for _, f := range m.stack[base:] {
		if f.reg >= 0 {
			kept = append(kept, f)
		}
	}
	m.stack = kept
}

// run matches from the instruction pc and a place on, until opEnd. It returns the place there. The choices that it made
// stay on the stack.
func (m *machine) run(pc, at int) (end int, ok bool) {
	base := len(m.stack)
	// A limit that is reached is an error of the whole search, so all runs end.
	for m.err == nil {
		in := &m.code[pc]
		if in.op == opEnd {
			return at, true
		}
		if next, to, ok := m.runStep(in, pc, at); ok {
			pc, at = next, to
		} else if pc, at, ok = m.goBack(base); !ok {
			return 0, false
		}
	}
	return 0, false
}

// runStep does one instruction, and returns the index of the next instruction and the place. ok is false if it fails.
func (m *machine) runStep(in *instruction, pc, at int) (next, to int, ok bool) {
	switch in.op {
	case opRune, opSet:
		r, size := m.decodeRune(at)
		return pc + 1, at + size, size > 0 && in.takesRune(r)
	case opStar:
		return pc + 1, m.takeStar(in, pc, at), true
	case opSplit:
		m.pushFrame(frame{pc: in.y, at: at, low: -1, reg: -1})
		return in.x, at, true
	case opJump:
		return in.x, at, true
	case opSave:
		m.setRegister(in.n, at)
		return pc + 1, at, true
	case opClose:
		m.setRegister(2*in.n, m.reg[in.x])
		m.setRegister(2*in.n+1, at)
		return pc + 1, at, true
	case opMoved:
		if m.reg[in.n] == at {
			return in.x, at, true
		}
		return pc + 1, at, true
	case opRef:
		to, ok = m.takeAgain(in, at)
		return pc + 1, to, ok
	case opAnchor:
		return pc + 1, at, m.checkAnchor(in.at, at)
	case opBack:
		to, ok = m.stepBack(at, in.n)
		return pc + 1, to, ok
	case opCond:
		if m.reg[2*in.n+1] < 0 {
			return in.y, at, true
		}
		return pc + 1, at, true
	}
	return m.runPart(in, pc, at)
}

// runPart runs a lookaround or an atomic group, whose instructions come next. It calls run, so that the part has a base
// of the stack of its own. A lookaround leaves the place where it was, whether it matched or not.
func (m *machine) runPart(in *instruction, pc, at int) (next, to int, ok bool) {
	base := len(m.stack)
	end, matched := m.run(pc+1, at)
	switch {
	case in.op == opAtomic:
		m.dropChoices(base)
		return in.x, end, matched
	case matched && !in.neg: // groups within a lookaround keep what they captured
		m.dropChoices(base)
		return in.x, at, true
	case matched: // a negative lookaround that mustn't match
		m.undoChoices(base)
	case in.neg:
		return in.x, at, true
	}
	return in.y, at, in.y > 0
}

// decodeRune returns the rune at a place, and its size, 0 at the end.
func (m *machine) decodeRune(at int) (r rune, size int) {
	if at < len(m.text) && m.text[at] < utf8.RuneSelf {
		return rune(m.text[at]), 1
	}
	return utf8.DecodeRuneInString(m.text[at:])
}

// takesRune reports whether the instruction takes the rune.
func (in *instruction) takesRune(r rune) bool {
	if in.op != opRune {
		return in.set.contains(r)
	}
	return r == in.rune || in.fold && equalsFolded(r, in.rune)
}

// equalsFolded reports whether two runes are the same without regard to case.
func equalsFolded(a, b rune) bool {
	for f := unicode.SimpleFold(a); f != a; f = unicode.SimpleFold(f) {
		if f == b {
			return true
		}
	}
	return a == b
}

// takeStar takes as many runes as there are, and pushes one frame by which goBack gives them back one by one.
func (m *machine) takeStar(in *instruction, pc, at int) int {
	end := at
	for end < len(m.text) {
		r, size := m.decodeRune(end)
		if !in.takesRune(r) {
			break
		}
		end += size
	}
	if end > at {
		m.pushFrame(frame{pc: pc + 1, at: end, low: at, reg: -1})
	}
	return end
}

// takeAgain takes what a group has matched. It fails if the group took no part.
func (m *machine) takeAgain(in *instruction, at int) (int, bool) {
	begin, end := m.reg[2*in.n], m.reg[2*in.n+1]
	if end < 0 || begin < 0 {
		return 0, false
	}
	for begin < end {
		want, n := m.decodeRune(begin)
		got, size := m.decodeRune(at)
		if size == 0 || got != want && !(in.fold && equalsFolded(got, want)) {
			return 0, false
		}
		begin, at = begin+n, at+size
	}
	return at, true
}

// stepBack goes back n runes, and fails if there are fewer.
func (m *machine) stepBack(at, n int) (int, bool) {
	for range n {
		_, size := utf8.DecodeLastRuneInString(m.text[:at])
		if size == 0 {
			return 0, false
		}
		at -= size
	}
	return at, true
}

// checkAnchor reports whether an assertion holds at a place. A place is between two runes: at-1 is the byte before it.
func (m *machine) checkAnchor(a anchor, at int) bool {
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
	isWord := func(i int) bool { return i >= 0 && i < last && words.contains(rune(m.text[i])) }
	return (isWord(at-1) != isWord(at)) == (a == boundary)
}
