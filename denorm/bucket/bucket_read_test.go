package bucket_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Every way of reading gives what was appended to its key.
func TestBucketReads(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		empty(t, db)
		var want []string
		for i := range 11 {
			want = append(want, fmt.Sprint(i))
			appendAll(t, db, byKey, "p", makeNote(want[i]))
			appendAll(t, db, byKey, "p#", makeNote(want[i]))
		}
		if page, err := byKey.Page("p", 1).One(t.Context(), db); err != nil ||
			fmt.Sprint(idsOfNotes(page.Items)) != "[3 4 5]" || page.Key != "p" {
			t.Errorf("page 1: %v, %v", page, err)
		}
		_, err := byKey.Page("p", 4).One(t.Context(), db)
		testkit.WantError(t, err, model.ErrNotFound)
		if all, err := byKey.Elements("p").All(t.Context(), db); err != nil || !slices.Equal(idsOfNotes(all), want) {
			t.Errorf("elements: %v, %v", all, err)
		}
		if p, err := byKey.Holding("p", "7").All(t.Context(), db); err != nil || len(p) != 1 ||
			p[0].ID != "p#0000000002" {
			t.Errorf("holding 7: %v, %v", p, err)
		}
		if p, err := byKey.Holding("p", "77").All(t.Context(), db); err != nil || len(p) != 0 {
			t.Errorf("holding 77: %v, %v", p, err)
		}
		for _, f := range []*model.Find[noteDoc]{byKey.Oldest("x"), byKey.Newest("x")} {
			if pages, err := f.All(t.Context(), db); err != nil || len(pages) != 0 {
				t.Errorf("pages of nothing: %v, %v", pages, err)
			}
		}
	})
}

// Page after page, from either end.
func TestBucketPaging(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		empty(t, db)
		for i := range 11 {
			appendAll(t, db, byKey, "p", makeNote(fmt.Sprint(i)))
			appendAll(t, db, byKey, "p#", makeNote(fmt.Sprint(i)))
		}
		walk := func(first func() *model.Find[noteDoc], limit int64) (got string) {
			for f := first().Limited(limit).After(); ; {
				pages, err := f.All(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				if len(pages) == 0 {
					return got
				}
				for _, p := range pages {
					got += fmt.Sprintf("%d:%v ", p.Seq, idsOfNotes(p.Items))
				}
				f = first().Limited(limit).After(pages[len(pages)-1].ID)
			}
		}
		if got := walk(func() *model.Find[noteDoc] { return byKey.Oldest("p") },
			3); got != "0:[0 1 2] 1:[3 4 5] 2:[6 7 8] 3:[9 10] " {
			t.Errorf("oldest first: %s", got)
		}
		if got := walk(func() *model.Find[noteDoc] { return byKey.Newest("p") },
			1); got != "3:[9 10] 2:[6 7 8] 1:[3 4 5] 0:[0 1 2] " {
			t.Errorf("newest first: %s", got)
		}
	})
}

func TestBucketTotals(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		empty(t, db)
		for i := range int64(7) {
			n := note{ID: fmt.Sprint(i), F: 0.5}
			if v := i*10 - 20; i != 3 { // the fourth has none
				n.N = &v
			}
			appendAll(t, db, added, "p", n)
		}
		appendAll(t, db, added, "q", makeNote("a"))
		got, err := added.Totals("p").One(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		if got.Buckets != 3 || got.N != 7 || got.Bytes == 0 || len(got.Totals) != 3 ||
			got.Totals["n"] != (bucket.Total{Sum: 60, Min: -20, Max: 40}) ||
			got.Totals["f"] != (bucket.Total{Sum: 3.5, Min: 0.5, Max: 0.5}) ||
			got.Totals["sub/x"] != (bucket.Total{}) {
			t.Errorf("totals %+v", got)
		}
		page, err := added.Page("p", 1).One(t.Context(), db)
		if err != nil || page.Totals["n"] != (bucket.Total{Sum: 50, Min: 20, Max: 30}) {
			t.Errorf("totals of page 1: %+v, %v", page.Totals, err)
		}
		if got, err := plain.Totals("q").One(t.Context(), db); err != nil || got.Buckets != 1 ||
			got.N != 1 || len(got.Totals) != 0 {
			t.Errorf("without totals: %+v, %v", got, err)
		}
		_, err = added.Totals("x").One(t.Context(), db)
		testkit.WantError(t, err, model.ErrNotFound)
		wantCounted(t, db, added)
	})
}

// A day begins where the spec says; a month's range takes whole months.
func TestBucketPeriods(t *testing.T) {
	testkit.Parallel(t)
	tokyo := time.FixedZone("Tokyo", 9*60*60)
	inTokyo := bucket.New(notes, bucket.Spec{Max: 2, Period: denorm.Daily, At: "at", Location: tokyo})
	monthly := bucket.New(notes, bucket.Spec{Max: 2, Period: denorm.Monthly, At: "at"})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		evening := time.Date(2014, 3, 31, 14, 59, 59, 0, time.UTC) // a second before midnight in Tokyo
		list := make([]note, 4)
		for i := range list {
			at := evening.Add(time.Duration(i) * 8 * time.Hour)
			list[i] = note{ID: fmt.Sprint(i), At: &at}
		}
		for _, c := range []struct {
			b        *noteBucket
			from, to time.Time
			want     string
		}{
			{daily, evening, evening.Add(time.Second), "2014-03-31 [0 1] "},
			{daily, evening, evening.Add(10 * time.Hour), "2014-03-31 [0 1] 2014-04-01 [2 3] "},
			{daily, evening, time.Date(2014, 4, 1, 0, 0, 0, 0, time.UTC), "2014-03-31 [0 1] "},
			{daily, evening, time.Date(2014, 4, 1, 0, 0, 0, 1, time.UTC), "2014-03-31 [0 1] 2014-04-01 [2 3] "},
			{daily, evening.AddDate(0, 0, -9), evening.AddDate(0, 0, -1), ""},
			{inTokyo, evening, evening.Add(time.Second), "2014-03-31 [0] "},
			{inTokyo, evening.Add(time.Second), evening.Add(2 * time.Second), "2014-04-01 [1 2] 2014-04-01 [3] "},
			{monthly, evening, evening.Add(time.Second), "2014-03 [0 1] "},
			{monthly, evening.AddDate(-1, 0, 0), evening.AddDate(1, 0, 0), "2014-03 [0 1] 2014-04 [2 3] "},
		} {
			empty(t, db)
			appendAll(t, db, c.b, "p", list...)
			appendAll(t, db, c.b, "p#2014", list...)
			pages, err := c.b.Between("p", c.from, c.to).All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, p := range pages {
				got += fmt.Sprint(p.Period, " ", idsOfNotes(p.Items), " ")
			}
			if got != c.want {
				t.Errorf("between %v and %v: %s, want %s", c.from, c.to, got, c.want)
			}
		}
	})
}
