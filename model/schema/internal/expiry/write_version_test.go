package expiry_test

import (
	"context"
	"errors"
	"math"
	"os"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A document with a moment of its own, and a version.
var expEachVersion = schema.NewExpiry(expOrders, "placed", schema.ExpirySpec{Archive: "cold", Version: "v"})

// An archive that read a document and is slow to delete it, and one that was faster, after which the document is
// brought back: it stays, in all orders.
func TestExpiryRestoreInterleaved(t *testing.T) {
	for _, c := range []struct {
		reason string
		x      *schema.Expiry[expOrder, string]
		until  time.Time
	}{
		{"until later, by version", expEachVersion, expNow.Add(expDay)},
		{"for ever, by version", expEachVersion, time.Time{}},
		{"until later, by the whole document", expEach, expNow.Add(expDay)},
		{"until the next run, by version", expVersion, time.Time{}},
		{"until the next run, by the whole document", expArchived, time.Time{}},
	} {
		t.Run(c.reason, func(t *testing.T) { expRestoreInterleaved(t, c.x, c.until) })
	}
}

func expRestoreInterleaved(t *testing.T, x *schema.Expiry[expOrder, string], until time.Time) {
	archive := func(ctx context.Context, db *mongo.Database) error {
		_, err := x.Archive(expNow).Run(ctx, db, model.JobOptions{})
		return err
	}
	match := mongotest.Writes
	if os.Getenv("DOCMODEL_FULL") != "" {
		match = mongotest.All
	}
	var restored bool
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Sample: 3, Match: match,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			restored = false
			expPut(t, ctx, db, "orders", expAged("a", 31))
			return nil
		},
		A: archive,
		B: func(ctx context.Context, db *mongo.Database) error {
			if err := archive(ctx, db); err != nil {
				return err
			}
			result, err := x.Restore("a", until).Run(ctx, db)
			restored = err == nil && result.Modified() > 0
			return err
		},
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			if err := errors.Join(errA, errB); err != nil {
				t.Error(err)
			}
			hot, err := expOrders.ByID("a").One(context.Background(), db)
			cold, errCold := x.Archived("a").One(context.Background(), db)
			switch {
			case x == expVersion || x == expArchived: // the next run may have taken it again
				if err != nil && errCold != nil {
					t.Errorf("it is lost: %v", errCold)
				}
			case err != nil || !restored:
				t.Errorf("what was brought back is gone: %v", err)
			case errCold != nil || cold.V != 1 || !cold.Placed.Equal(*expAged("a", 31).Placed):
				t.Errorf("archived is %+v, %v", cold, errCold)
			}
			if err == nil && x == expEachVersion && hot.V != 2 {
				t.Errorf("it came back in version %d", hot.V)
			}
		},
	})
}

// What comes back has a version that no copy has, and the copy stays as it is.
func TestExpiryRestoreVersions(t *testing.T) {
	testkit.Parallel(t)
	at := bson.E{Key: "placed", Value: expNow}
	earlier := func(versions ...any) bson.E {
		var list bson.A
		for _, v := range versions {
			list = append(list, bson.D{{Key: "_id", Value: "a"}, {Key: "v", Value: v}})
		}
		return bson.E{Key: "archivedEarlier", Value: list}
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			reason string
			cold   bson.D
			until  time.Time
			want   string // what comes back beside the _id; "" if that is refused
		}{
			{"counted up, and the moment goes", bson.D{at, {Key: "v", Value: int64(7)}}, time.Time{}, `{"v":8}`},
			{
				reason: "and is another", cold: bson.D{at, {Key: "v", Value: int64(7)}}, until: time.UnixMilli(0),
				want: `{"placed":{"$date":"1970-01-01T00:00:00Z"},"v":8}`,
			},
			{
				reason: "a null stays",
				cold:   bson.D{{Key: "placed", Value: nil}, {Key: "v", Value: int32(7)}},
				until:  time.Time{}, want: `{"placed":null,"v":8}`,
			},
			{"none has version 0", bson.D{at, {Key: "n", Value: int32(2)}}, time.Time{}, `{"n":2,"v":1}`},
			{"null too", bson.D{at, {Key: "v", Value: nil}}, time.Time{}, `{"v":1}`},
			{"a double", bson.D{at, {Key: "v", Value: 6.5}}, time.Time{}, `{"v":7}`},
			{
				reason: "a greater one was archived earlier",
				cold:   bson.D{at, {Key: "v", Value: 1}, earlier(int32(5), 9.0, int64(3))},
				until:  time.Time{}, want: `{"v":10}`,
			},
			{"below 0", bson.D{at, {Key: "v", Value: int32(-4)}}, time.Time{}, `{"v":0}`},
			{"the last", bson.D{at, {Key: "v", Value: int64(math.MaxInt64)}}, time.Time{}, ""},
			{"a text", bson.D{at, {Key: "v", Value: "1"}}, time.Time{}, ""},
			{"no number", bson.D{at, {Key: "v", Value: math.NaN()}}, time.Time{}, ""},
			{"a text, earlier", bson.D{at, {Key: "v", Value: 1}, earlier("1")}, time.Time{}, ""},
		} {
			for _, name := range []string{"orders", "cold"} {
				if _, err := db.Collection(name).DeleteMany(t.Context(), bson.D{}); err != nil {
					t.Fatal(err)
				}
			}
			expPut(t, t.Context(), db, "cold", append(bson.D{{Key: "_id", Value: "a"}}, c.cold...))
			read := func(name string) string {
				d, err := db.Collection(name).
					FindOne(t.Context(), bson.D{},
						options.FindOne().SetProjection(bson.D{{Key: "_id", Value: 0}})).Raw()
				if errors.Is(err, mongo.ErrNoDocuments) {
					return ""
				} else if err != nil {
					t.Fatal(err)
				}
				said, err := bson.MarshalExtJSON(d, false, false)
				if err != nil {
					t.Fatal(err)
				}
				return string(said)
			}
			before := read("cold")
			change := expEachVersion.Restore("a", c.until)
			plan, err := change.Plan(t.Context(), db)
			if c.want == "" {
				testkit.WantValueError(t, c.reason, err)
				continue
			}
			for range 2 { // the second time it changes nothing
				if _, err := plan.Run(t.Context(), db); err != nil {
					t.Errorf("%s: %v", c.reason, err)
				}
				if got := read("orders"); got != c.want {
					t.Errorf("%s: there is %s, want %s", c.reason, got, c.want)
				}
			}
			if result, err := change.Run(t.Context(), db); err != nil || len(result.Steps) != 0 {
				t.Errorf("%s: restored again: %v, %v", c.reason, result, err)
			}
			if got := read("cold"); got != before {
				t.Errorf("%s: archived is %s, was %s", c.reason, got, before)
			}
		}
	})
}

