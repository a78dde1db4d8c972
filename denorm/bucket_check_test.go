package denorm_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// numbered is a note with two of the numbers that are added up.
func numbered(id string, n int64, f float64) note { return note{ID: id, N: &n, F: f} }

// bucketDoc is a bucket as it is stored, with these fields in the place of its own; a nil one is left out.
func bucketDoc(seq int, list []note, fields ...bson.E) bson.D {
	d := bson.D{
		{Key: "_id", Value: fmt.Sprintf("p#%010d", seq)}, {Key: "key", Value: "p"}, {Key: "seq", Value: int64(seq)},
		{Key: "n", Value: len(list)}, {Key: "bytes", Value: sizeOf(list...)}, {Key: "items", Value: list},
	}
	for _, e := range fields {
		d = slices.DeleteFunc(d, func(x bson.E) bool { return x.Key == e.Key })
		if e.Value != nil {
			d = append(d, e)
		}
	}
	return d
}

func totalsOf(n, f any) bson.E {
	d := bson.D{}
	for _, e := range []bson.E{{Key: "n", Value: n}, {Key: "f", Value: f}} {
		if e.Value != nil {
			d = append(d, e)
		}
	}
	return bson.E{Key: "totals", Value: d}
}

func totalOf(sum, least, most any) bson.D {
	return bson.D{{Key: "sum", Value: sum}, {Key: "min", Value: least}, {Key: "max", Value: most}}
}

// Whatever doesn't add up is found, and nothing else; one repair mends it all, and a second one changes nothing.
func TestBucketRepair(t *testing.T) {
	parallel(t)
	ab := []note{numbered("a", 5, 0.5), numbered("b", -2, 0.25)}
	right := []bson.E{totalsOf(totalOf(int64(3), int64(-2), int64(5)), totalOf(0.75, 0.25, 0.5))}
	bare := []note{noted("a")}
	closed := bson.E{Key: "closed", Value: true}
	for _, c := range []struct {
		reason        string
		before, after bson.D // after nil: it is right
	}{
		{"right", bucketDoc(0, ab, right...), nil},
		{"right without numbers", bucketDoc(0, bare), nil},
		{"right, closed", bucketDoc(0, bare, closed), nil},
		{"too high a count", bucketDoc(0, ab, right[0], bson.E{Key: "n", Value: 3}), bucketDoc(0, ab, right[0], closed)},
		{"too low a count", bucketDoc(0, ab, right[0], bson.E{Key: "n", Value: 1}), bucketDoc(0, ab, right...)},
		{"too low a count, closed", bucketDoc(0, ab, right[0], closed, bson.E{Key: "n", Value: 1}), bucketDoc(0, ab, right[0], closed)},
		{"no count", bucketDoc(0, ab, right[0], bson.E{Key: "n"}), bucketDoc(0, ab, right...)},
		{"a count as text, which is more than any number", bucketDoc(0, ab, right[0], bson.E{Key: "n", Value: "2"}), bucketDoc(0, ab, right[0], closed)},
		{"other bytes", bucketDoc(0, ab, right[0], bson.E{Key: "bytes", Value: int64(7)}), bucketDoc(0, ab, right...)},
		{"no bytes", bucketDoc(0, ab, right[0], bson.E{Key: "bytes"}), bucketDoc(0, ab, right...)},
		{"no totals", bucketDoc(0, ab), bucketDoc(0, ab, right...)},
		{"another sum", bucketDoc(0, ab, totalsOf(totalOf(int64(4), int64(-2), int64(5)), totalOf(0.75, 0.25, 0.5))), bucketDoc(0, ab, right...)},
		{"another least", bucketDoc(0, ab, totalsOf(totalOf(int64(3), int64(-3), int64(5)), totalOf(0.75, 0.25, 0.5))), bucketDoc(0, ab, right...)},
		{"another greatest", bucketDoc(0, ab, totalsOf(totalOf(int64(3), int64(-2), int64(5)), totalOf(0.75, 0.25, 0.625))), bucketDoc(0, ab, right...)},
		{"a total of nothing", bucketDoc(0, bare, totalsOf(totalOf(int64(3), int64(-2), int64(5)), nil)), bucketDoc(0, bare, totalsOf(nil, nil))},
		{"no items at all", bucketDoc(0, bare, bson.E{Key: "items"}), bucketDoc(0, nil, bson.E{Key: "items"}, totalsOf(nil, nil))},
		{"items that are no list", bucketDoc(0, bare, bson.E{Key: "items", Value: "x"}), bucketDoc(0, nil, bson.E{Key: "items", Value: "x"}, totalsOf(nil, nil))},
	} {
		t.Run(c.reason, func(t *testing.T) {
			modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
				seed(t, db, docs{"notes": {c.before, bucketDoc(7, bare)}})
				diffs, err := added.Check().All(t.Context(), db)
				if err != nil || (len(diffs) > 0) != (c.after != nil) || len(diffs) > 0 && diffs[0].ID != "p#0000000000" {
					t.Fatalf("found %v, %v", diffs, err)
				}
				after := c.after
				if after == nil {
					after = c.before
				}
				for range 2 {
					if _, err := added.Repair().Run(t.Context(), db); err != nil {
						t.Fatal(err)
					}
					wantCounted(t, db, added)
					wantDocs(t, db, docs{"notes": {after, bucketDoc(7, bare)}})
				}
			})
		})
	}
}

