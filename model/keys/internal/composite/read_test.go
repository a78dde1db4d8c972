package composite_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// compositeWorld is random documents, in the order of their keys.
func compositeWorld(r *rand.Rand, n int) []resident {
	texts := []string{
		"", "CA", "CAX", "CA ", "CA:", "San", "San Francisco", "San 5", "San\t", "é", "\U0010ffff",
		"\U0010ffff\U0010ffff",
		"a \x00", "San ", "\uD7FF", "\uD7FFx",
	}
	seen := map[resident]bool{}
	var out []resident
	for range n {
		x := resident{State: texts[r.IntN(6)], City: texts[r.IntN(len(texts))], User: r.Int64N(5) - 2}
		if !seen[x] {
			seen[x] = true
			out = append(out, x)
		}
	}
	slices.SortFunc(out, compareResidents)
	return out
}

func compareResidents(a, b resident) int {
	return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.City, b.City), cmp.Compare(a.User, b.User))
}

// Queries find what a walk through a list in memory finds, in its order.
func TestCompositeQueries(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(1, 2))
		world := compositeWorld(r, 120)
		if err := compositeInsert(t.Context(), db, world...); err != nil {
			t.Fatal(err)
		}
		for i := range world {
			world[i].ID, _ = byPlace.Key(&world[i])
			doc := world[i]
			id, _ := placeDoc.ID(doc.State, doc.City, doc.User)
			if _, err := byDocs.Insert(bson.D{{Key: "_id", Value: id}, {Key: "was", Value: doc.ID}}).
				Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		rounds := 6
		if compositeFull() {
			rounds = 400
		}
		for range rounds {
			x, y := world[r.IntN(len(world))], world[r.IntN(len(world))]
			from, to := min(x.City, y.City), max(x.City, y.City)
			low, high := min(x.User, y.User), max(x.User, y.User)
			cut := x.City[:r.IntN(len(x.City)+1)]
			cut = strings.ToValidUTF8(cut, "")
			for _, q := range []struct {
				find  *model.Find[resident]
				docs  *model.Find[bson.D]
				match func(z resident) bool
			}{
				{byPlace.Prefix(), placeDoc.Prefix(), func(z resident) bool { return true }},
				{byPlace.Prefix(x.State), placeDoc.Prefix(x.State),
					func(z resident) bool { return z.State == x.State }},
				{
					find: byPlace.Prefix(x.State, x.City), docs: placeDoc.Prefix(x.State, x.City),
					match: func(z resident) bool { return z.State == x.State && z.City == x.City },
				},
				{
					find: byPlace.Prefix(x.State, x.City, x.User), docs: placeDoc.Prefix(x.State, x.City, x.User),
					match: func(z resident) bool { return z == x },
				},
				{byPlace.Range(nil, from, nil), placeDoc.Range(nil, from, nil),
					func(z resident) bool { return z.State >= from }},
				{
					find: byPlace.Range([]any{x.State}, from, to), docs: placeDoc.Range([]any{x.State}, from, to),
					match: func(z resident) bool { return z.State == x.State && z.City >= from && z.City < to },
				},
				{
					find: byPlace.Range([]any{x.State}, nil, to), docs: placeDoc.Range([]any{x.State}, nil, to),
					match: func(z resident) bool { return z.State == x.State && z.City < to },
				},
				{byPlace.Range([]any{x.State, x.City}, low, high), placeDoc.Range([]any{x.State, x.City}, low, high),
					func(z resident) bool {
						return z.State == x.State && z.City == x.City && z.User >= low && z.User < high
					}},
				{byPlace.Range([]any{x.State, x.City}, low, nil), placeDoc.Range([]any{x.State, x.City}, low, nil),
					func(z resident) bool { return z.State == x.State && z.City == x.City && z.User >= low }},
				{
					find: byPlace.StartingWith([]any{x.State}, cut), docs: new(model.Find[bson.D]),
					match: func(z resident) bool { return z.State == x.State && strings.HasPrefix(z.City, cut) },
				},
				{
					find: byPlace.StartingWith(nil, cut), docs: new(model.Find[bson.D]),
					match: func(z resident) bool { return strings.HasPrefix(z.State, cut) },
				},
			} {
				var want []resident
				for _, z := range world {
					if q.match(z) {
						want = append(want, z)
					}
				}
				wantResidents(t, db, q.find, want)
				if q.docs.Collection != "" {
					wantDocuments(t, db, q.docs, want)
				}
				down := slices.Clone(want)
				slices.Reverse(down)
				wantResidents(t, db, q.find.Sorted(bson.D{{Key: "_id", Value: -1}}), down)
			}
			compositeNeighbours(t, db, world, x)
		}
	})
}

