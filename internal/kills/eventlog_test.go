package kills

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/denorm/eventlog"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	noted struct {
		Writer int `bson:"writer"`
		N      int `bson:"n"`
	}
	notes struct {
		Sum  int64          `bson:"sum"`
		Last [writers]int64 `bson:"last"` // what each writer noted last
	}
)

// foldNotes adds an event, and refuses one out of its writer's order.
func foldNotes(s notes, e noted) (notes, error) {
	if s.Last[e.Writer]+1 != int64(e.N) {
		return s, errors.New("an event is out of order")
	}
	s.Last[e.Writer], s.Sum = int64(e.N), s.Sum+1
	return s, nil
}

var journal = eventlog.New(model.NewCollection[eventlog.Commit[string, noted], string]("journal"),
	eventlog.Spec[string, noted, notes]{
		Fold:      foldNotes,
		Snapshots: model.NewCollection[eventlog.State[string, notes], string]("journal_states"), Every: 10,
	})

// All writers append to one log, each two events at a time.
func init() {
	acts = append(acts, act{
		name: "event log", technique: journal,
		begin: func(context.Context, *mongo.Database) error { return nil },
		do: func(ctx context.Context, db *mongo.Database, o op) error {
			_, err := journal.Decide("j", noon, o.token, func(eventlog.State[string, notes]) ([]noted, error) {
				return []noted{{o.writer, 2*o.n + 1}, {o.writer, 2*o.n + 2}}, nil
			}).Run(ctx, db)
			return err
		},
		settle: mended(journal),
		judge: func(t *testing.T, db *mongo.Database, done [writers]int) {
			want := int64(0)
			s, _, err := journal.Load("j").Run(t.Context(), db)
			for w, n := range done {
				want += 2 * int64(n)
				if s.State.Last[w] != 2*int64(n) {
					t.Errorf("writer %d noted %d last, want %d", w, s.State.Last[w], 2*n)
				}
			}
			if err != nil || s.Version != want || s.State.Sum != want {
				t.Errorf("%+v, %v, want version %d", s, err, want)
			}
		},
	})
}
