package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/inbox"
	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var (
	e        = testkit.E
	token    = testkit.Token
	parallel = testkit.Parallel
)

type (
	account struct {
		ID      string          `bson:"_id"`
		Balance int64           `bson:"balance"`
		Done    []inbox.Receipt `bson:"done,omitempty"`
	}
	transfer struct {
		Amount int64 `bson:"amount"`
	}
)

var (
	accounts = model.NewCollection[account, string]("accounts")
	handled  = inbox.New(accounts, "done", inbox.Spec{Keep: 4})
)

func inc(n int64) bson.D { return bson.D{e("$inc", bson.D{e("balance", n)})} }

func begin(ctx context.Context, db *mongo.Database) error {
	_, err := accounts.Insert(account{ID: "a"}).Run(ctx, db)
	return err
}

func wantBalance(t testing.TB, db model.DB, id string, want int64) {
	t.Helper()
	a, err := accounts.ByID(id).One(context.Background(), db)
	if err != nil || a.Balance != want || len(a.Done) > 4 {
		t.Errorf("%+v, %v, want a balance of %d", a, err, want)
	}
}

// An event is handled once, however often and in whatever order it is repeated.
func TestInboxHandle(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := begin(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		want := int64(0)
		for n := 1; n <= 30; n++ {
			want += int64(n)
			for range 3 { // this event, and one of the last three again
				for _, k := range []int{n, max(1, n-rng.IntN(3))} {
					if _, err := handled.Handle("a", inc(int64(k)), transfer{int64(k)}, token(k)).
						Run(t.Context(), db); err != nil {
						t.Fatal(err)
					}
				}
			}
			wantBalance(t, db, "a", want)
		}
		if _, err := handled.Once("a", transfer{1}, token(50)).Run(t.Context(), db); err != nil {
			t.Errorf("without an effect: %v", err)
		}
		if _, err := handled.Once("a", transfer{1}, token(50)).
			Run(t.Context(), db); !errors.Is(err, inbox.ErrHandled) {
			t.Errorf("without an effect, again: %v", err)
		}
		push := bson.D{e("$push", bson.D{e("done", inbox.Receipt{})})}
		for reason, test := range map[string]struct {
			w    model.Write
			want error
		}{
			"a token of another event": {handled.Handle("a", inc(9), transfer{9}, token(50)), denorm.ErrToken},
			"another event, once":      {handled.Once("a", transfer{9}, token(50)), denorm.ErrToken},
			"no account, once":         {handled.Once("b", transfer{9}, token(51)), model.ErrNotFound},
			"no update":                {handled.Handle("a", nil, transfer{9}, token(51)), testkit.ErrRefused},
			"no such account":          {handled.Handle("b", inc(9), transfer{9}, token(51)), model.ErrNotFound},
			"no token": {
				w:    handled.Handle("a", inc(9), transfer{9}, bson.NilObjectID),
				want: testkit.ErrRefused,
			},
			"its own field": {handled.Handle("a", push, transfer{9}, token(51)), testkit.ErrRefused},
			"renamed into": {
				w:    handled.Handle("a", bson.D{e("$rename", bson.D{e("balance", "done")})}, transfer{9}, token(51)),
				want: testkit.ErrRefused,
			},
			"no operators": {handled.Handle("a", bson.D{e("balance", 1)}, transfer{9}, token(51)), testkit.ErrRefused},
			"an unknown field": {
				w:    handled.Handle("a", bson.D{e("$set", bson.D{e("balanced", 1)})}, transfer{9}, token(51)),
				want: testkit.ErrRefused,
			},
			"no event": {handled.Handle("a", inc(1), make(chan int), token(51)), testkit.ErrRefused},
		} {
			_, err := test.w.Run(t.Context(), db)
			if testkit.WantError(t, err, test.want); err == nil {
				t.Errorf("%s is taken", reason)
			}
		}
		wantBalance(t, db, "a", want)
	})
}

func TestInboxInsert(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		w := handled.Insert(account{ID: "a", Balance: 5}, transfer{5}, token(1))
		for range 2 {
			if _, err := w.Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := handled.Handle("a", inc(2), transfer{2}, token(2)).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Run(t.Context(), db); err != nil {
			t.Errorf("again, after the account changed: %v", err)
		}
		wantBalance(t, db, "a", 7)
		_, err := handled.Insert(account{ID: "a"}, transfer{6}, token(1)).Run(t.Context(), db)
		if !errors.Is(err, denorm.ErrToken) {
			t.Errorf("another event: %v", err)
		}
		_, err = handled.Insert(account{ID: "a"}, transfer{6}, token(9)).Run(t.Context(), db)
		if !errors.Is(err, model.ErrTaken) || errors.Is(err, denorm.ErrToken) {
			t.Errorf("another document: %v", err)
		}
		_, err = handled.Insert(account{ID: "c", Done: []inbox.Receipt{{}}}, transfer{6},
			token(9)).Run(t.Context(), db)
		testkit.WantError(t, err, testkit.ErrRefused)
	})
}

