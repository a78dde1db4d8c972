// These tests are of several packages of denorm: repeated actions of a store with several techniques.

package denorm_test

import (
	"context"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/denorm/inbox"
	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/denorm/rollup"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	shelf struct {
		ID   string `bson:"_id"`
		Name string `bson:"name"`
		V    int64  `bson:"v"`
		N    int64  `bson:"n"`
	}
	folder struct {
		ID    string                       `bson:"_id"`
		Shelf string                       `bson:"shelf"`
		Name  string                       `bson:"name"`
		V     int64                        `bson:"v"`
		N     int64                        `bson:"n"`
		At    time.Time                    `bson:"at"`
		Mark  *rollup.Mark                 `bson:"mark,omitempty"`
		Done  []inbox.Receipt              `bson:"done,omitempty"`
		Box   outbox.Outgoing[folderEvent] `bson:"box,omitempty"`
	}
	folderEvent struct {
		Text string `bson:"text"`
	}
)

var (
	shelves = model.NewCollection[shelf, string]("shelves")
	folders = model.NewCollection[folder, string]("folders")

	shelfNames = copies.New(shelves, folders, copies.Spec{
		KeyPath: "shelf", Fields: []copies.Field{{From: "name", To: "name"}}, Version: "v", VersionTo: "v",
	})
	shelfNumbers = counter.New(folders, "shelf", shelves, counter.Spec{Count: "n"})
	folderStore  = model.NewStore(model.New("shelves", shelfNumbers), folders)
	folderDays   = rollup.New(folders,
		model.NewCollection[rollup.Doc[string, int64], string]("folderDays"), rollup.Spec{
			Time: "at", By: []string{"shelf"}, Sums: []string{"n"}, Bins: []denorm.Period{denorm.Daily}, Mark: "mark",
		})
	folderInbox   = inbox.New(folders, "done", inbox.Spec{Keep: 10})
	folderEvents  = outbox.New[folderEvent](folders, "box", outbox.Spec{})
	folderCreates = outbox.New[folderEvent](folders, "box", outbox.Spec{Create: true})
)

// rerunCases are actions that tell whether they ran before, by a token or by the document that they insert.
func rerunCases() map[string]model.Action {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	fresh, unnamed := folder{ID: "new", Shelf: "s", Name: "S", V: 1, At: noon}, folder{ID: "new", Shelf: "s", At: noon}
	op, event := testkit.Token(1), folderEvent{"created"}
	inc, set := bson.D{testkit.E("$inc", bson.D{testkit.E("n", 1)})}, bson.D{
		testkit.E("$set", bson.D{testkit.E("name", "N")}),
	}
	return map[string]model.Action{
		"Store.Insert, Copy":     model.NewStore(model.New("names", shelfNames), folders).Insert(unnamed),
		"Store.Insert, Rollup":   model.NewStore(model.New("days", folderDays), folders).Insert(fresh),
		"Inbox.Insert":           folderInbox.Insert(fresh, event, op),
		"Inbox.Handle":           folderInbox.Handle("old", inc, event, op),
		"Outbox.Publish":         folderEvents.Publish("old", event, noon, op),
		"Outbox.Publish, Create": folderCreates.Publish("new", event, noon, op),
		"Store.Insert, Counter":  folderStore.Insert(fresh),
		"a merge of Publish and $inc": model.Merge(folderEvents.Publish("old", event, noon, op),
			folders.Update("old", inc)),
		"a merge of Handle and $inc": model.Merge(folders.Update("old", inc),
			folderInbox.Handle("old", set, event, op)),
	}
}

func seedShelves(t *testing.T, db *mongo.Database) {
	t.Helper()
	testkit.MustExec(t, db, model.Concat(model.NewPlan(shelves.Insert(shelf{ID: "s", Name: "S", V: 1})),
		model.NewPlan(folders.Insert(folder{ID: "old"})), model.NewPlan(folders.Insert(folder{ID: "other"}))))
}

// An action runs three times as it runs once: alone, joined with a number, and with
// transactions.
func TestRerunTechniques(t *testing.T) {
	testkit.Parallel(t)
	number := folders.Update("other", bson.D{testkit.E("$inc", bson.D{testkit.E("n", 1)})})
	for name, action := range rerunCases() {
		for way, change := range map[string]model.Change{
			"alone": action.Change(), "joined": action.Change().Also(number),
			"joined after": number.Change().Also(action),
		} {
			t.Run(name+", "+way, func(t *testing.T) {
				mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
					mongotest.Need(t, db, mongotest.Transactions)
					seedShelves(t, db)
					tx, err := model.WithTransactions(t.Context(), db)
					if err != nil {
						t.Fatal(err)
					}
					want := ""
					for n := range 3 {
						if _, err := change.Run(t.Context(), tx); err != nil {
							t.Errorf("run %d: %v", n+1, err)
						}
						got, err := mongotest.Dump(t.Context(), db)
						if n == 0 {
							want = got
						}
						if err != nil || got != want {
							t.Errorf("run %d changed\n%s\nto\n%s (%v)", n+1, want, got, err)
						}
					}
				})
			})
		}
	}
}

// A merge of a token and a number survives a fault at each of its writes.
func TestRerunMergedFaults(t *testing.T) {
	testkit.Parallel(t)
	for name, action := range rerunCases() {
		w, is := action.(model.Write)
		if !is || w.Token.IsZero() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Sample: -1,
				Seed: func(ctx context.Context, db *mongo.Database) error {
					return testkit.Exec(ctx, db, model.NewPlan(folders.Insert(folder{ID: "old"})))
				},
				Run: func(ctx context.Context, db *mongo.Database) error {
					_, err := w.Run(ctx, db)
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) {
					f, err := folders.ByID("old").One(context.Background(), db)
					if err != nil || f.N > 1 || len(f.Box.Events) > 1 || len(f.Done) > 1 {
						t.Errorf("%+v, %v", f, err)
					}
				},
			})
		})
	}
}
