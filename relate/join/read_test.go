package join_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/join"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	joinParent struct {
		ID    int64      `bson:"_id"`
		Kids  []int64    `bson:"kids,omitempty"`
		Lines []joinLine `bson:"lines,omitempty"`
		Main  *int64     `bson:"main,omitempty"`
	}
	joinLine struct {
		Kid int64 `bson:"kid"`
		N   int   `bson:"n"`
	}
	joinKid struct {
		ID    int64  `bson:"_id"`
		Group int32  `bson:"group"`
		Name  string `bson:"name"`
	}
)

// Documents with other ids: a peer's are strings, a numbered document's are of any type.
type (
	peer struct {
		ID    string   `bson:"_id"`
		Peers []string `bson:"peers,omitempty"`
	}
	numbered struct {
		ID   any   `bson:"_id"`
		Refs []any `bson:"refs,omitempty"`
	}
)

var (
	named  = model.NewCollection[peer, string]("named")
	lefts  = model.NewCollection[numbered, any]("lefts")
	rights = model.NewCollection[numbered, any]("rights")
)

var (
	joinParents = model.NewCollection[joinParent, int64]("parents")
	joinKids    = model.NewCollection[joinKid, int64]("kids")
)

// joinData is random: ids that repeat, that lead nowhere, and parents without any.
func joinData(r *rand.Rand, parents, kids int) ([]joinParent, []joinKid) {
	var ks []joinKid
	for i := range kids {
		ks = append(ks, joinKid{int64(i + 1), r.Int32N(3), fmt.Sprintf("kid %d", r.IntN(5))})
	}
	var ps []joinParent
	for i := range parents {
		p := joinParent{ID: int64(i + 1)}
		for range r.IntN(7) {
			id := int64(1 + r.IntN(kids+kids/5+1))
			p.Kids = append(p.Kids, id)
			p.Lines = append(p.Lines, joinLine{id, r.IntN(9)})
			p.Main = &id
		}
		ps = append(ps, p)
	}
	return ps, ks
}

// naive is what a join means, parent by parent.
func naive(p joinParent, kids []joinKid, ids []int64, spec joinWant) join.Joined[joinParent, joinKid, int64] {
	out := join.Joined[joinParent, joinKid, int64]{Parent: p}
	for _, id := range ids {
		i := slices.IndexFunc(kids, func(k joinKid) bool { return k.ID == id })
		switch {
		case i < 0 && !slices.Contains(out.Missing, id):
			out.Missing = append(out.Missing, id)
		case i >= 0 && (spec.group < 0 || kids[i].Group == spec.group):
			out.Children = append(out.Children, kids[i])
		}
	}
	if spec.sorted {
		slices.SortStableFunc(out.Children, func(a, b joinKid) int {
			return cmp.Or(-cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
		})
	}
	if spec.limit > 0 && len(out.Children) > spec.limit {
		out.Children = out.Children[:spec.limit]
	}
	return out
}

type joinWant struct {
	group  int32 // -1 means all
	sorted bool
	limit  int
}

// Load, Each and the pipeline give what a loop over the parents gives, whatever the spec and the chunks.
func TestJoinAgrees(t *testing.T) {
	testkit.Parallel(t)
	byName := bson.D{{Key: "name", Value: -1}, {Key: "_id", Value: 1}}
	cases := []struct {
		reason string
		path   string
		spec   join.Spec
		want   joinWant
	}{
		{"a list of ids", "kids", join.Spec{}, joinWant{group: -1}},
		{"ids inside elements", "lines.kid", join.Spec{}, joinWant{group: -1}},
		{"a single optional id", "main", join.Spec{}, joinWant{group: -1}},
		{"many small chunks", "kids", join.Spec{ChunkIDs: 3}, joinWant{group: -1}},
		{"chunks by bytes, one id each", "kids", join.Spec{ChunkBytes: 1}, joinWant{group: -1}},
		{"chunks fetched at once", "kids", join.Spec{ChunkIDs: 3, Parallel: 4}, joinWant{group: -1}},
		{
			"a filter leaves children out without calling them missing", "kids",
			join.Spec{Filter: bson.D{{Key: "group", Value: 1}}, ChunkIDs: 5}, joinWant{group: 1},
		},
		{
			"a filter on _id is ANDed, not replaced", "kids",
			join.Spec{Filter: bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: int64(0)}}}}},
			joinWant{group: -1},
		},
		{"a limit cuts each parent by itself", "kids", join.Spec{Limit: 2}, joinWant{group: -1, limit: 2}},
		{
			"a sort across chunks, and a limit after it", "kids", join.Spec{Sort: byName, Limit: 3, ChunkIDs: 4},
			joinWant{group: -1, sorted: true, limit: 3},
		},
		{"only the fields that the type has", "kids", join.Spec{Fields: true}, joinWant{group: -1}},
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		parents, kids := joinData(rand.New(rand.NewPCG(1, 2)), 60, 40)
		if _, err := model.Concat(joinParents.InsertMany(parents), joinKids.InsertMany(kids)).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			j := join.New(joinParents, c.path, joinKids, c.spec)
			ids := core.NewReader[int64](joinParents.Docs(), c.path)
			var want []join.Joined[joinParent, joinKid, int64]
			for i := range parents {
				want = append(want, naive(parents[i], kids, ids.Append(nil, &parents[i]), c.want))
			}
			loaded, err := j.Load(ctx, db, parents)
			if err != nil {
				t.Fatal(c.reason, err)
			}
			var streamed []join.Joined[joinParent, joinKid, int64]
			for got, err := range j.Each(
				ctx, db, joinParents.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).Each(ctx, db),
			) {
				if err != nil {
					t.Fatal(c.reason, err)
				}
				streamed = append(streamed, got)
			}
			piped, err := j.Pipeline(nil).All(ctx, db)
			if err != nil {
				t.Fatal(c.reason, err)
			}
			slices.SortFunc(
				piped,
				func(
					a, b join.Joined[joinParent, joinKid, int64],
				) int {
					return cmp.Compare(a.Parent.ID, b.Parent.ID)
				},
			)
			for i := range want {
				for how, got := range map[string][]join.Joined[joinParent, joinKid, int64]{
					"Load": loaded, "Each": streamed, "Pipeline": piped,
				} {
					if d := joinDiff(want[i], got[i]); d != "" {
						t.Fatalf("%s: %s of parent %d:\n%s", c.reason, how, want[i].Parent.ID, d)
					}
				}
			}
		}
	})
}

