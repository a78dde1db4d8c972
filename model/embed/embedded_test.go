package embed_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
)

// Persons with tasks, which have steps, and a home.
type (
	embPerson struct {
		ID    string    `bson:"_id"`
		Tasks []embTask `bson:"tasks,omitempty"`
		Home  *embHome  `bson:"home,omitempty"`
	}
	embTask struct {
		ID    string    `bson:"id"`
		Due   int32     `bson:"due"`
		Text  string    `bson:"text,omitempty"`
		Steps []embStep `bson:"steps,omitempty"`
	}
	embStep struct {
		No   int32  `bson:"no"`
		Text string `bson:"text,omitempty"`
	}
	embHome struct {
		City string `bson:"city"`
		Zip  string `bson:"zip,omitempty"`
	}
)

var (
	embPeople = model.NewCollection[embPerson, string]("people")
	embTasks  = embed.NewEmbedded[embTask](embPeople, "tasks", embed.EmbeddedSpec{
		Key: "id", Max: 3, Indexes: []bson.D{{{Key: "due", Value: 1}}},
	})
	embLoose = embed.NewEmbedded[embTask](embPeople, "tasks", embed.EmbeddedSpec{Key: "id"})
	embSteps = embed.NewNested[embStep](embTasks, "steps", embed.EmbeddedSpec{
		Key: "no", Max: 2, Indexes: []bson.D{{{Key: "no", Value: 1}}},
	})
	embFirst = embed.NewEmbedded[embTask](embPeople, "tasks", embed.EmbeddedSpec{Key: "id", Max: 3, Keep: embed.KeepFirst})
	embLast  = embed.NewEmbedded[embTask](embPeople, "tasks", embed.EmbeddedSpec{Key: "id", Max: 3, Keep: embed.KeepLast})
	embHomes = embed.NewOne[embHome](embPeople, "home", embed.OneSpec{Indexes: []bson.D{d("city", 1)}})
)

var errEmbRefused = errors.New("a *ValueError")

// embList writes "a1 b2" for the tasks a, due 1, and b, due 2.
func embList(notation string) []embTask {
	var out []embTask
	for _, s := range strings.Fields(notation) {
		out = append(out, embTask{ID: s[:1], Due: int32(s[1] - '0')})
	}
	return out
}

// embP is the person p, with tasks.
func embP(notation string) embPerson { return embPerson{ID: "p", Tasks: embList(notation)} }

func embStore(ctx context.Context, db *mongo.Database, docs ...any) error {
	if _, err := db.Collection("people").DeleteMany(ctx, bson.D{}); err != nil || len(docs) == 0 {
		return err
	}
	_, err := db.Collection("people").InsertMany(ctx, docs)
	return err
}