// Two deliveries of one event meet, and two events.
func TestInboxInterleaved(t *testing.T) {
	handle := func(n int) testkit.Operation {
		return testkit.Operation{
			Name: fmt.Sprint("handle ", n),
			Run: func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error {
				_, err := handled.Handle("a", inc(int64(n)), transfer{int64(n)}, token(n)).Run(ctx, db)
				return err
			},
		}
	}
	for n, want := range map[int]int64{1: 1, 2: 3} {
		testkit.Meet(t, handle(1), handle(n), modeltest.InterleaveCase{
			Sample: 3, Seed: begin,
			Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
				if errA != nil || errB != nil {
					t.Error(errA, errB)
				}
				wantBalance(t, db, "a", want)
			},
		})
	}
}

func TestInboxFaults(t *testing.T) {
	testkit.RunFaults(t, map[string]modeltest.FaultCase{"handle": {
		Seed: begin, Run: testkit.Doing(handled.Handle("a", inc(3), transfer{3}, token(1))),
		Check: func(t testing.TB, db *mongo.Database) { wantBalance(t, db, "a", 3) },
	}})
}

// An effect on two accounts is made once, in a transaction.
func TestInboxInTransaction(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		if err := errors.Join(begin(t.Context(), db), func() error {
			_, err := accounts.Insert(account{ID: "b"}).Run(t.Context(), db)
			return err
		}()); err != nil {
			t.Fatal(err)
		}
		p := model.NewPlan(handled.Once("a", transfer{3}, token(1)), accounts.Update("a", inc(-3)),
			accounts.Update("b", inc(3)))
		for n := range 2 {
			if _, err := p.RunTx(t.Context(), db); n == 0 && err != nil ||
				n == 1 && !errors.Is(err, inbox.ErrHandled) {
				t.Fatal(err)
			}
			wantBalance(t, db, "a", -3)
			wantBalance(t, db, "b", 3)
		}
	})
}

func TestInboxCosts(t *testing.T) {
	parallel(t)
	testkit.WantPricesAnew(t, begin,
		testkit.Writes("Handle", 1, 1, model.NewPlan(handled.Handle("a", inc(1), transfer{1}, token(1)))),
		testkit.Writes("Insert", 1, 1, model.NewPlan(handled.Insert(account{ID: "b"}, transfer{1}, token(1)))),
	)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := begin(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		testkit.WantStepsIndexed(t, db, "Inbox", model.IDIndex,
			model.NewPlan(handled.Handle("a", inc(1), transfer{1}, token(1))))
	})
}

func TestInboxDeclaration(t *testing.T) {
	for reason, f := range map[string]func(){
		"no such field": func() { inbox.New(accounts, "gone", inbox.Spec{}) },
		"another type":  func() { inbox.New(accounts, "balance", inbox.Spec{}) },
		"Keep":          func() { inbox.New(accounts, "done", inbox.Spec{Keep: -1}) },
	} {
		if testkit.Catch(t, f) == nil {
			t.Errorf("%s: it is taken", reason)
		}
	}
}

// A receiver that tells of what it was told does both by one write, and once: also after its own event was handed on.
func TestInboxWithOutbox(t *testing.T) {
	type relayed struct {
		ID      string                    `bson:"_id"`
		Balance int64                     `bson:"balance"`
		Done    []inbox.Receipt           `bson:"done,omitempty"`
		Box     outbox.Outgoing[transfer] `bson:"box,omitempty"`
	}
	both := model.NewCollection[relayed, string]("accounts")
	in, out := inbox.New(both, "done", inbox.Spec{}),
		outbox.New[transfer](both, "box", outbox.Spec{})
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := begin(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2014, 3, 28, 12, 0, 0, 0, time.UTC)
		w := model.Merge(in.Handle("a", inc(3), transfer{3}, token(1)), out.Publish("a", transfer{3}, at, token(1)))
		told := 0
		for range 3 {
			if _, err := w.Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			relay := out.Relay("x", outbox.RelaySpec{Once: true, Parts: 1},
				func(context.Context, outbox.Delivery[string, transfer]) error {
					told++
					return nil
				})
			if err := relay.Run(t.Context(), db); err != nil || told != 1 {
				t.Fatalf("told %d times, %v", told, err)
			}
		}
		wantBalance(t, db, "a", 3)
	})
}
