// The documents, declarations and helpers that the tests of this package share.

package eventlog_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/eventlog"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What the tests are about: accounts, and what moves money.
type (
	move struct {
		Cents int64           `bson:"cents"`
		Price bson.Decimal128 `bson:"price,omitempty"`
		When  *time.Time      `bson:"when,omitempty"`
		Text  string          `bson:"text,omitempty"`
	}
	account struct {
		Balance int64           `bson:"balance"`
		Moves   int64           `bson:"moves"`
		Price   bson.Decimal128 `bson:"price,omitempty"` // the last one
		When    *time.Time      `bson:"when,omitempty"`
	}
	// A line is what a list of accounts shows.
	line struct {
		Total   int64   `bson:"total"`
		Amounts []int64 `bson:"amounts,omitempty"`
	}
	commit     = eventlog.Commit[string, move]
	snapshot   = eventlog.State[string, account]
	viewDoc    = eventlog.State[string, line]
	accountLog = eventlog.EventLog[string, move, account]
	spec       = eventlog.Spec[string, move, account]
	lines      = eventlog.Projection[string, move, line]
	lineSpec   = eventlog.ProjectionSpec[line, move]
)

var (
	commits   = model.NewCollection[commit, string]("commits")
	snapshots = model.NewCollection[snapshot, string]("snapshots")
	views     = model.NewCollection[viewDoc, string]("lines")

	plain   = eventlog.New(commits, spec{Fold: apply, MaxEvents: 20})
	snapped = eventlog.New(commits, spec{Fold: apply, Snapshots: snapshots, Every: 4, MaxEvents: 20})
	newer   = eventlog.New(commits, spec{
		Fold: apply, Revision: 2, Snapshots: snapshots, Every: 4, MaxEvents: 20,
	})
	listed   = eventlog.NewProjection(plain, views, lineSpec{Fold: list, Poll: time.Minute})
	relisted = eventlog.NewProjection(plain, views, lineSpec{Fold: relist, Revision: 1, Poll: time.Minute})

	errOverdrawn = errors.New("overdrawn")
)

func apply(a account, m move) (account, error) {
	if m.Text == "broken" {
		return a, errRefusedEvent
	}
	a.Balance, a.Moves = a.Balance+m.Cents, a.Moves+1
	if !m.Price.IsZero() {
		a.Price = m.Price
	}
	if m.When != nil {
		a.When = m.When
	}
	return a, nil
}

var errRefusedEvent = errors.New("refused event")

func list(l line, m move) (line, error) {
	return line{l.Total + m.Cents, append(l.Amounts, m.Cents)}, nil
}

// relist is another way to make lines: the newest first.
func relist(l line, m move) (line, error) {
	return line{l.Total + m.Cents, append([]int64{m.Cents}, l.Amounts...)}, nil
}

// noon is when the tests begin; minute is a time after it.
var noon = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

func cents(list ...int64) (out []move) {
	for _, n := range list {
		out = append(out, move{Cents: n})
	}
	return out
}

func run(ctx context.Context, db model.DB, list ...model.Change) error {
	for _, c := range list {
		if _, err := c.Run(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

func mustRun(t testing.TB, db model.DB, list ...model.Change) {
	t.Helper()
	if err := run(t.Context(), db, list...); err != nil {
		t.Fatal(err)
	}
}

func read[S any](t testing.TB, db model.DB, c model.ChangeOf[S]) S {
	t.Helper()
	s, r, err := c.Run(context.Background(), db)
	if err != nil || len(r.Steps) > 0 {
		t.Errorf("%s: %v, %d steps", c.Name, err, len(r.Steps))
	}
	return s
}

// withdraw decides to take money out.
func withdraw(n int64) func(snapshot) ([]move, error) {
	return func(s snapshot) ([]move, error) {
		if s.State.Balance < n {
			return nil, errOverdrawn
		}
		return cents(-n), nil
	}
}

// amounts are the events of an account as they are stored; the test fails unless they are numbered without a gap.
func amounts(t testing.TB, db model.DB, key string) (out []int64) {
	t.Helper()
	all, err := plain.Commits(key, 1, 0).All(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for _, c := range all {
		if c.First != n+1 || c.Last != n+int64(len(c.Events)) {
			t.Errorf("commit %s holds %d to %d, after %d", c.ID, c.First, c.Last, n)
		}
		n = c.Last
		for _, m := range c.Events {
			out = append(out, m.Cents)
		}
	}
	return out
}

// sound asks that no check of a log finds anything.
func sound(t testing.TB, db *mongo.Database, l *accountLog) {
	t.Helper()
	for _, c := range l.Checks() {
		found, err := c.All(context.Background(), db)
		if err != nil || len(found) > 0 {
			t.Errorf("%s: %v, %v", c.Name, found, err)
		}
	}
}
