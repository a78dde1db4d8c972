package model_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// ix is an index of the parts.
func ix(nameDir ...any) model.Index { return model.NewIndex("parts", d(nameDir...)) }

func unique(x model.Index) model.Index { x.Unique = true; return x }

func partial(x model.Index, filter bson.D) model.Index { x.Partial = filter; return x }

func expiring(x model.Index, after time.Duration) model.Index { x.ExpireAfter = after; return x }

func equal(x model.Index, n int) model.Index { x.Equal = n; return x }

func named(x model.Index, name string) model.Index { x.Name = name; return x }

// TestIndexes: which indexes are needed, and which another makes needless.
func TestIndexes(t *testing.T) {
	some := d("a", d("$gt", 0))
	for _, c := range []struct {
		in           []model.Index
		want, reason string
	}{
		{nil, "", "none"},
		{[]model.Index{ix("a", 1), ix("b", 1)}, "a_1 b_1", "two"},
		{[]model.Index{ix("a", 1), ix("a", 1)}, "a_1", "the same twice"},
		{[]model.Index{ix("a", 1), ix("a", 1, "b", 1)}, "a_1_b_1; a_1 by a_1_b_1", "the first keys of another"},
		{
			in: []model.Index{ix("a", 1, "b", 1), ix("a", 1)}, want: "a_1_b_1; a_1 by a_1_b_1",
			reason: "the first keys of another, which comes first",
		},
		{
			in:     []model.Index{ix("a", 1), ix("a", 1, "b", 1), ix("a", 1, "b", 1, "c", 1)},
			want:   "a_1_b_1_c_1; a_1 by a_1_b_1_c_1; a_1_b_1 by a_1_b_1_c_1",
			reason: "by one that stays",
		},
		{[]model.Index{ix("b", 1), ix("a", 1, "b", 1)}, "b_1 a_1_b_1", "not the first keys"},
		{[]model.Index{ix("a", 1), ix("a", -1)}, "a_1; a_-1 by a_1", "an index is read both ways"},
		{[]model.Index{ix("a", 1, "b", -1), ix("a", -1, "b", 1)}, "a_1_b_-1; a_-1_b_1 by a_1_b_-1", "both ways, all keys"},
		{[]model.Index{ix("a", 1, "b", 1), ix("a", 1, "b", -1)}, "a_1_b_1 a_1_b_-1", "another order"},
		{
			in:   []model.Index{equal(ix("a", 1, "b", 1), 1), ix("a", 1, "b", -1)},
			want: "a_1_b_-1; a_1_b_1 by a_1_b_-1", reason: "the queries are for one value of a",
		},
		{
			in:   []model.Index{equal(ix("a", 1, "_id", 1), 1), equal(ix("a", 1, "_id", -1), 1)},
			want: "a_1__id_1; a_1__id_-1 by a_1__id_1", reason: "the first of two",
		},
		{
			in:   []model.Index{equal(ix("a", 1, "b", 1), 2), ix("b", -1, "a", 1, "c", 1)},
			want: "b_-1_a_1_c_1; a_1_b_1 by b_-1_a_1_c_1", reason: "two values, in another order",
		},
		{
			in:   []model.Index{equal(ix("a", 1, "b", 1), 1), ix("b", 1, "a", 1)},
			want: "a_1_b_1 b_1_a_1", reason: "only the first key is compared",
		},
		{
			in:   []model.Index{equal(ix("a", 1, "b", 1, "c", 1), 1), ix("a", 1, "b", 1, "c", -1)},
			want: "a_1_b_1_c_1 a_1_b_1_c_-1", reason: "another order of the rest",
		},
		{[]model.Index{equal(ix("a", 1), 2), ix("b", 1)}, "a_1 b_1", "more values than keys"},
		{[]model.Index{equal(ix("a", 1), 1), ix("a", "hashed", "b", 1)}, "a_1 a_hashed_b_1", "a hashed index is another"},
		{
			in:     []model.Index{equal(ix("a", 1, "b", 1), 1), partial(ix("a", 1, "b", -1), some)},
			want:   "a_1_b_1 a_1_b_-1",
			reason: "a partial index leaves documents out, as before",
		},
		{[]model.Index{unique(ix("a", 1)), ix("a", 1, "b", 1)}, "a_1 a_1_b_1", "a unique index does more than serve queries"},
		{[]model.Index{ix("a", 1), named(unique(ix("a", 1)), "u")}, "u; a_1 by u", "a unique one serves the same queries"},
		{
			in:   []model.Index{ix("a", 1), unique(ix("a", 1, "b", 1))},
			want: "a_1_b_1; a_1 by a_1_b_1", reason: "a unique index serves queries too",
		},
		{[]model.Index{ix("a", 1), partial(ix("a", 1, "b", 1), some)}, "a_1 a_1_b_1", "a partial index leaves documents out"},
		{[]model.Index{partial(ix("a", 1), some), ix("a", 1, "b", 1)}, "a_1_b_1; a_1 by a_1_b_1", "a whole index has them"},
		{
			in:   []model.Index{partial(ix("a", 1), some), partial(ix("a", 1, "b", 1), some)},
			want: "a_1_b_1; a_1 by a_1_b_1", reason: "the same part",
		},
		{[]model.Index{expiring(ix("a", 1), time.Hour), ix("a", 1, "b", 1)}, "a_1 a_1_b_1", "a TTL index deletes"},
		{
			in:   []model.Index{expiring(ix("a", 1), time.Hour), expiring(named(ix("a", 1), "t"), time.Hour+time.Millisecond)},
			want: "a_1; t by a_1", reason: "TTL is in whole seconds",
		},
		{
			in:   []model.Index{ix("_id", 1), ix("_id", -1), unique(ix("_id", 1))},
			want: "; _id_1 by _id_; _id_-1 by _id_; _id_1 by _id_", reason: "every collection has this index",
		},
		{[]model.Index{ix("_id", "hashed")}, "_id_hashed", "a hashed index on _id is another"},
		{[]model.Index{ix("_id", 1, "a", 1)}, "_id_1_a_1", "more than _id"},
		{[]model.Index{ix("loc", "2dsphere"), ix("loc", 1)}, "loc_2dsphere loc_1", "another kind"},
		{[]model.Index{ix("a", 1), model.NewIndex("other", d("a", 1, "b", 1))}, "a_1 a_1_b_1", "another collection"},
		{[]model.Index{ix("a", 1), ix("a", int64(1))}, "a_1", "the same number"},
	} {
		set := model.New("test", wants(c.in), wants{}).Indexes()
		var needed []string
		for _, x := range set.Needed {
			needed = append(needed, x.Name)
		}
		got := []string{strings.Join(needed, " ")}
		for _, x := range set.Dropped {
			got = append(got, x.Index.Name+" by "+x.By)
			if x.Why == "" {
				t.Errorf("%s: no reason for dropping %s", c.reason, x.Index.Name)
			}
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s\nwant %s: %s", s, c.want, c.reason)
		}
	}
}

