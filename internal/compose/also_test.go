package compose

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/docmodel/docmodel/internal/verify"
	"github.com/docmodel/docmodel/model"
)

// Every two techniques that hold together can be joined by [model.Change.Also]: of two of their operations, joined,
// both have their effect, as one after the other has in either order, or an error is returned and nothing has changed.
// Run again, and after a cut, both have the effect of one run if each has it alone. With DOCMODEL_FULL each pair of
// operations is joined, with and without a scope; otherwise every ninth.
func TestPairsAlso(t *testing.T) {
	var joined, refused atomic.Int64
	seen := 0
	t.Run("pairs", func(t *testing.T) {
		for i := range fixtures {
			for j := range fixtures[:i+1] {
				a, b := &fixtures[j], &fixtures[i]
				if a.name == b.name || !meets(a, b) {
					continue
				}
				for _, w := range ways {
					if !w.tx || w.underScope && (a.unscoped || b.unscoped) || !full && w.underScope != ((i+j)%2 == 0) {
						continue
					}
					from := seen
					_, opsA := a.declare()
					_, opsB := b.declare()
					seen += len(opsA) * len(opsB)
					t.Run(a.name+" and "+b.name+", "+w.name, func(t *testing.T) {
						t.Parallel()
						p := &pair{a: a, b: b, way: w}
						p.joinAll(t, func(n int) bool { return full || (from+n)%9 == 0 }, &joined, &refused)
					})
				}
			}
		}
	})
	t.Logf("joined %d pairs of operations, %d of them refused", joined.Load(), refused.Load())
	if joined.Load() == 0 || refused.Load()*2 > joined.Load() {
		t.Error("too few are joined for the test to say anything")
	}
}

// joinAll joins the chosen operations of a pair.
func (p *pair) joinAll(t *testing.T, chosen func(n int) bool, joined, refused *atomic.Int64) {
	x, opsA := p.a.declare()
	y, opsB := p.b.declare()
	p.opsA, p.opsB = opsA, opsB
	problem := ""
	if p.model, problem = declare(x, y); problem != "" {
		return
	}
	n := 0
	for _, a := range opsA {
		for _, b := range opsB {
			if n++; a.action == nil || b.action == nil || !chosen(n) {
				continue
			}
			if joined.Add(1); p.join(t, a, b) != nil {
				refused.Add(1)
			}
		}
	}
}

// join compares two operations that are joined with the same two in turn.
func (p *pair) join(t *testing.T, a, b operation) error {
	t.Helper()
	if p.ready == nil {
		p.ready = verify.New(t, p.way.of(p.a, p.b, p.model))
	}
	where := fmt.Sprintf("%s %s | %s %s, %s", p.a.name, a.name, p.b.name, b.name, p.way.name)
	nothing := model.Plan{}.Change()
	both := verify.Operation{Name: where, Run: func(ctx context.Context, db model.DB) error {
		_, err := nothing.Also(a.action, b.action).Run(ctx, db)
		return err
	}}
	o := p.ready.RunJoined(t, p.a.runs(a), p.b.runs(b), both)
	past := false // one of them leaves findings by itself, or would if nothing were in its way
	for _, op := range []verify.Operation{
		p.a.runs(a), p.b.runs(b), p.a.runs(named(p.opsA, a.like)), p.b.runs(named(p.opsB, b.like)),
	} {
		past = past || op.Run != nil && len(p.ready.Alone(t, op).Found) > 0
	}
	err := o.Errs[0]
	var conflict *model.ConflictError
	switch {
	case err != nil && !typed(err) && !errors.As(err, &conflict) &&
		!strings.Contains(err.Error(), "can't run in a transaction"):
		t.Errorf("%s: an error of no type: %v (%T)", where, err, err)
	case o.Theirs != "":
		t.Errorf("%s: the other tenant's documents changed:\n%s", where, o.Theirs)
	case o.Again != "" && !ownChanged[pairOf(where)]:
		t.Errorf("%s, run again: %s", where, o.Again)
	case o.Odd != "" && !unseen[pairOf(where)]:
		t.Errorf("%s: %v; the documents are as after none of the orders:\n%s", where, err, o.Odd)
	case len(o.Found) > 0 && !past && !unseen[pairOf(where)] &&
		!strings.Contains(fmt.Sprint(o.Found), known[pairOf(where)].says):
		t.Errorf("%s: the checks find %q", where, o.Found)
	}
	return err
}

// unseen are the pairs of which one deletes what the other attaches something to: it decides from what was stored
// before, and doesn't see what the other stores. The audit finds it.
var unseen = map[string]bool{
	"copies.Copy attach | ondelete.OnDelete delete":                                 true,
	"copies.Copy that locks attach | ondelete.OnDelete delete":                      true,
	"copies.Copy store of what others delete | ondelete.OnDelete delete":            true,
	"copies.Copy that locks store of what others delete | ondelete.OnDelete delete": true,
}

// ownChanged are the pairs of which one changes the document that the other inserts. Run again without a token, the
// insert takes its own document for another's.
var ownChanged = map[string]bool{
	"indextable.IndexTable insert | proximity.Proximity remove": true,
	"inverted.Inverted insert | proximity.Proximity remove":     true,
}

func pairOf(where string) string {
	pair, _, _ := strings.Cut(where, ", ")
	return pair
}
