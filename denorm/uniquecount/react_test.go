package uniquecount_test

import (
	"errors"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/uniquecount"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A store makes the _id and the period of a visit, and refuses what would make them wrong.
func TestUniqueCountStore(t *testing.T) {
	store := func(
		x *uniquecount.UniqueCount[string, string], docs *model.Collection[view, string],
	) (*model.Model, *model.Store[view, string]) {
		m := model.New("m", x)
		return m, model.NewStore(m, docs)
	}
	daily, days := store(viewers, views)
	ever, forever := store(foreverOf, views.Named("forever"))
	type change = model.ChangeOf[model.Stored[view]]
	at := func(group, member string, t time.Time) view { return view{Group: group, Member: member, From: t} }
	id := "a#2014-03-28#ann"
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ways := []func(m *model.Model) model.DB{func(m *model.Model) model.DB { return m.On(db) }}
		if _, err := model.WithTransactions(t.Context(), db); err == nil {
			ways = append(ways, func(m *model.Model) model.DB {
				tx, _ := model.WithTransactions(t.Context(), m.On(db))
				return tx
			})
		}
		for _, way := range ways {
			testkit.Seed(t, db, testkit.Docs{"clicks": nil, "forever": nil})
			for _, test := range []struct {
				change  change
				m       *model.Model
				refused string // the field
				n       int64  // visitors afterwards
			}{
				{days.Insert(at("a", "ann", noon)), daily, "", 1},
				{days.Ensure(at("a", "ann", noon.Add(time.Hour))), daily, "", 1},
				{days.Insert(at("a", "ann", noon.Add(time.Hour))), daily, "", 1},
				{days.InsertMany(at("a", "bob", noon), at("a", "eve", noon)), daily, "", 3},
				{days.Insert(at("", "x", noon)), daily, "group", 3},
				{days.Insert(at("a", "", noon)), daily, "member", 3},
				{days.Insert(at("a", "x", time.Time{})), daily, "from", 3},
				{days.Insert(view{Group: "a", Member: "x", From: noon, Period: "2014-03-29"}), daily, "period", 3},
				{days.Insert(view{Group: "a", Member: "x", From: noon, Period: "2014-03-28"}), daily, "", 4},
				{days.Insert(view{ID: "y", Group: "a", Member: "y", From: noon}), daily, "_id", 4},
				{days.Set(id, bson.D{testkit.E("member", "x")}), daily, "member", 4},
				{days.Set(id, bson.D{testkit.E("from", noon.AddDate(0, 0, 1))}), daily, "from", 4},
				{days.Set(id, bson.D{testkit.E("from", noon.Add(time.Hour))}), daily, "", 4},
				{days.Set(id, bson.D{testkit.E("period", "2014-03-29")}), daily, "period", 4},
				{days.Delete(id), daily, "", 3},
				{forever.Insert(at("a", "x", time.Time{})), ever, "", 1},
				{forever.Insert(at("a", "y", noon)), ever, "from", 1},
			} {
				on := way(test.m)
				_, _, err := test.change.Run(t.Context(), on)
				var value *model.ValueError
				if errors.As(err, &value) && value.Field != test.refused ||
					value == nil && (err != nil || test.refused != "") {
					t.Errorf("%s: %v, want a refusal of %q", test.change.Name, err, test.refused)
				}
				count := viewers.Count("a", noon.Add(-12*time.Hour), noon)
				if test.m == ever {
					count = foreverOf.Count("a", time.Time{}, time.Time{})
				}
				if c, err := count.One(t.Context(), on); err != nil || c.N != test.n {
					t.Errorf("%s: %d visitors, %v, want %d", test.change.Name, c.N, err, test.n)
				}
			}
			// A visit through the store is the one of Visit.
			if _, _, err := days.Insert(at("a", "zoe", noon)).Run(t.Context(), way(daily)); err != nil {
				t.Fatal(err)
			}
			stored, err := views.ByID("a#2014-03-28#zoe").One(t.Context(), way(daily))
			if want := uniqueDoc("a", "2014-03-28", "zoe"); err != nil || stored != want {
				t.Errorf("%+v, %v, want %+v", stored, err, want)
			}
		}
	})
}
