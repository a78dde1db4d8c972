package widerow_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/widerow"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What the tests are about: fans, and the songs that they like.
type (
	member struct {
		ID   string   `bson:"_id"`
		Name string   `bson:"name,omitempty"`
		Home *address `bson:"home,omitempty"`
	}
	address struct {
		Zip string `bson:"zip,omitempty"`
	}
)

var (
	fans  = model.NewCollection[member, string]("fans")
	songs = model.NewCollectionWith[member, string]("songs", model.CollectionOptions{StoreField: "kept"})

	wide  = wideOf(widerow.Spec{Max: 4})
	tight = wideOf(widerow.Spec{MaxBytes: 4096})

	fanStore  = model.NewStore(model.New("wide", wide), fans)
	songStore = model.NewStore(model.New("wide", wide), songs)
)

type fanRow = widerow.WideRow[member, string, member, string]

func wideOf(spec widerow.Spec) *fanRow {
	spec.LeftRows, spec.RightRows = "songsByFan", "fansBySong"
	spec.LeftCopies, spec.RightCopies = []string{"name"}, []string{"name", "home.zip"}
	return widerow.New(fans, songs, spec)
}

// minute is a time.
func minute(n int) time.Time { return time.Date(2017, 12, 1, 0, n, 0, 0, time.UTC) }

func fan(n int) *member { return &member{ID: fmt.Sprint("f", n), Name: fmt.Sprint("Fan ", n)} }

func song(n int) *member { return &member{ID: fmt.Sprint("s", n), Name: fmt.Sprint("Song ", n)} }

// seedMembers stores fans and songs instead of the stored ones.
func seedMembers(ctx context.Context, db *mongo.Database) error {
	all := testkit.Docs{}
	for n := range 40 {
		all["songs"] = append(all["songs"], song(n))
		if n < 4 {
			all["fans"] = append(all["fans"], fan(n))
		}
	}
	for name := range all {
		if _, err := db.Collection(name).DeleteMany(ctx, bson.D{}); err != nil {
			return err
		}
	}
	return testkit.Store(ctx, db, all)
}