// joinDiff takes nil and empty lists as equal: a pipeline stores empty ones.
func joinDiff(want, got join.Joined[joinParent, joinKid, int64]) string {
	return mongotest.Diff(
		bson.D{
			{Key: "p", Value: want.Parent}, {Key: "c", Value: append([]joinKid{}, want.Children...)},
			{Key: "m", Value: append([]int64{}, want.Missing...)},
		},
		bson.D{
			{Key: "p", Value: got.Parent}, {Key: "c", Value: append([]joinKid{}, got.Children...)},
			{Key: "m", Value: append([]int64{}, got.Missing...)},
		})
}

func TestJoinCost(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		parents, kids := joinData(rand.New(rand.NewPCG(3, 4)), 50, 40)
		if _, err := model.Concat(joinParents.InsertMany(parents), joinKids.InsertMany(kids)).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		unique, there := map[int64]bool{}, 0
		for _, p := range parents {
			for _, id := range p.Kids {
				if !unique[id] && id <= int64(len(kids)) {
					there++
				}
				unique[id] = true
			}
		}
		j := join.New(joinParents, "kids", joinKids, join.Spec{ChunkIDs: 10})
		chunks := (len(unique) + 9) / 10
		if got := len(j.Queries(parents)); got != chunks {
			t.Errorf("%d queries for %d ids in chunks of 10, want %d", got, len(unique), chunks)
		}
		load := func(parents []joinParent) func() error {
			return func() error {
				_, err := j.Load(ctx, db, parents)
				return err
			}
		}
		modeltest.WantCost(t, m, model.Cost{Commands: chunks, Returned: there}, load(parents))
		modeltest.WantCost(t, m, model.Cost{}, load(nil))
		modeltest.WantCost(t, m, model.Cost{}, load([]joinParent{{ID: 1}}))

		// More than the server's first batch of 101, in one reply; and once more for what a filter left out.
		many := make([]joinKid, 300)
		parent := joinParent{ID: 1}
		for i := range many {
			many[i] = joinKid{ID: int64(1000 + i), Group: int32(i % 2)}
			parent.Kids = append(parent.Kids, many[i].ID)
		}
		if _, err := joinKids.InsertMany(many).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		j = join.New(joinParents, "kids", joinKids, join.Spec{})
		modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 300}, load([]joinParent{parent}))
		j = join.New(joinParents, "kids", joinKids, join.Spec{Filter: bson.D{{Key: "group", Value: 1}}})
		modeltest.WantCost(t, m, model.Cost{Commands: 2, Returned: 300}, load([]joinParent{parent}))
	}, m)
}

func TestJoinStrict(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		if _, err := joinKids.Insert(joinKid{ID: 1}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		j := join.New(
			joinParents, "kids", joinKids, join.Spec{Strict: true, Filter: bson.D{{Key: "group", Value: 7}}},
		)
		if _, err := j.Load(ctx, db, []joinParent{{ID: 1, Kids: []int64{1}}}); err != nil {
			t.Errorf("a child that the filter leaves out is not missing: %v", err)
		}
		_, err := j.Load(ctx, db, []joinParent{{ID: 1, Kids: []int64{5, 1, 5, 6}}})
		if !errors.Is(err, model.ErrNotFound) ||
			!strings.Contains(err.Error(), "2 ids at kids have no document in kids: [Long('5'), Long('6')]") {
			t.Errorf("want 5 and 6 missing, got %v", err)
		}
		if j.Pipeline(nil).Err == nil {
			t.Error("a strict pipeline was not refused")
		}
	})
}

