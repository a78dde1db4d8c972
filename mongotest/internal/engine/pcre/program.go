package pcre

import "errors"

// op is what an instruction does. Where nothing else is said, the machine goes on with the next instruction. An
// instruction that fails makes it go back.
type op uint8

const (
	opRune   op = iota // the rune
	opSet              // a rune of the set
	opSplit            // tries x, and then y
	opJump             // to x
	opSave             // keeps the place in the register n
	opClose            // group n took part, from the place in the register x on
	opRef              // what group n matched
	opAnchor           // the place itself
	opStar             // runes of the set, as many as there are; then fewer
	// the instructions from the next on, until opEnd; then goes on at x. If it fails, at y, unless that is 0
	opLook
	opAtomic // the same, without going back into them, and from where they end
	opBack   // goes back n runes
	opCond   // goes to the next if group n took part, else to y
	opMoved  // goes to x if the place is still that of the register n: the loop's turn took nothing
	opEnd    // the end of the expression, or of a part
)

// instruction is a step of a program.
type instruction struct {
	op   op
	fold bool   // opRune, opStar, opRef: upper and lower case are the same
	neg  bool   // opLook: the part must not match
	at   anchor // opAnchor
	rune rune   // opRune
	n    int    // a group, a register, or a number of runes
	x, y int    // indexes of instructions; opClose: x is a register
	set  *set   // opSet, opStar
}

// program is an expression that the matcher of this package runs.
type program struct {
	code   []instruction
	groups int
	// registers is how many registers there are. Group n has 2n and 2n+1, and 2*groups+1+n while it is open. Loops have
	// those after these.
	registers int
}

// maxCode is how many instructions an expression may have. Repeats are written out, so a short expression can have
// many.
const maxCode = 200_000

var errTooLarge = errors.New("regular expression is too large")

// compile parses an expression and makes its program.
func compile(pattern string, f flags) (*program, error) {
	n, groups, err := parse(pattern, f)
	if err != nil {
		return nil, err
	}
	p := &program{groups: groups, registers: 3*groups + 2}
	if err := p.addNode(n); err != nil {
		return nil, err
	}
	p.emit(instruction{op: opEnd}) // run returns there
	return p, nil
}

// emit adds an instruction, and returns its index.
func (p *program) emit(in instruction) int {
	p.code = append(p.code, in)
	return len(p.code) - 1
}

// nextIndex returns the index of the next instruction.
func (p *program) nextIndex() int { return len(p.code) }

// addNode adds the instructions of a node.
func (p *program) addNode(n *node) error {
	if len(p.code) > maxCode {
		return errTooLarge
	}
	switch n.kind {
	case literal:
		p.emit(instruction{op: opRune, rune: n.rune, fold: n.fold})
	case oneOf:
		p.emit(instruction{op: opSet, set: n.set})
	case reference:
		p.emit(instruction{op: opRef, n: n.n, fold: n.fold})
	case assertion:
		p.emit(instruction{op: opAnchor, at: n.at})
	case keep:
		p.emit(instruction{op: opSave, n: 0})
	case back:
		p.emit(instruction{op: opBack, n: n.n})
	case concat:
		for _, s := range n.subs {
			if err := p.addNode(s); err != nil {
				return err
			}
		}
	case alternative:
		return p.addAlternatives(n.subs)
	case capture:
		// The begin is kept aside until the group has matched, because \1 within the group means its last match.
		open := 2*p.groups + 1 + n.n
		p.emit(instruction{op: opSave, n: open})
		if err := p.addNode(n.subs[0]); err != nil {
			return err
		}
		p.emit(instruction{op: opClose, n: n.n, x: open})
	case repeat:
		return p.addRepeat(n)
	case look, atomic:
		return p.addPart(n)
	case conditional:
		return p.addConditional(n)
	}
	return nil
}

// addAlternatives adds the instructions of a|b|c:
//
//	0 opSplit 1, 3
//	1 opRune a
//	2 opJump 7
//	3 opSplit 4, 6
//	4 opRune b
//	5 opJump 7
//	6 opRune c
func (p *program) addAlternatives(subs []*node) error {
	var ends []int
	for i, s := range subs {
		split := -1
		if i < len(subs)-1 {
			split = p.emit(instruction{op: opSplit, x: p.nextIndex() + 1})
		}
		if err := p.addNode(s); err != nil {
			return err
		}
		if split >= 0 {
			ends = append(ends, p.emit(instruction{op: opJump}))
			p.code[split].y = p.nextIndex()
		}
	}
	for _, at := range ends {
		p.code[at].x = p.nextIndex()
	}
	return nil
}

