// The documents, declarations and helpers that the tests of this package share.

package history_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/history"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What the tests are about: cards of people, with every version that they had.
type (
	card struct {
		ID      string           `bson:"_id"`
		Owner   string           `bson:"owner,omitempty"`
		Mail    string           `bson:"mail,omitempty"`
		Home    *home            `bson:"home,omitempty"`
		N       int64            `bson:"n"`
		Seen    int64            `bson:"seen,omitempty"`
		Version int64            `bson:"version"`
		Revised *history.Revised `bson:"revised,omitempty"`
	}
	home struct {
		City string   `bson:"city,omitempty"`
		Tags []string `bson:"tags,omitempty"`
	}
	row = history.Revision[card, string]
)

var (
	cards = model.NewCollection[card, string]("cards")
	rows  = model.NewCollection[row, history.RevisionID[string]]("cards_revisions")
	kept  = history.New(cards, rows, history.Spec{
		Subject: "owner", Personal: []string{"mail", "home.city"},
	})
	counting = history.New(cards, rows, history.Spec{Uncounted: []string{"seen"}})
)

// minute is a time, n minutes after noon.
func minute(n int) time.Time { return time.Date(2014, 3, 1, 12, n, 0, 0, time.UTC) }

func makeNote(n int) history.Revised { return history.Revised{At: minute(n), By: "bob"} }

func setN(id string, n, at int, op bson.ObjectID) model.Change {
	return kept.Set(id, bson.D{testkit.E("n", int64(n))}, makeNote(at), op)
}

func add(id string, n, at int, op bson.ObjectID) model.Change {
	return kept.Change(id, makeNote(at), op, func(c card) (card, error) {
		c.N += int64(n)
		return c, nil
	})
}

// begin stores card a, in version 2.
func begin(ctx context.Context, db *mongo.Database) error {
	for i, c := range []model.Change{
		kept.Insert(card{ID: "a", Owner: "ann", Mail: "a@x", Home: &home{City: "Rome", Tags: []string{"x"}}, N: 1},
			makeNote(0), testkit.Token(100)), setN("a", 2, 1, testkit.Token(101)),
	} {
		if _, err := c.Run(ctx, db); err != nil {
			return fmt.Errorf("%d: %w", i, err)
		}
	}
	return nil
}

func run(t testing.TB, db model.DB, list ...model.Change) {
	t.Helper()
	for _, c := range list {
		if _, err := c.Run(context.Background(), db); err != nil {
			t.Fatal(err)
		}
	}
}

// story is what the history of a card says, oldest version first: "1:1 2:5 3:gone".
func story(t testing.TB, db model.DB, id string) (out string) {
	t.Helper()
	all, err := kept.Revisions(id, 0, 0).All(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		what := fmt.Sprint(r.Doc.N)
		if r.Gone {
			what = "gone"
		}
		out = fmt.Sprintf(" %d:%s", r.ID.Version, what) + out
	}
	if out == "" {
		return ""
	}
	return out[1:]
}

func wantStory(t testing.TB, db model.DB, id, want string) {
	t.Helper()
	if got := story(t, db, id); got != want {
		t.Errorf("%s has the history %s, want %s", id, got, want)
	}
}

func wantSound(t testing.TB, db *mongo.Database) {
	t.Helper()
	found, err := testkit.FoundBy(context.Background(), db, kept.Checks())
	if err != nil || len(found) > 0 {
		t.Errorf("the checks find %v, %v", found, err)
	}
}

func wantIs(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}
