package bucket_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// makeNumbered is a note with two of the numbers that are added up.
func makeNumbered(id string, n int64, f float64) note { return note{ID: id, N: &n, F: f} }

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

// The check finds each bucket that doesn't add up, and no other. Its job mends them all, and a second run changes
// nothing.
func TestBucketRepair(t *testing.T) {
	testkit.Parallel(t)
	ab := []note{makeNumbered("a", 5, 0.5), makeNumbered("b", -2, 0.25)}
	right := []bson.E{totalsOf(totalOf(int64(3), int64(-2), int64(5)), totalOf(0.75, 0.25, 0.5))}
	bare := []note{makeNote("a")}
	closed := bson.E{Key: "closed", Value: true}
	for _, c := range []struct {
		reason        string
		before, after bson.D // after nil: it is right
	}{
		{"right", bucketDoc(0, ab, right...), nil},
		{"right without numbers", bucketDoc(0, bare), nil},
		{"right, closed", bucketDoc(0, bare, closed), nil},
		{
			reason: "too high a count",
			before: bucketDoc(0, ab, right[0], bson.E{Key: "n", Value: 3}),
			after:  bucketDoc(0, ab, right[0], closed),
		},
		{"too low a count", bucketDoc(0, ab, right[0], bson.E{Key: "n", Value: 1}), bucketDoc(0, ab, right...)},
		{
			reason: "too low a count, closed",
			before: bucketDoc(0, ab, right[0], closed, bson.E{Key: "n", Value: 1}),
			after:  bucketDoc(0, ab, right[0], closed),
		},
		{"no count", bucketDoc(0, ab, right[0], bson.E{Key: "n"}), bucketDoc(0, ab, right...)},
		{
			reason: "a count as text, which is more than any number",
			before: bucketDoc(0, ab, right[0], bson.E{Key: "n", Value: "2"}),
			after:  bucketDoc(0, ab, right[0], closed),
		},
		{"other bytes", bucketDoc(0, ab, right[0], bson.E{Key: "bytes", Value: int64(7)}), bucketDoc(0, ab, right...)},
		{"no bytes", bucketDoc(0, ab, right[0], bson.E{Key: "bytes"}), bucketDoc(0, ab, right...)},
		{"no totals", bucketDoc(0, ab), bucketDoc(0, ab, right...)},
		{
			reason: "another sum",
			before: bucketDoc(0, ab, totalsOf(totalOf(int64(4), int64(-2), int64(5)), totalOf(0.75, 0.25, 0.5))),
			after:  bucketDoc(0, ab, right...),
		},
		{
			reason: "another least",
			before: bucketDoc(0, ab, totalsOf(totalOf(int64(3), int64(-3), int64(5)), totalOf(0.75, 0.25, 0.5))),
			after:  bucketDoc(0, ab, right...),
		},
		{
			reason: "another greatest",
			before: bucketDoc(0, ab, totalsOf(totalOf(int64(3), int64(-2), int64(5)), totalOf(0.75, 0.25, 0.625))),
			after:  bucketDoc(0, ab, right...),
		},
		{
			reason: "a total of nothing",
			before: bucketDoc(0, bare, totalsOf(totalOf(int64(3), int64(-2), int64(5)), nil)),
			after:  bucketDoc(0, bare, totalsOf(nil, nil)),
		},
		{
			reason: "no items at all", before: bucketDoc(0, bare, bson.E{Key: "items"}),
			after: bucketDoc(0, nil, bson.E{Key: "items"}, totalsOf(nil, nil)),
		},
		{
			reason: "items that are no list",
			before: bucketDoc(0, bare, bson.E{Key: "items", Value: "x"}),
			after:  bucketDoc(0, nil, bson.E{Key: "items", Value: "x"}, totalsOf(nil, nil)),
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				testkit.Seed(t, db, testkit.Docs{"notes": {c.before, bucketDoc(7, bare)}})
				found, _ := testkit.FindingsOf(t, db, added.Checks()[0])
				if (len(found) > 0) != (c.after != nil) ||
					len(found) > 0 && found[0].ID.StringValue() != "p#0000000000" {
					t.Fatalf("found %v", found)
				}
				after := c.after
				if after == nil {
					after = c.before
				}
				for range 2 {
					if err := testkit.CheckJob(added.Checks()[0])(t.Context(), db); err != nil {
						t.Fatal(err)
					}
					wantCounted(t, db, added)
					testkit.WantDocs(t, db, testkit.Docs{"notes": {after, bucketDoc(7, bare)}})
				}
			})
		})
	}
}

