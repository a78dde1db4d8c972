package history_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/history"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A card is read as it was at any time, and as of any version.
func TestHistoryReads(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := begin(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		run(t, db, kept.Delete("a", makeNote(4), testkit.Token(1)),
			kept.Insert(card{ID: "a", N: 7}, makeNote(6), testkit.Token(2)),
			setN("a", 8, 8, testkit.Token(3)))
		wantStory(t, db, "a", "1:1 2:2 3:gone 4:7 5:8")
		for at, want := range map[int]int64{-1: 0, 0: 1, 1: 2, 3: 2, 4: 0, 5: 0, 6: 7, 7: 7, 8: 8, 99: 8} {
			r, err := kept.AsOf("a", minute(at)).One(t.Context(), db)
			if want == 0 && !errors.Is(err, model.ErrNotFound) || want != 0 && (err != nil || r.Doc.N != want) {
				t.Errorf("at minute %d: %d, %v, want %d", at, r.Doc.N, err, want)
			}
		}
		between, err := kept.Between("a", minute(1), minute(6)).All(t.Context(), db)
		if err != nil || len(between) != 2 || !between[0].Gone || between[1].Doc.N != 2 ||
			between[0].Doc.Revised.By != "bob" {
			t.Errorf("between: %+v, %v", between, err)
		}
		page, err := kept.Revisions("a", 5, 2).All(t.Context(), db)
		if err != nil || len(page) != 2 || page[0].ID.Version != 4 || page[1].ID.Version != 3 {
			t.Errorf("a page: %+v, %v", page, err)
		}
		for v, want := range map[int64]int64{2: 2, 5: 8} {
			if r, err := kept.Version("a", v).One(t.Context(), db); err != nil || r.Doc.N != want {
				t.Errorf("version %d: %+v, %v", v, r, err)
			}
		}
		for _, v := range []int64{3, 9} {
			_, err := kept.Version("a", v).One(t.Context(), db)
			wantIs(t, err, model.ErrNotFound)
		}
		wantSound(t, db)
	})
}

// Each operation is done once, however often it is run, and whatever came since.
func TestHistoryAgain(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := begin(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		ops := []model.Change{
			setN("a", 5, 2, testkit.Token(1)), add("a", 10, 3, testkit.Token(2)),
			kept.Restore("a", 1, makeNote(4), testkit.Token(3)), kept.Delete("a", makeNote(5), testkit.Token(4)),
			kept.Insert(card{ID: "a", N: 9}, makeNote(6), testkit.Token(5)),
			kept.Delete("a", makeNote(7), testkit.Token(6)), kept.Restore("a", 4, makeNote(8), testkit.Token(7)),
		}
		for i, op := range ops {
			run(t, db, ops[:i]...)
			run(t, db, op, op)
		}
		wantStory(t, db, "a", "1:1 2:2 3:5 4:15 5:1 6:gone 7:9 8:gone 9:15")
		wantSound(t, db)
	})
}

