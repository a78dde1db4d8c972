package tree_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Each operation writes the documents that change, and no other: those whose left number changes twice, unless
// directly, or to numbers
// that are free.
func TestNestedSetWritesWhatChanges(t *testing.T) {
	tenancy.Differs(
		t, "a deletion is an update, which is sent with others in one command, and keeps what it counts or indexes",
	)
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.NestedKinds {
			for _, op := range nestedTable() {
				k.Seed(t, db, pathstest.Parse(nestedShape))
				before := nestedDocs(k, t, db)
				p := op.plan(t, db, k, 7)
				result, err := p.Run(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				got, want := 0, 0
				for _, b := range result.Batches {
					got += int(b.Modified)
				}
				turns := strings.Contains(p.String(), "$mul")
				for _, s := range p.Steps { // children that are tied to another parent
					_, one := s.(model.Write).Model.(*mongo.UpdateOneModel)
					if one && len(p.Steps) > 1 && !strings.Contains(s.(model.Write).String(), "left: ") {
						want++
					}
				}
				for id, is := range nestedDocs(k, t, db) {
					was, there := before[id]
					switch {
					case !there && turns:
						want++
					case !there:
					case is.Left != was.Left && turns:
						want += 2
					case is.Left != was.Left, is.Right != was.Right, is.Depth != was.Depth:
						want++
					case is.Change != was.Change && len(p.Steps) == 1: // between the same numbers
						want++
					}
				}
				if got != want || len(result.Batches) > 4 {
					t.Errorf(
						"%s: %s: %d documents written in %d commands, want %d\n%s", k.Name, op.name, got,
						len(result.Batches), want, p,
					)
				}
			}
		}
	})
}

func nestedDocs(k pathstest.NestedKind, t testing.TB, db *mongo.Database) map[string]pathstest.Category {
	t.Helper()
	all, err := k.Docs.Find(nil).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]pathstest.Category{}
	for _, c := range all {
		out[c.ID] = c
	}
	return out
}

// What each operation costs is what its documentation says: a(b(c d) e) f(g(h i) j) k, dense and with gaps.
func TestNestedSetCosts(t *testing.T) {
	tenancy.Differs(
		t, "a deletion is an update, which is sent with others in one command, and keeps what it counts or indexes",
	)
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	dense, gapped := pathstest.NestedKinds[0], pathstest.NestedKinds[1]
	tests := []struct {
		reason string
		k      pathstest.NestedKind
		op     nestedOp
		want   model.Cost
	}{
		{
			"a last root", dense, nestedInsert(paths.LastRoot[string]()),
			model.Cost{Commands: 6, Written: 4, Returned: 1 + 1},
		},
		{
			"a child in between shifts the rest, twice", dense, nestedInsert(paths.LastChild("g")),
			model.Cost{Commands: 7, Written: 3 + 2 + 2*2 + 2, Returned: 2 + 1},
		},
		{
			"a child in a gap", gapped, nestedInsert(paths.LastChild("g")),
			model.Cost{Commands: 6, Written: 4, Returned: 2 + 1},
		},
		{
			"a subtree past another", dense, nestedMove("g", paths.LastChild("f")),
			model.Cost{Commands: 6, Written: 3 + 2*4, Returned: 3 + 1},
		},
		{
			"a subtree to where there is room", gapped, nestedMove("b", paths.LastRoot[string]()),
			model.Cost{Commands: 6, Written: 3 + 3, Returned: 2 + 1},
		},
		{
			"a subtree where numbers are dense", dense, nestedDelete("g", paths.Subtree),
			model.Cost{Commands: 7, Written: 3 + 3 + 1 + 2*2, Returned: 3 + 1},
		},
		{
			"a subtree whose numbers are left free", gapped, nestedDelete("g", paths.Subtree),
			model.Cost{Commands: 6, Written: 3 + 3, Returned: 3 + 1},
		},
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range []pathstest.NestedKind{dense, gapped} { // whose first change stores the lock document
			k.Seed(t, db, pathstest.Parse(nestedShape))
			if _, err := k.Tree.Insert(
				pathstest.Category{ID: "x"}, paths.LastRoot[string](),
			).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		for _, test := range tests {
			t.Run(test.k.Name+" "+test.op.name+": "+test.reason, func(t *testing.T) {
				test.k.Seed(t, db, pathstest.Parse(nestedShape))
				modeltest.WantCost(t, m, test.want, func() error {
					_, err := test.op.change(test.k.Tree).Run(t.Context(), db)
					return err
				})
			})
		}
	}, m)
}

// Descendants, ancestors and what is shifted are found by the indexes, among thousands.
func TestNestedSetIndexed(t *testing.T) {
	tenancy.Differs(t, "unique indexes are led by the tenant, the others aren't")
	testkit.Alone(t)
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		k := pathstest.NestedKinds[0]
		forest := &paths.Forest[string]{}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := range 50 {
			root := fmt.Sprint("r", i)
			must(forest.Insert(root, paths.LastRoot[string]()))
			for j := range 80 {
				must(forest.Insert(fmt.Sprint(root, "-", j), paths.LastChild(root)))
			}
		}
		k.Seed(t, db, forest)
		docs := nestedDocs(k, t, db)
		middle, last := docs["r7"], docs["r49-70"]
		left, right := "left_1", "right_1_left_1"
		move := pathstest.MakePlan(t, db, k.Tree.Move(last.ID, paths.After("r49-75")), 7)
		room := pathstest.MakePlan(t, db, k.Tree.Insert(pathstest.Category{ID: "x"}, paths.After("r49-75")), 7)
		for _, test := range []struct {
			reason string
			query  any
			index  string
		}{
			{"Descendants", k.Tree.Descendants(&middle, 0), left},
			{"Descendants to a depth", k.Tree.Descendants(&middle, 1), left},
			{"Ancestors of a late node", k.Tree.Ancestors(&last), right},
			{"Children", k.Tree.Children(&middle), "parent_1_order_1"},
			{"Move", move.Steps[0], left},
			{"Move, the other index", move.Steps[0], right},
			{"Move, turned", move.Steps[1], left},
			{"Insert", room.Steps[1], right}, {"Insert, turned", room.Steps[2], left},
		} {
			t.Run(test.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, test.query, test.index) })
		}
	})
}