func wideRun(ctx context.Context, db *mongo.Database, list ...model.Change) error {
	for _, c := range list {
		if _, err := c.Run(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

func mustLink(t testing.TB, db *mongo.Database, list ...model.Change) {
	t.Helper()
	if err := wideRun(context.Background(), db, list...); err != nil {
		t.Fatal(err)
	}
}

// keys are the ids of columns with their minutes: "s1@5".
func wideKeys(t testing.TB, db *mongo.Database, a *model.Aggregate[widerow.Column[string]]) string {
	t.Helper()
	cols, err := a.All(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range cols {
		out = append(out, fmt.Sprintf("%s@%d", c.ID, int(c.At.Sub(minute(0)).Minutes())))
	}
	return strings.Join(out, " ")
}

// wantWide asks that no link is half, and that each document of a row is in bounds, in order, and counts what it holds.
func wantWide(t testing.TB, db *mongo.Database, w *fanRow, most int) {
	t.Helper()
	ctx := context.Background()
	found, err := w.Checks()[0].All(ctx, db)
	if err != nil || len(found) > 0 {
		t.Errorf("the check finds %v, %v", found, err)
	}
	for _, rows := range []string{"songsByFan", "fansBySong"} {
		pages, err := (&model.Find[widerow.Page[string]]{
			Query: model.Query{Collection: rows, Sort: bson.D{testkit.E("_id", 1)}},
		}).All(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		high := map[string]string{}
		for _, p := range pages {
			row, _, _ := strings.Cut(p.ID, "#")
			if p.N != len(p.Cols) || p.N > most || p.Low != high[row] || p.ID != row+"#"+p.Low {
				t.Errorf("%s: document %s from %q, after %q, counts %d of %d columns", rows, p.ID, p.Low,
					high[row], p.N, len(p.Cols))
			}
			for i, c := range p.Cols {
				if c.Key < p.Low || c.Key >= p.High || i > 0 && c.Key <= p.Cols[i-1].Key {
					t.Errorf("%s: %s holds %s", rows, p.ID, c.Key)
				}
			}
			high[row] = p.High
		}
		for row, h := range high {
			if h != "~" {
				t.Errorf("%s: the row %s ends at %q", rows, row, h)
			}
		}
	}
}

// Columns are read in the order of time, by pages, however late they came; documents are split.
func TestWideRowOrder(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.MustSeed(t, db, seedMembers)
		for _, n := range []int{3, 1, 9, 2, 8, 0, 5, 4, 7, 6} {
			mustLink(t, db, wide.Link(fan(1).ID, song(n).ID, minute(n), testkit.Token(n)))
		}
		wantWide(t, db, wide, 4)
		for _, test := range []struct {
			got  *model.Aggregate[widerow.Column[string]]
			want string
		}{
			{wide.Left.Newest("f1", "", 100), "s9@9 s8@8 s7@7 s6@6 s5@5 s4@4 s3@3 s2@2 s1@1 s0@0"},
			{wide.Left.Oldest("f1", "", 100), "s0@0 s1@1 s2@2 s3@3 s4@4 s5@5 s6@6 s7@7 s8@8 s9@9"},
			{wide.Left.Newest("f1", "", 0), "s9@9 s8@8 s7@7 s6@6 s5@5 s4@4 s3@3 s2@2 s1@1 s0@0"},
			{wide.Left.Newest("f1", "", 3), "s9@9 s8@8 s7@7"},
			{wide.Left.Newest("f1", widerow.ColumnsFrom(minute(7)), 3), "s6@6 s5@5 s4@4"},
			{wide.Left.Oldest("f1", widerow.ColumnsFrom(minute(7)), 2), "s7@7 s8@8"},
			{wide.Left.Oldest("f1", widerow.ColumnsFrom(minute(7))+"|s7", 2), "s8@8 s9@9"},
			{wide.Left.Newest("f1", widerow.ColumnsFrom(minute(0)), 3), ""},
			{wide.Left.Newest("f2", "", 3), ""},
			{wide.Right.Newest("s3", "", 3), "f1@3"},
			{wide.Right.Oldest("s3", "", 3), "f1@3"},
		} {
			if got := wideKeys(t, db, test.got); got != test.want {
				t.Errorf("%s gives %q, want %q", test.got, got, test.want)
			}
		}
		count, err := wide.Left.Count("f1").One(t.Context(), db)
		if err != nil || count.Columns != 10 || count.Documents < 3 {
			t.Errorf("counts %+v, %v", count, err)
		}
		if count, err := wide.Right.Count("s1").One(t.Context(), db); err != nil ||
			count != (widerow.Count{Columns: 1, Documents: 1}) {
			t.Errorf("counts %+v, %v", count, err)
		}
		linked, err := wide.Linked("f1", "s7").One(t.Context(), db)
		if err != nil || len(linked.Cols) != 1 || !linked.Cols[0].At.Equal(minute(7)) ||
			linked.Cols[0].Doc.Lookup("name").StringValue() != "Song 7" {
			t.Errorf("linked: %+v, %v", linked, err)
		}
		mustLink(t, db, wide.Unlink("f1", "s7"), wide.Unlink("f1", "s7"),
			wide.Link(fan(1).ID, song(8).ID, minute(30), testkit.Token(50)))
		if _, err := wide.Linked("f1", "s7").One(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("unlinked: %v", err)
		}
		if got := wideKeys(t, db, wide.Left.Newest("f1", "", 3)); got != "s9@9 s8@8 s6@6" {
			t.Errorf("after it: %s", got)
		}
		wantWide(t, db, wide, 4)
	})
}

// Columns that come in order fill their documents; a document doesn't outgrow its bytes.
func TestWideRowSizes(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := testkit.MustSeed(t, db, seedMembers)
		for n := range 12 {
			mustLink(t, db, wide.Link(fan(1).ID, song(n).ID, minute(n), testkit.Token(n)))
		}
		if count, err := wide.Left.Count("f1").One(t.Context(), db); err != nil ||
			count != (widerow.Count{Columns: 12, Documents: 3}) {
			t.Errorf("%+v, %v", count, err)
		}
		for n := range 20 {
			s := song(n).ID
			longer := bson.D{testkit.E("$set", bson.D{testkit.E("name", strings.Repeat("x", 400))})}
			if err := testkit.Updates(ctx, db, "songs", s, longer); err != nil {
				t.Fatal(err)
			}
			mustLink(t, db, tight.Link(fan(2).ID, s, minute(17*n%20), testkit.Token(n)))
		}
		pages, err := (&model.Find[bson.Raw]{
			Query: model.Query{Collection: "songsByFan", Filter: bson.D{testkit.E("row", "f2")}},
		}).All(t.Context(), db)
		if err != nil || len(pages) < 3 {
			t.Errorf("%d documents, %v", len(pages), err)
		}
		for _, p := range pages {
			if len(p) > 4096 {
				t.Errorf("%d bytes", len(p))
			}
		}
		wantWide(t, db, tight, 20)
		if err := testkit.Updates(ctx, db, "songs", "s30", bson.D{
			testkit.E("$set", bson.D{testkit.E("name", strings.Repeat("x", 2000))}),
		}); err != nil {
			t.Fatal(err)
		}
		testkit.WantError(t,
			wideRun(ctx, db, tight.Link(fan(2).ID, "s30", minute(1), testkit.Token(1))), testkit.ErrRefused)
		testkit.WantError(t,
			tight.Link(strings.Repeat("i", 2000), song(1).ID, minute(1), testkit.Token(1)).Err, testkit.ErrRefused)
	})
}

// A document whose count other code made wrong is counted when it seems full.
func TestWideRowWrongCount(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.MustSeed(t, db, seedMembers)
		mustLink(t, db, wide.Link(fan(1).ID, song(1).ID, minute(1), testkit.Token(1)))
		emptied := bson.D{
			testkit.E("_id", "f2#"), testkit.E("row", "f2"), testkit.E("low", ""), testkit.E("hi", "~"),
			testkit.E("n", 4), testkit.E("rev", 1), testkit.E("cols", bson.A{}),
		}
		if _, err := db.Collection("songsByFan").
			UpdateByID(t.Context(), "f1#", bson.D{testkit.E("$set", bson.D{testkit.E("n", 9)})}); err != nil {
			t.Fatal(err)
		}
		if err := testkit.Store(t.Context(), db, testkit.Docs{"songsByFan": {emptied}}); err != nil {
			t.Fatal(err)
		}
		if over, err := testkit.FoundBy(t.Context(), db, wide.Checks()[5:]); err != nil ||
			fmt.Sprint(over) != "[songsByFan 'f1#': holds 9 columns]" {
			t.Errorf("oversized: %v, %v", over, err)
		}
		mustLink(t, db, wide.Link(fan(1).ID, song(2).ID, minute(0), testkit.Token(2)),
			wide.Link(fan(2).ID, song(2).ID, minute(0), testkit.Token(3)))
		wantWide(t, db, wide, 4)
	})
}

