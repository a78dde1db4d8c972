package paths_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Each operation writes the documents that change, and no other: those whose left number changes twice, unless directly, or to numbers
// that are free.
func TestNestedSetWritesWhatChanges(t *testing.T) {
	tenancy.Differs(t, "a deletion is an update, which is sent with others in one command, and keeps what it counts or indexes")
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range nestedKinds {
			for _, op := range nestedTable() {
				k.nestedSeed(t, db, nestedForest(nestedShape))
				before := k.nestedDocs(t, db)
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
				for id, is := range k.nestedDocs(t, db) {
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
					t.Errorf("%s: %s: %d documents written in %d commands, want %d\n%s", k.name, op.name, got, len(result.Batches), want, p)
				}
			}
		}
	})
}

func (k nestedKind) nestedDocs(t testing.TB, db *mongo.Database) map[string]category {
	t.Helper()
	all, err := k.docs.Find(nil).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]category{}
	for _, c := range all {
		out[c.ID] = c
	}
	return out
}

// What each operation costs is what its documentation says: a(b(c d) e) f(g(h i) j) k, dense and with gaps.
func TestNestedSetCosts(t *testing.T) {
	tenancy.Differs(t, "a deletion is an update, which is sent with others in one command, and keeps what it counts or indexes")
	parallel(t)
	m := mongotest.NewMonitor()
	dense, gapped := nestedKinds[0], nestedKinds[1]
	tests := []struct {
		reason string
		k      nestedKind
		op     nestedOp
		want   model.Cost
	}{
		{"a last root", dense, nestedInsert(paths.LastRoot[string]()), model.Cost{Commands: 6, Written: 4, Returned: 1 + 1}},
		{"a child in between shifts the rest, twice", dense, nestedInsert(paths.LastChild("g")), model.Cost{Commands: 7, Written: 3 + 2 + 2*2 + 2, Returned: 2 + 1}},
		{"a child in a gap", gapped, nestedInsert(paths.LastChild("g")), model.Cost{Commands: 6, Written: 4, Returned: 2 + 1}},
		{"a subtree past another", dense, nestedMove("g", paths.LastChild("f")), model.Cost{Commands: 6, Written: 3 + 2*4, Returned: 3 + 1}},
		{"a subtree to where there is room", gapped, nestedMove("b", paths.LastRoot[string]()), model.Cost{Commands: 6, Written: 3 + 3, Returned: 2 + 1}},
		{"a subtree where numbers are dense", dense, nestedDelete("g", paths.Subtree), model.Cost{Commands: 7, Written: 3 + 3 + 1 + 2*2, Returned: 3 + 1}},
		{"a subtree whose numbers are left free", gapped, nestedDelete("g", paths.Subtree), model.Cost{Commands: 6, Written: 3 + 3, Returned: 3 + 1}},
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range []nestedKind{dense, gapped} { // whose first change stores the lock document
			k.nestedSeed(t, db, nestedForest(nestedShape))
			if _, _, err := k.tree.Insert(category{ID: "x"}, paths.LastRoot[string]()).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		for _, test := range tests {
			t.Run(test.k.name+" "+test.op.name+": "+test.reason, func(t *testing.T) {
				test.k.nestedSeed(t, db, nestedForest(nestedShape))
				modeltest.WantCost(t, m, test.want, func() error {
					_, _, err := test.op.change(test.k.tree).Run(t.Context(), db)
					return err
				})
			})
		}
	}, mongotest.WithMonitor(m))
}

// Descendants, ancestors and what is shifted are found by the indexes, among thousands.
func TestNestedSetIndexed(t *testing.T) {
	tenancy.Differs(t, "unique indexes are led by the tenant, the others aren't")
	alone(t)
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		k := nestedKinds[0]
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
		k.nestedSeed(t, db, forest)
		docs := k.nestedDocs(t, db)
		middle, last := docs["r7"], docs["r49-70"]
		left, right := "left_1", "right_1_left_1"
		move := planned(t, db, k.tree.Move(last.ID, paths.After("r49-75")), 7)
		room := planned(t, db, k.tree.Insert(category{ID: "x"}, paths.After("r49-75")), 7)
		for _, test := range []struct {
			reason string
			query  any
			index  string
		}{
			{"Descendants", k.tree.Descendants(&middle, 0), left},
			{"Descendants to a depth", k.tree.Descendants(&middle, 1), left},
			{"Ancestors of a late node", k.tree.Ancestors(&last), right},
			{"Children", k.tree.Children(&middle), "parent_1_order_1"},
			{"Move", move.Steps[0], left},
			{"Move, the other index", move.Steps[0], right},
			{"Move, turned", move.Steps[1], left},
			{"Insert", room.Steps[1], right}, {"Insert, turned", room.Steps[2], left},
		} {
			t.Run(test.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, test.query, test.index) })
		}
	})
}
