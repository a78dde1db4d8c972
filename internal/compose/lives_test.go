package compose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/verify"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A life is what other clients do to a document between two commands of an operation, such as insert, change, delete,
// insert.
type life struct {
	of  string // the document
	ops []operation
}

// A trace is what an operation may leave beside a life, though it returned nil.
type trace struct {
	why   string
	found bool // the checks find something, and mend it
	odd   bool // the documents are as after none of the orders, even when they are mended
}

// traces are the operations that may, by technique and by operation. The docs of each say so.
var traces = map[string]trace{
	"bucket.Bucket": {
		why: "only a program deletes documents of a bucket: the next append opens a document of another number",
		odd: true,
	},
	"eventlog.EventLog decide": {why: "a snapshot is stored or not", odd: true},
	"slots.Slots":              {why: "which slot has what depends on the sizes that an operation met", odd: true},
	"widerow.WideRow": {
		why:   "operations on one link at the same time can leave missing or repeated columns",
		found: true,
	},
	"indextable.IndexTable delete": {
		why:   "Delete takes the document as it was read: entries of later values stay",
		found: true,
	},
	"inverted.Inverted delete": {
		why:   "Delete takes the document as it was read: entries of later values stay",
		found: true,
	},
	// an empty array or none
	"subsetpages.SubsetPages append": {why: "a parent can be deleted before an append has returned", found: true, odd: true},
	"subsetpages.SubsetPages delete": {why: "an append can run beside the deletion of its parent", found: true},
	"paths.Tree": {
		why:   "the insert of a writer that lost its lease can restore a deleted document: see model.Lease",
		found: true, odd: true,
	},
}

// traceOf returns what an operation may leave.
func traceOf(f *fixture, o operation) trace {
	for name, x := range traces {
		if strings.HasPrefix(f.name+" "+o.name, name) {
			return x
		}
	}
	return trace{}
}

// Whole lives of the documents that an operation reads or writes pass between any two of its commands, of each
// operation of each technique, without transactions and with them. Each number that the operation read is old then. The
// documents are as if the operation had run at one moment of the life, and the checks find nothing if it returned nil.
// The quick run has one life of most operations, with transactions or without, and trees with transactions only:
// without one, others wait for a lease.
func TestLivesBetween(t *testing.T) {
	tenancy.Differs(t, "an _id that is marked as deleted can't be inserted again")
	for _, f := range slices.Concat(fixtures, alone) {
		_, ops := f.declare()
		for i, o := range ops {
			for _, w := range []way{plainly, withTx} {
				for j, l := range livesAround(&f) {
					needsTx := o.needsTx || strings.HasPrefix(f.name, "paths.Tree")
					if o.needsTx && !w.tx || !full && (w.tx != (needsTx || (i+j)%2 == 1) || j > 0 && !oftenRun(f.name)) {
						continue
					}
					t.Run(fmt.Sprintf("%s %s within a life of %s, %s", f.name, o.name, l.of, w.name), func(t *testing.T) {
						t.Parallel()
						liveAround(t, &f, i, w, j)
					})
				}
			}
		}
	}
}

// oftenRun names the techniques of which the quick run has all lives.
func oftenRun(name string) bool {
	return strings.HasPrefix(name, "embed.Versioned") || strings.HasPrefix(name, "versioned ") || name == "outlier.Outlier"
}

var plainly, withTx = ways[0], ways[1]

// liveAround runs an operation of a technique, and a life.
func liveAround(t *testing.T, f *fixture, n int, w way, which int) {
	technique, ops := f.declare()
	l := livesAround(f)[which]
	c := w.of(f, f,
		model.New("lives", technique, model.Entity(users), model.Entity(posts), model.Entity(comments, beside)))
	if seed := c.Seed; slices.ContainsFunc(alone, func(a fixture) bool { return a.name == f.name }) {
		c.Seed = func(ctx context.Context, db *mongo.Database) error {
			if err := seed(ctx, db); err != nil {
				return err
			}
			for _, o := range ops[:n] {
				if err := o.run(ctx, db); err != nil {
					return err
				}
			}
			return nil
		}
	}
	var list []verify.Operation
	for _, o := range l.ops {
		list = append(list, f.runs(o))
	}
	for _, path := range []string{"user_rows.rev", "post_rows.rev", "user_rows.cols.op", "post_rows.cols.op"} {
		c.Ignore[path] = "it tells of the writes"
	}
	problems := judgeLives(verify.New(t, c).Live(t, f.runs(ops[n]), list), traceOf(f, ops[n]))
	for _, p := range problems {
		t.Error(p)
	}
}

// judgeLives lists what is wrong with an operation and a life.
func judgeLives(all verify.Lifetime, may trace) (problems []string) {
	say := func(format string, args ...any) {
		if s := fmt.Sprintf(format, args...); len(problems) < 3 && !slices.Contains(problems, s) {
			problems = append(problems, s)
		}
	}
	past, person := len(all.Without.Found) > 0, len(all.Without.Left) > 0
	for _, o := range all.InTurn {
		past, person = past || len(o.Found) > 0, person || len(o.Left) > 0
		wrong(o, func(s string) { say("one after the other: %s", s) })
	}
	for _, o := range all.Together {
		wrong(o, func(s string) { say("together: %s%s", s, o.Order) })
		switch {
		case len(o.Left) > 0 && !person:
			say("after mending the checks find %q (errors %v, %v)%s", o.Left, o.Errs[0], o.Errs[1], o.Order)
		case len(o.Found) > 0 && !past && o.Errs[0] == nil && !may.found:
			say("the operation returned nil, and the checks find %q (life: %v)%s", o.Found, o.Errs[1], o.Order)
		case o.Odd != "" && !may.odd:
			say("the documents are as after none of the orders (errors %v, %v):\n%s%s", o.Errs[0], o.Errs[1], o.Odd, o.Order)
		}
	}
	return problems
}
