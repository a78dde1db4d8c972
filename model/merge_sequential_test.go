package model_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// randomUpdate is one operator on one path of the document that TestMergeIsSequential stores.
func randomUpdate(r *rand.Rand) model.Write {
	numbers := []string{"a", "b", "o.x", "o.y", "o.deep.z", "ab", "items.0.v", "items.1.v"}
	arrays := []string{"l", "o.l"}
	number, n := numbers[r.IntN(len(numbers))], r.IntN(9)
	list := arrays[r.IntN(len(arrays))]
	switch r.IntN(11) {
	case 0:
		return up("$inc", d(number, n))
	case 1:
		return up("$mul", d(number, n))
	case 2:
		return up("$min", d(number, n))
	case 3:
		return up("$max", d(number, n))
	case 4:
		return up("$unset", d(number, ""))
	case 5:
		return up("$push", d(list, n))
	case 6:
		return up("$addToSet", d(list, n))
	case 7:
		return up("$pull", d(list, d("$gt", n)))
	case 8:
		return up("$rename", d(number, []string{"new", "b", "o.moved"}[r.IntN(3)]))
	case 9:
		id := r.IntN(3)
		return filters(up("$set", d("items.$[e].w", n)), d("e.id", id))
	}
	return up("$set", d([]string{"o", "l", number}[r.IntN(3)], n))
}

// TestMergeIsSequential: what Merge takes does what its writes do one after the other.
func TestMergeIsSequential(t *testing.T) {
	doc := d("_id", 1, "a", 1, "b", 2, "ab", 3, "o",
		d("x", 1, "y", 2, "deep", d("z", 3), "l", bson.A{1, 9}), "l", bson.A{1, 5, 9},
		"items", bson.A{d("id", 1, "v", 1), d("id", 2, "v", 2)})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(1, 2))
		after := func(writes ...model.Write) (bson.M, error) {
			coll := db.Collection("parts")
			if _, err := coll.ReplaceOne(t.Context(), d("_id", 1), doc, options.Replace().SetUpsert(true)); err != nil {
				t.Fatal(err)
			}
			for _, w := range writes {
				if _, err := w.Run(t.Context(), db); err != nil {
					return nil, err
				}
			}
			var got bson.M
			return got, coll.FindOne(t.Context(), d("_id", 1)).Decode(&got)
		}
		merged := 0
		for range 400 {
			writes := []model.Write{randomUpdate(r), randomUpdate(r)}
			if r.IntN(2) == 0 {
				writes = append(writes, randomUpdate(r))
			}
			one := model.Merge(writes...)
			if one.Err != nil {
				continue
			}
			want, err := after(writes...)
			if err != nil {
				continue // the server refuses one by itself, such as a $rename of an element
			}
			got, err := after(one)
			if err != nil {
				t.Errorf("%v\n\tone by one are taken, and %s gives %v", writes, one, err)
				continue
			}
			merged++
			// Where a $rename has moved its field is not the order of the others: compare as maps.
			if diff := cmp.Diff(flatten(want), flatten(got)); diff != "" {
				t.Errorf("%v (-one by one +%s):\n%s", writes, one, diff)
			}
		}
		if merged < 100 {
			t.Errorf("only %d merged", merged)
		}
	})
}

// flatten makes documents comparable whatever the order of their fields.
func flatten(v any) any {
	switch v := v.(type) {
	case bson.M:
		out := map[string]any{}
		for k, x := range v {
			out[k] = flatten(x)
		}
		return out
	case bson.D:
		out := map[string]any{}
		for _, e := range v {
			out[e.Key] = flatten(e.Value)
		}
		return out
	case bson.A:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = flatten(x)
		}
		return out
	}
	return v
}
