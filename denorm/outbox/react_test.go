package outbox_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A store publishes the event of each write, in the same command, with and without transactions.
func TestOutboxPublishChanges(t *testing.T) {
	testkit.Parallel(t)
	small := outbox.New[told](lots, "box", outbox.Spec{Max: 3})
	changes := small.PublishChanges(func(before, after *lot) (told, bool) {
		switch {
		case after == nil:
			return told{-1}, before.N == 7
		case before == nil:
			return told{int(after.N)}, true
		}
		return told{int(10*before.N + after.N)}, before.N != after.N
	})
	stored := model.NewStore(model.New("lots", changes), lots)
	kept := model.NewStore(model.New("lots", small), lots)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := model.WithToken(t.Context(), testkit.Token(1))
		run := func(c model.ChangeOf[model.Stored[lot]], want error) {
			t.Helper()
			_, _, err := c.Run(ctx, db)
			if !errors.Is(err, want) {
				t.Errorf("error %v, want %v", err, want)
			}
		}
		run(stored.Insert(lot{ID: "a", N: 1}), nil)
		monitor.Reset()
		run(stored.Set("a", bson.D{testkit.E("n", int64(2))}), nil)
		if sent := len(monitor.Commands()); sent > 3 { // a tenant's run may ask for the collation
			t.Errorf("sent %v", monitor.Commands())
		}
		run(stored.Set("a", bson.D{testkit.E("version", int64(5))}), nil)
		run(kept.Set("a", bson.D{testkit.E("n", int64(3))}), nil)
		run(stored.Replace(lot{ID: "a", N: 4}), nil)
		run(stored.Set("a", bson.D{testkit.E("n", int64(5))}), model.ErrFull)
		monitor.Reset()
		run(stored.Delete("a"), model.ErrStale)
		run(kept.Delete("a"), model.ErrStale)
		if sent := len(monitor.Commands()); sent > 3 { // no attempt is repeated: the events wait until a relay runs
			t.Errorf("two refused deletions sent %d commands", sent)
		}
		got, err := lots.ByID("a").One(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		var bodies []int
		seen := map[bson.ObjectID]bool{}
		for _, event := range got.Box.Events {
			bodies = append(bodies, event.Body.N)
			seen[event.ID] = true
			if event.At.IsZero() {
				t.Errorf("an event without a time: %+v", event)
			}
		}
		if problem := mongotest.Diff([]int{1, 12, 34}, bodies); problem != "" ||
			got.Box.Events[0].ID.Timestamp() != testkit.Token(1).Timestamp() || len(seen) != 3 || got.Box.Hash == 0 {
			t.Errorf("%s %+v", problem, got.Box)
		}
		run(kept.Insert(lot{ID: "b", N: 7}), nil)
		_, _, err = stored.Delete("b").Run(ctx, db)
		if value := (*model.ValueError)(nil); !errors.As(err, &value) || value.Field != "box" {
			t.Errorf("a deletion with an event: %v", err)
		}
		run(kept.Delete("b"), nil)
	}, monitor)
	testkit.WantDeclarationErrors(t,
		testkit.Wrong("no function", func() { small.PublishChanges(nil) }, "event is nil",
			"PublishChanges of lots", "function"))
}
