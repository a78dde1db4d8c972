// These tests let transactions and writes outside transactions meet on one unique key in every order. A schedule is a
// list of moves such as "B1 I1 D0 C1": transaction 1 begins, transaction 1 inserts, a write outside transactions
// deletes, transaction 1 commits. A model of WiredTiger's snapshot isolation says what each move gives:
//   - an insert of a key that the snapshot shows is a duplicate key;
//   - an insert of a key that others added since the snapshot, or hold in an open transaction, is a write conflict,
//     even if they have deleted it again (the key of _id is marked by a delete too, those of other unique indexes only
//     by an insert);
//   - an update or delete of a document that the snapshot shows is a write conflict if others changed it since;
//   - what the snapshot doesn't show is not matched.

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A keyModel is the history of one unique key.
type keyModel struct {
	secondary bool // the key is that of a unique index other than _id's
	clock     int  // of commits
	versions  []keyVersion
	added     int         // when the key was inserted last
	open      map[int]*tx // transactions that have begun and not ended
}

type keyVersion struct {
	at      int
	present bool
}

type tx struct {
	snapshot       int
	wrote, present bool // what it made of the key
	added          bool // it has inserted the key
	failed         bool
}

func (m *keyModel) shows(t *tx) bool {
	if t != nil && t.wrote {
		return t.present
	}
	present := false
	for _, v := range m.versions {
		if t == nil || v.at <= t.snapshot {
			present = v.present
		}
	}
	return present
}

// heldByOther reports whether another open transaction has written the key, or has inserted it.
func (m *keyModel) heldByOther(t *tx) (wrote, added bool) {
	for _, o := range m.open {
		if o != t && !o.failed {
			wrote, added = wrote || o.wrote, added || o.added
		}
	}
	return wrote, added
}

// The outcomes of a move. A write outside transactions that meets an open transaction waits for it.
const (
	fine      = "fine"
	duplicate = "duplicate key"
	conflict  = "write conflict"
	waits     = "waits"
	aborted   = "aborted before"
)

// write says what a write of a transaction gives, or of nobody's if t is nil.
func (m *keyModel) write(t *tx, op byte) string {
	if t != nil && t.failed {
		return aborted
	}
	shown := m.shows(t)
	wrote, added := m.heldByOther(t)
	last := m.versions[len(m.versions)-1].at
	clash := wrote || t != nil && !t.wrote && last > t.snapshot
	if op == 'I' {
		if m.secondary {
			clash = added || t != nil && m.added > t.snapshot
		}
		if shown && !(m.secondary && clash) {
			return m.fail(t, duplicate)
		}
	} else if !shown {
		return fine
	}
	switch {
	case clash && t == nil:
		return waits
	case clash:
		return m.fail(t, conflict)
	case t != nil:
		t.wrote, t.present, t.added = true, op != 'D', t.added || op == 'I'
		return fine
	}
	m.commit(op != 'D', op == 'I')
	return fine
}

func (m *keyModel) fail(t *tx, how string) string {
	if t != nil {
		t.failed = true
	}
	return how
}

func (m *keyModel) commit(present, added bool) {
	m.clock++
	m.versions = append(m.versions, keyVersion{m.clock, present})
	if added {
		m.added = m.clock
	}
}

func (m *keyModel) end(n int, commit bool) {
	t := m.open[n]
	delete(m.open, n)
	if commit && t.wrote && !t.failed {
		m.commit(t.present, t.added)
	}
}

// A keyRun runs a schedule on the engine.
type keyRun struct {
	c        *mongo.Collection
	key      int
	ids      int
	sessions map[int]*mongo.Session
}

func (r *keyRun) field(m *keyModel) string {
	if m.secondary {
		return "k"
	}
	return "_id"
}

func (r *keyRun) write(ctx context.Context, m *keyModel, op byte) error {
	filter := bson.D{{Key: r.field(m), Value: r.key}}
	var err error
	switch op {
	case 'I':
		doc := bson.D{{Key: "_id", Value: r.key}}
		if m.secondary {
			r.ids++
			doc = bson.D{{Key: "_id", Value: fmt.Sprint(r.key, "-", r.ids)}, {Key: "k", Value: r.key}}
		}
		_, err = r.c.InsertOne(ctx, doc)
	case 'U':
		_, err = r.c.UpdateOne(ctx, filter, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}})
	case 'D':
		_, err = r.c.DeleteOne(ctx, filter)
	}
	return err
}

func (r *keyRun) begin(n int) error {
	s, err := r.c.Database().Client().StartSession()
	if err != nil {
		return err
	}
	r.sessions[n] = s
	if err := s.StartTransaction(); err != nil {
		return err
	}
	err = r.c.FindOne(mongo.NewSessionContext(ctx, s), bson.D{{Key: "_id", Value: "none"}}).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil
	}
	return err
}

func (r *keyRun) end(n int, commit bool) error {
	s := r.sessions[n]
	delete(r.sessions, n)
	defer s.EndSession(ctx)
	if commit {
		return s.CommitTransaction(ctx)
	}
	return s.AbortTransaction(ctx)
}

