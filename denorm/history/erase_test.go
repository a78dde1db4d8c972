package history_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/denorm/history"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func traces(t testing.TB, db model.DB, subject string) (n int) {
	t.Helper()
	for _, c := range kept.Traces(subject) {
		found, err := c.All(context.Background(), db)
		if err != nil {
			t.Fatal(err)
		}
		n += len(found)
	}
	return n
}

// What concerns one person is removed everywhere, and nothing of another person is.
func TestHistoryErase(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := begin(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		run(t, db,
			kept.Set("a", bson.D{testkit.E("mail", "b@x")},
				history.Revised{At: minute(2), By: "ann"}, testkit.Token(1)),
			kept.Insert(card{ID: "b", Owner: "bea", Mail: "bea@x", N: 1},
				history.Revised{At: minute(2), By: "ann"}, testkit.Token(2)),
			kept.Insert(card{ID: "c", Owner: "ann", Mail: "c@x", N: 1}, makeNote(3), testkit.Token(3)),
			kept.Delete("c", makeNote(4), testkit.Token(4)),
			kept.Insert(card{ID: "d", Owner: "ann", N: 1}, makeNote(5), testkit.Token(5)),
		)
		// two cards, of which one was changed by her, and versions 1 and 2 of a, and 1 of c
		if n := traces(t, db, "ann"); n != 5 {
			t.Errorf("%d traces before", n)
		}
		job := kept.Erase("ann", history.Revised{At: minute(1), By: "dpo"}, testkit.Token(6))
		for range 2 {
			if _, err := job.Run(t.Context(), db, model.JobOptions{}); err != nil {
				t.Fatal(err)
			}
			wantStory(t, db, "a", "1:1 2:2 3:2 4:2")
			wantStory(t, db, "c", "1:1 2:gone")
			wantStory(t, db, "d", "1:1")
		}
		if n := traces(t, db, "ann"); n != 0 {
			t.Errorf("%d traces after", n)
		}
		b, err := cards.ByID("b").One(t.Context(), db)
		if err != nil || b.Mail != "bea@x" || b.Revised.By != "" || traces(t, db, "bea") != 1 {
			t.Errorf("another person's card: %+v, %v", b, err)
		}
		a, err := cards.ByID("a").One(t.Context(), db)
		if err != nil || a.Mail != "" || a.Home.City != "" || len(a.Home.Tags) != 1 ||
			!a.Revised.At.Equal(minute(2)) || a.Revised.By != "dpo" {
			t.Errorf("%+v, %v", a, err)
		}
		run(t, db, kept.Restore("a", 1, makeNote(9), testkit.Token(7)))
		if n := traces(t, db, "ann"); n != 0 {
			t.Errorf("%d traces after an erased version was restored", n)
		}
		wantSound(t, db)
		if _, err := kept.Erase(nil, makeNote(9), testkit.Token(8)).
			Run(t.Context(), db, model.JobOptions{}); err == nil {
			t.Error("a nil subject is taken")
		}
		if _, err := counting.Erase("ann", makeNote(9), testkit.Token(8)).
			Run(t.Context(), db, model.JobOptions{}); err == nil {
			t.Error("a history without a subject erases")
		}
	})
}

// Whoever writes at the same time doesn't bring back what is removed.
func TestHistoryEraseInterleaved(t *testing.T) {
	for _, other := range []testkit.Operation{
		{Name: "set", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return testkit.Changed(setN("a", 5, 2, op))(ctx, db)
		}},
		{Name: "add", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return testkit.Changed(add("a", 5, 2, op))(ctx, db)
		}},
		{Name: "restore", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return testkit.Changed(kept.Restore("a", 1, makeNote(2), op))(ctx, db)
		}},
		{Name: "delete", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return testkit.Changed(kept.Delete("a", makeNote(2), op))(ctx, db)
		}},
	} {
		erase := testkit.Operation{
			Name: "erase",
			Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
				return testkit.RunJob(ctx, db, kept.Erase("ann", makeNote(2), op))
			},
		}
		testkit.Meet(t, erase, other, modeltest.InterleaveCase{
			Sample: 3, Seed: begin, Match: mongotest.Writes,
			Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
				if errA != nil || errB != nil {
					t.Error(errA, errB)
				}
				wantSound(t, db)
				if n := traces(t, db, "ann"); n != 0 {
					t.Errorf("%d traces", n)
				}
			},
		})
	}
}