// serves is written from the manual: an index serves queries for values of some fields, sorted
// by others, if it begins with the fields, in any order, and goes on with the sort, in the
// same or the opposite directions.
func serves(x, y model.Index) bool {
	if len(x.Keys) < len(y.Keys) || y.Unique && (!x.Unique || len(x.Keys) != len(y.Keys)) {
		return false
	}
	first, rest := map[string]bool{}, map[bool]bool{}
	for i, k := range y.Keys {
		if i < y.Equal {
			first[k.Key] = true
		}
	}
	for i, k := range x.Keys[:len(y.Keys)] {
		switch {
		case i < y.Equal && !first[k.Key], i >= y.Equal && k.Key != y.Keys[i].Key:
			return false
		case i >= y.Equal:
			rest[k.Value == y.Keys[i].Value] = true
		}
	}
	return len(rest) < 2
}

// Of random indexes, those that stay serve all others, and not each other.
func TestIndexesServeOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 20_000 {
		var all wants
		for range 1 + r.IntN(5) {
			x := model.Index{Collection: "parts", Unique: r.IntN(5) == 0}
			names := []string{"a", "b", "c"}
			r.Shuffle(3, func(i, j int) { names[i], names[j] = names[j], names[i] })
			for _, name := range names[:1+r.IntN(3)] {
				x.Keys = append(x.Keys, bson.E{Key: name, Value: 1 - 2*r.IntN(2)})
			}
			x.Equal = r.IntN(len(x.Keys) + 1)
			x.Name = fmt.Sprint("x", len(all))
			all = append(all, x)
		}
		set := model.New("test", all, wants{}).Indexes()
		for _, y := range all {
			if !slices.ContainsFunc(set.Needed, func(x model.Index) bool { return serves(x, y) }) {
				t.Fatalf("%v\nnothing serves %s, %d equal, in\n%s", all, y, y.Equal, set)
			}
		}
		for i, x := range set.Needed {
			for j, y := range set.Needed {
				if i != j && serves(x, y) {
					t.Fatalf("%v\n%s, %d equal, is served by %s in\n%s", all, y, y.Equal, x, set)
				}
			}
		}
		if len(set.Needed)+len(set.Dropped) != len(all) {
			t.Fatalf("%v\nisn't\n%s", all, set)
		}
	}
}

