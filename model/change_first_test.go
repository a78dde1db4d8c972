package model_test

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// TestChangeHopesFirst: a change may leave out its read at the first attempt, and must read when that was stale; in a
// transaction of its own as well. Where nothing is tried again, and outside a change, it must read at once.
func TestChangeHopesFirst(t *testing.T) {
	type state struct {
		hoped bool
		qty   int32
	}
	hopes := func(told *[]bool, guess int32) model.ChangeOf[state] {
		return model.ChangeOf[state]{
			Read: func(ctx context.Context, db model.DB) (state, error) {
				hoped := runctx.HopeFirst(ctx)
				if *told = append(*told, hoped); hoped {
					return state{true, guess}, nil
				}
				p, err := parts.ByID(1).One(ctx, db)
				return state{false, p.Qty}, err
			},
			Decide: func(s state) (model.Plan, error) {
				return model.NewPlan(expectOne(updateOne(d("_id", 1, "qty", s.qty), d("$set", d("qty", s.qty+1))))), nil
			},
			Pause: time.Millisecond,
		}
	}
	wantTold := func(t *testing.T, got []bool, want ...bool) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("hoped %v, want %v", got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("hoped %v, want %v", got, want)
			}
		}
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, model.NewPlan(parts.Insert(part{1, "a", 5})))
		run := func(t *testing.T, c model.ChangeOf[state]) {
			t.Helper()
			if _, _, err := c.Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		var right, wrong []bool
		run(t, hopes(&right, 5))
		wantTold(t, right, true)
		run(t, hopes(&wrong, 5))
		wantTold(t, wrong, true, false)
		var inner []bool
		outer := hopes(new([]bool), 7)
		read := outer.Read
		outer.Read = func(ctx context.Context, db model.DB) (state, error) {
			if _, _, err := hopes(&inner, 9).Run(ctx, db); err != nil { // another change that runs within the first attempt
				return state{}, err
			}
			outer.Read = read
			return state{}, nil
		}
		if _, err := outer.Read(runctx.First(t.Context(), true), db); err != nil {
			t.Fatal(err)
		}
		wantTold(t, inner, true, false)
		var alone []bool
		if _, err := hopes(&alone, 0).Read(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		wantTold(t, alone, false)
		t.Run("in transactions", func(t *testing.T) {
			mongotest.Need(t, db, mongotest.Transactions)
			var own []bool
			change := hopes(&own, 0)
			change.Tx = true
			run(t, change)
			wantTold(t, own, true, false)
			var callers []bool
			session, err := db.Client().StartSession()
			if err != nil {
				t.Fatal(err)
			}
			defer session.EndSession(t.Context())
			_, err = session.WithTransaction(t.Context(), func(ctx context.Context) (any, error) {
				_, _, err := hopes(&callers, 0).Run(ctx, db)
				return nil, err
			})
			if err != nil {
				t.Fatal(err)
			}
			wantTold(t, callers, false)
		})
		if left := stock(t, db); left[0].Qty < 8 {
			t.Errorf("%d", left[0].Qty)
		}
	})
}