// Stores of both sides update the copied fields of columns.
func TestWideRowFollows(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.MustSeed(t, db, seedMembers)
		for n := range 6 {
			mustLink(t, db, wide.Link(fan(1).ID, song(n).ID, minute(n), testkit.Token(n)),
				wide.Link(fan(2).ID, song(n).ID, minute(n), testkit.Token(10+n)))
		}
		testkit.MustChange(t, db,
			songStore.Set("s3", bson.D{testkit.E("name", "$name"), testkit.E("home", address{"1"})}))
		for _, f := range []string{"f1", "f2"} {
			cols, err := wide.Left.Oldest(f, "", 10).All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			for n, c := range cols {
				want := fmt.Sprintf(`{"name": "Song %d","home": {}}`, n)
				if n == 3 {
					want = `{"name": "$name","home": {"zip": "1"}}`
				}
				if c.Doc.String() != want {
					t.Errorf("%s: %s, want %s", c.ID, c.Doc, want)
				}
			}
		}
		testkit.MustChange(t, db, fanStore.Set("f1", bson.D{testkit.E("name", "New")}))
		if c, err := wide.Right.Newest("s5", widerow.ColumnsFrom(minute(6)), 2).All(t.Context(), db); err != nil ||
			len(c) != 2 || c[1].Doc.Lookup("name").StringValue() != "New" {
			t.Errorf("%v, %v", c, err)
		}
		wantWide(t, db, wide, 4)
	})
}

func TestWideRowRefuses(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		_, narrowed := wide.Checks()[0].In(bson.D{testkit.E("_id", "f1#")}).All(t.Context(), db)
		for reason, err := range map[string]error{
			"no token":     wideRun(t.Context(), db, wide.Link(fan(1).ID, song(1).ID, minute(1), bson.NilObjectID)),
			"no left _id":  wideRun(t.Context(), db, wide.Link("", song(1).ID, minute(1), testkit.Token(1))),
			"no right _id": wideRun(t.Context(), db, wide.Link(fan(1).ID, "", minute(1), testkit.Token(1))),
			"year 10000": wideRun(t.Context(), db,
				wide.Link(fan(1).ID, song(1).ID, time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC), testkit.Token(1))),
			"unlink none": wideRun(t.Context(), db, wide.Unlink("", "s1")),
			"some links":  narrowed,
			"no page":     wide.Left.Newest("f1", "", -1).Err,
			"no row":      wide.Right.Oldest("", "", 1).Err,
			"no pair":     wide.Linked("", "x").Err,
		} {
			t.Run(reason, func(t *testing.T) { testkit.WantError(t, err, testkit.ErrRefused) })
		}
	})
	for reason, spec := range map[string]widerow.Spec{
		"no name":        {RightRows: "r"},
		"one name twice": {LeftRows: "r", RightRows: "r"},
		"the documents'": {LeftRows: "fans", RightRows: "r"},
		"no such path":   {LeftRows: "l", RightRows: "r", LeftCopies: []string{"nam"}},
		"in an array":    {LeftRows: "l", RightRows: "r", LeftCopies: []string{"pairs.key"}},
		"overlapping":    {LeftRows: "l", RightRows: "r", RightCopies: []string{"home", "home.zip"}},
		"one column":     {LeftRows: "l", RightRows: "r", Max: 1},
		"few bytes":      {LeftRows: "l", RightRows: "r", MaxBytes: 100},
	} {
		t.Run(reason, func(t *testing.T) {
			defer func() {
				if _, ok := recover().(*model.DeclarationError); !ok {
					t.Error("was declared")
				}
			}()
			widerow.New(fans, songs, spec)
		})
	}
}