// embShow is all that is stored, as mongosh shows it, a person to a line.
func embShow(t testing.TB, db *mongo.Database) string {
	t.Helper()
	var all []bson.Raw
	cursor, err := db.Collection(embPeople.Name()).
		Find(context.Background(), bson.D{}, options.Find().SetSort(d("_id", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if err := cursor.All(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	lines := make([]string, len(all))
	for i, doc := range all {
		lines[i] = model.Shell(doc)
	}
	return strings.Join(lines, "\n")
}

func embErr(t testing.TB, err, want error) {
	t.Helper()
	var bad *model.ValueError
	switch {
	case want == errEmbRefused && !errors.As(err, &bad), want == nil && err != nil, want != nil &&
		want != errEmbRefused && !errors.Is(err, want):
		t.Errorf("error %v, want %v", err, want)
	}
}

// embCase is a write to persons, and what p then is.
type embCase struct {
	reason string
	before any // nil for nobody
	write  model.Write
	after  string // "" for as before
	err    error
	once   bool // a second run changes nothing, and is no error
}

func embRun(t *testing.T, cases []embCase) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range cases {
			t.Run(c.reason, func(t *testing.T) {
				var docs []any
				if c.before != nil {
					docs = append(docs, c.before)
				}
				if err := embStore(t.Context(), db, docs...); err != nil {
					t.Fatal(err)
				}
				want := c.after
				if want == "" {
					want = embShow(t, db)
				}
				_, err := c.write.Run(t.Context(), db)
				embErr(t, err, c.err)
				if got := embShow(t, db); got != want {
					t.Errorf("stored\n%s, want\n%s", got, want)
				}
				if _, err := c.write.Run(t.Context(), db); c.once && err != nil {
					t.Errorf("run again: %v", err)
				}
				if got := embShow(t, db); c.once && got != want {
					t.Errorf("run again, stored\n%s", got)
				}
			})
		}
	})
}

// Thirty-two that add at once: exactly as many as may be are in, the others are told that it is full; and of those who
// add the same key, one.
func TestEmbeddedConcurrent(t *testing.T) {
	full := embed.NewEmbedded[embTask](embPeople, "tasks", embed.EmbeddedSpec{Key: "id", Max: 10})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			reason string
			write  func(n int) model.Write
			want   int
			err    error
		}{
			{
				reason: "keys of their own",
				write:  func(n int) model.Write { return full.Add("p", embTask{ID: fmt.Sprint(n)}) },
				want:   10, err: model.ErrFull,
			},
			{"one key", func(n int) model.Write { return full.Add("p", embTask{ID: "a", Due: int32(n)}) }, 1, model.ErrTaken},
			{
				reason: "put under keys of their own",
				write:  func(n int) model.Write { return full.Put("p", embTask{ID: fmt.Sprint(n)}) },
				want:   10, err: model.ErrFull,
			},
		} {
			if err := embStore(t.Context(), db, embP("")); err != nil {
				t.Fatal(err)
			}
			errs := make([]error, 32)
			var all sync.WaitGroup
			for n := range errs {
				all.Go(func() { _, errs[n] = c.write(n).Run(t.Context(), db) })
			}
			all.Wait()
			done := 0
			for _, err := range errs {
				if err == nil {
					done++
				} else if !errors.Is(err, c.err) {
					t.Errorf("%s: %v", c.reason, err)
				}
			}
			p, err := embPeople.ByID("p").One(t.Context(), db)
			if err != nil || done != c.want || len(p.Tasks) != c.want {
				t.Errorf("%s: %d succeeded, %d are in, want %d, %v", c.reason, done, len(p.Tasks), c.want, err)
			}
		}
	})
}

// Random writes leave what the same does to a slice.
func TestEmbeddedLockstep(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		random := rand.New(rand.NewPCG(3, 4))
		if err := embStore(t.Context(), db, embP("")); err != nil {
			t.Fatal(err)
		}
		var want []embTask
		for range 120 {
			e := embTask{ID: string(rune('a' + random.IntN(5))), Due: random.Int32N(9)}
			i := slices.IndexFunc(want, func(x embTask) bool { return x.ID == e.ID })
			var w model.Write
			var wantErr error
			switch op := random.IntN(5); {
			case op == 0:
				w, want = embTasks.Remove("p", e.ID), slices.DeleteFunc(want, func(x embTask) bool { return x.ID == e.ID })
			case op == 1:
				if w = embTasks.Add("p", e); i >= 0 && want[i].Due != e.Due {
					wantErr = model.ErrTaken
				} else if i < 0 && len(want) == 3 {
					wantErr = model.ErrFull
				} else if i < 0 {
					want = append(want, e)
				}
			case op == 2:
				if w = embTasks.Put("p", e); i >= 0 {
					want[i] = e
				} else if len(want) < 3 {
					want = append(want, e)
				} else {
					wantErr = model.ErrFull
				}
			case i < 0:
				w, wantErr = embTasks.Update("p", e.ID, d("$set", d("due", e.Due))), model.ErrNotFound
			default:
				w, want[i].Due = embTasks.Update("p", e.ID, d("$set", d("due", e.Due))), e.Due
			}
			_, err := w.Run(t.Context(), db)
			embErr(t, err, wantErr)
			p, err := embPeople.ByID("p").One(t.Context(), db)
			if err != nil || fmt.Sprint(p.Tasks) != fmt.Sprint(want) {
				t.Fatalf("after %s: %v, want %v, %v", w, p.Tasks, want, err)
			}
		}
	})
}
