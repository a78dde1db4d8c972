package dangling_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/dangling"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A crate refers to tags in every way there is.
type (
	crate struct {
		ID    string      `bson:"_id"`
		Main  string      `bson:"main,omitempty"`
		Spare string      `bson:"spare"` // "" is stored, and stands for none
		Tags  []string    `bson:"tags,omitempty"`
		Lines []crateLine `bson:"lines,omitempty"`
	}
	crateLine struct {
		Tag string `bson:"tag,omitempty"`
		N   int    `bson:"n"`
	}
	tag struct {
		ID string `bson:"_id"`
	}
	// A box holds tags in two arrays, one in the other.
	box struct {
		ID   string `bson:"_id"`
		Rows []struct {
			Tags []string `bson:"tags"`
		} `bson:"rows,omitempty"`
	}
)

var (
	crates = model.NewCollection[crate, string]("crates")
	tags   = model.NewCollection[tag, string]("tags")
)

// Tags a and b exist, x and y don't. Crate 5 holds what the type can't: null as an id, and in a list.
func seedCrates(ctx context.Context, db *mongo.Database) error {
	return testkit.Store(ctx, db, testkit.Docs{"tags": {tag{ID: "a"}, tag{ID: "b"}}, "crates": {
		crate{ID: "1", Main: "a", Tags: []string{"a", "b"}, Lines: []crateLine{{"a", 1}}},
		crate{
			ID: "2", Main: "x", Spare: "x", Tags: []string{"x", "a", "y", "x"},
			Lines: []crateLine{{"x", 1}, {"b", 2}, {"", 3}, {"x", 4}},
		},
		crate{ID: "3", Main: "y", Tags: []string{"y", "x"}, Lines: []crateLine{{"y", 9}}},
		crate{ID: "4", Spare: "b"},
		testkit.D("_id", "5", "main", nil, "tags", bson.A{nil, "", "a"}),
	}})
}

// The ways, each with what is found and what each repair leaves at its path, as model.Shell shows it.
type way struct {
	path, refs, missing      string
	detached, deleted, other string // what is at the path afterwards, document by document
}

var ways = []way{
	{
		"main", "'2' main → 'x', '3' main → 'y'", "'x': 1, 'y': 1",
		"'a' - - - null", "'a' - null", "'a' 'b' 'b' - null",
	}, {
		"spare", "'2' spare → 'x'", "'x': 1",
		"'' - '' 'b' -", "'' '' 'b' -", "'' 'b' '' 'b' -",
	}, {
		"tags", "'2' tags → 'x', '2' tags → 'y', '3' tags → 'y', '3' tags → 'x'", "'x': 2, 'y': 2",
		"['a', 'b'] ['a'] [] - [null, '', 'a']", "['a', 'b'] - [null, '', 'a']",
		"['a', 'b'] ['b', 'a', 'b', 'b'] ['b', 'b'] - [null, '', 'a']",
	}, {
		"lines.tag", "'2' lines.tag → 'x', '3' lines.tag → 'y'", "'x': 1, 'y': 1",
		"[{tag: 'a', n: 1}] [{tag: 'b', n: 2}, {n: 3}] [] - -",
		"[{tag: 'a', n: 1}] - -",
		"[{tag: 'a', n: 1}] [{tag: 'b', n: 1}, {tag: 'b', n: 2}, {n: 3}, {tag: 'b', n: 4}] [{tag: 'b', n: 9}] - -",
	},
}

// A mending is what a spec does, and what it leaves of a way.
type mending struct {
	name string
	spec dangling.Spec
	left func(way) string
}

var mendings = []mending{
	{"detach", dangling.Spec{Repair: dangling.DetachIDs}, func(w way) string { return w.detached }},
	{
		"delete the referring document", dangling.Spec{Repair: dangling.DeleteReferrers},
		func(w way) string { return w.deleted },
	},
	{"another id", dangling.Spec{ReplaceBy: "b"}, func(w way) string { return w.other }},
}

// eachMending calls f for each way and each mending that it can have.
func eachMending(f func(name string, w way, lost *dangling.Dangling[crate, string, tag, string], left string)) {
	for _, w := range ways {
		for _, m := range mendings {
			if left := m.left(w); left != "" {
				f(w.path+"/"+m.name, w, dangling.New(crates, w.path, tags, m.spec), left)
			}
		}
	}
}