// Random links at random times are what a plain map says, from both ends; random drift is found whole and mended as the
// left rows say.
func TestWideRowProperty(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(5, 6))
		plain := map[[2]int]int{}
		testkit.MustSeed(t, db, seedMembers)
		for i := range 150 {
			pair := [2]int{r.IntN(3), r.IntN(12)}
			if r.IntN(4) == 0 {
				delete(plain, pair)
				mustLink(t, db, wide.Unlink(fan(pair[0]).ID, song(pair[1]).ID))
				continue
			}
			when := r.IntN(40)
			if _, linked := plain[pair]; !linked {
				plain[pair] = when
			}
			mustLink(t, db, wide.Link(fan(pair[0]).ID, song(pair[1]).ID, minute(when), testkit.Token(i)))
		}
		wantLinks(t, db, plain)
		list := []any{}
		for n := range 12 {
			list = append(list, song(n))
		}
		testkit.Seed(t, db, testkit.Docs{"fans": {fan(0), fan(1), fan(2)}, "songs": list})
		want := 0
		for pair := range plain {
			if pair[1]%3 > 0 {
				continue
			}
			rows, row, col := "songsByFan", fan(pair[0]).ID, song(pair[1]).ID
			if want++; pair[1]%2 == 0 {
				rows, row, col = "fansBySong", col, row
			} else {
				delete(plain, pair)
			}
			pull := bson.D{
				testkit.E("$pull", bson.D{testkit.E("cols", bson.D{testkit.E("id", col)})}),
				testkit.E("$inc", bson.D{testkit.E("n", -1)}),
			}
			if _, err := db.Collection(rows).
				UpdateMany(t.Context(), bson.D{testkit.E("row", row), testkit.E("cols.id", col)}, pull); err != nil {
				t.Fatal(err)
			}
		}
		found, err := wide.Checks()[0].All(t.Context(), db)
		if err != nil || len(found) != want {
			t.Errorf("found %v, want %d, %v", found, want, err)
		}
		before, _ := mongotest.Dump(t.Context(), db)
		slow := wide.Checks()[0]
		slow.Age = 100 * 365 * 24 * time.Hour
		if _, err := slow.Job().Run(t.Context(), db, model.JobOptions{}); err != nil {
			t.Fatal(err)
		}
		if after, _ := mongotest.Dump(t.Context(), db); after != before {
			t.Error("mended though they may be under way")
		}
		for _, writes := range []bool{true, false} {
			p, err := wide.Checks()[0].Job().Run(t.Context(), db, model.JobOptions{})
			if err != nil || p.Writes > 0 != writes || p.Modified != p.Writes {
				t.Errorf("mended %+v, %v", p, err)
			}
		}
		wantLinks(t, db, plain)
		cols, err := wide.Right.Newest("s6", "", 10).All(t.Context(), db)
		if err != nil || slices.ContainsFunc(cols, func(c widerow.Column[string]) bool {
			return !strings.HasPrefix(c.Doc.Lookup("name").StringValue(), "Fan")
		}) {
			t.Errorf("mended without copies: %v, %v", cols, err)
		}
	})
}

func wantLinks(t *testing.T, db *mongo.Database, plain map[[2]int]int) {
	t.Helper()
	wantWide(t, db, wide, 4)
	byFan, bySong := map[string][]string{}, map[string][]string{}
	for pair, when := range plain {
		f, s := fan(pair[0]).ID, song(pair[1]).ID
		byFan[f] = append(byFan[f], fmt.Sprintf("%02d|%s@%d", when, s, when))
		bySong[s] = append(bySong[s], fmt.Sprintf("%02d|%s@%d", when, f, when))
	}
	text := func(list []string) string {
		slices.Sort(list)
		for i := range list {
			list[i] = list[i][3:]
		}
		return strings.Join(list, " ")
	}
	for n := range 12 {
		if n < 3 {
			got, want := wideKeys(t, db, wide.Left.Oldest(fan(n).ID, "", 100)), text(byFan[fan(n).ID])
			if got != want {
				t.Errorf("fan %d: %s, want %s", n, got, want)
			}
		}
		got, want := wideKeys(t, db, wide.Right.Oldest(song(n).ID, "", 100)), text(bySong[song(n).ID])
		if got != want {
			t.Errorf("song %d: %s, want %s", n, got, want)
		}
	}
}