// Moments and marks count the version up once, however often they are run.
func TestExpiryCountsOnce(t *testing.T) {
	tenancy.Differs(t, "it makes a pair by hand, without the tenant")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		expPut(t, t.Context(), db, "orders", expAged("a", 31))
		expPut(t, t.Context(), db, "cold", expAged("a", 40))
		until, never := expEachVersion.Until("a", expNow), expEachVersion.Until("a", time.Time{})
		discard := expEachVersion.Discard(expPair(t, expAged("a", 40)), bson.NewObjectID())
		want := int64(1)
		for _, c := range []struct {
			reason string
			plan   model.Plan
			counts int64
		}{
			{"until", model.NewPlan(until), 1}, {"never", model.NewPlan(never), 1},
			{"until once more", model.NewPlan(until), 1},
			{"until the same", model.NewPlan(expEachVersion.Until("a", expNow)), 0}, {"discard", discard, 1},
		} {
			want += c.counts
			if !c.plan.Repeatable() {
				t.Errorf("%s: is not repeatable", c.reason)
			}
			for range 2 {
				if _, err := c.plan.Run(t.Context(), db); err != nil {
					t.Errorf("%s: %v", c.reason, err)
				}
				if d, err := expOrders.ByID("a").One(t.Context(), db); err != nil || d.V != want {
					t.Errorf("%s: version %d, want %d, %v", c.reason, d.V, want, err)
				}
			}
		}
		expWant(t, db, []string{"a"}, nil)
		for reason, w := range map[string]model.Step{
			"until": expEachVersion.Until("z", expNow), "never": expEachVersion.Until("z", time.Time{}),
		} {
			if _, err := model.NewPlan(w).Run(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
				t.Errorf("%s of none: %v", reason, err)
			}
		}
	})
}

// expPair is a pair with an archived copy.
func expPair(t *testing.T, cold expOrder) schema.ExpiryPair {
	t.Helper()
	raw, err := bson.Marshal(cold)
	if err != nil {
		t.Fatal(err)
	}
	return schema.ExpiryPair{ID: bson.Raw(raw).Lookup("_id"), Hot: raw, Cold: raw}
}

// A document that is restored and archived again as it was leaves no earlier copy, however often; one that was changed
// does.
func TestExpiryKeepsOtherStates(t *testing.T) {
	tenancy.Differs(t, "a restore changes the scope's Set fields, so the document isn't as it was archived")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		expPut(t, t.Context(), db, "orders", expAged("a", 31))
		for _, c := range []struct {
			reason  string
			set     bson.D // what is changed after the restore
			version int64
			earlier int
		}{
			{"as it is", nil, 1, 0}, {"restored", nil, 2, 0}, {"and again", nil, 3, 0},
			{"changed", bson.D{{Key: "n", Value: 5}, {Key: "v", Value: 5}}, 5, 1}, {"as it was then", nil, 6, 1},
			{"in an earlier version", bson.D{{Key: "v", Value: 2}}, 2, 2},
		} {
			if c.version > 1 {
				if _, err := expVersion.Restore("a", time.Time{}).Run(t.Context(), db); err != nil {
					t.Fatal(err)
				}
			}
			if c.set != nil {
				if _, err := db.Collection("orders").UpdateByID(t.Context(), "a",
					bson.D{{Key: "$set", Value: c.set}}); err != nil {
					t.Fatal(err)
				}
			}
			expRun(t, db, expVersion, model.JobOptions{})
			expWant(t, db, nil, []string{"a"})
			cold, err := db.Collection("cold").FindOne(t.Context(), bson.D{}).Raw()
			if err != nil {
				t.Fatal(err)
			}
			var list []bson.RawValue
			if held, ok := cold.Lookup("archivedEarlier").ArrayOK(); ok {
				list, _ = held.Values()
			}
			if v := cold.Lookup("v").AsInt64(); v != c.version || len(list) != c.earlier ||
				c.earlier == 0 && cold.Lookup("archivedEarlier").Type != 0 {
				t.Errorf("%s: archived is %s", c.reason, cold)
			}
		}
	})
}