// A join inside a transaction is sequential, whatever Parallel says, and sees the transaction's own writes.
func TestJoinInSession(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		ctx := context.Background()
		if err := db.CreateCollection(ctx, "kids"); err != nil {
			t.Fatal(err)
		}
		j := join.New(joinParents, "kids", joinKids, join.Spec{ChunkIDs: 1, Parallel: 8})
		err := model.InTx(ctx, db, func(ctx context.Context) error {
			if _, err := joinKids.InsertMany([]joinKid{{ID: 1}, {ID: 2}, {ID: 3}}).Run(ctx, db); err != nil {
				return err
			}
			got, err := j.Load(ctx, db, []joinParent{{ID: 1, Kids: []int64{3, 2, 1}}})
			if err == nil && len(got[0].Children) != 3 {
				t.Errorf("got %v", got)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// Three levels: parents, their kids, and the parents that list each kid.
func TestJoinLevels(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		one, two := int64(1), int64(2)
		parents := []joinParent{{ID: 1, Kids: []int64{2, 1, 2}}, {ID: 2, Kids: []int64{2, 9}}, {ID: 3}}
		kids := []joinKid{{1, 1, "one"}, {2, 2, "two"}}
		back := []joinParent{{ID: 11, Main: &one}, {ID: 12, Main: &two}, {ID: 13, Main: &two}}
		if _, err := model.Concat(joinParents.InsertMany(back), joinKids.InsertMany(kids)).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		newest := parentref.New(joinParents, "main", joinKids, parentref.Spec{}).Loader(1)
		all := join.Then(join.New(joinParents, "kids", joinKids, join.Spec{}), newest)
		got, err := all.Load(ctx, db, parents)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, p := range got {
			text += fmt.Sprintf("%d:", p.Parent.ID)
			for _, k := range p.Children {
				text += fmt.Sprintf(" %s←%d", k.Parent.Name, k.Children[0].ID)
			}
			text += fmt.Sprintf(" missing %v\n", p.Missing)
		}
		want := "1: two←13 one←11 two←13 missing []\n2: two←13 missing [9]\n3: missing []\n"
		if text != want {
			t.Errorf("got\n%swant\n%s", text, want)
		}
	})
}

// An empty id is looked for as any other, so that Load says what the pipeline says; what can be no id is refused.
func TestJoinEmptyID(t *testing.T) {
	testkit.Parallel(t)
	j := join.New(named, "peers", named, join.Spec{})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		parent := peer{ID: "p", Peers: []string{"a", "", "a"}}
		testkit.SeedAlone(t, db, testkit.Docs{"named": {parent, peer{ID: "a"}}})
		loaded, err := j.Load(t.Context(), db, []peer{parent})
		if err != nil {
			t.Fatal(err)
		}
		piped, err := j.Pipeline(bson.D{{Key: "_id", Value: "p"}}).All(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		want := []join.Joined[peer, peer, string]{
			{Parent: parent, Children: []peer{{ID: "a"}, {ID: "a"}}, Missing: []string{""}},
		}
		for _, got := range [][]join.Joined[peer, peer, string]{loaded, piped} {
			if diff := mongotest.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
	})
	open := join.New(lefts, "refs", rights, join.Spec{})
	var value *model.ValueError
	pattern := numbered{Refs: []any{bson.Regex{Pattern: "."}}}
	if _, err := open.Load(
		t.Context(), mongotest.NewClient(t).Database("d"), []numbered{pattern},
	); !errors.As(err, &value) || value.Field != "refs" {
		t.Errorf("want a ValueError for the pattern, got %v", err)
	}
}

// TestJoinSameID holds that a join finds a child by whichever type of number an id is written as.
func TestJoinSameID(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		list := numbered{ID: "a", Refs: []any{int32(7), int64(7), 7.0, "i", int32(8), int64(8)}}
		testkit.SeedAlone(t, db, testkit.Docs{"lefts": {list}, "rights": {numbered{ID: int64(7)}, numbered{ID: "i"}}})
		for _, c := range []struct {
			spec     join.Spec
			children int
		}{
			{join.Spec{}, 4},
			{join.Spec{Sort: bson.D{{Key: "_id", Value: 1}}, ChunkIDs: 1, Parallel: 2}, 4},
			{join.Spec{Filter: bson.D{{Key: "_id", Value: "i"}}}, 1},
		} {
			joined, err := join.New(lefts, "refs", rights, c.spec).Load(t.Context(), db, []numbered{list})
			if err != nil || len(joined) != 1 || len(joined[0].Children) != c.children ||
				!slices.Equal(joined[0].Missing, []any{int32(8)}) {
				t.Errorf("%+v: %v, %v", c.spec, joined, err)
			}
		}
	})
}
