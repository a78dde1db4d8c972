package model_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	// shouting makes the counter's condition depend on a field that another technique sets.
	shouting = model.NewParts(nil, nil, nil, nil).WithReactions(func() []model.Reaction {
		return []model.Reaction{{
			Collection: "notes", On: model.OnInsert, Paths: []string{"text"},
			Amend: func(w model.StoreWrite) (bson.D, error) {
				text, _ := w.After.Lookup("text").StringValueOK()
				return bson.D{{Key: "text", Value: strings.ToUpper(text)}}, nil
			},
		}}
	})
	loudCount = counter.New(diaryNotes, "writer", writers, counter.Spec{
		Count: "notes", Where: bson.D{{Key: "text", Value: "X"}},
	})
	quietCount = counter.New(diaryNotes, "writer", writers, counter.Spec{
		Count: "notes", Where: bson.D{{Key: "text", Value: "x"}},
	})

	// numbering stores how many notes the writer had before.
	numbering = model.NewParts(nil, nil, nil, nil).WithReactions(func() []model.Reaction {
		return []model.Reaction{{
			Collection: "notes", On: model.OnInsert, Paths: []string{"writer"},
			Fetch: func(w model.StoreWrite) ([]model.Fetch, error) {
				return []model.Fetch{{Collection: "writers", ID: w.After.Lookup("writer"), Paths: []string{"notes"}}}, nil
			},
			Amend: func(w model.StoreWrite) (bson.D, error) {
				return bson.D{{Key: "text", Value: model.Shell(w.Found(0).Lookup("notes"))}}, nil
			},
		}}
	})
)

// Each action finds the referenced document by a filter, with the same result with and
// without transactions.
func TestStoreReferring(t *testing.T) {
	counted := model.NewStore(model.New("counted", noteCount, noteRef), diaryNotes)
	quiet := model.NewStore(model.New("quiet", quietCount, shouting), diaryNotes)
	loud := model.NewStore(model.New("loud", loudCount, shouting), diaryNotes)
	numbered := model.NewStore(model.New("numbered", noteCount, numbering), diaryNotes)
	held := model.NewStore(model.New("held", noteRef), diaryNotes)
	by := func(s *model.Store[note, string], name string) *model.Store[note, string] {
		return s.Referring("writer", bson.D{{Key: "name", Value: name}})
	}
	text := bson.D{{Key: "text", Value: "y"}}
	for _, c := range []struct {
		what     string
		action   model.ChangeOf[model.Stored[note]]
		own      bool // the error is that the note is missing
		missing  bool // the error is that the writer is missing
		notes    int64
		old, now string // the commands in transactions of MongoDB 7.0 and 8.0
	}{
		{
			what: "insert", action: by(counted, "Ann").Insert(note{ID: "m"}), notes: 2,
			old: "findAndModify insert commitTransaction", now: "findAndModify insert commitTransaction",
		},
		{
			what: "insert with a copy", action: by(noteStore, "Ann").Insert(note{ID: "m"}), notes: 2,
			old: "findAndModify insert commitTransaction", now: "findAndModify insert commitTransaction",
		},
		{
			what: "insert two", action: by(noteStore, "Ann").InsertMany(note{ID: "m"}, note{ID: "o"}), notes: 3,
			old: "findAndModify insert update update commitTransaction find",
			now: "findAndModify bulkWrite commitTransaction find",
		},
		{
			what: "insert, not counted", action: by(held, "Ann").Insert(note{ID: "m"}), notes: 1,
			old: "findAndModify insert commitTransaction", now: "find bulkWrite commitTransaction",
		},
		{
			what: "insert below a missing writer", action: by(noteStore, "Cy").Insert(note{ID: "m"}), missing: true,
			old: "findAndModify abortTransaction", now: "findAndModify abortTransaction",
		},
		{
			what: "ensure", action: by(counted, "Ann").Ensure(note{ID: "m"}), notes: 2,
			old: "findAndModify findAndModify commitTransaction", now: "findAndModify findAndModify commitTransaction",
		},
		{
			what: "ensure again", action: by(counted, "Ann").Ensure(note{ID: "n"}), notes: 1,
			old: "findAndModify findAndModify abortTransaction find", now: "findAndModify findAndModify abortTransaction find",
		},
		{
			what:   "ensure by a field",
			action: by(counted, "Ann").EnsureOne(bson.D{{Key: "text", Value: "y"}}, note{ID: "m", Text: "y"}), notes: 2,
			old: "findAndModify findAndModify commitTransaction", now: "findAndModify findAndModify commitTransaction",
		},
		{
			what:   "ensure by a field again",
			action: by(counted, "Ann").EnsureOne(bson.D{{Key: "text", Value: "x"}}, note{ID: "o", Text: "x"}),
			notes:  1,
			old:    "findAndModify findAndModify abortTransaction find",
			now:    "findAndModify findAndModify abortTransaction find",
		},
		{
			what: "delete", action: by(noteStore, "Ann").Delete("n"),
			old: "findAndModify findAndModify commitTransaction", now: "findAndModify findAndModify commitTransaction",
		},
		{
			what: "delete another's note", action: by(noteStore, "Bob").Delete("n"), own: true,
			old: "findAndModify findAndModify abortTransaction find", now: "findAndModify findAndModify abortTransaction find",
		},
		{
			what: "delete by a field", action: by(counted, "Ann").DeleteOne(bson.D{{Key: "text", Value: "x"}}),
			old: "findAndModify findAndModify commitTransaction", now: "findAndModify findAndModify commitTransaction",
		},
		{
			what: "set", action: by(noteStore, "Ann").Set("n", text), notes: 1,
			old: "find findAndModify", now: "find findAndModify",
		},
		{
			what: "set another's", action: by(noteStore, "Bob").Set("n", text), own: true, old: "find findAndModify",
			now: "find findAndModify",
		},
		{
			what: "edit", action: by(counted, "Ann").Edit("n", func(n *note) error { n.Writer = "bob"; return nil }),
			old: "find find update update update commitTransaction find", now: "find find bulkWrite commitTransaction find",
		},
		{
			what: "replace", action: by(counted, "Ann").Replace(note{ID: "n", Text: "z"}), notes: 1,
			old: "find find update commitTransaction", now: "find find update commitTransaction",
		},
		{
			what:   "a counted field that another technique sets",
			action: by(loud, "Ann").Insert(note{ID: "m", Text: "x"}), notes: 2,
			old: "findAndModify insert update commitTransaction find", now: "find bulkWrite commitTransaction find",
		},
		{
			what: "a count that another technique prevents", action: by(quiet, "Ann").Insert(note{ID: "m", Text: "x"}), notes: 1,
			old: "findAndModify abortTransaction find insert update commitTransaction",
			now: "findAndModify abortTransaction find bulkWrite commitTransaction",
		},
		{
			what: "a technique that reads the count", action: by(numbered, "Ann").Insert(note{ID: "m"}), notes: 2,
			old: "findAndModify abortTransaction find insert update commitTransaction find",
			now: "findAndModify abortTransaction find bulkWrite commitTransaction find",
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			var left []string
			for _, version := range []string{"7.0", "8.0", ""} {
				monitor := mongotest.NewMonitor()
				options := []mongotest.Option{monitor}
				if version != "" {
					options = append(options, mongotest.Settings{Version: version})
				}
				db := fillDiary(t, mongotest.NewClient(t, options...).Database("diary"))
				if version == "" {
					db = db.Client().Database("diary")
				}
				monitor.Reset()
				s, _, err := c.action.Run(t.Context(), db)
				var sent []string
				for _, command := range monitor.Commands() {
					sent = append(sent, command.Name)
				}
				if got := strings.Join(sent, " "); !tenancy.On &&
					(version == "7.0" && got != c.old || version == "8.0" && got != c.now) {
					t.Errorf("on %s: sent %s", version, got)
				}
				var missing *model.ReferenceError
				if errors.Is(err, model.ErrNotFound) != (c.own || c.missing) || errors.As(err, &missing) != c.missing ||
					err != nil && !c.own && !c.missing {
					t.Errorf("on %s: %v", version, err)
				}
				var w writer
				err = s.Referenced("writer", &w)
				stored, _ := writers.ByID(w.ID).One(t.Context(), db)
				if c.missing != (err != nil) || !c.missing && (w != stored || w.Notes != c.notes) {
					t.Errorf("on %s: the writer %+v, %v; stored is %+v", version, w, err, stored)
				}
				now := storedIn(t, db)
				for i, doc := range now {
					var fields bson.M // an upsert stores them in another order
					if err := bson.UnmarshalExtJSON([]byte(doc), false, &fields); err != nil {
						t.Fatal(err)
					}
					delete(fields, "_m")
					now[i] = fmt.Sprint(map[string]any(fields))
				}
				if left == nil {
					left = now
				}
				if !slices.Equal(left, now) && !tenancy.On { // a tenant's documents have a time
					t.Errorf("on %s: left %v, on 7.0 %v", version, now, left)
				}
			}
		})
	}
}