// A finding says what is stored and what the items make.
func TestBucketChecks(t *testing.T) {
	testkit.Parallel(t)
	testkit.WantDistinctChecks(t, budgeted.Checks(), 2)
	testkit.WantRefusedFindings(t, budgeted.Checks()...)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ab := []note{makeNumbered("a", 5, 0.5), makeNumbered("b", -2, 0.25)}
		testkit.Seed(t, db, testkit.Docs{
			"notes": {bucketDoc(0, ab, bson.E{Key: "n", Value: 9}), bucketDoc(1, ab, bson.E{Key: "bytes", Value: "x"})},
		})
		got, said := testkit.FindingsOf(t, db, added.Checks()[0])
		if len(got) != 2 || !strings.HasPrefix(said[0], "notes 'p#0000000000': stores {n: 9, bytes: ") ||
			!strings.Contains(said[0], ", but its items make {n: 2, bytes: ") {
			t.Fatal(said)
		}
		type counts struct {
			N      int                     `bson:"n"`
			Bytes  int64                   `bson:"bytes"`
			Totals map[string]bucket.Total `bson:"totals"`
		}
		type detail struct {
			Stored  bson.Raw `bson:"stored"`
			Counted counts   `bson:"counted"`
		}
		var details [2]detail
		want := counts{
			N: 2, Bytes: sizeOf(ab...),
			Totals: map[string]bucket.Total{"n": {Sum: 3, Min: -2, Max: 5}, "f": {Sum: 0.75, Min: 0.25, Max: 0.5}},
		}
		for i, f := range got {
			details[i] = testkit.Detail[detail](t, f)
			if diff := mongotest.Diff(want, details[i].Counted, mongotest.IgnoreOrder); diff != "" {
				t.Errorf("%d: %s", i, diff)
			}
		}
		if n, ok := details[0].Stored.Lookup("n").AsInt64OK(); !ok || n != 9 {
			t.Errorf("stored %v", details[0].Stored)
		}
		if s := details[1].Stored.Lookup("bytes").StringValue(); s != "x" {
			t.Errorf("stored %v", details[1].Stored)
		}
		if over, said := testkit.FindingsOf(t, db, plain.Checks()[1]); len(over) != 0 {
			t.Errorf("oversized: %v", said)
		}
		four := append(slices.Clone(ab), makeNote("c"), makeNote("d"))
		testkit.Seed(t, db, testkit.Docs{
			"notes": {
				bucketDoc(0, ab), bucketDoc(1, four),
				bucketDoc(2, ab, bson.E{Key: "bytes", Value: int64(121)}),
				bucketDoc(3, four, bson.E{Key: "bytes"}),
			},
		})
		of1 := fmt.Sprintf("notes 'p#0000000001': holds 4 items and %s bytes", model.Shell(sizeOf(four...)))
		for _, c := range []struct {
			b    *noteBucket
			want []string
		}{
			{plain, []string{of1, "notes 'p#0000000003': holds 4 items"}},
			{budgeted, []string{of1, "notes 'p#0000000002': holds 2 items and Long('121') bytes"}},
		} {
			check := c.b.Checks()[1]
			if _, said := testkit.FindingsOf(t, db, check); !slices.Equal(said, c.want) {
				t.Errorf("oversized: %q, want %q", said, c.want)
			}
			if check.Job().Err == nil {
				t.Error("a job mends oversized buckets")
			}
		}
	})
}

// A mending that is cut, or that meets an append, leaves what adds up.
func TestBucketRepairFaults(t *testing.T) {
	testkit.Parallel(t)
	ab := []note{makeNumbered("a", 5, 0.5), makeNumbered("b", -2, 0.25)}
	wrong := testkit.Docs{
		"notes": {
			bucketDoc(0, ab, bson.E{Key: "n", Value: 0}), bucketDoc(1, ab),
			bucketDoc(2, ab, bson.E{Key: "bytes", Value: 1}),
		},
	}
	seedWrong := func(ctx context.Context, db *mongo.Database) error { return testkit.Store(ctx, db, wrong) }
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: seedWrong,
		Run:  testkit.CheckJob(added.Checks()[0]),
		Check: func(t testing.TB, db *mongo.Database) {
			wantPages(t, db, added, "p", []string{"a", "b"}, []string{"a", "b"}, []string{"a", "b"})
		},
	})
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Match: testkit.Interleaved,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return testkit.Store(ctx, db, testkit.Docs{"notes": {bucketDoc(0, ab, bson.E{Key: "n", Value: 0})}})
		},
		A: appending(added, "p", makeNumbered("c", 1, 1)),
		B: testkit.CheckJob(added.Checks()[0]),
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			if errA != nil || errB != nil {
				t.Error(errA, errB)
			}
			wantPages(t, db, added, "p", []string{"a", "b", "c"})
		},
	})
}

var _ model.Technique = plain