// addRepeat adds the instructions of the sub as often as it must match, and then as often as it may, each time with a
// split to the end. Of a{1,3}:
//
//	0 opRune a
//	1 opSplit 2, 5
//	2 opRune a
//	3 opSplit 4, 5
//	4 opRune a
func (p *program) addRepeat(n *node) error {
	sub := n.subs[0]
	for range n.min {
		if err := p.addNode(sub); err != nil {
			return err
		}
	}
	if n.max == unbounded {
		return p.addLoop(n)
	}
	var splits []int
	for range n.max - n.min {
		splits = append(splits, p.emit(instruction{op: opSplit}))
		if err := p.addNode(sub); err != nil {
			return err
		}
	}
	for _, at := range splits {
		p.setBranch(at, at+1, p.nextIndex(), n.lazy)
	}
	return nil
}

// addLoop adds a loop. A turn that takes nothing ends it, because (a*)* would never end otherwise. Only a sub that may
// take nothing is checked. Of (?:a*|b)*, where r is a register of its own:
//
//	0 opSplit 1, 8
//	1 opSave r
//	2 opSplit 3, 5
//	3 opStar a
//	4 opJump 6
//	5 opRune b
//	6 opMoved r, 8    to the end if the place is still that of r
//	7 opJump 0
func (p *program) addLoop(n *node) error {
	sub := n.subs[0]
	// The usual case, a star of single runes, is one instruction and one frame.
	if one := sub.runeSet(); one != nil && !n.lazy {
		p.emit(instruction{op: opStar, set: one})
		return nil
	}
	w, fixed := sub.countWidth()
	checked := !fixed || w == 0 // a turn may take nothing
	split := p.emit(instruction{op: opSplit})
	register := p.registers
	if checked {
		p.registers++
		p.emit(instruction{op: opSave, n: register})
	}
	if err := p.addNode(sub); err != nil {
		return err
	}
	moved := p.nextIndex()
	if checked {
		p.emit(instruction{op: opMoved, n: register})
	}
	p.emit(instruction{op: opJump, x: split})
	if checked {
		p.code[moved].x = p.nextIndex()
	}
	p.setBranch(split, split+1, p.nextIndex(), n.lazy)
	return nil
}

// setBranch makes a split at an index try the turn of a loop first, or the way out if it is lazy.
func (p *program) setBranch(at, turn, out int, lazy bool) {
	if lazy {
		turn, out = out, turn
	}
	p.code[at].x, p.code[at].y = turn, out
}

// addPart adds a lookaround or an atomic group, whose instructions end with an opEnd of their own. Of (?=a)b:
//
//	0 opLook 3        run what follows; if it matches, go on at 3
//	1 opRune a
//	2 opEnd
//	3 opRune b
func (p *program) addPart(n *node) error {
	in := instruction{op: opAtomic}
	if n.kind == look {
		in = instruction{op: opLook, neg: n.neg}
	}
	at := p.emit(in)
	sub := n.subs[0]
	if n.behind {
		var err error
		if sub, err = p.makeBehind(sub); err != nil {
			return err
		}
	}
	if err := p.addNode(sub); err != nil {
		return err
	}
	p.emit(instruction{op: opEnd})
	p.code[at].x = p.nextIndex()
	return nil
}

// makeBehind returns a node whose alternatives first go back by their widths.
func (p *program) makeBehind(n *node) (*node, error) {
	widths, err := n.countBehindWidths()
	if err != nil {
		return nil, err
	}
	list := []*node{n}
	if n.kind == alternative {
		list = n.subs
	}
	out := &node{kind: alternative}
	for i, s := range list {
		out.subs = append(out.subs, &node{kind: concat, subs: []*node{{kind: back, n: widths[i]}, s}})
	}
	return out, nil
}

// addConditional adds a test, and what follows if it holds and if it doesn't. Of (?(1)a|b):
//
//	0 opCond 1, 3     to 3 if group 1 took no part
//	1 opRune a
//	2 opJump 4
//	3 opRune b
func (p *program) addConditional(n *node) error {
	at := p.nextIndex()
	// The first instruction of either test has y as the place to go to if it fails.
	if n.test == nil {
		p.emit(instruction{op: opCond, n: n.n})
	} else if err := p.addPart(n.test); err != nil {
		return err
	}
	if err := p.addNode(n.subs[0]); err != nil {
		return err
	}
	jump := p.emit(instruction{op: opJump})
	p.code[at].y = p.nextIndex()
	if err := p.addNode(n.subs[1]); err != nil {
		return err
	}
	p.code[jump].x = p.nextIndex()
	return nil
}
