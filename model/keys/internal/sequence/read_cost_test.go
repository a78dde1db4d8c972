// These tests hold which index serves each operation, and what it costs.

package sequence_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// What the comments promise of indexes: everything by number and by day is served by _id, what is unpacked by the index
// on the keys.
func TestSequenceIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var mails, days, counters []any
		for i := range 1500 {
			owner := fmt.Sprintf("o%03d", i%500)
			key, err := seqDaily.Key(owner, int64(1+i/500))
			if err != nil {
				t.Fatal(err)
			}
			mails = append(mails, seqMail{ID: key})
			days = append(days, keys.DayBucket{ID: fmt.Sprintf("%s_2026-11-%02d", owner, 1+i/500), Keys: []string{key}})
		}
		for i := range 1500 {
			counters = append(counters, seqCounter{ID: fmt.Sprintf("o%03d", i), Last: 3})
		}
		for name, docs := range map[string][]any{"mail": mails, "days": days, "counters": counters} {
			if _, err := db.Collection(name).InsertMany(t.Context(), docs); err != nil {
				t.Fatal(err)
			}
		}
		if err := model.New("test", seqDaily).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)
		day := "2026-11-02"
		page := seqDaily.Following("o007", 0).Limited(2)
		for _, q := range []struct {
			reason string
			query  any
		}{
			{"At", seqDaily.At("o007", 1)}, {"Previous", seqDaily.Previous("o007", 3)},
			{"Following", seqDaily.Following("o007", 1)}, {"Range", seqDaily.Range("o007", 1, 2)},
			{"Newest", seqDaily.Newest("o007")}, {"a page", page.After("o007_0001")},
			{"Day", seqDaily.Days.Range("o007", day, day)}, {"Days", seqDaily.Days.Range("o007", day, day)},
			{"DaysBefore", seqDaily.Days.Before("o007", day)}, {"DaysAfter", seqDaily.Days.After("o007", day)},
			{"Packed", seqDaily.Days.Packed(keys.DayBucket{Keys: []string{"o007_0001", "o008_0001"}})},
			{"Unpacked", seqDaily.Days.Unpacked("o007")},
			{"Take", seqDaily.Take("o007", 2)}, {"Open", seqDaily.Open("o007")}, {"Raise", seqDaily.Raise("o007", 9)},
			{"Pack", seqDaily.Days.Pack("o007", 4, at)}, {"Unpack", seqDaily.Days.Unpack("o007", 1, at)},
			{"Append counts", seqAppended(t, seqDaily, "o007", 4, seqMail{}).Steps[0]},
		} {
			t.Run(q.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, q.query, model.IDIndex) })
			if c, ok := q.query.(interface{ Cost() model.Cost }); ok &&
				!slices.Equal(c.Cost().Indexes, []string{model.IDIndex}) {
				t.Errorf("%s says that %v serves it", q.reason, c.Cost().Indexes)
			}
		}
		t.Run("what Unpacked looks up", func(t *testing.T) {
			modeltest.WantIndexed(t, db, seqDays.Find(bson.D{{Key: "keys", Value: "o007_0001"}}), "keys_1")
		})
	})
}

// What the comments promise of commands and documents, that no other test measures.
func TestKeysCosts(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		seqStore(t, db, seqDaily, "a", 1, 2, 3)
		day := "2026-11-02"
		at := time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)
		want := func(reason string, commands, written, returned int, f func() error) {
			t.Helper()
			t.Run(reason, func(t *testing.T) {
				modeltest.WantCost(t, m, model.Cost{Commands: commands, Written: written, Returned: returned}, f)
			})
		}
		run := func(s model.Step) func() error {
			return func() error { _, err := model.NewPlan(s).Run(ctx, db); return err }
		}
		find := func(q interface {
			All(context.Context, model.DB) ([]seqMail, error)
		}) func() error {
			return func() error { _, err := q.All(ctx, db); return err }
		}
		insert := func(text string) func() error {
			return func() error { return seqInsert(seqDaily, "a", 1, seqMail{Text: text})(ctx, db) }
		}
		taken := func(insert func() error) func() error {
			return func() error {
				if err := insert(); !errors.Is(err, model.ErrTaken) {
					return fmt.Errorf("%w: want ErrTaken", err)
				}
				return nil
			}
		}
		want("Insert of a number that is one's own", 2, 0, 1, insert("a 1"))
		want("Insert of a number that is taken", 2, 0, 1, taken(insert("other")))
		want("Following", 1, 0, 2, find(seqDaily.Following("a", 1)))
		want("Range", 1, 0, 2, find(seqDaily.Range("a", 1, 2)))
		want("Newest", 1, 0, 3, find(seqDaily.Newest("a")))
		check := seqDaily.Checks()[0]
		want("Checks, behind", 1, 0, 1, func() error {
			behind, err := check.All(ctx, db)
			if err == nil && len(behind) != 1 {
				err = fmt.Errorf("%v", behind)
			}
			return err
		})
		mends := check.Mend([]model.Finding{seqFinding(check, bson.D{{Key: "id", Value: "a_0003"}})})
		want("Mend", 1, 1, 0, func() error { _, err := mends.Run(ctx, db); return err })
		t.Run("Mend by _id", func(t *testing.T) { modeltest.WantIndexed(t, db, mends.Steps[0], model.IDIndex) })
		want("Raise", 1, 1, 0, run(seqDaily.Raise("a", 5)))
		want("Gaps", 1, 0, 0, func() error { _, err := seqDaily.Gaps().All(ctx, db); return err })
		want("Checks, damaged", 1, 0, 0, func() error { _, err := seqDaily.Checks()[1].All(ctx, db); return err })
		want("Checks, foreign", 1, 0, 0, func() error { _, err := seqDaily.Checks()[2].All(ctx, db); return err })
		want("Unpacked", 1, 0, 3, find(seqDaily.Days.Unpacked("a")))
		want("Pack", 1, 1, 0, run(seqDaily.Days.Pack("a", 1, at)))
		want("Unpacked, after one was packed", 1, 0, 2, find(seqDaily.Days.Unpacked("a")))
		want("Day", 1, 0, 1, func() error { _, err := seqDaily.Days.Range("a", day, day).One(ctx, db); return err })
		want("Days", 1, 0, 1, func() error { _, err := seqDaily.Days.Range("a", day, day).All(ctx, db); return err })
		want("Packed", 1, 0, 1, find(seqDaily.Days.Packed(keys.DayBucket{Keys: []string{"a_0001"}})))
		want("Unpack", 1, 1, 0, run(seqDaily.Days.Unpack("a", 1, at)))
		want("Next of a new owner: its counter is made first", 4, 2, 1, func() error {
			_, err := seqDaily.Allocator(db, 10).Next(ctx, "new")
			return err
		})
		t.Run("Append", func(t *testing.T) {
			mongotest.Need(t, db, mongotest.Transactions)
			// A hello, to see whether there are transactions; the read; the count and the insert, as one command since
			// MongoDB 8.0; the commit.
			modeltest.WantCost(t, m, model.Cost{Commands: 4, Written: 2, Returned: 1}, func() error {
				_, _, err := seqDaily.Append("a", seqMail{}).Run(ctx, db)
				return err
			})
		})
	}, m)
}
