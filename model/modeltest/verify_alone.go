package modeltest

import (
	"context"
	"maps"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// A solo is an operation that ran undisturbed.
type solo struct {
	outcome
	commands []mongotest.Command
}

// ran returns the result of an undisturbed operation.
func (w *way) ran(t *testing.T, o VerifyOperation) *solo {
	t.Helper()
	if s := w.alone[o.Name]; s != nil {
		return s
	}
	s := &solo{}
	w.fresh(t, func(ctx context.Context, st *stage) {
		client, disconnect, err := st.b.server.Connect(record(&s.commands))
		if err != nil {
			st.t.Fatal(err)
		}
		errRun := w.run(o)(ctx, client.Database(st.db.Name()))
		disconnect()
		maps.Copy(w.locks, locksTaken(s.commands))
		if s.outcome, err = st.outcome(errRun); err != nil {
			st.t.Fatalf("after %s, %s: %v", o.Name, w.name, err)
		}
	})
	if !t.Failed() {
		w.alone[o.Name] = s
	}
	return s
}

// runAlone checks an undisturbed operation.
func (p *part) runAlone(t *testing.T, o VerifyOperation, reads bool) {
	s := p.ran(t, o)
	if err := s.errs[0]; err != nil && !o.refused(err) {
		p.problem(listCommands(s.commands), "it returned %v (%T)", err, err)
	}
	if len(s.found) > 0 {
		p.problem(listCommands(s.commands), "the checks find:%s", lines(s.found))
	}
	if reads && !s.docs.equal(p.before) {
		p.problem(listCommands(s.commands), "a read has written:\n%s", s.docs.diff(p.before))
	}
	if reads {
		p.done.reads++
	} else {
		p.done.operations++
	}
	p.beside(s.settled, "", listCommands(s.commands))
	for _, c := range s.commands {
		if p.tenanted() && p.holds(c.Collection) && !asksFor(c, p.scope.Tenant) {
			p.problem("", "a command doesn't ask for the tenant %s: %s", model.Shell(p.scope.Tenant), c)
		}
	}
}

// holds reports whether the scope applies to a collection.
func (w *way) holds(collection string) bool {
	if len(w.scope.Collections) == 0 {
		return true
	}
	for _, c := range w.scope.Collections {
		if c == collection {
			return true
		}
	}
	return false
}

// beside checks that the other tenant's documents are unchanged.
func (p *part) beside(o settled, when, sent string) {
	if p.tenanted() && !o.theirs.equal(p.theirs) {
		p.problem(sent, "%sthe other tenant's documents changed:\n%s", when, o.theirs.diff(p.theirs))
	}
}

// runIndexes checks the plans of an operation's commands.
func (p *part) runIndexes(t *testing.T, o VerifyOperation) {
	s := p.ran(t, o)
	p.fresh(t, func(ctx context.Context, st *stage) {
		for _, c := range s.commands {
			list, err := explainables(c)
			if err != nil {
				st.t.Fatal(err)
			}
			for _, command := range list {
				p.explain(ctx, st.t, st.db, command)
			}
		}
	})
}

func (p *part) explain(ctx context.Context, t *testing.T, db *mongo.Database, command bson.D) {
	why, err := unserved(ctx, db, command)
	switch {
	case err != nil:
		p.done.unserved++
		t.Error(err)
	case why != "":
		p.done.unserved++
		p.problem("", "%s", why)
	default:
		p.done.served++
	}
}