// numbers are counts, each "'x': 2".
func numbers(list []relate.Count[bson.RawValue]) string {
	var s []string
	for _, c := range list {
		s = append(s, fmt.Sprintf("%s: %d", model.Shell(c.ID), c.N))
	}
	return strings.Join(s, ", ")
}

// told is what the check says of references, each "'2' main → 'x'".
func describeRefs(refs string) string {
	var out []string
	for ref := range strings.SplitSeq(refs, ", ") {
		id, rest, _ := strings.Cut(ref, " ")
		out = append(out, "crates "+id+": "+rest+", which doesn't exist")
	}
	return strings.Join(out, ", ")
}

// valuesOf is what the crates hold at the first name of a path.
func valuesOf(t testing.TB, db *mongo.Database, path string) string {
	t.Helper()
	name, _, _ := strings.Cut(path, ".")
	find := &model.Find[bson.Raw]{Query: model.Query{Collection: "crates", Sort: bson.D{{Key: "_id", Value: 1}}}}
	var out []string
	for doc, err := range find.Each(context.Background(), db) {
		if err != nil {
			t.Fatal(err)
		}
		if v, err := doc.LookupErr(name); err == nil {
			out = append(out, model.Shell(v))
		} else {
			out = append(out, "-")
		}
	}
	return strings.Join(out, " ")
}

func TestDangling(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	for _, way := range ways {
		t.Run(way.path, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				ctx := testkit.MustSeed(t, db, seedCrates)
				lost := dangling.New(crates, way.path, tags, dangling.Spec{})
				modeltest.WantCost(t, m, model.Cost{Commands: 1, Batches: true}, func() error {
					refs, err := lost.Checks()[0].All(ctx, db)
					if got := testkit.JoinStrings(refs); got != describeRefs(way.refs) {
						t.Errorf("references: %s, want %s", got, way.refs)
					}
					return err
				})
				modeltest.WantCost(t, m, model.Cost{Commands: 1, Batches: true}, func() error {
					missing, err := lost.Missing(nil).All(ctx, db)
					if got := numbers(missing); got != way.missing {
						t.Errorf("missing: %s, want %s", got, way.missing)
					}
					return err
				})
				some, err := lost.Checks()[0].In(bson.D{{Key: "_id", Value: "2"}}).All(ctx, db)
				if err != nil || len(some) == 0 ||
					slices.ContainsFunc(some, func(f model.Finding) bool { return f.ID.StringValue() != "2" }) {
					t.Errorf("of one document: %v, %v", some, err)
				}
			}, m)
		})
	}
}

// Every scope, in one batch and in batches of one: the same is left.
func TestDanglingMend(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	eachMending(func(name string, way way, lost *dangling.Dangling[crate, string, tag, string], want string) {
		t.Run(name, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				ctx := testkit.MustSeed(t, db, seedCrates)
				before := valuesOf(t, db, way.path)
				check := lost.Checks()[0]
				check.Age = 0
				if p, err := check.Job().Run(ctx, db, model.JobOptions{DryRun: true}); err != nil || p.Writes == 0 ||
					valuesOf(t, db, way.path) != before {
					t.Errorf("a dry run wrote, %+v, %v", p, err)
				}
				cost, err := modeltest.Measure(m, func() error { return testkit.CheckJob(check)(ctx, db) })
				// the batch, what it holds, the writes; and two reads find no more
				if err != nil || cost.Commands != 3+2 {
					t.Errorf("mend: %v, %v", cost, err)
				}
				if got := valuesOf(t, db, way.path); got != want {
					t.Errorf("left %s\nwant %s", got, want)
				}
				testkit.WantNothingFound(t, db, lost.Checks())
			}, m)
		})
		t.Run(name+"/in batches of one", func(t *testing.T) { testDanglingJob(t, lost, way.path, want) })
	})
}