func outcome(err error) string {
	var e mongo.ServerError
	switch {
	case err == nil:
		return fine
	case mongo.IsDuplicateKeyError(err):
		return duplicate
	case errors.As(err, &e) && e.HasErrorCode(112) && e.HasErrorLabel("TransientTransactionError"):
		return conflict
	case errors.As(err, &e) && e.HasErrorCode(251):
		return aborted
	}
	return err.Error()
}

// play runs a schedule, and returns what differs from the model. It stops at a write that would wait.
func (r *keyRun) play(m *keyModel, moves []string) (differs string) {
	defer func() {
		for _, s := range r.sessions {
			s.EndSession(ctx)
		}
	}()
	for i, move := range moves {
		op, n := move[0], int(move[1]-'0')
		var err error
		want := fine
		switch {
		case op == 'B':
			m.open[n] = &tx{snapshot: m.clock}
			err = r.begin(n)
		case op == 'C' || op == 'A':
			commit := op == 'C' && !m.open[n].failed
			m.end(n, commit)
			if err = r.end(n, commit); !commit {
				err = nil // an aborted transaction's abort
			}
		case n == 0:
			if want = m.write(nil, op); want == waits {
				return ""
			}
			soon, cancel := context.WithTimeout(ctx, 5*time.Second)
			err = r.write(soon, m, op)
			cancel()
		default:
			want = m.write(m.open[n], op)
			err = r.write(mongo.NewSessionContext(ctx, r.sessions[n]), m, op)
		}
		if got := outcome(err); got != want {
			return fmt.Sprintf("%s: move %d gives %s, want %s", strings.Join(moves, " "), i+1, got, want)
		}
	}
	if n, err := r.c.CountDocuments(ctx, bson.D{{Key: r.field(m), Value: r.key}}); err != nil ||
		(n == 1) != m.shows(nil) {
		return fmt.Sprintf("%s: ends with %d documents, %v", strings.Join(moves, " "), n, err)
	}
	return ""
}

// merges returns all merges of lists that keep the order of each list.
func merges(lists ...[]string) (out [][]string) {
	done := true
	for i, list := range lists {
		if len(list) == 0 {
			continue
		}
		done = false
		rest := append([][]string(nil), lists...)
		rest[i] = list[1:]
		for _, m := range merges(rest...) {
			out = append(out, append([]string{list[0]}, m...))
		}
	}
	if done {
		return [][]string{nil}
	}
	return out
}

// writesOf returns all lists of n writes of an actor.
func writesOf(actor, n int) [][]string {
	if n == 0 {
		return [][]string{nil}
	}
	var out [][]string
	for _, rest := range writesOf(actor, n-1) {
		for _, op := range "IUD" {
			out = append(out, append([]string{fmt.Sprintf("%c%d", op, actor)}, rest...))
		}
	}
	return out
}

// transaction returns the moves of a transaction with some writes.
func transaction(n int, writes []string, end string) []string {
	out := append([]string{fmt.Sprint("B", n)}, writes...)
	return append(out, fmt.Sprint(end, n))
}

// schedules calls fn for one transaction of two writes that meets two writes outside, and for two transactions of one
// write that meet one outside.
func schedules(fn func(moves []string)) {
	for _, w := range writesOf(1, 2) {
		for _, o := range writesOf(0, 2) {
			for _, moves := range merges(transaction(1, w, "C"), o) {
				fn(moves)
			}
		}
	}
	for _, a := range writesOf(1, 1) {
		for _, b := range writesOf(2, 1) {
			for _, end := range []string{"C", "A"} {
				for _, o := range writesOf(0, 1) {
					for _, moves := range merges(transaction(1, a, end), transaction(2, b, "C"), o) {
						fn(moves)
					}
				}
			}
		}
	}
}

func TestTransactionsMeet(t *testing.T) {
	for _, secondary := range []bool{false, true} {
		for _, present := range []bool{false, true} {
			t.Run(fmt.Sprintf("secondary %v present %v", secondary, present), func(t *testing.T) {
				t.Parallel()
				c := collection(t)
				if _, err := c.Indexes().CreateOne(ctx, mongo.IndexModel{
					Keys: bson.D{{Key: "k", Value: 1}}, Options: options.Index().SetUnique(true).SetSparse(true),
				}); err != nil {
					t.Fatal(err)
				}
				every := 11 // .ci/run plays all schedules
				if os.Getenv("DOCMODEL_FULL") != "" {
					every = 1
				}
				n, wrong := 0, 0
				schedules(func(moves []string) {
					if n++; wrong > 3 || n%every != 0 {
						return
					}
					m := &keyModel{secondary: secondary, versions: []keyVersion{{0, present}}, open: map[int]*tx{}}
					r := &keyRun{c: c, key: n, sessions: map[int]*mongo.Session{}}
					if present {
						if err := r.write(ctx, m, 'I'); err != nil {
							t.Fatal(err)
						}
					}
					if differs := r.play(m, moves); differs != "" {
						wrong++
						t.Error(differs)
					}
				})
				t.Logf("%d schedules", n)
			})
		}
	}
}
