package modeltest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/mongotest"
)

// runCut cuts an operation at each of its writes.
func (p *part) runCut(t *testing.T, o VerifyOperation) {
	s := p.ran(t, o)
	writes := slices.DeleteFunc(lastAttempts(s.commands), func(c mongotest.Command) bool { return !mongotest.Writes(c) })
	switch {
	case s.errs[0] != nil:
		p.leave("%s, %s: alone it is refused: %v", p.name, p.way.name, s.errs[0])
		return
	case len(writes) == 0:
		p.leave("%s, %s: alone it writes nothing", p.name, p.way.name)
		return
	}
	rows := faultRows(writes)
	if p.backend.plain != nil {
		rows = sample(rows, p.Sample)
	} else if testing.Short() {
		rows = sample(rows, 6)
	}
	p.done.operationsCut++
	for _, row := range rows {
		p.fresh(t, func(ctx context.Context, st *stage) { p.cut(ctx, st, o, s, row) })
		p.done.cuts++
	}
}

// cut cuts an operation once, then checks the next run and the audit.
func (p *part) cut(ctx context.Context, st *stage, o VerifyOperation, undisturbed *solo, row faultRow) {
	f := mongotest.NewFaults()
	c := FaultCase{Run: p.run(o), Match: mongotest.Writes}
	first := c.runCut(ctx, st.t, st.b, st.db, f, row)
	problem := func(format string, args ...any) {
		p.problem(fmt.Sprintf("\nThe first run returned %v%s", first, listCommands(f.Commands())),
			row.name+": "+format, args...)
	}
	after, err := st.now()
	if err != nil {
		st.t.Fatal(err)
	}
	again := p.run(o)(ctx, st.db)
	if again != nil && !o.refused(again) {
		problem("running it again returned %v", again)
		return
	}
	out, err := st.outcome()
	if err != nil {
		problem("after running it again: %v", err)
		return
	}
	switch {
	case len(out.left) > 0:
		problem("after running it again, and the audit's job, the checks find:%s", lines(out.left))
	case !out.docs.equal(undisturbed.docs) && !(again != nil && out.docs.equal(p.before)):
		problem("after running it again (%v) the documents are not as after an undisturbed run:\n%s", again,
			out.docs.diff(undisturbed.docs))
	}
	p.beside(out.settled, row.name+": ", listCommands(f.Commands()))
	if p.mends(out) {
		p.done.again++
	}
	p.abandon(st, after, first == nil, undisturbed, problem)
}

// abandon checks what the audit makes of a cut operation without a rerun.
func (p *part) abandon(
	st *stage, after image, succeeded bool, undisturbed *solo, problem func(format string, args ...any),
) {
	out, err := st.settled(after, func() { st.become(after) })
	if err != nil {
		problem("when nobody runs it again: %v", err)
		return
	}
	switch {
	case len(out.left) > 0:
		problem("when nobody runs it again, the checks find, after the audit's job:%s", lines(out.left))
	case succeeded && !out.docs.equal(undisturbed.docs):
		problem("it returned nil in spite of the fault, and the documents are not as after an undisturbed run:\n%s",
			out.docs.diff(undisturbed.docs))
	}
	p.beside(out, "when nobody runs it again: ", "")
	if len(out.found) > 0 {
		p.done.abandoned++
	}
}
