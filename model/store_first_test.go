package model_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The commands of each action in a transaction, where the server has bulkWrite and where it
// has not.
func TestStoreCommands(t *testing.T) {
	if tenancy.On {
		t.Skip("a tenant's commands differ")
	}
	counted := model.NewStore(model.New("counted", noteCount, noteRef), diaryNotes)
	referring := model.NewStore(model.New("referring", noteRef), diaryNotes)
	type action = model.ChangeOf[model.Stored[note]]
	for _, c := range []struct {
		what     string
		action   action
		fails    error
		old, now string // MongoDB 7.0 and 8.0
	}{
		{
			what: "insert", action: noteStore.Insert(note{ID: "m", Writer: "ann"}),
			old: "findAndModify insert update commitTransaction", now: "find bulkWrite commitTransaction",
		},
		{
			what: "insert without a copy", action: counted.Insert(note{ID: "m", Writer: "ann"}),
			old: "insert update commitTransaction", now: "bulkWrite commitTransaction",
		},
		{
			what: "insert below a missing writer", action: noteStore.Insert(note{ID: "m", Writer: "cy"}),
			fails: model.ErrNotFound, old: "findAndModify abortTransaction", now: "find abortTransaction",
		},
		{
			what: "ensure", action: counted.Ensure(note{ID: "m", Writer: "ann"}),
			old: "findAndModify update commitTransaction", now: "find bulkWrite commitTransaction",
		},
		{
			what: "ensure again", action: counted.Ensure(note{ID: "n", Writer: "ann"}),
			old: "findAndModify commitTransaction", now: "find commitTransaction",
		},
		{
			what: "ensure below a missing writer", action: counted.Ensure(note{ID: "m", Writer: "cy"}), fails: model.ErrNotFound,
			old: "findAndModify update abortTransaction", now: "find bulkWrite abortTransaction",
		},
		{
			what:   "ensure by a field",
			action: counted.EnsureOne(bson.D{{Key: "text", Value: "y"}}, note{ID: "m", Writer: "ann", Text: "y"}),
			old:    "findAndModify update commitTransaction", now: "find bulkWrite commitTransaction",
		},
		{
			what:   "ensure by a field again",
			action: counted.EnsureOne(bson.D{{Key: "text", Value: "x"}}, note{ID: "m", Writer: "ann", Text: "x"}),
			old:    "findAndModify commitTransaction", now: "find commitTransaction",
		},
		{
			what: "set a plain field", action: noteStore.Set("n", bson.D{{Key: "text", Value: "y"}}),
			old: "findAndModify", now: "findAndModify",
		},
		{
			what: "move", action: counted.Set("n", bson.D{{Key: "writer", Value: "bob"}}),
			old: "findAndModify update update commitTransaction", now: "findAndModify bulkWrite commitTransaction",
		},
		{
			what: "move to a missing writer", action: counted.Set("n", bson.D{{Key: "writer", Value: "cy"}}),
			fails: model.ErrNotFound, old: "findAndModify update abortTransaction",
			now: "findAndModify bulkWrite abortTransaction",
		},
		{
			what:   "move to a missing writer whom nothing counts",
			action: referring.Set("n", bson.D{{Key: "writer", Value: "cy"}}),
			fails:  model.ErrNotFound,
			old:    "findAndModify update abortTransaction", now: "findAndModify update abortTransaction",
		},
		{
			what: "delete", action: noteStore.Delete("n"),
			old: "findAndModify update commitTransaction", now: "findAndModify update commitTransaction",
		},
		{
			what: "delete a missing note", action: noteStore.Delete("m"), fails: model.ErrNotFound,
			old: "findAndModify abortTransaction", now: "findAndModify abortTransaction",
		},
	} {
		for version, want := range map[string]string{"7.0": c.old, "8.0": c.now} {
			monitor := mongotest.NewMonitor()
			db := fillDiary(t,
				mongotest.NewClient(t, mongotest.Settings{Version: version}, monitor).Database("diary"))
			before := storedIn(t, db)
			monitor.Reset()
			_, _, err := c.action.Run(t.Context(), db)
			var sent []string
			for _, command := range monitor.Commands() {
				sent = append(sent, command.Name)
			}
			if got := strings.Join(sent, " "); got != want || !errors.Is(err, c.fails) || (err == nil) != (c.fails == nil) {
				t.Errorf("%s on %s: sent %s, want %s; %v", c.what, version, got, want, err)
			}
			if after := storedIn(t, db); c.fails != nil && !slices.Equal(before, after) {
				t.Errorf("%s on %s: changed %v to %v", c.what, version, before, after)
			}
		}
	}
}

// fillDiary stores two writers and a note, and returns the database with transactions.
func fillDiary(t *testing.T, plain *mongo.Database) model.DB {
	t.Helper()
	db, err := model.WithTransactions(t.Context(), plain)
	if err == nil {
		_, _, err = writerStore.InsertMany(writer{ID: "ann", Name: "Ann"},
			writer{ID: "bob", Name: "Bob"}).Run(t.Context(), db)
	}
	if err == nil {
		_, _, err = noteStore.Insert(note{ID: "n", Writer: "ann", Text: "x"}).Run(t.Context(), db)
	}
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func storedIn(t *testing.T, db model.DB) (out []string) {
	t.Helper()
	for _, name := range []string{"writers", "notes"} {
		docs, err := (&model.Find[bson.Raw]{Query: model.Query{Collection: name, Filter: bson.D{}}}).All(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range docs {
			out = append(out, d.String())
		}
	}
	return out
}

// In a transaction of the caller, a refused action writes nothing, so that the caller can go on.
func TestStoreRefusedInTx(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		tx := fillDiary(t, db)
		before := storedIn(t, tx)
		err := model.InTx(t.Context(), tx, func(ctx context.Context) error {
			_, _, err := noteStore.Set("n", bson.D{{Key: "writer", Value: "cy"}, {Key: "text", Value: "y"}}).Run(ctx, tx)
			if !errors.Is(err, model.ErrNotFound) {
				t.Error(err)
			}
			return nil
		})
		if after := storedIn(t, tx); err != nil || !slices.Equal(before, after) {
			t.Errorf("%v: %v\n%v", err, before, after)
		}
	})
}

// A transaction finishes an action that a client without transactions left unfinished, before
// its own write.
func TestStoreFirstUnfinished(t *testing.T) {
	for what, second := range map[string]model.ChangeOf[model.Stored[note]]{
		"set":    noteStore.Set("n", bson.D{{Key: "writer", Value: "bob"}}),
		"delete": noteStore.Delete("n"),
		"ensure": model.NewStore(model.New("counted", noteCount, noteRef), diaryNotes).Ensure(note{ID: "n", Writer: "ann"}),
	} {
		plain := mongotest.NewClient(t, mongotest.Settings{Version: "7.0"}).Database("diary")
		db, err := model.WithTransactions(t.Context(), plain)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = writerStore.InsertMany(writer{ID: "ann", Name: "Ann"},
			writer{ID: "bob", Name: "Bob"}).Run(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		insertUnfinished(t, plain)
		if _, _, err = second.Run(t.Context(), db); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if found := auditOf(t, plain); len(found) > 0 {
			t.Errorf("%s: %v", what, found)
		}
	}
}
