package model_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// TestAfterVisitsEachOnce pages over documents with many ties, by several sorts and page sizes.
func TestAfterVisitsEachOnce(t *testing.T) {
	hostile := []string{"$where", "a.b", "^.*", "a\x00b", "|", "é", "", "\U0001F600"}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(5, 6))
		var docs []part
		for i := range 60 {
			docs = append(docs, part{ID: int32(i * 7 % 60), Name: hostile[r.IntN(len(hostile))], Qty: r.Int32N(4)})
		}
		mustRun(t, db, parts.InsertMany(docs))
		for _, sort := range []bson.D{
			nil, d("_id", -1), d("qty", 1), d("qty", -1), d("name", 1, "qty", -1), d("qty", 1, "name", -1),
			d("name", 1, "_id", -1), d("_id", 1, "qty", 1),
		} {
			for _, size := range []int64{1, 7, 60} {
				var seen []part
				page := parts.Find(d("qty", d("$gte", 0))).Sorted(sort).Limited(size)
				for last := []any(nil); len(seen) <= len(docs); {
					got, err := page.After(last...).All(t.Context(), db)
					if err != nil {
						t.Fatal(err)
					}
					if len(got) == 0 {
						break
					}
					seen, last = append(seen, got...), lastValues(page.After(), got[len(got)-1])
				}
				want, err := parts.Find(nil).Sorted(sort).After().All(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(seen, want) {
					t.Errorf("by %s, %d at a time: %d documents, want %d in another order or number", model.Shell(sort),
						size, len(seen), len(want))
				}
			}
		}
	})
}

func lastValues(page *model.Find[part], last part) []any {
	var out []any
	for _, e := range page.Sort {
		out = append(out, map[string]any{"_id": last.ID, "name": last.Name, "qty": last.Qty}[e.Key])
	}
	return out
}