func wantResidents(t *testing.T, db *mongo.Database, f *model.Find[resident], want []resident) {
	t.Helper()
	if got, err := f.All(t.Context(), db); err != nil || !slices.Equal(got, want) {
		t.Fatalf("%v finds\n%v, %v, want\n%v", f, got, err, want)
	}
	if f.Limit == 1 {
		return
	}
	var paged []resident
	page := f.Limited(7).After()
	for {
		got, err := page.All(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		paged = append(paged, got...)
		if len(got) < 7 {
			break
		}
		page = f.Limited(7).After(got[6].ID)
	}
	if !slices.Equal(paged, want) {
		t.Fatalf("%v has the pages\n%v, want\n%v", f, paged, want)
	}
}

func wantDocuments(t *testing.T, db *mongo.Database, f *model.Find[bson.D], want []resident) {
	t.Helper()
	got, err := f.All(t.Context(), db)
	if err != nil || !slices.EqualFunc(got, want, func(d bson.D, z resident) bool { return d[1].Value == z.ID }) {
		t.Fatalf("%v finds\n%v, %v, want\n%v", f, got, err, want)
	}
}

func compositeNeighbours(t *testing.T, db *mongo.Database, world []resident, x resident) {
	t.Helper()
	for same, is := range []func(z resident) bool{
		func(resident) bool { return true }, func(z resident) bool { return z.State == x.State },
		func(z resident) bool { return z.State == x.State && z.City == x.City },
	} {
		var before, behind []resident
		for _, z := range world {
			switch {
			case is(z) && compareResidents(z, x) < 0:
				before = []resident{z}
			case is(z) && compareResidents(z, x) > 0 && behind == nil:
				behind = []resident{z}
			}
		}
		near := byPlace.Prefix([]any{x.State, x.City}[:same]...)
		wantResidents(t, db, near.After(x.ID).Limited(1), behind)
		wantResidents(t, db, near.Sorted(bson.D{{Key: "_id", Value: -1}}).After(x.ID).Limited(1), before)
	}
}

// Counts by state and by city are those of a walk through the list.
func TestCompositeCounts(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		world := compositeWorld(rand.New(rand.NewPCG(3, 4)), 200)
		if err := compositeInsert(t.Context(), db, world...); err != nil {
			t.Fatal(err)
		}
		states, cities := map[string]int64{}, map[[2]string]int64{}
		for _, z := range world {
			states[z.State]++
			cities[[2]string{z.State, z.City}]++
		}
		got, err := byPlace.Counts().All(t.Context(), db)
		if err != nil || len(got) != len(states) {
			t.Fatalf("%v, %v", got, err)
		}
		last := ""
		for i, g := range got {
			var state string
			if err := byPlace.Scan(g.Key, &state); err != nil || states[state] != g.N || i > 0 && state <= last {
				t.Errorf("%q: %d, %v, want %d", g.Key, g.N, err, states[state])
			}
			last = state
			inside, err := byPlace.Counts(state).All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			total := int64(0)
			for _, c := range inside {
				var at [2]string
				if err := byPlace.Scan(c.Key, &at[0], &at[1]); err != nil || at[0] != state || cities[at] != c.N {
					t.Errorf("%q: %d, %v, want %d", c.Key, c.N, err, cities[at])
				}
				total += c.N
			}
			if total != g.N {
				t.Errorf("%q: the cities have %d, the state %d", state, total, g.N)
			}
		}
		x := keys.NewComposite(loose, keys.Time("at"), keys.ID("id"), keys.Int("n"), keys.Int("m"))
		store := model.NewStore(model.New("loose", x), loose)
		for i := range 12 {
			if _, _, err := store.Insert(bson.D{
				{Key: "at", Value: bson.DateTime(0)}, {Key: "id", Value: bson.ObjectID{1}}, {Key: "n", Value: i / 5},
				{Key: "m", Value: i},
			}).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []struct {
			prefix []any
			text   string
		}{
			{nil, "[{1970-01-01T00:00:00.000Z 12}]"},
			{[]any{bson.DateTime(0)}, "[{1970-01-01T00:00:00.000Z:010000000000000000000000 12}]"},
			{
				prefix: []any{bson.DateTime(0), bson.ObjectID{1}},
				text: "[{1970-01-01T00:00:00.000Z:010000000000000000000000:a0 5} " +
					"{1970-01-01T00:00:00.000Z:010000000000000000000000:a1 5} " +
					"{1970-01-01T00:00:00.000Z:010000000000000000000000:a2 2}]",
			},
		} {
			if got, err := x.Counts(want.prefix...).All(t.Context(), db); err != nil || fmt.Sprint(got) != want.text {
				t.Errorf("%v: %v, %v", want.prefix, got, err)
			}
		}
	})
}

// Bounds of StartingWith hold what begins so, and nothing else: computed, for every pair of the texts.
func TestCompositeStartingWith(t *testing.T) {
	texts := slices.Concat(compositeTexts, []string{
		"San!", "a \x1f", "a <<", "\uD7FFx", "\U0010ffff", "\U0010ffff\U0010ffffx", "a\U0010ffffx",
	})
	for _, prefix := range [][]any{nil, {"CA"}} {
		for _, p := range texts {
			f := byPlace.StartingWith(prefix, p)
			low, high := "", "\U0010ffff\U0010ffff\U0010ffff\U0010ffff"
			if len(f.Filter) > 0 {
				for _, e := range f.Filter[0].Value.(bson.D) {
					switch e.Key {
					case "$gte":
						low = e.Value.(string)
					case "$lt":
						high = e.Value.(string)
					}
				}
			}
			for _, x := range texts {
				values := []any{x, "z", 1} // a state, or the city of one
				if prefix != nil {
					values = []any{prefix[0], x, 1}
				}
				key, err := byPlace.KeyOf(values...)
				if err != nil || f.Err != nil {
					t.Fatal(err, f.Err)
				}
				if in := low <= key && key < high; in != strings.HasPrefix(x, p) {
					t.Errorf("%q in %q ≤ key < %q: %v, of %q and %q", key, low, high, in, x, p)
				}
			}
		}
	}
}
