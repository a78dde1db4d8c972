package modeltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A tally counts what ran.
type tally struct {
	ways, reads, operations int
	served, unserved        int // commands by whether an index serves them
	operationsCut           int
	cuts                    int
	again, abandoned        int            // cuts after which the audit had something to repair: with a rerun, and without
	pairs                   map[string]int // by how their orders were chosen
	orders, ordersMended    int
	mended                  []string // operations and pairs after which the audit had to repair
}

// describeIndexes tells how many commands are served by an index.
func (d tally) describeIndexes() string {
	switch {
	case d.served+d.unserved == 0:
		return "no command was asked for its index"
	case d.unserved == 0:
		return fmt.Sprintf("an index serves each of %d commands", d.served)
	}
	return fmt.Sprintf("an index serves %d of %d commands", d.served, d.served+d.unserved)
}

// leave notes what is skipped.
func (v *verification) leave(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(v.out, s) {
		v.out = append(v.out, s)
	}
}

// finish logs what ran, what was skipped, and the exceptions.
func (v *verification) finish(t *testing.T) {
	t.Helper()
	d := v.done
	var b strings.Builder
	fmt.Fprintf(&b, "verified %q in %d ways\n", v.model.Name(), d.ways)
	fmt.Fprintf(&b, "\talone: %d reads and %d operations; %s\n", d.reads, d.operations, d.describeIndexes())
	fmt.Fprintf(&b,
		"\tcut: %d operations, %d times; the audit had something to mend after %d that were run again, and after %d that nobody ran again\n",
		d.operationsCut, d.cuts, d.again, d.abandoned)
	pairs := 0
	for _, n := range d.pairs {
		pairs += n
	}
	fmt.Fprintf(&b, "\ttogether: %d pairs of operations, in %d orders; the audit had something to mend after %d\n", pairs,
		d.orders, d.ordersMended)
	for _, how := range slices.Sorted(maps.Keys(d.pairs)) {
		fmt.Fprintf(&b, "\t\t%d %s\n", d.pairs[how], how)
	}
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\t%s:\n\t\t%s\n", title, strings.Join(lines, "\n\t\t"))
		}
	}
	list("the audit mended", d.mended)
	list("left out", v.out)
	list("not compared", reasons(v.Ignore))
	list("excepted", reasons(v.Except))
	t.Log(strings.TrimSpace(b.String()))
	if !v.whole || t.Failed() {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(v.Except)) {
		if !v.met[name] && v.backend.plain == nil {
			t.Errorf("Except names %q, which finds nothing wrong\n\tremedy: leave it out", name)
		}
	}
}

func reasons(of map[string]string) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		out = append(out, name+": "+of[name])
	}
	return out
}

// A part is a running subtest with its findings.
type part struct {
	*way
	name     string
	problems []problem
	mended   int    // how often the audit had something to repair
	first    string // the first repair
}

// A problem is a finding, and the commands when it was seen first.
type problem struct {
	what, sent string
	times      int
}

// problem notes a finding.
func (p *part) problem(sent, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	i := slices.IndexFunc(p.problems, func(known problem) bool { return known.what == what })
	if i < 0 {
		i = len(p.problems)
		p.problems = append(p.problems, problem{what: what, sent: sent})
	}
	p.problems[i].times++
}

// mends notes the audit's repairs.
func (p *part) mends(o outcome) bool {
	if len(o.found) == 0 {
		return false
	}
	if p.mended++; p.mended == 1 {
		p.first = o.found[0]
	}
	return true
}

const shownProblems = 3

// report fails the test with the problems, or logs them if they are excepted.
func (p *part) report(t *testing.T) {
	t.Helper()
	if p.mended > 0 {
		p.done.mended = append(p.done.mended,
			fmt.Sprintf("%s, %s: %d times, first %s", p.name, p.way.name, p.mended, p.first))
	}
	say := t.Errorf
	for _, name := range []string{p.name, p.name + ", " + p.way.name} {
		if reason, known := p.Except[name]; known && len(p.problems) > 0 {
			p.met[name] = true
			t.Logf("known to fail: %s", reason)
			say = t.Logf
		}
	}
	for i, found := range p.problems {
		if i == shownProblems {
			say("%s, %s: and %d more", p.name, p.way.name, len(p.problems)-i)
			break
		}
		again := ""
		if found.times > 1 {
			again = fmt.Sprintf("\nand %d times more", found.times-1)
		}
		say("%s, %s: %s%s%s", p.name, p.way.name, found.what, found.sent, again)
	}
}