// TestIndexesOnServer: Ensure makes what Diff misses, and nothing twice.
func TestIndexesOnServer(t *testing.T) {
	tenancy.Differs(t, "unique indexes are led by the tenant, the others aren't")
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		set := model.New("test", wants{
			ix("a", 1), unique(ix("b", -1)), partial(ix("c", 1), d("c", d("$gt", 0))),
			expiring(ix("at", 1), 90*time.Minute+time.Millisecond),

			expiring(ix("gone", 1), -time.Second), model.NewIndex("products", d("a", 1, "b", 1)),
		}).Indexes()
		diff, err := set.Diff(t.Context(), db)
		if err != nil || len(diff.Missing) != 6 || diff.Empty() {
			t.Fatalf("before: %+v, %v", diff, err)
		}
		monitor.Reset()
		for range 2 {
			if err := set.Ensure(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		if cost := monitor.Cost(); cost.Commands != 4 {
			t.Errorf("%d commands, want one for each collection and time", cost.Commands)
		}
		monitor.Reset()
		if diff, err := set.Diff(t.Context(), db); err != nil || !diff.Empty() || len(diff.Extra) != 0 ||
			monitor.Cost().Commands != 2+1 {
			t.Errorf("after: %+v, %v, %v", diff, err, monitor.Cost())
		}
		other := model.New("test", wants{
			ix("a", -1), ix("b", -1), unique(ix("new", 1)), expiring(ix("at", 1), time.Hour),
		}).Indexes()
		diff, err = other.Diff(t.Context(), db)
		if err != nil || names(diff.Missing) != "new_1" || names(diff.Changed) != "b_-1 at_1" ||
			strings.Join(diff.Extra, " ") != "parts.c_1 parts.gone_1" {
			t.Errorf("missing %s, changed %s, extra %v, %v", names(diff.Missing), names(diff.Changed), diff.Extra, err)
		}
		if err := other.Ensure(t.Context(), db); err == nil || !strings.Contains(err.Error(), "parts") {
			t.Errorf("an index under the same name with other options: %v", err)
		}
	}, monitor)
}

func names(all []model.Index) string {
	var out []string
	for _, x := range all {
		out = append(out, x.Name)
	}
	return strings.Join(out, " ")
}

// An index that Ensure made serves the query that it is for.
func TestIndexesServe(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, manyParts(500), model.NewPlan(parts.Insert(part{ID: 900, Name: "rare"})))
		named := ix("name", 1)
		if err := model.New("test", wants{named}, model.Entity(parts, ix("qty", 1))).Indexes().
			Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		modeltest.WantIndexed(t, db, parts.Find(d("name", "rare")), named.Name)
		modeltest.WantIndexed(t, db, parts.Find(d("qty", d("$gt", 0))), "qty_1")
	})
}

// Indexes of several collections, cut between two: the next Ensure makes the rest.
func TestEnsureFaults(t *testing.T) {
	set := model.New("test", twoLists()...).Indexes()
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Sample: 2,
		Run:    func(ctx context.Context, db *mongo.Database) error { return set.Ensure(ctx, db) },
		Check: func(t testing.TB, db *mongo.Database) {
			if diff, err := set.Diff(context.Background(), db); err != nil || !diff.Empty() {
				t.Errorf("%+v, %v", diff, err)
			}
		},
	})
}
