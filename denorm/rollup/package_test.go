// The documents, declarations and helpers that the tests of this package share.

package rollup_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/rollup"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A hit is an event.
type hit struct {
	ID   string       `bson:"_id"`
	Site string       `bson:"site"`
	At   time.Time    `bson:"at"`
	Ms   *int64       `bson:"ms,omitempty"`
	Mark *rollup.Mark `bson:"mark,omitempty"`
}

type rollupOf = rollup.Rollup[hit, string, string, int64]

var (
	hits   = model.NewCollection[hit, string]("hits")
	totals = model.NewCollection[rollup.Doc[string, int64], string]("totals")

	dutchTime, _ = time.LoadLocation("Europe/Amsterdam")
	lordHowe, _  = time.LoadLocation("Australia/Lord_Howe")

	rolled = newRollup(dutchTime)
	night  = time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC) // an hour before summer time ends in Amsterdam
)

func rollupSpec(zone *time.Location) rollup.Spec {
	return rollup.Spec{
		Time: "at", By: []string{"site"}, Sums: []string{"ms"}, Mins: []string{"ms"}, Maxs: []string{"ms"},
		Bins: []denorm.Period{denorm.Monthly, denorm.Hourly, denorm.Daily}, Zone: zone, Mark: "mark",
	}
}

func newRollup(zone *time.Location) *rollupOf {
	return rollup.New(hits, totals, rollupSpec(zone))
}

func hitOf(id, site string, after time.Duration, ms int64) hit {
	return hit{ID: id, Site: site, At: night.Add(after), Ms: &ms}
}

// five are hits of two sites, in two hours that are shown alike, two days and two months.
var five = []hit{
	hitOf("1", "a", 0, 10), hitOf("2", "a", time.Hour, 20), hitOf("3", "b", 0, 5), hitOf("4", "a", 30*time.Minute, -7),
	hitOf("5", "a", 9*24*time.Hour, 1),
}

// insertHits stores hits that wait.
func insertHits(ctx context.Context, db model.DB, x *rollupOf, list ...hit) error {
	events := model.NewStore(model.New("hits", x), hits)
	for _, h := range list {
		if _, _, err := events.Insert(h).Run(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

// roll runs the roll-up in batches of a size.
func roll(ctx context.Context, db model.DB, x *rollupOf, size int) error {
	_, err := x.Roll().Run(ctx, db, model.JobOptions{BatchSize: size})
	return err
}

// A naive bin has no beginning, but what the clock shows in it.
type naive struct {
	N, Values, Sum, Min, Max int64
}

func clockOf(unit string, t time.Time, zone *time.Location) string {
	return t.In(zone).
		Format(map[string]string{"hour": "2006-01-02 15h -0700", "day": "2006-01-02", "month": "2006-01"}[unit])
}

// plainBins are the bins of hits.
func plainBins(list []hit, zone *time.Location) map[string]naive {
	out := map[string]naive{}
	for _, h := range list {
		for _, unit := range []string{"hour", "day", "month"} {
			key := fmt.Sprint(h.Site, " ", unit, " ", clockOf(unit, h.At, zone))
			b := out[key]
			b.N++
			if h.Ms != nil {
				if b.Values == 0 {
					b.Min, b.Max = *h.Ms, *h.Ms
				}
				b.Values, b.Sum, b.Min, b.Max = b.Values+1, b.Sum+*h.Ms, min(b.Min, *h.Ms), max(b.Max, *h.Ms)
			}
			out[key] = b
		}
	}
	return out
}

// storedBins are the bins that are stored.
func storedBins(t testing.TB, db *mongo.Database, zone *time.Location) map[string]naive {
	t.Helper()
	out := map[string]naive{}
	for bin, err := range totals.Find(nil).Each(t.Context(), testkitDB(db)) {
		if err != nil {
			t.Fatal(err)
		}
		v := bin.Values["ms"]
		out[fmt.Sprint(bin.Group, " ", bin.Unit, " ", clockOf(bin.Unit, bin.Start, zone))] = naive{
			N: bin.N, Values: v.N, Sum: v.Sum, Min: v.Min, Max: v.Max,
		}
	}
	return out
}

func testkitDB(db *mongo.Database) model.DB { return db }

// wantBins asks that the bins are those of the hits, that no event waits, and that the checks find nothing.
func wantBins(t testing.TB, db *mongo.Database, x *rollupOf, zone *time.Location, list ...hit) {
	t.Helper()
	if diff := cmp.Diff(plainBins(list, zone), storedBins(t, db, zone)); diff != "" {
		t.Errorf("the bins differ (-want +got):\n%s", diff)
	}
	testkit.WantNothingFound(t, db, x.Checks())
}

// spoil changes bins past the roll-up.
func spoil(ctx context.Context, db *mongo.Database, id string, update bson.D) error {
	return testkit.Updates(ctx, db, "totals", id, update)
}
