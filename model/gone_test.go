package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A document that isn't there is named by what was asked for.
func TestNotFoundNames(t *testing.T) {
	tenancy.Differs(t, "a find's filter is the tenant's too")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for want, pipeline := range map[string]mongo.Pipeline{
			"(parts {_id: 9})": {d("$match", d("_id", 9)), d("$limit", 1)},
			"(parts)":          {d("$limit", 1)},
		} {
			if _, err := parts.Aggregate(pipeline).One(t.Context(), db); !errors.Is(err, model.ErrNotFound) ||
				!strings.HasSuffix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	})
}

// A write of a document that a scope hides, or that isn't there, gives ErrNotFound, and one that changed ErrStale.
func TestGone(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	monitor := mongotest.NewMonitor()
	set := d("$set", d("name", "x"))
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		docs := model.NewCollection[bson.D, int32]("parts")
		mustRun(t, db,
			docs.InsertMany([]bson.D{
				d("_id", 1, "tenant", "a", "qty", 1), d("_id", 2, "tenant", "b", "qty", 1),
				d("_id", 3, "tenant", "a", "qty", 1, "deletedAt", 7),
			}))
		on := tenantOf("a").On(asked(t, db, "parts"))
		shown := func(w model.Write) model.Write {
			w.Deleted = true
			return w
		}
		asks := expectOne(updateOne(d("_id", 2, "qty", 1), set))
		asks.Reasons = []model.Reason{{If: d("_id", 2), Err: model.ErrFull}}
		named := expectOne(updateOne(d("name", "two"), set)) // known by its name
		named.Reasons = []model.Reason{{Err: model.ErrNotFound}}
		merged := model.Merge(named, named)
		for reason, c := range map[string]struct {
			write model.Write
			err   error
			sent  string
		}{
			"by _id":   {docs.Update(2, set), model.ErrNotFound, "update"},
			"replaced": {docs.Replace(d("_id", 2, "qty", 2)), model.ErrNotFound, "update"},
			"guarded": {
				write: expectOne(updateOne(d("_id", 2, "qty", 1), set)), err: model.ErrNotFound, sent: "update find",
			},
			"with a reason that asks for it": {asks, model.ErrNotFound, "update find"},
			"known by another field":         {named, model.ErrNotFound, "update"},
			"merged":                         {merged, model.ErrNotFound, "update"},
			"marked as deleted": {
				write: expectOne(updateOne(d("_id", 3, "qty", 1), set)), err: model.ErrNotFound, sent: "update find",
			},
			"marked, for what reaches it": {
				write: shown(expectOne(updateOne(d("_id", 3, "qty", 2), set))),
				err:   model.ErrStale, sent: "update find",
			},
			"changed":      {expectOne(updateOne(d("_id", 1, "qty", 2), set)), model.ErrStale, "update find"},
			"several _ids": {expectOne(updateOne(d("_id", d("$in", bson.A{2, 9})), set)), model.ErrStale, "update"},
		} {
			monitor.Reset()
			_, err := c.write.Run(t.Context(), on)
			if !errors.Is(err, c.err) || errors.Is(err, model.ErrStale) != (c.err == model.ErrStale) ||
				strings.Join(sentBy(monitor), " ") != c.sent {
				t.Errorf("%s: %v after %v, want %v after %s", reason, err, sentBy(monitor), c.err, c.sent)
			}
		}
	}, monitor)
}

// A Change whose plan's document isn't there reads once more, and gives up when that finds the same; else it decides
// anew.
func TestChangeGone(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		named := expectOne(updateOne(d("name", "nine"), d("$set", d("name", "x"))))
		named.Reasons = []model.Reason{{Err: model.ErrNotFound}}
		for i := range 4 {
			moves, write := i%2 == 1, pick(i < 2, parts.Update(9, d("$set", d("name", "x"))), named)
			reads, decided := 0, 0
			change := model.ChangeOf[int]{
				Read: func(context.Context, model.DB) (int, error) {
					if reads++; moves {
						return reads, nil
					}
					return 0, nil
				},
				Decide: func(int) (model.Plan, error) {
					decided++
					return model.NewPlan(write), nil
				},
				Attempts: 4,
			}
			_, _, err := change.Run(t.Context(), db)
			if want := pick(moves, 4, 1); !errors.Is(err, model.ErrNotFound) || errors.Is(err, model.ErrStale) ||
				decided != want || reads != max(want, 2) {
				t.Errorf("%v after %d reads and %d decisions, want %d", err, reads, decided, want)
			}
		}
	})
}
