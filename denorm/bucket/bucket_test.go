package bucket_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What the tests are about: notes, kept by three.
type (
	note struct {
		ID   string     `bson:"id,omitempty"`
		At   *time.Time `bson:"at,omitempty"`
		N    *int64     `bson:"n,omitempty"`
		F    float64    `bson:"f,omitempty"`
		Tags []string   `bson:"tags,omitempty"`
		Any  any        `bson:"any,omitempty"`
		Sub  struct {
			X int32 `bson:"x,omitempty"`
		} `bson:"sub"`
	}
	noteDoc    = bucket.Doc[string, note]
	noteBucket = bucket.Bucket[string, note]
)

var (
	notes    = model.NewCollection[noteDoc, string]("notes")
	plain    = bucket.New(notes, bucket.Spec{Max: 3})
	byKey    = bucket.New(notes, bucket.Spec{Max: 3, ElementKey: "id"})
	added    = bucket.New(notes, bucket.Spec{Max: 3, ElementKey: "id", Totals: []string{"n", "f", "sub.x"}})
	budgeted = bucket.New(notes, bucket.Spec{Max: 10, ElementKey: "id", MaxBytes: 120})
	roomy    = bucket.New(notes, bucket.Spec{Max: 10, MaxBytes: 120})
	daily    = bucket.New(notes, bucket.Spec{Max: 2, ElementKey: "id", Period: denorm.Daily, At: "at"})
)

func makeNote(id string) note { return note{ID: id} }

// ofSize is a note whose document has as many bytes.
func ofSize(id string, bytes int) note {
	n := note{ID: id, Tags: []string{""}}
	raw, err := bson.Marshal(n)
	if err != nil || len(raw) > bytes {
		panic(fmt.Sprint("a note has at least ", len(raw), " bytes: ", err))
	}
	n.Tags[0] = string(slices.Repeat([]byte("x"), bytes-len(raw)))
	return n
}

func appendAll(t testing.TB, db *mongo.Database, b *noteBucket, key string, list ...note) {
	t.Helper()
	for _, n := range list {
		if _, err := b.Append(key, n).Run(t.Context(), db); err != nil {
			t.Fatalf("append %s: %v", n.ID, err)
		}
	}
}

// wantPages says which ids the pages of a key hold, oldest first, and that nothing is miscounted.
func wantPages(t testing.TB, db *mongo.Database, b *noteBucket, key string, want ...[]string) {
	t.Helper()
	pages, err := b.Oldest(key).All(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for _, p := range pages {
		got = append(got, idsOfNotes(p.Items))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("pages %v, want %v", got, want)
	}
	wantCounted(t, db, b)
}

func wantCounted(t testing.TB, db *mongo.Database, b *noteBucket) {
	t.Helper()
	diffs, err := b.Checks()[0].All(context.Background(), db)
	if err != nil || len(diffs) > 0 {
		t.Errorf("miscounted: %v, %v", diffs, err)
	}
}

func idsOfNotes(list []note) (ids []string) {
	for _, n := range list {
		ids = append(ids, n.ID)
	}
	return ids
}

func empty(t testing.TB, db *mongo.Database) { testkit.Seed(t, db, testkit.Docs{"notes": {}}) }

// sizeOf is the number of bytes that a note has in a bucket.
func sizeOf(list ...note) (bytes int64) {
	for _, n := range list {
		raw, err := bson.Marshal(n)
		if err != nil {
			panic(err)
		}
		bytes += int64(len(raw))
	}
	return bytes
}

func TestBucketAppend(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		t.Run("three to a bucket, each key by itself", func(t *testing.T) {
			empty(t, db)
			for i := range 7 {
				appendAll(t, db, plain, "p", makeNote(fmt.Sprint(i)))
			}
			appendAll(t, db, plain, "q", makeNote("z"))
			wantPages(t, db, plain, "p", []string{"0", "1", "2"}, []string{"3", "4", "5"}, []string{"6"})
			wantPages(t, db, plain, "q", []string{"z"})
		})
		t.Run("what is stored", func(t *testing.T) {
			empty(t, db)
			five, minus, tenth, fifth := int64(5), int64(-2), 0.1, 0.2
			a, b := note{ID: "a", N: &five, F: tenth}, note{ID: "b", N: &minus, F: fifth}
			a.Sub.X = 7
			appendAll(t, db, added, "p", a, b)
			total := func(sum, least, most any) bson.D {
				return bson.D{{Key: "sum", Value: sum}, {Key: "min", Value: least}, {Key: "max", Value: most}}
			}
			testkit.WantDocs(t, db, testkit.Docs{"notes": {bson.D{
				{Key: "_id", Value: "p#0000000000"}, {Key: "key", Value: "p"}, {Key: "seq", Value: int64(0)},
				{Key: "n", Value: 2}, {Key: "bytes", Value: sizeOf(a, b)}, {Key: "items", Value: []note{a, b}},
				{Key: "totals", Value: bson.D{
					{Key: "n", Value: total(int64(3), int64(-2), int64(5))},
					{Key: "f", Value: total(tenth+fifth, tenth, fifth)},
					{Key: "sub/x", Value: total(int64(7), int64(7), int64(7))},
				}},
			}}})
			wantCounted(t, db, added)
		})
		t.Run("a second time", func(t *testing.T) {
			empty(t, db)
			for i, id := range []string{"a", "b", "c", "d", "a", "c", "d"} {
				result, err := byKey.Append("p", makeNote(id)).Run(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				if held := i >= 4; held != (len(result.Steps) == 0) {
					t.Errorf("%s: held %v, %v", id, held, result.Steps)
				}
			}
			wantPages(t, db, byKey, "p", []string{"a", "b", "c"}, []string{"d"})
			appendAll(t, db, byKey, "q", makeNote("a")) // of another key
			wantPages(t, db, byKey, "q", []string{"a"})
		})
	})
}

