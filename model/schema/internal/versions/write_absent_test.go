package versions_test

import (
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
)

// Fields that aren't stored, and that the type encodes though they are empty: they are written when they change, and
// only then.
type (
	sparse struct {
		ID    string `bson:"_id"`
		N     int    `bson:"n"`
		Flag  bool   `bson:"flag"`
		Inner struct {
			A string `bson:"a"`
			B int    `bson:"b"`
		} `bson:"inner"`
		Limit int    `bson:"limit"` // 0 says that there is none
		Title string `bson:"title"`
	}
	sparseNext struct {
		ID    string `bson:"_id"`
		N     int    `bson:"n"`
		Flag  bool   `bson:"flag"`
		Inner struct {
			A string `bson:"a"`
			B int    `bson:"b"`
		} `bson:"inner"`
		Limit *int   `bson:"limit"` // nil says that there is none
		Title string `bson:"title"`
		Fresh int    `bson:"fresh"`
	}
)

var (
	sparsePeople = model.NewCollection[sparseNext, string]("people")
	sparseSteps  = schema.NewVersions(sparsePeople, schema.VersionsSpec{Field: "v"},
		schema.Upcast(func(s sparse) (sparseNext, error) {
			limit := s.Limit
			return sparseNext{s.ID, s.N, s.Flag, s.Inner, &limit, s.Title, 0}, nil
		}))
	sparseStore = model.NewStore(model.New("people", sparseSteps), sparsePeople)
)

func TestSaveAbsent(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	same := func(*sparseNext) {}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			reason, before string
			edit           func(*sparseNext)
			after          string
			steps          int
		}{
			{"nothing changes", `{"_id":"a","v":2}`, same, `{"_id":"a","v":2}`, 0},
			{"nothing changes within", `{"_id":"a","v":2,"inner":{"a":"x"}}`, same,
				`{"_id":"a","v":2,"inner":{"a":"x"}}`, 0},
			{
				reason: "what changes is written alone", before: `{"_id":"a","v":2}`,
				edit:  func(s *sparseNext) { s.N = 3 },
				after: `{"_id":"a","v":2,"n":3}`, steps: 1,
			},
			{
				reason: "and within", before: `{"_id":"a","v":2,"inner":{"a":"x"}}`,
				edit:  func(s *sparseNext) { s.Inner.B = 3 },
				after: `{"_id":"a","v":2,"inner":{"a":"x","b":3}}`, steps: 1,
			},
			{
				reason: "what becomes empty is written", before: `{"_id":"a","v":2,"n":3}`,
				edit:  func(s *sparseNext) { s.N = 0 },
				after: `{"_id":"a","v":2,"n":0}`, steps: 1,
			},
			{
				reason: "a migration writes what its steps change, and what they make",
				before: `{"_id":"a"}`, edit: nil, after: `{"_id":"a","fresh":0,"limit":0,"v":2}`, steps: 1,
			},
			{
				reason: "within too", before: `{"_id":"a","inner":{"b":1},"limit":4}`, edit: nil,
				after: `{"_id":"a","inner":{"b":1},"limit":4,"fresh":0,"v":2}`,
				steps: 1,
			},
		} {
			store(t, db, c.before)
			change := sparseStore.Edit("a", func(s *sparseNext) error {
				if c.edit != nil {
					c.edit(s)
				}
				return nil
			})
			for run := range 2 {
				was, err := sparsePeople.ByID("a").One(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				if c.edit != nil {
					c.edit(&was)
				}
				_, result, err := change.Run(t.Context(), db)
				if steps := c.steps * (1 - run); err != nil || len(result.Steps) != steps {
					t.Errorf("%s, run %d: %d steps, %v", c.reason, run, len(result.Steps), err)
				}
				got, err := sparsePeople.ByID("a").One(t.Context(), db)
				if err != nil || text(got) != text(was) {
					t.Errorf("%s: is read as %s, want %s, %v", c.reason, text(got), text(was), err)
				}
				if !sameFields(t, storedDocs(t, db)[0], c.after) {
					t.Errorf("%s: leaves %s, want %s", c.reason, storedDocs(t, db)[0], c.after)
				}
			}
		}
	})
}

// sameFields compares documents but for the order of their fields, which servers choose for new ones.
func sameFields(t *testing.T, a, b string) bool {
	t.Helper()
	sorted := func(s string) (out []string) {
		for _, e := range asD(t, raw(t, s)) {
			out = append(out, fmt.Sprint(e.Key, text(map[string]any{"v": e.Value})))
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(sorted(a), sorted(b))
}

var _ model.Technique = versions
