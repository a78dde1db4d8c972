package session_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

func checkout(t *testing.T, set *session.Set) *session.Session {
	t.Helper()
	s, release, err := set.Checkout(context.Background(), "a")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return s
}

// TestEnterTransaction sends the commands of a session one after the other.
func TestEnterTransaction(t *testing.T) {
	db := store.New()
	var set session.Set
	var owner session.Owner
	s := checkout(t, &set)
	for _, c := range []struct {
		why  string
		of   session.Command
		code int32
	}{
		{"a transaction that wasn't started", session.Command{Name: "find", Number: 1, Allowed: true},
			mongoerr.NoSuchTransaction},
		{"the first command", session.Command{Name: "find", Number: 1, Starts: true, Allowed: true}, 0},
		{"the next one", session.Command{Name: "insert", Number: 1, Allowed: true}, 0},
		{"a command that can't run in a transaction", session.Command{Name: "count", Number: 1},
			mongoerr.OperationNotSupportedInTransaction},
		{"the number again", session.Command{Name: "find", Number: 1, Starts: true, Allowed: true},
			mongoerr.ConflictingOperationInProgress},
		{"a higher number", session.Command{Name: "find", Number: 2, Starts: true, Allowed: true}, 0},
		{"a lower number", session.Command{Name: "find", Number: 1, Allowed: true}, mongoerr.TransactionTooOld},
	} {
		txn, err := s.EnterTransaction(c.of, &owner, db.Begin)
		if mongoerr.CodeOf(err) != c.code || (txn == nil) != (c.code != 0) {
			t.Errorf("%s gave %v, %v", c.why, txn, err)
		}
	}
	if n := set.CountTransactions(); n != 1 {
		t.Errorf("%d transactions are open", n)
	}
	s.Abort()
	again := session.Command{Name: "find", Number: 2, Allowed: true}
	if _, err := s.EnterTransaction(again, &owner, db.Begin); mongoerr.CodeOf(err) != mongoerr.NoSuchTransaction {
		t.Errorf("after an abort EnterTransaction gave %v", err)
	}
}

func TestOnlyCommitIsSentAgain(t *testing.T) {
	db := store.New()
	var set session.Set
	var owner session.Owner
	s := checkout(t, &set)
	start := session.Command{Name: "insert", Number: 1, Starts: true, Allowed: true}
	if _, err := s.EnterTransaction(start, &owner, db.Begin); err != nil {
		t.Fatal(err)
	}
	s.SetCommitted()
	commit := session.Command{Name: "commitTransaction", Number: 1, Allowed: true}
	if _, err := s.EnterTransaction(commit, &owner, db.Begin); err != nil || !s.IsCommitted() {
		t.Errorf("commitTransaction gave %v", err)
	}
	find := session.Command{Name: "find", Number: 1, Allowed: true}
	if _, err := s.EnterTransaction(find, &owner, db.Begin); mongoerr.CodeOf(err) != mongoerr.TransactionCommitted {
		t.Errorf("find gave %v", err)
	}
}

func TestRecall(t *testing.T) {
	var set session.Set
	s := checkout(t, &set)
	enter := func(number int64) {
		t.Helper()
		if err := s.EnterRetryable(number); err != nil {
			t.Fatal(err)
		}
	}
	enter(1)
	s.Remember(0, session.Outcome{N: 1})
	enter(1)
	if o, ok := s.Recall(0); o.N != 1 || !ok {
		t.Errorf("Recall gave %v, %v", o, ok)
	}
	restore := s.SaveOutcomes()
	s.Remember(1, session.Outcome{N: 1})
	restore()
	if _, ok := s.Recall(1); ok {
		t.Error("an outcome is there that was undone")
	}
	enter(2)
	if _, ok := s.Recall(0); ok {
		t.Error("an outcome of the last number is there")
	}
	if err := s.EnterRetryable(1); mongoerr.CodeOf(err) != mongoerr.TransactionTooOld {
		t.Errorf("a lower number gave %v", err)
	}
}

// A bulk write saves the outcomes before each of its statements: what that costs doesn't grow with them.
func TestSaveOutcomesCost(t *testing.T) {
	var set session.Set
	s := checkout(t, &set)
	if err := s.EnterRetryable(1); err != nil {
		t.Fatal(err)
	}
	for stmt := range int32(10_000) {
		_ = s.SaveOutcomes()
		s.Remember(stmt, session.Outcome{N: 1})
	}
	if n := testing.AllocsPerRun(10, func() { s.SaveOutcomes()() }); n > 2 {
		t.Errorf("saving 10,000 outcomes takes %g allocations", n)
	}
	if _, ok := s.Recall(9_998); !ok {
		t.Error("an outcome that was saved is gone")
	}
}
