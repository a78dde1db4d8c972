package embed_test

import (
	"context"
	"errors"
	"fmt"
	"math"
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

func TestEmbeddedWrites(t *testing.T) {
	task := func(s string) embTask { return embList(s)[0] }
	withSteps := embPerson{
		ID:    "p",
		Tasks: []embTask{{ID: "a", Due: 1, Steps: []embStep{{No: 1, Text: "x"}}}, {ID: "b", Due: 2}},
	}
	nulls := d("_id", "p", "tasks", nil)
	embRun(t, []embCase{
		{"the first", embP(""), embTasks.Add("p", task("a1")), "{_id: 'p', tasks: [{id: 'a', due: 1}]}", nil, true},
		{
			reason: "one more", before: embP("a1"), write: embTasks.Add("p", task("b2")),
			after: "{_id: 'p', tasks: [{id: 'a', due: 1}, {id: 'b', due: 2}]}",
			err:   nil, once: true,
		},
		{
			reason: "as many as may be", before: embP(""), write: embTasks.Add("p", embList("a1 b2 c3")...),
			after: "{_id: 'p', tasks: [{id: 'a', due: 1}, {id: 'b', due: 2}, {id: 'c', due: 3}]}",
			err:   nil, once: true,
		},
		{"the very same", embP("a1"), embTasks.Add("p", task("a1")), "", nil, true},
		{"the same key, another element", embP("a1"), embTasks.Add("p", task("a2")), "", model.ErrTaken, false},
		{"one of two keys", embP("a1"), embTasks.Add("p", embList("b1 a2")...), "", model.ErrTaken, false},
		{"no room", embP("a1 b2 c3"), embTasks.Add("p", task("d1")), "", model.ErrFull, false},
		{"room for one of two", embP("a1 b2"), embTasks.Add("p", embList("c1 d1")...), "", model.ErrFull, false},
		{
			reason: "any number without a Max", before: embP("a1 b2 c3"), write: embLoose.Add("p", task("d1")),
			after: "{_id: 'p', tasks: [{id: 'a', due: 1}, {id: 'b', due: 2}, {id: 'c', due: 3}, {id: 'd', due: 1}]}",
			err:   nil, once: true,
		},
		{"nobody", nil, embTasks.Add("p", task("a1")), "", model.ErrNotFound, false},
		{"more than may be", embP(""), embTasks.Add("p", embList("a1 b1 c1 d1")...), "", errEmbRefused, false},
		{"none", embP(""), embTasks.Add("p"), "", errEmbRefused, false},
		{"one key twice", embP(""), embTasks.Add("p", embList("a1 a2")...), "", errEmbRefused, false},
		{"no parent's id", embP(""), embTasks.Add("", task("a1")), "", errEmbRefused, false},

		{
			reason: "put where it stands", before: embP("a1 b2 c3"), write: embTasks.Put("p", task("b9")),
			after: "{_id: 'p', tasks: [{id: 'a', due: 1}, {id: 'b', due: 9}, {id: 'c', due: 3}]}",
			err:   nil, once: true,
		},
		{
			reason: "put at the end", before: embP("a1"), write: embTasks.Put("p", task("b9")),
			after: "{_id: 'p', tasks: [{id: 'a', due: 1}, {id: 'b', due: 9}]}",
			err:   nil, once: true,
		},
		{"put as the first", embP(""), embTasks.Put("p", task("b9")), "{_id: 'p', tasks: [{id: 'b', due: 9}]}", nil, true},
		{
			reason: "put where null is stored", before: nulls, write: embTasks.Put("p", task("b9")),
			after: "{_id: 'p', tasks: [{id: 'b', due: 9}]}", err: nil, once: true,
		},
		{"put without room", embP("a1 b2 c3"), embTasks.Put("p", task("d1")), "", model.ErrFull, false},
		{
			reason: "put without a Max", before: embP("a1 b2 c3"), write: embLoose.Put("p", task("d1")),
			after: "{_id: 'p', tasks: [{id: 'a', due: 1}, {id: 'b', due: 2}, {id: 'c', due: 3}, {id: 'd', due: 1}]}",
			err:   nil, once: true,
		},
		{"put nowhere", nil, embTasks.Put("p", task("a1")), "", model.ErrNotFound, false},

		{
			reason: "replaced",
			before: embPerson{ID: "p", Tasks: []embTask{{ID: "a", Due: 1, Text: "x"}}},
			write:  embTasks.Replace("p", task("a9")), after: "{_id: 'p', tasks: [{id: 'a', due: 9}]}", err: nil, once: true,
		},
		{"replaced without one", embP("a1"), embTasks.Replace("p", task("b9")), "", model.ErrNotFound, false},
		{"replaced nowhere", nil, embTasks.Replace("p", task("b9")), "", model.ErrNotFound, false},

		{
			reason: "fields set", before: withSteps,
			write: embTasks.Update("p", "a", d("$set", d("due", 7, "text", "$due"))),
			after: "{_id: 'p', tasks: [{id: 'a', due: 7, steps: [{no: 1, text: 'x'}], text: '$due'}, {id: 'b', due: 2}]}",
			err:   nil, once: true,
		},
		{
			reason: "a whole inner list set", before: embP("a1"),
			write: embTasks.Update("p", "a", d("$set", d("steps", bson.A{d("no", int32(3))}))),
			after: "{_id: 'p', tasks: [{id: 'a', due: 1, steps: [{no: 3}]}]}",
			err:   nil, once: true,
		},
		{"set without one", embP("a1"), embTasks.Update("p", "b", d("$set", d("due", 7))), "", model.ErrNotFound, false},
		{"set nowhere", nil, embTasks.Update("p", "b", d("$set", d("due", 7))), "", model.ErrNotFound, false},
		{"the key set", embP("a1"), embTasks.Update("p", "a", d("$set", d("id", "b"))), "", errEmbRefused, false},
		{"an unknown field set", embP("a1"), embTasks.Update("p", "a", d("$set", d("dew", 1))), "", errEmbRefused, false},
		{
			reason: "a field of inner elements set", before: embP("a1"),
			write: embTasks.Update("p", "a", d("$set", d("steps.text", "x"))),
			after: "", err: errEmbRefused, once: false,
		},
		{
			reason: "a name that can't be stored", before: embP("a1"),
			write: embTasks.Update("p", "a", d("$set", d("text", d("$x", 1)))),
			after: "", err: errEmbRefused, once: false,
		},
		{"nothing set", embP("a1"), embTasks.Update("p", "a", d("$set", bson.D{})), "", errEmbRefused, false},
		{"set by null", embP("a1"), embTasks.Update("p", nil, d("$set", d("due", 7))), "", errEmbRefused, false},
		{
			reason: "set by a pattern", before: embP("a1"),
			write: embTasks.Update("p", bson.Regex{Pattern: "."}, d("$set", d("due", 7))),
			after: "", err: errEmbRefused, once: false,
		},
		{
			reason: "counted up and unset",
			before: embPerson{ID: "p", Tasks: []embTask{{ID: "a", Due: 1, Text: "x"}}},
			write:  embTasks.Update("p", "a", d("$inc", d("due", 2), "$unset", d("text", ""))),
			after:  "{_id: 'p', tasks: [{id: 'a', due: 3}]}", err: nil, once: false,
		},
		{
			reason: "pushed into the inner list", before: withSteps,
			write: embTasks.Update("p", "a", d("$push", d("steps", d("no", int32(9))))),
			after: "{_id: 'p', tasks: [{id: 'a', due: 1, steps: [{no: 1, text: 'x'}, {no: 9}]}, {id: 'b', due: 2}]}",
			err:   nil, once: false,
		},
		{"renamed", embP("a1"), embTasks.Update("p", "a", d("$rename", d("text", "due"))), "", errEmbRefused, false},
		{
			reason: "an operator twice", before: embP("a1"),
			write: embTasks.Update("p", "a", bson.D{{Key: "$set", Value: d("due", 1)}, {Key: "$set", Value: d("text", "x")}}),
			after: "", err: errEmbRefused, once: false,
		},
		{"no operator", embP("a1"), embTasks.Update("p", "a", d("due", 1)), "", errEmbRefused, false},

		{
			reason: "removed", before: embP("a1 b2 c3"), write: embTasks.Remove("p", "a", "c", "none"),
			after: "{_id: 'p', tasks: [{id: 'b', due: 2}]}", err: nil, once: true,
		},
		{"removed nowhere", nil, embTasks.Remove("p", "a"), "", model.ErrNotFound, false},
		{"nothing removed", embP("a1"), embTasks.Remove("p"), "", errEmbRefused, false},
		{"null removed", embP("a1"), embTasks.Remove("p", nil), "", errEmbRefused, false},
	})
}

func TestEmbeddedReorder(t *testing.T) {
	list := func(notation string) string {
		var all []string
		for _, e := range embList(notation) {
			all = append(all, fmt.Sprintf("{id: '%s', due: %d}", e.ID, e.Due))
		}
		return "{_id: 'p', tasks: [" + strings.Join(all, ", ") + "]}"
	}
	twice := d("_id", "p", "tasks", bson.A{
		d("id", "a", "due", int32(1)), d("id", "b", "due", int32(2)), d("id", "a", "due", int32(3)),
	})
	mixed := d("_id", "p", "tasks", bson.A{int32(7), d("due", int32(0)), d("id", "a")})
	embRun(t, []embCase{
		{"to the front", embP("a1 b2 c3"), embTasks.Reorder("p", 0, "c"), list("c3 a1 b2"), nil, true},
		{"to a place", embP("a1 b2 c3"), embTasks.Reorder("p", 1, "a"), list("b2 a1 c3"), nil, true},
		{"to the last place", embP("a1 b2 c3"), embTasks.Reorder("p", 2, "a"), list("b2 c3 a1"), nil, true},
		{"beyond the end", embP("a1 b2 c3"), embTasks.Reorder("p", math.MaxInt, "a"), list("b2 c3 a1"), nil, true},
		{"to the end", embP("a1 b2 c3"), embTasks.Reorder("p", -1, "b", "a"), list("c3 b2 a1"), nil, true},
		{"all by their keys", embP("a1 b2 c3"), embTasks.Reorder("p", 0, "b", "c", "a"), list("b2 c3 a1"), nil, true},
		{
			reason: "all, at a place beyond the others", before: embP("a1 b2 c3"),
			write: embTasks.Reorder("p", 1, "b", "c", "a"), after: list("b2 c3 a1"), err: nil, once: true,
		},
		{"where it stands", embP("a1 b2 c3"), embTasks.Reorder("p", 1, "b"), list("a1 b2 c3"), nil, true},
		{"the only one", embP("a1"), embTasks.Reorder("p", 3, "a"), list("a1"), nil, true},
		{"a key that stands twice loses none", twice, embTasks.Reorder("p", 0, "a"), list("a1 a3 b2"), nil, true},
		{
			reason: "elements without a key stay", before: mixed, write: embTasks.Reorder("p", 0, "a"),
			after: "{_id: 'p', tasks: [{id: 'a'}, 7, {due: 0}]}", err: nil, once: true,
		},
		{"one that is missing", embP("a1 b2"), embTasks.Reorder("p", 0, "a", "z"), "", model.ErrNotFound, false},
		{"nobody", nil, embTasks.Reorder("p", 0, "a"), "", model.ErrNotFound, false},
		{"no key", embP("a1"), embTasks.Reorder("p", 0), "", errEmbRefused, false},
		{"a key twice", embP("a1"), embTasks.Reorder("p", 0, "a", "a"), "", errEmbRefused, false},
		{"null", embP("a1"), embTasks.Reorder("p", 0, nil), "", errEmbRefused, false},
	})
}

func TestEmbeddedNested(t *testing.T) {
	before := embPerson{
		ID: "p",
		Tasks: []embTask{
			{ID: "a", Due: 1, Steps: []embStep{{No: 1, Text: "x"}}},
			{ID: "b", Due: 2, Steps: []embStep{{No: 1, Text: "y"}, {No: 2, Text: "z"}}},
			{ID: "c"},
		},
	}
	list := func(a, b, c string) string {
		return "{_id: 'p', tasks: [{id: 'a', due: 1, steps: [" + a + "]}, {id: 'b', due: 2, steps: [" + b +
			"]}, {id: 'c', due: 0" + c + "}]}"
	}
	a, b := "{no: 1, text: 'x'}", "{no: 1, text: 'y'}, {no: 2, text: 'z'}"
	embRun(t, []embCase{
		{"added to one of them", before, embSteps.Add("p", "a", embStep{No: 2}), list(a+", {no: 2}", b, ""), nil, true},
		{
			reason: "added where there are none", before: before,
			write: embSteps.Add("p", "c", embStep{No: 1}, embStep{No: 2}),
			after: list(a, b, ", steps: [{no: 1}, {no: 2}]"), err: nil, once: true,
		},
		{"the very same", before, embSteps.Add("p", "a", embStep{No: 1, Text: "x"}), "", nil, true},
		{"the same key", before, embSteps.Add("p", "a", embStep{No: 1, Text: "q"}), "", model.ErrTaken, false},
		{"no room", before, embSteps.Add("p", "b", embStep{No: 3}), "", model.ErrFull, false},
		{"no such element", before, embSteps.Add("p", "q", embStep{No: 3}), "", model.ErrNotFound, false},
		{"nobody", nil, embSteps.Add("p", "a", embStep{No: 3}), "", model.ErrNotFound, false},
		{
			reason: "more than may be", before: before,
			write: embSteps.Add("p", "c", embStep{No: 1}, embStep{No: 2}, embStep{No: 3}),
			after: "", err: errEmbRefused, once: false,
		},
		{"added by null", before, embSteps.Add("p", nil, embStep{No: 3}), "", errEmbRefused, false},
		{
			reason: "set by two keys", before: before,
			write: embSteps.Update("p", "b", 1, d("$set", d("text", "new"))),
			after: list(a, "{no: 1, text: 'new'}, {no: 2, text: 'z'}", ""),
			err:   nil, once: true,
		},
		{
			reason: "updated by two keys", before: before,
			write: embSteps.Update("p", "a", 1, d("$unset", d("text", ""))),
			after: list("{no: 1}", b, ""), err: nil, once: true,
		},
		{
			reason: "no such inner element there", before: before,
			write: embSteps.Update("p", "a", 2, d("$set", d("text", "new"))),
			after: "", err: model.ErrNotFound, once: false,
		},
		{"its key set", before, embSteps.Update("p", "a", 1, d("$set", d("no", 2))), "", errEmbRefused, false},
		{
			reason: "set without an inner key", before: before,
			write: embSteps.Update("p", "a", nil, d("$set", d("text", "x"))),
			after: "", err: errEmbRefused, once: false,
		},
		{"removed", before, embSteps.Remove("p", "b", 1, 7), list(a, "{no: 2, text: 'z'}", ""), nil, true},
		{"removed where there are none", before, embSteps.Remove("p", "c", 1), "", nil, true},
		{"removed from none", before, embSteps.Remove("p", "q", 1), "", model.ErrNotFound, false},
		{"nothing removed", before, embSteps.Remove("p", "b"), "", errEmbRefused, false},
	})
}

func TestOne(t *testing.T) {
	home := embPerson{ID: "p", Home: &embHome{City: "Rome", Zip: "1"}}
	embRun(t, []embCase{
		{
			reason: "put where there is none", before: embP(""), write: embHomes.Put("p", embHome{City: "Oslo"}),
			after: "{_id: 'p', home: {city: 'Oslo'}}", err: nil, once: true,
		},
		{"put over another", home, embHomes.Put("p", embHome{City: "Oslo"}), "{_id: 'p', home: {city: 'Oslo'}}", nil, true},
		{"put nowhere", nil, embHomes.Put("p", embHome{}), "", model.ErrNotFound, false},
		{"created", embP(""), embHomes.Create("p", embHome{City: "Oslo"}), "{_id: 'p', home: {city: 'Oslo'}}", nil, true},
		{
			reason: "created where null is stored", before: d("_id", "p", "home", nil),
			write: embHomes.Create("p", embHome{City: "Oslo"}), after: "{_id: 'p', home: {city: 'Oslo'}}", err: nil, once: true,
		},
		{"created over another", home, embHomes.Create("p", embHome{City: "Oslo"}), "", model.ErrTaken, false},
		{"created nowhere", nil, embHomes.Create("p", embHome{}), "", model.ErrNotFound, false},
		{
			reason: "set", before: home, write: embHomes.Update("p", d("$set", d("zip", "2"))),
			after: "{_id: 'p', home: {city: 'Rome', zip: '2'}}", err: nil, once: true,
		},
		{"set where there is none", embP(""), embHomes.Update("p", d("$set", d("zip", "2"))), "", model.ErrNotFound, false},
		{
			reason: "set where null is stored", before: d("_id", "p", "home", nil),
			write: embHomes.Update("p", d("$set", d("zip", "2"))), after: "", err: model.ErrNotFound, once: false,
		},
		{"set nowhere", nil, embHomes.Update("p", d("$set", d("zip", "2"))), "", model.ErrNotFound, false},
		{"an unknown field", home, embHomes.Update("p", d("$set", d("zap", "2"))), "", errEmbRefused, false},
		{"updated", home, embHomes.Update("p", d("$unset", d("zip", ""))), "{_id: 'p', home: {city: 'Rome'}}", nil, true},
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