// Bytes and days decide which bucket takes an element, too.
func TestBucketAppendBounds(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		t.Run("by bytes", func(t *testing.T) {
			for _, b := range []*noteBucket{budgeted, roomy} {
				empty(t, db)
				appendAll(t, db, b, "p", ofSize("a", 60), ofSize("b", 60), ofSize("c", 61), ofSize("d", 60),
					ofSize("e", 59), ofSize("f", 120))
				wantPages(t, db, b, "p", []string{"a", "b"}, []string{"c"}, []string{"d", "e"}, []string{"f"})
			}
		})
		t.Run("a small one doesn't go back before a large one", func(t *testing.T) {
			empty(t, db)
			appendAll(t, db, budgeted, "p", ofSize("a", 100), ofSize("b", 60))
			_, err := budgeted.AppendTo("p", 0, makeNote("c")).Run(t.Context(), db)
			testkit.WantError(t, err, model.ErrFull)
			testkit.WantError(t, err, model.ErrStale) // so that a Change tries again
			appendAll(t, db, budgeted, "p", makeNote("c"))
			wantPages(t, db, budgeted, "p", []string{"a"}, []string{"b", "c"})
		})
		t.Run("by day", func(t *testing.T) {
			empty(t, db)
			day := time.Date(2014, 3, 28, 12, 0, 0, 0, time.UTC)
			for i, days := range []int{0, 1, 0, 0, 2, 1} { // the fourth comes late, and the last
				at := day.AddDate(0, 0, days)
				appendAll(t, db, daily, "p", note{ID: fmt.Sprint(i), At: &at})
			}
			wantPages(t, db, daily, "p", []string{"0", "2"}, []string{"3"}, []string{"1", "5"}, []string{"4"})
		})
	})
}

// The pure form says why a bucket doesn't take an element, and recognizes one that it holds.
func TestBucketAppendTo(t *testing.T) {
	testkit.Parallel(t)
	bucketOf := func(n int, more ...bson.E) bson.D {
		list := []note{makeNote("a"), makeNote("b"), makeNote("c")}[:n]
		d := bson.D{
			{Key: "_id", Value: "p#0000000000"}, {Key: "key", Value: "p"}, {Key: "seq", Value: int64(0)},
			{Key: "n", Value: n}, {Key: "bytes", Value: sizeOf(list...)}, {Key: "items", Value: list},
		}
		return append(d, more...)
	}
	before := func(n int, more ...bson.E) testkit.Docs { return testkit.Docs{"notes": {bucketOf(n, more...)}} }
	closed := bson.E{Key: "closed", Value: true}
	testkit.RunWriteCases(t, []testkit.WriteCase{
		{
			Reason: "creates a bucket", Before: testkit.Docs{"notes": {}},
			Write: byKey.AppendTo("p", 0, makeNote("a")), After: before(1), Status: model.Applied, Again: model.Already,
		},
		{
			Reason: "fills it", Before: before(2), Write: byKey.AppendTo("p", 0, makeNote("c")), After: before(3),
			Status: model.Applied, Again: model.Already,
		},
		{Reason: "not over Max", Before: before(3), Write: byKey.AppendTo("p", 0, makeNote("d")), Err: model.ErrFull},
		{
			Reason: "nor into a closed one", Before: before(1, closed), Write: byKey.AppendTo("p", 0, makeNote("d")),
			Err: model.ErrFull,
		},
		{
			Reason: "what a full bucket holds is there", Before: before(3),
			Write: byKey.AppendTo("p", 0, makeNote("a")), Status: model.Already, Again: model.Already,
		},
		{
			Reason: "what a closed bucket holds is there", Before: before(1, closed),
			Write: byKey.AppendTo("p", 0, makeNote("a")), Status: model.Already, Again: model.Already,
		},
		{
			Reason: "a bucket without a count is not full",
			Before: testkit.Docs{"notes": {bson.D{{Key: "_id", Value: "p#0000000000"}}}},
			Write:  byKey.AppendTo("p", 0, makeNote("a")), Err: model.ErrStale,
		},
		{
			Reason: "not over MaxBytes", Before: before(2),
			Write: budgeted.AppendTo("p", 0, ofSize("x", 100)),
			Err:   model.ErrFull,
		},
		{
			Reason: "a number below 0", Before: before(1), Write: byKey.AppendTo("p", -1, makeNote("a")),
			Err: testkit.ErrRefused,
		},
		{
			Reason: "a number with too many digits", Before: before(1), Write: byKey.AppendTo("p", 1e10, makeNote("a")),
			Err: testkit.ErrRefused,
		},
	})
}