func TestStoreReferringRefuses(t *testing.T) {
	db := mongotest.NewClient(t).Database("diary")
	ann := bson.D{{Key: "name", Value: "Ann"}}
	by := noteStore.Referring("writer", ann)
	for what, c := range map[string]struct {
		field  string
		action model.ChangeOf[model.Stored[note]]
	}{
		"a path that is no reference": {"text", noteStore.Referring("text", ann).Insert(note{ID: "m"})},
		"an empty filter":             {"filter", noteStore.Referring("writer", nil).Delete("n")},
		"a filter of an unknown field": {
			field:  "nome",
			action: noteStore.Referring("writer", bson.D{{Key: "nome", Value: "Ann"}}).Delete("n"),
		},
		"two filters of a path":       {"writer", by.Referring("writer", ann).Delete("n")},
		"a document with a reference": {"writer", by.Insert(note{ID: "m", Writer: "ann"})},
		"an ensured one":              {"writer", by.Ensure(note{ID: "m", Writer: "ann"})},
		"a replacement with one":      {"writer", by.Replace(note{ID: "n", Writer: "ann"})},
	} {
		var refused *model.ValueError
		if _, _, err := c.action.Run(t.Context(), db); !errors.As(err, &refused) ||
			!strings.HasSuffix(refused.Field, c.field) {
			t.Errorf("%s: %v", what, err)
		}
	}
	var refused *model.ValueError
	if _, err := by.DeleteJob("n").Run(t.Context(), db, model.JobOptions{}); !errors.As(err, &refused) {
		t.Errorf("a job: %v", err)
	}
	if err := (model.Stored[note]{}).Referenced("writer", &writer{}); !errors.As(err, &refused) {
		t.Errorf("a result without a reference: %v", err)
	}
}