// testDanglingJob runs a job in batches of one, all of it and one document of it.
func testDanglingJob(t *testing.T, lost *dangling.Dangling[crate, string, tag, string], path, want string) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := testkit.MustSeed(t, db, seedCrates)
		before := valuesOf(t, db, path)
		job := inBatchesOfOne(lost)
		if _, err := job.Run(ctx, db, model.JobOptions{DryRun: true}); err != nil || valuesOf(t, db, path) != before {
			t.Errorf("a dry run wrote, %v", err)
		}
		if err := testkit.RunJob(ctx, db, job); valuesOf(t, db, path) != want || err != nil {
			t.Errorf("left %s\nwant %s, %v", valuesOf(t, db, path), want, err)
		}
	})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := testkit.MustSeed(t, db, seedCrates)
		check := lost.Checks()[0].In(bson.D{{Key: path, Value: "x"}}) // crates 2 and 3 hold it
		check.Age = 0
		if p, err := check.Job().Run(ctx, db, model.JobOptions{}); err != nil || p.Documents > 2 || p.Documents == 0 ||
			len(testkit.All(t, db, check)) != 0 {
			t.Errorf("of the documents that hold an id: %+v, %v", p, err)
		}
	})
}

func TestDanglingRefuses(t *testing.T) {
	testkit.Parallel(t)
	open := model.NewCollection[bson.D, any]("open")
	for _, c := range []struct {
		reason, want string
		declare      func()
	}{
		{
			"a path that isn't there", "no field",
			func() { dangling.New(crates, "tag", tags, dangling.Spec{}) },
		},
		{
			"another type", "path \"lines.n\" holds values of type int, not string",
			func() { dangling.New(crates, "lines.n", tags, dangling.Spec{}) },
		},
		{"two arrays on the way", "more than one array", func() {
			dangling.New(model.NewCollection[box, string]("boxes"), "rows.tags", tags, dangling.Spec{})
		}},
		{
			"a scope that isn't one", "the RepairPolicy isn't one of the package's constants",
			func() { dangling.New(crates, "main", tags, dangling.Spec{Repair: 9}) },
		},
		{"an id of another type", "ReplaceBy is of type int, not string", func() {
			dangling.New(crates, "main", tags, dangling.Spec{ReplaceBy: 1})
		}},
		{"an empty id", "is empty: give an id", func() {
			dangling.New(crates, "main", tags, dangling.Spec{ReplaceBy: ""})
		}},
		{"an id and a scope", "ReplaceBy and Repair are both given", func() {
			dangling.New(crates, "main", tags, dangling.Spec{Repair: dangling.DetachIDs, ReplaceBy: "a"})
		}},
		{
			"a list where the type tells", "List is given, but the type already tells which part is the list",
			func() { dangling.New(crates, "tags", tags, dangling.Spec{List: "tags"}) },
		},
		{
			"a list off the path", "List \"b\" isn't on the path",
			func() { dangling.New(open, "a.b", tags, dangling.Spec{List: "b"}) },
		},
	} {
		testkit.WantPanic(t, c.reason, c.want, c.declare)
	}

	check := dangling.New(crates, "tags", tags, dangling.Spec{Repair: dangling.DetachIDs}).Checks()[0]
	for reason, found := range map[string][]model.Finding{
		"an id that a filter takes for a pattern": testkit.FoundAs(
			t, check, danglingRow("1", bson.Regex{Pattern: ".*"}),
		),
		"no id":       testkit.FoundAs(t, check, bson.D{{Key: "doc", Value: "1"}}),
		"null":        testkit.FoundAs(t, check, danglingRow("1", nil)),
		"a list":      testkit.FoundAs(t, check, danglingRow("1", bson.A{"x"})),
		"no document": testkit.FoundAs(t, check, bson.D{{Key: "id", Value: "x"}}),
		"of another check": {{
			Check: "crates.tags", Detail: testkit.FoundAs(t, check, danglingRow("1", "x"))[0].Detail,
		}},
		"without a detail": {{Check: check.Name}},
	} {
		var refused *model.ValueError
		if err := check.Mend(found).Err(); !errors.As(err, &refused) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	var many []bson.D // of one document, more ids than one command takes
	for i := range 10_001 {
		many = append(many, danglingRow("1", int32(i)))
	}
	if p := check.Mend(testkit.FoundAs(t, check, many...)); len(p.Steps) != 2 || p.Guarantee() != model.Rerunnable {
		t.Errorf("%d steps, %v", len(p.Steps), p.Guarantee())
	}
	testkit.WantNames(t, []model.Check{check}, "crates.tags: ids without a document in tags")
}
