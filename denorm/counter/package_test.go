// The documents, declarations and helpers that the tests of this package share.

package counter_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What the tests are about: houses, and the volumes that name them.
type (
	volume struct {
		ID    string     `bson:"_id"`
		House string     `bson:"house,omitempty"`
		Title string     `bson:"title,omitempty"`
		Pages int        `bson:"pages,omitempty"`
		Price *float64   `bson:"price,omitempty"`
		Out   *time.Time `bson:"out,omitempty"`
		State string     `bson:"state,omitempty"`
		Meta  struct {
			Weight int64 `bson:"weight"`
		} `bson:"meta"`
	}
	house struct {
		ID      string          `bson:"_id"`
		Volumes int64           `bson:"volumes,omitempty"`
		Pages   int64           `bson:"pages,omitempty"`
		Weight  int64           `bson:"weight,omitempty"`
		Mean    counter.Average `bson:"mean,omitempty"`
		Each    float64         `bson:"each,omitempty"`
		Least   int             `bson:"least,omitempty"`
		Most    int             `bson:"most,omitempty"`
		Cheap   float64         `bson:"cheap,omitempty"`
		Latest  time.Time       `bson:"latest,omitempty"`
	}
)

var (
	volumes = model.NewCollectionWith[volume, string]("volumes", model.CollectionOptions{StoreField: "kept"})
	houses  = model.NewCollection[house, string]("houses")
	loose   = model.NewCollection[bson.D, any]("loose")

	// counted keeps sums; ranged keeps extremes too, and full everything.
	counted = ledgerOf(counter.Spec{Count: "volumes", Sums: []counter.Field{{From: "pages", To: "pages"}}})
	ranged  = ledgerOf(counter.Spec{
		Count: "volumes", Mins: []counter.Field{{From: "pages", To: "least"}},
		Maxs: []counter.Field{{From: "pages", To: "most"}},
	})
	fully = ledgerOf(counter.Spec{
		Count: "volumes", Where: bson.D{testkit.E("state", bson.D{testkit.E("$ne", "draft")})},
		Sums:     []counter.Field{{From: "pages", To: "pages"}, {From: "meta.weight", To: "weight"}},
		Averages: []counter.AverageField{{From: "price", To: "mean", Value: "each"}},
		Mins:     []counter.Field{{From: "pages", To: "least"}, {From: "price", To: "cheap"}},
		Maxs:     []counter.Field{{From: "pages", To: "most"}, {From: "out", To: "latest"}},
	})
)

// A ledger is a counter of volumes, with the stores of a model that has only this counter.
type ledger struct {
	*counter.Counter[volume, string, house, string]

	model   *model.Model
	volumes *model.Store[volume, string]
	houses  *model.Store[house, string]
}

func ledgerOf(spec counter.Spec) ledger {
	c := counter.New(volumes, "house", houses, spec)
	m := model.New("library", c)
	return ledger{c, m, model.NewStore(m, volumes), model.NewStore(m, houses)}
}

type change = model.ChangeOf[model.Stored[volume]]

func run(ctx context.Context, db model.DB, list ...change) error {
	for _, c := range list {
		if _, _, err := c.Run(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

func mustRun(t testing.TB, db model.DB, list ...change) {
	t.Helper()
	if err := run(t.Context(), db, list...); err != nil {
		t.Fatal(err)
	}
}

// set is a change of a volume's fields.
func (l ledger) set(id string, fields ...bson.E) change { return l.volumes.Set(id, fields) }

// volumeOf is a volume of a house.
func volumeOf(id, house string, pages int) volume { return volume{ID: id, House: house, Pages: pages} }

func price(f float64) *float64 { return &f }

func day(n int) *time.Time {
	d := time.Date(2020, 1, n, 0, 0, 0, 0, time.UTC)
	return &d
}

func seedHouses(ctx context.Context, db model.DB, list ...volume) error {
	if err := testkit.Exec(ctx, db, houses.InsertMany([]house{{ID: "a"}, {ID: "b"}})); err != nil {
		return err
	}
	for _, v := range list {
		if err := run(ctx, db, fully.volumes.Insert(v)); err != nil {
			return err
		}
	}
	return nil
}

// wantHouses compares the houses, and asks that the audit finds nothing.
func wantHouses(t testing.TB, db model.DB, l ledger, want ...house) {
	t.Helper()
	got, err := houses.Find(nil).All(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, func(a, b house) int { return slices.Compare([]byte(a.ID), []byte(b.ID)) })
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("houses\n%+v\nwant\n%+v", got, want)
	}
	wantAgreed(t, db, l)
}

// wantAgreed asks that the audit finds neither wrong numbers nor unfinished actions.
func wantAgreed(t testing.TB, db model.DB, l ledger) {
	t.Helper()
	for f, err := range l.model.Audit().Each(context.Background(), db) {
		t.Errorf("the audit finds %s, %v", f, err)
	}
}

// bothWays runs a test without transactions, and with them. db is the database past them.
func bothWays(t *testing.T, f func(t *testing.T, db *mongo.Database, way model.DB), options ...mongotest.Option) {
	t.Run("plain", func(t *testing.T) {
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) { f(t, db, db) }, options...)
	})
	t.Run("in transactions", func(t *testing.T) {
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
			mongotest.Need(t, db, mongotest.Transactions)
			f(t, db, transacting(t, db))
		}, options...)
	})
}

func transacting(t testing.TB, db *mongo.Database) model.DB {
	t.Helper()
	tx, err := model.WithTransactions(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// waysOf are the database without transactions, and with them if the server has any.
func waysOf(t testing.TB, db *mongo.Database) []model.DB {
	t.Helper()
	tx, err := model.WithTransactions(context.Background(), db)
	if errors.Is(err, model.ErrNoTransactions) {
		return []model.DB{db}
	} else if err != nil {
		t.Fatal(err)
	}
	return []model.DB{db, tx}
}
