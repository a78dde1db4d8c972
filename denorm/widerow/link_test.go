package widerow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What Link sends in a transaction, where the server has bulkWrite and where it has not.
func TestWideRowLinkCommands(t *testing.T) {
	if tenancy.On {
		t.Skip("a tenant's commands differ")
	}
	for _, c := range []struct {
		what     string
		link     model.Change
		missing  string
		old, now string // MongoDB 7.0 and 8.0
	}{
		{
			what: "new", link: wide.Link("f2", "s1", minute(5), testkit.Token(1)),
			old: "aggregate aggregate aggregate aggregate find find update update update update commitTransaction",
			now: "aggregate aggregate aggregate aggregate find find bulkWrite commitTransaction",
		},
		{
			what: "linked", link: wide.Link("f1", "s1", minute(5), testkit.Token(1)),
			old: "aggregate aggregate aggregate aggregate commitTransaction",
			now: "aggregate aggregate aggregate aggregate commitTransaction",
		},
		{
			what: "a missing left document", link: wide.Link("f9", "s1", minute(5), testkit.Token(1)), missing: "fans",
			old: "aggregate aggregate aggregate aggregate find abortTransaction",
			now: "aggregate aggregate aggregate aggregate find abortTransaction",
		},
		{
			what: "a missing right document",
			link: wide.Link("f2", "s99", minute(5), testkit.Token(1)), missing: "songs",
			old: "aggregate aggregate aggregate aggregate find find abortTransaction",
			now: "aggregate aggregate aggregate aggregate find find abortTransaction",
		},
	} {
		for version, want := range map[string]string{"7.0": c.old, "8.0": c.now, "": ""} {
			monitor := mongotest.NewMonitor()
			options := []mongotest.Option{monitor}
			if version != "" {
				options = append(options, mongotest.Settings{Version: version})
			}
			plain := mongotest.NewClient(t, options...).Database("wide")
			on, err := model.WithTransactions(t.Context(), plain)
			if version == "" {
				on = plain
			}
			if err = errors.Join(err, seedWide(t.Context(), plain)); err != nil {
				t.Fatal(err)
			}
			monitor.Reset()
			_, err = c.link.Run(t.Context(), on)
			var sent []string
			for _, command := range monitor.Commands() {
				sent = append(sent, command.Name)
			}
			if got := strings.Join(sent, " "); got != want && version != "" {
				t.Errorf("%s on %s: sent %s, want %s", c.what, version, got, want)
			}
			var missing *model.ReferenceError
			if errors.As(err, &missing) != (c.missing != "") ||
				missing != nil && (missing.To != c.missing || !errors.Is(err, model.ErrNotFound)) {
				t.Errorf("%s on %s: %v", c.what, version, err)
			}
			wantWide(t, plain, wide, 4)
		}
	}
}

// Link meets a change or a deletion of a linked document in every order. Its columns then have the fields of the
// document.
func TestWideRowLinkMeets(t *testing.T) {
	testkit.Parallel(t)
	for name, other := range map[string]func(ctx context.Context, on model.DB) error{
		"renamed song": func(ctx context.Context, on model.DB) error {
			_, _, err := songStore.Set("s7", bson.D{testkit.E("name", "New")}).Run(ctx, on)
			return err
		},
		"renamed fan": func(ctx context.Context, on model.DB) error {
			_, _, err := fanStore.Edit("f1", func(m *member) error { m.Name += "!"; return nil }).Run(ctx, on)
			return err
		},
		"song renamed twice": func(ctx context.Context, on model.DB) error {
			for n := range 2 {
				if _, _, err := songStore.Set("s7", bson.D{testkit.E("name", fmt.Sprint("New", n))}).
					Run(ctx, on); err != nil {
					return err
				}
			}
			return nil
		},
		"deleted song": func(ctx context.Context, on model.DB) error {
			_, _, err := songStore.Delete("s7").Run(ctx, on)
			return err
		},
	} {
		for _, transactions := range []bool{false, true} {
			if !transactions && name == "deleted song" {
				continue // the check finds the link
			}
			run := func(f func(ctx context.Context, on model.DB) error) func(context.Context, *mongo.Database) error {
				return func(ctx context.Context, db *mongo.Database) (err error) {
					on := model.DB(db)
					if transactions {
						if on, err = model.WithTransactions(ctx, db); err != nil {
							return err
						}
					}
					return f(ctx, on)
				}
			}
			t.Run(fmt.Sprintf("%s, transactions %v", name, transactions), func(t *testing.T) {
				testkit.Parallel(t)
				modeltest.Interleave(t, modeltest.InterleaveCase{
					Transactions: transactions, Nested: !testkit.EveryPair || name == "song renamed twice",
					Seed: seedWide, B: run(other),
					A: run(func(ctx context.Context, on model.DB) error {
						_, err := wide.Link("f1", "s7", minute(15), testkit.Token(1)).Run(ctx, on)
						return err
					}),
					Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
						refused := errB != nil && name == "deleted song" && errors.As(errB, new(*model.ValueError))
						late := name == "deleted song" && errors.Is(errA, model.ErrNotFound)
						if errA != nil && !late || errB != nil && !refused ||
							late == refused && name == "deleted song" {
							t.Errorf("%v, %v", errA, errB)
						}
						wantWide(t, db, wide, 4)
						if found, err := testkit.FoundBy(context.Background(), db,
							wide.Checks()); len(found) > 0 || err != nil {
							t.Errorf("they find %v, %v", found, err)
						}
					},
				})
			})
		}
	}
}

// A retry corrects the columns that an earlier attempt stored before it was cut.
func TestWideRowLinkAgain(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		link := wide.Link("f1", "s7", minute(15), testkit.Token(1))
		cut := func() error { // without the change that follows
			p, err := link.Plan(ctx, db)
			if err == nil {
				_, err = p.Run(ctx, db)
			}
			return err
		}
		rename := bson.D{testkit.E("$set", bson.D{testkit.E("name", "New")})}
		if err := errors.Join(seedWide(ctx, db), cut(), testkit.Updates(ctx, db, "songs", "s7", rename),
			wideRun(ctx, db, link)); err != nil {
			t.Fatal(err)
		}
		if found, err := testkit.FoundBy(ctx, db, wide.Checks()); len(found) > 0 || err != nil {
			t.Errorf("they find %v, %v", found, err)
		}
	})
}