// What can't be appended is refused before anything is sent.
func TestBucketRefusals(t *testing.T) {
	testkit.Parallel(t)
	nan, late := note{ID: "a", F: math.NaN()}, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	open := bucket.New(notes, bucket.Spec{Max: 3, ElementKey: "any", Totals: []string{"any"}})
	anything := bucket.New(model.NewCollection[bucket.Doc[string, any], string]("anything"),
		bucket.Spec{Max: 1})
	for _, c := range []struct {
		reason string
		err    error
	}{
		{"text as element", anything.AppendTo("p", 0, "text").Err},
		{"nil as element", anything.AppendTo("p", 0, nil).Err},
		{"no key", plain.Append("", makeNote("a")).Err},
		{"no element key", byKey.Append("p", note{}).Err},
		{"a null as element key", open.Append("p", note{}).Err},
		{"an array as element key", open.Append("p", note{Any: []int{1}}).Err},
		{"a total that is text", open.Append("p", note{Any: "1"}).Err},
		{"a total that isn't a number", added.Append("p", nan).Err},
		{"an infinite total", added.Append("p", note{ID: "a", F: math.Inf(1)}).Err},
		{"more bytes than a bucket has", budgeted.Append("p", ofSize("a", 121)).Err},
		{"no time", daily.Append("p", makeNote("a")).Err},
		{"a time after the year 9999", daily.Append("p", note{ID: "a", At: &late}).Err},
		{"a field name with a dollar", plain.Append("p", note{Any: bson.D{{Key: "$x", Value: 1}}}).Err},
		{"an element that can't be encoded", plain.Append("p", note{Any: func() {}}).Err},
		{"the pages of no key", plain.Oldest("").Err},
		{"the newest pages of no key", plain.Newest("").Err},
		{"a page of no key", plain.Page("", 0).Err},
		{"a page below 0", plain.Page("p", -1).Err},
		{"a page by number with a Period", daily.Page("p", 0).Err},
		{"the elements of no key", plain.Elements("").Err},
		{"the totals of no key", plain.Totals("").Err},
		{"times without a Period", plain.Between("p", late, late.AddDate(0, 0, 1)).Err},
		{"times that don't go on", daily.Between("p", late, late).Err},
		{"times after the year 9999", daily.Between("p", late, late.AddDate(0, 0, 1)).Err},
		{"times up to after the year 9999", daily.Between("p", late.AddDate(-1, 0, 0), late.AddDate(0, 0, 1)).Err},
		{"times of no key", daily.Between("", late.AddDate(-2, 0, 0), late.AddDate(-1, 0, 0)).Err},
		{"an element of no key", byKey.Holding("", "a").Err},
		{"a nil element", byKey.Holding("p", nil).Err},
		{"a pattern", byKey.Holding("p", bson.Regex{Pattern: "."}).Err},
		{"an element that can't be encoded to look for", byKey.Holding("p", func() {}).Err},
		{"an element without a Key", plain.Holding("p", "a").Err},
	} {
		t.Run(c.reason, func(t *testing.T) { testkit.WantError(t, c.err, testkit.ErrRefused) })
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		empty(t, db)
		_, err := plain.Append("", makeNote("a")).Run(t.Context(), db)
		testkit.WantError(t, err, testkit.ErrRefused)
		testkit.WantDocs(t, db, testkit.Docs{"notes": {}})
	})
}