// A difference says what is stored and what the items give.
func TestBucketCheck(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ab := []note{numbered("a", 5, 0.5), numbered("b", -2, 0.25)}
		seed(t, db, docs{"notes": {bucketDoc(0, ab, bson.E{Key: "n", Value: 9}), bucketDoc(1, ab, bson.E{Key: "bytes", Value: "x"})}})
		got, err := added.Check().All(t.Context(), db)
		if err != nil || len(got) != 2 {
			t.Fatal(got, err)
		}
		want := denorm.BucketCount{N: 2, Bytes: sizeOf(ab...), Totals: map[string]denorm.Total{"n": {Sum: 3, Min: -2, Max: 5}, "f": {Sum: 0.75, Min: 0.25, Max: 0.5}}}
		for i, d := range got {
			if diff := modeltest.Diff(want, d.Counted, modeltest.IgnoreOrder()); diff != "" {
				t.Errorf("%d: %s", i, diff)
			}
		}
		if n, ok := got[0].Stored.Lookup("n").AsInt64OK(); !ok || n != 9 {
			t.Errorf("stored %v", got[0].Stored)
		}
		if s := got[1].Stored.Lookup("bytes").StringValue(); s != "x" {
			t.Errorf("stored %v", got[1].Stored)
		}
		over, err := plain.Oversized().All(t.Context(), db)
		if err != nil || len(over) != 0 {
			t.Errorf("oversized: %v, %v", over, err)
		}
		four := append(slices.Clone(ab), noted("c"), noted("d"))
		seed(t, db, docs{"notes": {bucketDoc(0, ab), bucketDoc(1, four), bucketDoc(2, ab, bson.E{Key: "bytes", Value: int64(121)})}})
		for _, c := range []struct {
			b    *noteBucket
			want string
		}{{plain, "[p#0000000001]"}, {budgeted, "[p#0000000001 p#0000000002]"}} {
			var ids []string
			for p, err := range c.b.Oversized().Sorted(bson.D{{Key: "_id", Value: 1}}).Each(t.Context(), db) {
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, p.ID)
			}
			if fmt.Sprint(ids) != c.want {
				t.Errorf("oversized: %v, want %s", ids, c.want)
			}
		}
	})
}

// A repair that is cut, or that meets an append, leaves what adds up.
func TestBucketRepairFaults(t *testing.T) {
	parallel(t)
	ab := []note{numbered("a", 5, 0.5), numbered("b", -2, 0.25)}
	wrong := docs{"notes": {bucketDoc(0, ab, bson.E{Key: "n", Value: 0}), bucketDoc(1, ab), bucketDoc(2, ab, bson.E{Key: "bytes", Value: 1})}}
	seedWrong := func(ctx context.Context, db *mongo.Database) error { return store(ctx, db, wrong) }
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: seedWrong,
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, err := added.Repair().Run(ctx, db)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			wantPages(t, db, added, "p", []string{"a", "b"}, []string{"a", "b"}, []string{"a", "b"})
		},
	})
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Match: interleaved,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return store(ctx, db, docs{"notes": {bucketDoc(0, ab, bson.E{Key: "n", Value: 0})}})
		},
		A: appending(added, "p", numbered("c", 1, 1)),
		B: func(ctx context.Context, db *mongo.Database) error {
			_, err := added.Repair().Run(ctx, db)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			if errA != nil || errB != nil {
				t.Error(errA, errB)
			}
			wantPages(t, db, added, "p", []string{"a", "b", "c"})
		},
	})
}

var _ model.Technique = plain
