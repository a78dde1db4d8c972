package pcre

import "errors"

// op is what an instruction does.
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
	fold bool
	neg  bool
	at   anchor
	rune rune
	n    int
	x, y int
	set  *set
}

// program is an expression that the matcher of this package runs.
type program struct {
	code   []instruction
	groups int
	// two for each group, the whole match being group 0, one more for each group that is open, and those of loops
	registers int
}

// maxCode is how many instructions an expression may have.
const maxCode = 200_000

var errTooLarge = errors.New("regular expression is too large")

func compile(pattern string, f flags) (*program, error) {
	n, groups, err := parse(pattern, f)
	if err != nil {
		return nil, err
	}
	p := &program{groups: groups, registers: 3*groups + 2}
	if err := p.add(n); err != nil {
		return nil, err
	}
	p.emit(instruction{op: opEnd})
	return p, nil
}

func (p *program) emit(in instruction) int {
	p.code = append(p.code, in)
	return len(p.code) - 1
}

// here is the place of the next instruction.
func (p *program) here() int { return len(p.code) }

// add adds the instructions of a node.
func (p *program) add(n *node) error {
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
			if err := p.add(s); err != nil {
				return err
			}
		}
	case alternative:
		return p.addAlternatives(n.subs)
	case capture:
		open := 2*p.groups + 1 + n.n
		p.emit(instruction{op: opSave, n: open})
		if err := p.add(n.subs[0]); err != nil {
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

func (p *program) addAlternatives(subs []*node) error {
	var ends []int
	for i, s := range subs {
		split := -1
		if i < len(subs)-1 {
			split = p.emit(instruction{op: opSplit, x: p.here() + 1})
		}
		if err := p.add(s); err != nil {
			return err
		}
		if split >= 0 {
			ends = append(ends, p.emit(instruction{op: opJump}))
			p.code[split].y = p.here()
		}
	}
	for _, at := range ends {
		p.code[at].x = p.here()
	}
	return nil
}

// addRepeat repeats the instructions of the sub as often as must be, and then as often as may be.
func (p *program) addRepeat(n *node) error {
	sub := n.subs[0]
	for range n.min {
		if err := p.add(sub); err != nil {
			return err
		}
	}
	if n.max == unbounded {
		return p.addLoop(n)
	}
	var splits []int
	for range n.max - n.min {
		splits = append(splits, p.emit(instruction{op: opSplit}))
		if err := p.add(sub); err != nil {
			return err
		}
	}
	for _, at := range splits {
		p.branch(at, at+1, p.here(), n.lazy)
	}
	return nil
}

// addLoop adds a loop that ends when a turn of it takes nothing.
func (p *program) addLoop(n *node) error {
	sub := n.subs[0]
	if one := sub.single(); one != nil && !n.lazy {
		p.emit(instruction{op: opStar, set: one})
		return nil
	}
	w, fixed := sub.width()
	checked := !fixed || w == 0
	split := p.emit(instruction{op: opSplit})
	register := p.registers
	if checked {
		p.registers++
		p.emit(instruction{op: opSave, n: register})
	}
	if err := p.add(sub); err != nil {
		return err
	}
	moved := p.here()
	if checked {
		p.emit(instruction{op: opMoved, n: register})
	}
	p.emit(instruction{op: opJump, x: split})
	if checked {
		p.code[moved].x = p.here()
	}
	p.branch(split, split+1, p.here(), n.lazy)
	return nil
}

// branch makes a split try the turn first, or the way out if it is lazy.
func (p *program) branch(at, turn, out int, lazy bool) {
	if lazy {
		turn, out = out, turn
	}
	p.code[at].x, p.code[at].y = turn, out
}

// addPart adds a part that is matched by itself.
func (p *program) addPart(n *node) error {
	in := instruction{op: opAtomic}
	if n.kind == look {
		in = instruction{op: opLook, neg: n.neg}
	}
	at := p.emit(in)
	sub := n.subs[0]
	if n.behind {
		var err error
		if sub, err = p.behind(sub); err != nil {
			return err
		}
	}
	if err := p.add(sub); err != nil {
		return err
	}
	p.emit(instruction{op: opEnd})
	p.code[at].x = p.here()
	return nil
}

// behind returns a node whose alternatives go back by their widths first.
func (p *program) behind(n *node) (*node, error) {
	widths, err := n.behindWidths()
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

// addConditional adds a test, and what follows if it holds and if it doesn't.
func (p *program) addConditional(n *node) error {
	at := p.here()
	if n.test == nil {
		p.emit(instruction{op: opCond, n: n.n})
	} else if err := p.addPart(n.test); err != nil {
		return err
	}
	if err := p.add(n.subs[0]); err != nil {
		return err
	}
	jump := p.emit(instruction{op: opJump})
	p.code[at].y = p.here()
	if err := p.add(n.subs[1]); err != nil {
		return err
	}
	p.code[jump].x = p.here()
	return nil
}