func TestHistoryErrors(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := begin(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		before, err := mongotest.Dump(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		none := bson.NilObjectID
		for reason, test := range map[string]struct {
			change model.Change
			want   error
			says   string
		}{
			"a clock that runs backwards": {
				change: setN("a", 3, 0, testkit.Token(1)), want: denorm.ErrEarlier,
				says: "cards: revised.at: is before the last change's time, 2014-03-01T12:01:00Z",
			},
			"an unknown version": {
				change: kept.Restore("a", 7, makeNote(2), testkit.Token(1)), want: history.ErrNoRevision,
				says: "version 7 of 'a'",
			},
			"the newest version": {kept.Restore("a", 2, makeNote(2), testkit.Token(1)), history.ErrNoRevision, ""},
			"no such card":       {setN("b", 3, 2, testkit.Token(1)), model.ErrNotFound, ""},
			"no card to delete":  {kept.Delete("b", makeNote(2), testkit.Token(1)), model.ErrNotFound, ""},
			"none to restore":    {kept.Restore("b", 1, makeNote(2), testkit.Token(1)), history.ErrNoRevision, ""},
			"an _id that is taken": {
				change: kept.Insert(card{ID: "a"}, makeNote(2), testkit.Token(1)),
				want:   model.ErrTaken, says: "cards: 'a' is taken",
			},
			"no token": {setN("a", 3, 2, none), testkit.ErrRefused, "token"},
			"no time": {
				change: kept.Set("a", bson.D{testkit.E("n", int64(1))}, history.Revised{By: "x"}, testkit.Token(1)),
				want:   testkit.ErrRefused, says: "revised.at",
			},
			"the version": {
				change: kept.Set("a", bson.D{testkit.E("version", int64(1))}, makeNote(2), testkit.Token(1)),
				want:   testkit.ErrRefused, says: "version",
			},
			"a version of a new card": {
				change: kept.Insert(card{ID: "c", Version: 3}, makeNote(2), testkit.Token(1)),
				want:   testkit.ErrRefused, says: "version",
			},
			"an unknown field": {
				change: kept.Set("a", bson.D{testkit.E("m", int64(1))}, makeNote(2), testkit.Token(1)),
				want:   testkit.ErrRefused, says: "m",
			},
			"a value of another type": {
				change: kept.Set("a", bson.D{testkit.E("n", "x")}, makeNote(2), testkit.Token(1)),
				want:   testkit.ErrRefused, says: "n",
			},
			"a negative version": {kept.Restore("a", -1, makeNote(2), testkit.Token(1)), testkit.ErrRefused, "version"},
			"no decide":          {kept.Change("a", makeNote(2), testkit.Token(1), nil), testkit.ErrRefused, "decide"},
			"another _id": {kept.Change("a", makeNote(2), testkit.Token(1), func(c card) (card, error) {
				c.ID = "b"
				return c, nil
			}), testkit.ErrRefused, "_id"},
			"a card that is too large": {
				change: kept.Set("a", bson.D{testkit.E("mail", strings.Repeat("x", 17<<20))},
					makeNote(2), testkit.Token(1)),
				want: nil, says: "",
			},
			"whole documents with paths of others": {
				change: counting.Change("a", makeNote(2), testkit.Token(1), func(c card) (card, error) {
					return c, nil
				}),
				want: testkit.ErrRefused, says: "Uncounted",
			},
		} {
			_, err := test.change.Run(t.Context(), db)
			if test.want != nil {
				testkit.WantError(t, err, test.want)
			}
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: error %v", reason, err)
			}
		}
		after, err := mongotest.Dump(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("a refused change wrote:\n%s", diff)
		}
		wantStory(t, db, "a", "1:1 2:2")
		for _, a := range []*model.Aggregate[row]{
			kept.Revisions("a", -1, 0), kept.Revisions("a", 0, -1), kept.Between("a", minute(1), minute(1)),
			kept.Version("a", -1), kept.AsOf("", minute(1)),
		} {
			_, err := a.All(t.Context(), db)
			testkit.WantError(t, err, testkit.ErrRefused)
		}
	})
}

// A card from before the technique has version 0, and begins with time.
func TestHistoryOfOldDocuments(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{
			"cards": {bson.D{testkit.E("_id", "a"), testkit.E("n", int64(4)), testkit.E("extra", "kept")}},
		})
		run(t, db, setN("a", 5, 0, testkit.Token(1)))
		wantStory(t, db, "a", "0:4 1:5")
		cut := testkit.PlanOf(t, db, setN("a", 9, 1, testkit.Token(9)))
		cut.Steps, cut.InTx = cut.Steps[:1], nil
		if err := testkit.Exec(t.Context(), db, cut); err != nil {
			t.Fatal(err)
		}
		wantSound(t, db)
		r, err := kept.AsOf("a", minute(-1000)).One(t.Context(), db)
		if err != nil || r.Doc.N != 4 {
			t.Errorf("%+v, %v", r, err)
		}
		run(t, db, kept.Restore("a", 0, makeNote(1), testkit.Token(2)))
		var doc bson.D
		if err := db.Collection("cards").FindOne(t.Context(), bson.D{}).Decode(&doc); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(model.Shell(doc), "extra: 'kept'") {
			t.Errorf("a field that the type doesn't know is lost: %v", doc)
		}
		wantSound(t, db)
	})
}

func TestHistoryDiff(t *testing.T) {
	a := card{ID: "a", N: 1, Mail: "x", Home: &home{City: "Rome", Tags: []string{"x"}}, Version: 1}
	b := card{
		ID: "a", N: 2, Home: &home{City: "Rome", Tags: []string{"y"}}, Seen: 3, Version: 2,
		Revised: &history.Revised{By: "x"},
	}
	got, err := kept.Diff(a, b)
	shell := func(v bson.RawValue) string {
		if v.Type == 0 {
			return "none"
		}
		return model.Shell(v)
	}
	var paths []string
	for _, d := range got {
		paths = append(paths, d.Path+" "+shell(d.From)+" "+shell(d.To))
	}
	want := "mail 'x' none, home.tags ['x'] ['y'], n Long('1') Long('2'), seen none Long('3')"
	if s := strings.Join(paths, ", "); s != want || err != nil {
		t.Errorf("differences %s, %v, want %s", s, err, want)
	}
	if same, err := kept.Diff(a, a); len(same) > 0 || err != nil {
		t.Errorf("of equal cards: %v, %v", same, err)
	}
}

