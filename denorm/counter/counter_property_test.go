package counter_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
)

// Random operations on a few volumes, without transactions and in them, keep what a plain model says, and random drift
// is found whole and mended exactly.
func TestCounterProperty(t *testing.T) {
	tenancy.Differs(t, "an _id that was deleted stays taken")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(3, 4))
		if err := seedHouses(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		plain, ways := map[string]volume{}, waysOf(t, db)
		steps := 300
		if _, server := os.LookupEnv("MONGODB_URI"); server {
			steps = 100
		}
		for i := range steps {
			id := fmt.Sprint(r.IntN(8))
			v, there := plain[id]
			way := ways[r.IntN(len(ways))]
			var next change
			fields, homes := bson.D{}, []string{"a", "b", ""}
			switch n := r.IntN(6); {
			case !there:
				v = volume{
					ID: id, House: homes[r.IntN(3)], Pages: 1 + r.IntN(5), State: []string{"", "draft"}[r.IntN(2)],
				}
				if r.IntN(2) == 0 {
					v.Price, v.Out = price(float64(r.IntN(4))), day(1+r.IntN(4))
				}
				next = fully.volumes.Insert(v)
			case n == 0:
				delete(plain, id)
				mustRun(t, way, fully.volumes.Delete(id))
				continue
			case n == 1:
				v.House = homes[r.IntN(2)]
				next = fully.set(id, testkit.E("house", v.House))
			default:
				if n > 2 {
					v.Pages = 1 + r.IntN(5)
					fields = append(fields, testkit.E("pages", v.Pages))
				}
				if n > 3 {
					v.State = []string{"done", "draft"}[r.IntN(2)]
					fields = append(fields, testkit.E("state", v.State))
				}
				v.Price = price(float64(r.IntN(4)))
				next = fully.volumes.Set(id, append(fields, testkit.E("price", v.Price)))
			}
			plain[id] = v
			mustRun(t, way, next)
			if i%10 == 0 {
				wantHouses(t, db, fully, plainHouse("a", plain), plainHouse("b", plain))
			}
		}
		for range 6 {
			counterSpoil(t, db, r, plain)
		}
	})
}

// plainHouse is what the volumes make of a house.
func plainHouse(id string, plain map[string]volume) house {
	h := house{ID: id}
	first := true
	for _, v := range plain {
		if v.House != id || v.State == "draft" {
			continue
		}
		h.Volumes++
		h.Pages += int64(v.Pages)
		if v.Pages < h.Least || first {
			h.Least = v.Pages
		}
		first = false
		h.Most = max(h.Most, v.Pages)
		if v.Price != nil {
			if h.Mean.N == 0 || *v.Price < h.Cheap {
				h.Cheap = *v.Price
			}
			h.Mean.Sum += *v.Price
			h.Mean.N++
		}
		if v.Out != nil && v.Out.After(h.Latest) {
			h.Latest = *v.Out
		}
	}
	if h.Mean.N > 0 {
		h.Each = h.Mean.Sum / float64(h.Mean.N)
	}
	return h
}

// counterSpoil changes a house or a volume past the counter, wants just what differs found, and mended.
func counterSpoil(t *testing.T, db *mongo.Database, r *rand.Rand, plain map[string]volume) {
	t.Helper()
	want := map[string]bool{}
	for _, path := range []string{
		"volumes", "pages", "weight", "least", "mean.n", "mean.sum", "each", "most", "latest",
	}[r.IntN(9):] {
		id := []string{"a", "b"}[r.IntN(2)]
		if path == "each" && plainHouse(id, plain).Mean.N == 0 || r.IntN(2) == 0 {
			continue
		}
		var v any = 1000 + r.IntN(5)
		if path == "latest" {
			v = time.Now()
		}
		if _, err := db.Collection("houses").
			UpdateByID(t.Context(), id, bson.D{testkit.E("$set", bson.D{testkit.E(path, v)})}); err != nil {
			t.Fatal(err)
		}
		want[id] = true
	}
	lost := volume{ID: fmt.Sprint("lost", r.IntN(1000)), House: "b", Pages: 1}
	if _, err := db.Collection("volumes").InsertOne(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	plain[lost.ID], want["b"] = lost, true
	check := fully.Checks()[0]
	found, err := check.All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, d := range found {
		got[d.ID.StringValue()] = true
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found %v, want %v", found, want)
	}
	if r.IntN(2) == 0 {
		testkit.MustExec(t, db, check.Mend(found), check.Mend(found))
	} else if out, err := check.Job().Run(t.Context(), db, model.JobOptions{}); err != nil ||
		out.Modified != int64(len(want)) {
		t.Errorf("%+v, %v", out, err)
	}
	wantHouses(t, db, fully, plainHouse("a", plain), plainHouse("b", plain))
}
