package model_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// On the model's database, a write of a Collection that passes by a technique is refused
// before anything is sent.
func TestModelOnPassing(t *testing.T) {
	monitor := mongotest.NewMonitor()
	client := mongotest.NewClient(t, monitor)
	db := diary.On(client.Database("diary"))
	fields := func(path string) bson.D {
		return bson.D{{Key: "$set", Value: bson.D{{Key: path, Value: "x"}}}}
	}
	by := diaryNotes.Modify(bson.D{{Key: "_id", Value: "n"}}, fields("by"))
	removal := diaryNotes.Modify(bson.D{{Key: "_id", Value: "n"}}, nil)
	removal.Remove = true
	for what, c := range map[string]struct {
		run  func() error
		want string // in the error; "" for no error
	}{
		"an insert of a counted note": {
			run:  func() error { return runWrite(t, db, diaryNotes.Insert(note{ID: "n"})) },
			want: "counter.Counter",
		},
		"an insert of notes": {func() error {
			_, err := diaryNotes.InsertMany([]note{{ID: "n"}}).Run(t.Context(), db)
			return err
		}, "parentref.ParentRef"},
		"a deletion": {func() error { return runWrite(t, db, diaryNotes.Delete("n")) }, "a deletion passes by"},
		"a replacement": {
			run:  func() error { return runWrite(t, db, diaryNotes.Replace(note{ID: "n"})) },
			want: "model.NewStore",
		},
		"a copied field": {
			run:  func() error { return runWrite(t, db, diaryNotes.Update("n", fields("by"))) },
			want: "an update of by passes by copies.Copy",
		},
		"a copied field, modified": {func() error { _, err := by.Run(t.Context(), db); return err }, "copies.Copy"},
		"a removal": {
			run:  func() error { _, err := removal.Run(t.Context(), db); return err },
			want: "a deletion passes by",
		},
		"a reference": {
			run:  func() error { return runWrite(t, db, diaryNotes.Update("n", fields("writer"))) },
			want: "copies.Copy, counter.Counter, parentref.ParentRef",
		},
		"the source of a copy": {
			run:  func() error { return runWrite(t, db, writers.Update("ann", fields("name"))) },
			want: "copies.Copy",
		},
		"a count": {
			run:  func() error { return runWrite(t, db, writers.Unchecked().Update("ann", fields("notes"))) },
			want: "counter.Counter",
		},
		"a new name": {func() error {
			return runWrite(t, db,
				diaryNotes.Unchecked().Update("n", bson.D{{Key: "$rename", Value: bson.D{{Key: "old", Value: "writer"}}}}))
		}, "an update of writer passes by"},
		"an element": {func() error {
			return runWrite(t, db,
				diaryNotes.Unchecked().Update("n", bson.D{{Key: "$set", Value: bson.D{{Key: "writer.0", Value: 1}}}}))
		}, "an update of writer.0 passes by"},
		"a field of no technique": {func() error { return runWrite(t, db, diaryNotes.Update("n", fields("text"))) }, ""},
		"by a store": {
			run:  func() error { _, _, err := writerStore.Insert(writer{ID: "ann"}).Run(t.Context(), db); return err },
			want: "",
		},
		"by a write of one's own": {func() error {
			return runWrite(t, db, model.Write{Collection: "notes", Model: diaryNotes.Delete("n").Model})
		}, ""},
	} {
		if what == "a removal" && tenancy.On {
			continue // a scope that marks deletions refuses it
		}
		monitor.Reset()
		err := c.run()
		var conflict *model.ConflictError
		switch is := errors.As(err, &conflict); {
		case c.want == "" && is, c.want != "" && (!is || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", what, err, c.want)
		case is && len(monitor.Commands()) > 0:
			t.Errorf("%s: sent %v", what, monitor.Commands())
		}
	}
}

func runWrite(t *testing.T, db model.DB, w model.Write) error {
	_, err := w.Run(t.Context(), db)
	return err
}