// Each check finds what it is for, and what can be mended is.
func TestHistoryChecks(t *testing.T) {
	tenancy.Differs(t, "it writes past the technique")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := begin(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		testkit.WantDistinctChecks(t, kept.Checks(), 4)
		testkit.WantRefusedFindings(t, kept.Checks()...)
		t.Run("deletions under way", func(t *testing.T) {
			p := testkit.PlanOf(t, db, kept.Delete("a", makeNote(4), testkit.Token(1)))
			p.Steps, p.InTx = p.Steps[:2], nil
			if err := testkit.Exec(t.Context(), db, p); err != nil {
				t.Fatal(err)
			}
			_, said := testkit.FindingsOf(t, db, kept.Checks()[0])
			if len(said) != 1 || !strings.Contains(said[0], "marked as deleted") {
				t.Errorf("found %q", said)
			}
			_, err := setN("a", 9, 5, testkit.Token(2)).Run(t.Context(), db)
			wantIs(t, err, model.ErrNotFound)
			if err := testkit.MendedNow(kept.Checks()[0])(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			wantStory(t, db, "a", "1:1 2:2 3:gone")
			wantSound(t, db)
		})
		t.Run("a deletion under way is finished by an insertion", func(t *testing.T) {
			run(t, db, kept.Insert(card{ID: "a", N: 3}, makeNote(5), testkit.Token(3)))
			p := testkit.PlanOf(t, db, kept.Delete("a", makeNote(6), testkit.Token(4)))
			p.Steps, p.InTx = p.Steps[:2], nil
			if err := testkit.Exec(t.Context(), db, p); err != nil {
				t.Fatal(err)
			}
			run(t, db, kept.Insert(card{ID: "a", N: 6}, makeNote(7), testkit.Token(5)))
			wantStory(t, db, "a", "1:1 2:2 3:gone 4:3 5:gone 6:6")
			wantSound(t, db)
		})
		t.Run("versions behind", func(t *testing.T) {
			if _, err := db.Collection("cards").
				ReplaceOne(t.Context(), bson.D{testkit.E("_id", "a")}, card{ID: "a", N: 50, Version: 1}); err != nil {
				t.Fatal(err)
			}
			_, said := testkit.FindingsOf(t, db, kept.Checks()[1])
			if len(said) != 1 || !strings.Contains(said[0], "has version 1, but a revision has version 6") {
				t.Errorf("found %q", said)
			}
			if err := testkit.MendedNow(kept.Checks()[1])(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			run(t, db, setN("a", 51, 8, testkit.Token(6)))
			wantStory(t, db, "a", "1:1 2:2 3:gone 4:3 5:gone 7:50 8:51")
			wantSound(t, db)
		})
		t.Run("a revision that is another's", func(t *testing.T) {
			all := testkit.Docs{
				"cards": {
					card{ID: "b", N: 2, Version: 2, Revised: &history.Revised{At: minute(9), Op: testkit.Token(8)}},
				},
			}
			testkit.Seed(t, db, all)
			if _, err := db.Collection("cards_revisions").InsertMany(t.Context(), []any{
				row{
					ID: history.RevisionID[string]{ID: "b", Version: 1},
					At: minute(1), Until: minute(9), Token: testkit.Token(6), Doc: card{ID: "b"},
				},
				row{
					ID: history.RevisionID[string]{ID: "b", Version: 2},
					At: minute(2), Until: minute(9), Token: testkit.Token(7), Gone: true, Doc: card{ID: "b"},
				},
			}); err != nil {
				t.Fatal(err)
			}
			for i, want := range map[int]string{
				1: "has version 2, but its revision is another's",
				3: "is a deletion, but a document had this version later",
			} {
				if _, said := testkit.FindingsOf(t, db, kept.Checks()[i]); len(said) != 1 ||
					!strings.Contains(said[0], want) {
					t.Errorf("found %q, want %q", said, want)
				}
			}
			run(t, db, setN("b", 5, 10, testkit.Token(9)))
			wantStory(t, db, "b", "1:0 2:gone 3:2 4:5")
		})
		t.Run("missing revisions", func(t *testing.T) {
			if _, err := db.Collection("cards_revisions").
				DeleteOne(t.Context(), bson.D{testkit.E("_id.v", int64(4))}); err != nil {
				t.Fatal(err)
			}
			_, said := testkit.FindingsOf(t, db, kept.Checks()[2])
			if len(said) != 1 || !strings.Contains(said[0], "has only 6 revisions from version 1 to 7") {
				t.Errorf("found %q", said)
			}
		})
	})
}

// Revisions expire by the time at which they ended.
func TestHistoryExpires(t *testing.T) {
	testkit.Parallel(t)
	old := schema.NewExpiry(rows, "until", schema.ExpirySpec{After: 24 * time.Hour})
	model.New("cards", kept, old)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := begin(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		run(t, db, setN("a", 3, 5, testkit.Token(1)))
		gone, err := old.Expired(minute(3+24*60)).All(t.Context(), db)
		if err != nil || len(gone) != 1 || gone[0].ID.Version != 1 || !gone[0].Until.Equal(minute(1)) {
			t.Errorf("%+v, %v", gone, err)
		}
	})
}
