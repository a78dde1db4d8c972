package model_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/ondelete"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A transaction deletes children without a read only if no technique needs them.
func TestStoreDeletesUnread(t *testing.T) {
	if tenancy.On {
		t.Skip("a tenant's commands differ")
	}
	cascade := ondelete.New(writers, ondelete.Spec{Cascade: []relate.Referrer{noteRef}})
	restrict := ondelete.New(writers, ondelete.Spec{Restrict: []relate.Referrer{noteRef}})
	texts := model.NewCollection[writer, string]("texts")
	byText := counter.New(diaryNotes, "text", texts, counter.Spec{Count: "notes"})
	rule := model.NewParts(nil, nil, nil, nil).WithReactions(func() []model.Reaction {
		return []model.Reaction{{
			Collection: "notes", On: model.OnDelete,
			React: func(model.StoreWrite) (model.Answer, error) {
				return model.Answer{}, nil
			},
		}}
	})
	const unread = "findAndModify delete commitTransaction"
	for _, c := range []struct {
		what string
		with []model.Technique
		want string
	}{
		{"a cascade", []model.Technique{cascade}, unread},
		{"a copy of the writer", []model.Technique{cascade, noteBy}, unread},
		{
			what: "a count by a reference that can change", with: []model.Technique{cascade, noteCount},
			want: "findAndModify find delete commitTransaction",
		},
		{
			what: "a count of another parent", with: []model.Technique{cascade, byText},
			want: "findAndModify find delete update commitTransaction",
		},
		{"a rule of one's own", []model.Technique{cascade, rule}, "findAndModify find delete commitTransaction"},
		{
			what: "another rule reads the notes", with: []model.Technique{cascade, restrict},
			want: "findAndModify find find delete commitTransaction",
		},
	} {
		store := model.NewStore(model.New("m", append(c.with, noteRef)...), writers)
		monitor := mongotest.NewMonitor()
		db := fillDiary(t,
			mongotest.NewClient(t, mongotest.Settings{Version: "7.0"}, monitor).Database("diary"))
		monitor.Reset()
		_, _, err := store.Delete("ann").Run(t.Context(), db)
		var sent []string
		for _, command := range monitor.Commands() {
			sent = append(sent, command.Name)
		}
		if got := strings.Join(sent, " "); err != nil || got != c.want {
			t.Errorf("%s: sent %s, %v", c.what, got, err)
		}
		if left := storedIn(t, db); len(left) != 1 || !strings.Contains(left[0], `"bob"`) {
			t.Errorf("%s: left %v", c.what, left)
		}
	}
}

// More children than an action may write are kept.
func TestStoreDeletesTooManyUnread(t *testing.T) {
	cascade := ondelete.New(writers, ondelete.Spec{Cascade: []relate.Referrer{noteRef}})
	store := model.NewStore(model.New("m", cascade, noteRef), writers)
	for _, version := range []string{"7.0", "8.0"} {
		db := fillDiary(t, mongotest.NewClient(t, mongotest.Settings{Version: version}).Database("diary"))
		for i := range 1000 {
			if i == 999 { // ann and 1,000 notes
				var refused *model.ValueError
				_, _, err := store.Delete("ann").Run(t.Context(), db)
				n, failed := diaryNotes.Find(bson.D{}).Count(t.Context(), db)
				if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "Store.DeleteJob") || n != 1000 || failed != nil {
					t.Errorf("on %s: %v; left %d, %v", version, err, n, failed)
				}
				break
			}
			if _, err := diaryNotes.Insert(note{ID: fmt.Sprint(i), Writer: "ann"}).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := store.DeleteJob("ann").Run(t.Context(), db, model.JobOptions{}); err != nil {
			t.Error(err)
		}
		if left := storedIn(t, db); len(left) != 1 {
			t.Errorf("on %s: %d are left", version, len(left))
		}
	}
}
