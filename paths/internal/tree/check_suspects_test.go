package tree_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Whatever one document is damaged by, the server's queries find something exactly when a look at all documents does.
func TestSuspects(t *testing.T) {
	testkit.Parallel(t)
	runs := 8
	switch {
	case pathstest.Full:
		runs = 200
	case testkit.Few():
		runs = 3
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.Kinds {
			k.Ensure(t, db)
			clean := 0
			for seed := range runs {
				r := rand.New(rand.NewPCG(uint64(seed), 8))
				begin := &paths.Forest[string]{}
				for i := range 12 {
					at := paths.LastRoot[string]()
					if i > 1 {
						at = paths.LastChild(fmt.Sprint("n", r.IntN(i)))
					}
					_ = begin.Insert(fmt.Sprint("n", i), at)
				}
				k.Store(t, db, begin)
				for range 6 { // each on top of those before
					id := fmt.Sprint("n", r.IntN(12))
					set := drawDamage(k, r, id)
					if r.IntN(2) == 0 {
						set = drawOddity(k, r, id)
					}
					if set == nil {
						continue
					}
					if _, err := db.Collection(k.Name).UpdateOne(
						t.Context(), bson.D{{Key: "_id", Value: id}}, bson.D{{Key: "$set", Value: set}},
					); err != nil {
						if mongo.IsDuplicateKeyError(err) {
							continue
						}
						t.Fatal(err)
					}
					found := 0
					for _, q := range k.Suspects {
						n, err := q.All(t.Context(), db)
						if err != nil {
							t.Fatal(err)
						}
						found += len(n)
					}
					report := judgeTree(k, t, db)
					if (found > 0) != (len(report) > 0) {
						t.Fatalf(
							"%s, seed %d: %v of %s: %d suspects, problems %v", k.Name, seed, set, id, found, report,
						)
					}
					if found > 0 {
						if _, err := pathstest.MendTree(k.Tree).Run(t.Context(), db); err != nil {
							t.Fatalf("%s, seed %d: %v", k.Name, seed, err)
						}
					} else {
						clean++
					}
				}
			}
			if clean == runs*6 {
				t.Errorf("%s: nothing was damaged", k.Name)
			}
		}
	})
}

// judgeTree are the findings of a check that looks at all documents. The check does so when a query finds anything, so
// that an orphan is
// stored for it.
func judgeTree(k pathstest.Kind, t testing.TB, db *mongo.Database) []model.Finding {
	t.Helper()
	const added = "zz"
	orphan := bson.D{ // which has what no other node has, where an index is unique
		{Key: "_id", Value: added}, {Key: "parent", Value: "nobody"}, {Key: "path", Value: added + "/"},
		{Key: "left", Value: int64(1e9)}, {Key: "right", Value: int64(1e9 + 1)},
	}
	if _, err := db.Collection(k.Name).InsertOne(t.Context(), orphan); err != nil {
		t.Fatal(err)
	}
	report, err := pathstest.Inspect(t.Context(), db, k.Tree)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Collection(k.Name).DeleteOne(t.Context(), bson.D{{Key: "_id", Value: added}}); err != nil {
		t.Fatal(err)
	}
	all := len(report)
	report = slices.DeleteFunc(
		report, func(f model.Finding) bool { return f.ID.Type == bson.TypeString && f.ID.StringValue() == added },
	)
	if len(report) == all {
		t.Fatalf("%s: the orphan isn't found", k.Name)
	}
	return report
}

// drawOddity is a value of a type that a field of the tree doesn't have.
func drawOddity(k pathstest.Kind, r *rand.Rand, id string) bson.D {
	fields := append([]string{"parent", "order"}, k.Fields...)
	values := []any{
		nil, "", "n1", "n1/", "a0\n", int32(3), int64(-5), 2.5, true, bson.A{}, bson.A{"n1", id}, bson.A{id}, bson.D{},
		bson.Regex{Pattern: "n"},
	}
	return bson.D{{Key: fields[r.IntN(len(fields))], Value: values[r.IntN(len(values))]}}
}

// A sound tree is checked without a document being sent, and repaired without a write.
func TestCheckCost(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.Kinds {
			k.Ensure(t, db)
			k.Store(t, db, pathstest.Parse("a(b(c d(e)) f) g(h)"))
			modeltest.WantCost(t, monitor, model.Cost{Commands: len(k.Suspects) + 2, Returned: 1}, func() error {
				report, err := pathstest.Inspect(t.Context(), db, k.Tree)
				if len(report) > 0 {
					t.Errorf("%s: %+v", k.Name, report)
				}
				return err
			})
		}
	}, monitor)
}

// What the server takes for an order key is one.
func TestKeyPattern(t *testing.T) {
	testkit.Alone(t)
	pattern := regexp.MustCompile(patternIn(pathstest.Kinds[0].Suspects[0].Pipeline))
	r := rand.New(rand.NewPCG(1, 1))
	const letters = "aabZYc019zA0! é\n"
	good := 0
	for range 50_000 {
		key := make([]rune, r.IntN(6))
		for i := range key {
			key[i] = []rune(letters)[r.IntN(len([]rune(letters)))]
		}
		if _, err := paths.Between(string(key), ""); (err == nil && len(key) > 0) != pattern.MatchString(string(key)) {
			t.Fatalf("%q: %v", string(key), err)
		} else if err == nil && len(key) > 0 {
			good++
		}
	}
	if good < 100 {
		t.Errorf("%d keys", good)
	}
}

// patternIn is the regular expression in a pipeline.
func patternIn(v any) string {
	found := ""
	switch v := v.(type) {
	case bson.Regex:
		return v.Pattern
	case mongo.Pipeline:
		for _, stage := range v {
			found += patternIn(stage)
		}
	case bson.A:
		for _, e := range v {
			found += patternIn(e)
		}
	case bson.D:
		for _, e := range v {
			found += patternIn(e.Value)
		}
	}
	return found
}
