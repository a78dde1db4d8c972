package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Each action writes a stored document that meets the conditions. Otherwise it tells which one
// isn't met, and writes nothing.
func TestStoreWhere(t *testing.T) {
	errWriter, errText := errors.New("another writer's"), errors.New("another text")
	is := func(field, value string) bson.D { return bson.D{{Key: field, Value: value}} }
	counted := model.NewStore(model.New("counted", noteCount, noteRef), diaryNotes)
	by := func(name string) *model.Store[note, string] { return counted.Where(is("writer", name), errWriter) }
	both := func(name, text string) *model.Store[note, string] { return by(name).Where(is("text", text), errText) }
	hidden := counted.Where(is("writer", "bob"), nil)
	title := func(n *note) error { n.Text = "y"; return nil }
	type action = model.ChangeOf[model.Stored[note]]
	for _, c := range []struct {
		what   string
		action action
		fails  error
		sent   string // in transactions of MongoDB 8.0
	}{
		{what: "set", action: by("ann").Set("n", is("text", "y")), sent: "findAndModify"},
		{what: "set another's", action: by("bob").Set("n", is("text", "y")), fails: errWriter, sent: "findAndModify find"},
		{
			what: "set a missing note", action: by("bob").Set("m", is("text", "y")), fails: model.ErrNotFound,
			sent: "findAndModify find",
		},
		{what: "set one", action: by("ann").SetOne(is("text", "x"), is("text", "y")), sent: "findAndModify"},
		{
			what:   "set another's by a filter",
			action: by("bob").SetOne(is("text", "x"), is("text", "y")),
			fails:  errWriter, sent: "findAndModify find",
		},
		{
			what: "move", action: by("ann").Set("n", is("writer", "bob")),
			sent: "findAndModify bulkWrite commitTransaction",
		},
		{
			what: "move another's", action: by("bob").Set("n", is("writer", "ann")), fails: errWriter,
			sent: "findAndModify abortTransaction find",
		},
		{
			what: "move to a missing writer", action: by("ann").Set("n", is("writer", "cy")), fails: model.ErrNotFound,
			sent: "findAndModify bulkWrite abortTransaction",
		},
		{what: "edit", action: by("ann").Edit("n", title), sent: "find update commitTransaction"},
		{what: "edit another's", action: by("bob").Edit("n", title), fails: errWriter, sent: "find abortTransaction find"},
		{
			what: "replace another's", action: by("bob").Replace(note{ID: "n"}), fails: errWriter,
			sent: "find abortTransaction find",
		},
		{what: "delete", action: by("ann").Delete("n"), sent: "findAndModify update commitTransaction"},
		{
			what: "delete another's", action: by("bob").Delete("n"), fails: errWriter,
			sent: "findAndModify abortTransaction find",
		},
		{
			what: "delete another's by a filter", action: by("bob").DeleteOne(is("text", "x")), fails: errWriter,
			sent: "findAndModify abortTransaction find",
		},
		{
			what: "delete, another writer refers", action: by("ann").Referring("writer", is("name", "Bob")).Delete("n"),
			fails: model.ErrNotFound, sent: "findAndModify findAndModify abortTransaction find find",
		},
		{what: "two conditions", action: both("ann", "x").Set("n", is("text", "y")), sent: "findAndModify"},
		{
			what:   "the first isn't met",
			action: both("bob", "z").Set("n", is("text", "y")),
			fails:  errWriter, sent: "findAndModify find",
		},
		{
			what:   "the second isn't met",
			action: both("ann", "z").Set("n", is("text", "y")),
			fails:  errText, sent: "findAndModify find find",
		},
		{
			what: "without an error", action: hidden.Delete("n"), fails: model.ErrNotFound,
			sent: "findAndModify abortTransaction",
		},
		{
			what: "without an error, beside one with an error", action: hidden.Where(is("text", "z"), errText).Delete("n"),
			fails: model.ErrNotFound, sent: "findAndModify abortTransaction find",
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			monitor := mongotest.NewMonitor()
			plain := mongotest.NewClient(t, monitor).Database("diary")
			db := fillDiary(t, plain)
			before := storedIn(t, db)
			monitor.Reset()
			_, _, err := c.action.Run(t.Context(), db)
			var sent []string
			for _, command := range monitor.Commands() {
				sent = append(sent, command.Name)
			}
			if got := strings.Join(sent, " "); !tenancy.On && got != c.sent || !errors.Is(err, c.fails) ||
				(err == nil) != (c.fails == nil) {
				t.Errorf("sent %s, want %s; %v", got, c.sent, err)
			}
			if after := storedIn(t, db); c.fails != nil && strings.Join(before, "") != strings.Join(after, "") {
				t.Errorf("changed %v to %v", before, after)
			}
			if _, _, again := c.action.Run(t.Context(), plain); c.fails != nil && !errors.Is(again, c.fails) {
				t.Errorf("without transactions: %v", again)
			}
		})
	}
}

// A retry without transactions finds the document that its first attempt has changed.
func TestStoreWhereCut(t *testing.T) {
	counted := model.NewStore(model.New("counted", noteCount, noteRef), diaryNotes)
	of := bson.D{{Key: "writer", Value: "ann"}}
	move := counted.Where(of, errors.New("another writer's")).Set("n", bson.D{{Key: "writer", Value: "bob"}})
	token := bson.NewObjectID()
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			_, _, err := writerStore.InsertMany(writer{ID: "ann"}, writer{ID: "bob"}).Run(ctx, db)
			if err == nil {
				_, _, err = counted.Insert(note{ID: "n", Writer: "ann"}).Run(ctx, db)
			}
			return err
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, _, err := move.Run(model.WithToken(ctx, token), db)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			w, err := writers.ByID("bob").One(t.Context(), db)
			if err != nil || w.Notes != 1 {
				t.Errorf("%+v, %v", w, err)
			}
		},
	})
}

// A condition is for a stored document.
func TestStoreWhereRefused(t *testing.T) {
	db := mongotest.NewClient(t).Database("diary")
	own := noteStore.Where(bson.D{{Key: "writer", Value: "ann"}}, errors.New("another writer's"))
	for what, c := range map[string]model.ChangeOf[model.Stored[note]]{
		"insert":            own.Insert(note{ID: "m"}),
		"insert many":       own.InsertMany(note{ID: "m"}),
		"ensure":            own.Ensure(note{ID: "m"}),
		"no condition":      noteStore.Where(nil, nil).Delete("n"),
		"an unknown path":   noteStore.Where(bson.D{{Key: "riter", Value: "ann"}}, nil).Delete("n"),
		"and a valid one":   noteStore.Where(nil, nil).Where(bson.D{{Key: "writer", Value: "ann"}}, nil).Delete("n"),
		"and then referred": noteStore.Where(nil, nil).Referring("writer", bson.D{{Key: "name", Value: "Ann"}}).Delete("n"),
	} {
		var refused *model.ValueError
		if _, _, err := c.Run(t.Context(), db); !errors.As(err, &refused) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := own.DeleteJob("n").Err; !errors.As(err, new(*model.ValueError)) {
		t.Errorf("delete job: %v", err)
	}
}
