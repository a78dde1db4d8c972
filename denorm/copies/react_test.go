package copies_test

import (
	"errors"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A store fills copies with their version, counts the version of a source up when a copied field changes, and brings
// the copies up to date.
func TestCopyStoreVersion(t *testing.T) {
	items := model.NewCollection[stockItem, string]("stockItems")
	lines := model.NewCollection[stockLine, string]("stockLines")
	names := copies.New(items, lines, copies.Spec{
		KeyPath: "item.id", Fields: []copies.Field{{From: "name", To: "item.name"}},
		Version: "nameVersion", VersionTo: "item.v",
	})
	m := model.New("stock", names)
	itemStore, lineStore := model.NewStore(m, items), model.NewStore(m, lines)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		want := func(err error, line stockItemRef, version int64) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			got, err := lines.ByID("l").One(ctx, db)
			if err != nil || got.Item != line {
				t.Errorf("%+v, %v, want %+v", got.Item, err, line)
			}
			item, err := items.ByID("nut").One(ctx, db)
			if err != nil || item.NameV != version {
				t.Errorf("%+v, %v, want the version %d", item, err, version)
			}
			for f, err := range m.Audit().Each(ctx, db) {
				t.Errorf("the audit finds %s (%v)", f, err)
			}
		}
		if _, _, err := itemStore.Insert(stockItem{ID: "nut", Name: "Nut"}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		_, _, err := lineStore.Insert(stockLine{ID: "l", Item: stockItemRef{ID: "nut"}}).Run(ctx, db)
		want(err, stockItemRef{"nut", "Nut", 0}, 0)
		_, _, err = itemStore.Set("nut", bson.D{testkit.E("name", "Nuts")}).Run(ctx, db)
		want(err, stockItemRef{"nut", "Nuts", 1}, 1)
		_, _, err = itemStore.Set("nut", bson.D{testkit.E("qty", int64(3))}).Run(ctx, db)
		want(err, stockItemRef{"nut", "Nuts", 1}, 1)
		_, _, err = itemStore.Edit("nut", func(i *stockItem) error {
			i.Name, i.Qty = "Nut", 4
			return nil
		}).Run(ctx, db)
		want(err, stockItemRef{"nut", "Nut", 2}, 2)
		_, _, err = itemStore.Set("nut", bson.D{testkit.E("nameVersion", int64(9))}).Run(ctx, db)
		if value := (*model.ValueError)(nil); !errors.As(err, &value) || value.Field != "nameVersion" {
			t.Errorf("a version of the caller: %v", err)
		}
	})
}

// A version that is a time is the caller's, and must grow.
func TestCopyStoreTime(t *testing.T) {
	type (
		place struct {
			ID   string    `bson:"_id"`
			Name string    `bson:"name"`
			At   time.Time `bson:"at"`
		}
		visit struct {
			ID    string    `bson:"_id"`
			Place string    `bson:"place"`
			Name  string    `bson:"name"`
			At    time.Time `bson:"at"`
		}
	)
	places, visits := model.NewCollection[place, string]("places"), model.NewCollection[visit, string]("visits")
	names := copies.New(places, visits, copies.Spec{
		KeyPath: "place", Fields: []copies.Field{{From: "name", To: "name"}}, Version: "at", VersionTo: "at",
	})
	m := model.New("places", names)
	placeStore, visitStore := model.NewStore(m, places), model.NewStore(m, visits)
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		if _, _, err := placeStore.Insert(place{"p", "Rome", day(1)}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if s, _, err := visitStore.Insert(visit{ID: "v", Place: "p"}).
			Run(ctx, db); err != nil || s.Doc.Name != "Rome" ||
			!s.Doc.At.Equal(day(1)) {
			t.Fatal(s.Doc, err)
		}
		for _, fields := range []bson.D{
			{testkit.E("name", "Oslo")},
			{testkit.E("name", "Oslo"), testkit.E("at", day(1).Add(-time.Hour))},
		} {
			_, _, err := placeStore.Set("p", fields).Run(ctx, db)
			if value := (*model.ValueError)(nil); !errors.As(err, &value) || value.Field != "at" {
				t.Errorf("%v: %v", fields, err)
			}
		}
		if _, _, err := placeStore.Set("p", bson.D{testkit.E("name", "Oslo"), testkit.E("at", day(2))}).
			Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if v, err := visits.ByID("v").One(ctx, db); err != nil || v.Name != "Oslo" || !v.At.Equal(day(2)) {
			t.Error(v, err)
		}
	})
}

// A replacement that omits the version keeps the stored one. So the next change still has a newer version than the
// copies.
func TestCopyStoreKeepsVersion(t *testing.T) {
	type (
		place struct {
			ID   string `bson:"_id"`
			Name string `bson:"name"`
			Note string `bson:"note"`
			V    int64  `bson:"v,omitempty"`
		}
		visit struct {
			ID    string `bson:"_id"`
			Place string `bson:"place"`
			Name  string `bson:"name"`
			V     int64  `bson:"v"`
		}
	)
	places, visits := model.NewCollection[place, string]("places"), model.NewCollection[visit, string]("visits")
	m := model.New("places", copies.New(places, visits, copies.Spec{
		KeyPath: "place", Fields: []copies.Field{{From: "name", To: "name"}}, Version: "v", VersionTo: "v",
	}))
	placeStore, visitStore := model.NewStore(m, places), model.NewStore(m, visits)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		if _, _, err := placeStore.Insert(place{ID: "p", Name: "Rome"}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if _, _, err := visitStore.Insert(visit{ID: "v", Place: "p"}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		for i, p := range []place{{"p", "Oslo", "", 0}, {"p", "Oslo", "cold", 0}, {"p", "Lima", "", 0}} {
			s, _, err := placeStore.Replace(p).Run(ctx, db)
			p.V = []int64{1, 1, 2}[i]
			if err != nil || s.Doc != p {
				t.Errorf("%+v, %v, want %+v", s.Doc, err, p)
			}
			if v, err := visits.ByID("v").One(ctx, db); err != nil || v.Name != p.Name || v.V != p.V {
				t.Errorf("the copy %+v, %v, want that of %+v", v, err, p)
			}
		}
	})
}
