package embed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// embElems writes results as "parent.at key due".
func embElems(t testing.TB, db *mongo.Database, a *model.Aggregate[embed.ElementOf[string, embTask]]) string {
	t.Helper()
	var out []string
	for e, err := range a.Each(context.Background(), db) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s.%d %s%d", e.Parent, e.At, e.Element.ID, e.Element.Due))
	}
	return strings.Join(out, ", ")
}

func embIDs(t testing.TB, db *mongo.Database, f *model.Find[embPerson]) string {
	t.Helper()
	var out []string
	for p, err := range f.Sorted(d("_id", 1)).Each(context.Background(), db) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p.ID)
	}
	return strings.Join(out, " ")
}

func TestEmbeddedReads(t *testing.T) {
	between := func(a, b int) bson.D { return d("due", d("$gte", a, "$lt", b)) }
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := embStore(t.Context(), db, embPerson{ID: "a", Tasks: embList("x1 y5 z9"), Home: &embHome{City: "Rome"}},
			embPerson{ID: "b", Tasks: embList("x5"), Home: &embHome{City: "Oslo"}}, embPerson{ID: "c"},
			d("_id", "n", "tasks", nil)); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			reason    string
			got, want string
		}{
			{"parents by key", embIDs(t, db, embTasks.Having(d("id", "x"))), "a b"},
			{"parents by one element's fields together", embIDs(t, db, embTasks.Having(d("id", "x", "due", 5))), "b"},
			{"one element between, not one below and one above", embIDs(t, db, embTasks.Having(between(2, 5))), ""},
			{"either", embIDs(t, db, embTasks.Having(d("$or", bson.A{d("due", 9), d("id", "x", "due", 5)}))), "a b"},
			{"parents by their subdocument", embIDs(t, db, embHomes.Having(d("city", "Rome"))), "a"},
			{
				reason: "either, of a subdocument",
				got:    embIDs(t, db, embHomes.Having(d("$or", bson.A{d("city", "Rome"), d("city", "Oslo")}))),
				want:   "a b",
			},
			{
				reason: "all elements, by parent and place", got: embElems(t, db, embTasks.Elements(nil, nil)),
				want: "a.0 x1, a.1 y5, a.2 z9, b.0 x5",
			},
			{
				reason: "in an order of their own",
				got:    embElems(t, db, embTasks.Elements(nil, d("due", -1))),
				want:   "a.2 z9, a.1 y5, b.0 x5, a.0 x1",
			},
			{"those due between", embElems(t, db, embTasks.Elements(between(2, 9), d("id", 1))), "b.0 x5, a.1 y5"},
			{
				reason: "by either of two",
				got:    embElems(t, db, embTasks.Elements(d("$or", bson.A{d("due", 9), d("id", "x")}), d("due", 1))),
				want:   "a.0 x1, b.0 x5, a.2 z9",
			},
			{"one parent's", embElems(t, db, embTasks.Elements(between(2, 10), d("due", -1), "a")), "a.2 z9, a.1 y5"},
			{
				reason: "two parents'",
				got:    embElems(t, db, embTasks.Elements(between(2, 10), d("due", -1), "b", "a")),
				want:   "a.2 z9, a.1 y5, b.0 x5",
			},
			{"those of nobody", embElems(t, db, embTasks.Elements(nil, nil, "q")), ""},
			{"one", embElems(t, db, embTasks.Elements(d("id", "y"), nil, "a")), "a.1 y5"},
		} {
			if c.got != c.want {
				t.Errorf("%s: %q, want %q", c.reason, c.got, c.want)
			}
		}
		for _, a := range []*model.Aggregate[embed.ElementOf[string, embTask]]{
			embTasks.Elements(d("id", "q"), nil, "a"), embTasks.Elements(d("id", "y"), nil, "q"),
		} {
			if _, err := a.One(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
				t.Errorf("%s: %v", a, err)
			}
		}
	})
	for reason, err := range map[string]error{
		"no condition": embTasks.Having(nil).Err, "an unknown field": embTasks.Having(d("dew", 1)).Err,
		"an operator that runs code":       embTasks.Having(d("$where", "1")).Err,
		"a list that is none":              embTasks.Having(d("$or", d("due", 1))).Err,
		"an empty list":                    embTasks.Having(d("$or", bson.A{})).Err,
		"an empty condition in a list":     embTasks.Having(d("$or", bson.A{bson.D{}})).Err,
		"an unknown field in a list":       embTasks.Having(d("$nor", bson.A{d("dew", 1)})).Err,
		"a value that can't be stored":     embTasks.Having(d("due", func() {})).Err,
		"an unknown field to sort by":      embTasks.Elements(nil, d("dew", 1)).Err,
		"sorted sideways":                  embTasks.Elements(nil, d("due", 2)).Err,
		"sorted twice":                     embTasks.Elements(nil, d("due", 1, "due", -1)).Err,
		"an empty parent":                  embTasks.Elements(nil, nil, "").Err,
		"an empty parent of two":           embTasks.Elements(nil, nil, "a", "").Err,
		"an unknown field of elements":     embTasks.Elements(d("dew", 1), nil).Err,
		"a subdocument without conditions": embHomes.Having(nil).Err,
	} {
		t.Run(reason, func(t *testing.T) { embErr(t, err, errEmbRefused) })
	}
}

// Damage that other code did is found, all of it, and mended as asked.
func TestEmbeddedRepair(t *testing.T) {
	damaged := []any{
		embPerson{ID: "a", Tasks: embList("x1 y2 x1 x3 y2")}, embPerson{ID: "b", Tasks: embList("x1 y1")},
		embPerson{ID: "c", Tasks: embList("x1 y2 z3 q4")}, d("_id", "d", "tasks", bson.A{d("id", "x"), "loose", d("due", 1)}),
		d("_id", "e", "tasks", nil), d("_id", "f", "tasks", d("id", "x")),
		d("_id", "g", "tasks", bson.A{d("id", bson.A{"x"})}), d("_id", "h"), d("_id", "i", "tasks", bson.A{}),
	}
	seed := func(ctx context.Context, db *mongo.Database) error { return embStore(ctx, db, damaged...) }
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := seed(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		found, err := embTasks.Checks()[0].All(t.Context(), db)
		if err != nil ||
			fmt.Sprint(found) != `[people 'a': holds the key 'x' 3 times people 'a': holds the key 'y' 2 times]` {
			t.Fatalf("repeated: %v, %v", found, err)
		}
		for finds, want := range map[string]string{
			"repeated keys": "a", "too many elements": "a c", "null": "e", "malformed": "d f g",
		} {
			if got := strings.Join(foundIDs(t, db, checkOf(t, finds, embTasks.Checks())), " "); got != want {
				t.Errorf("%s: %s, want %s", finds, got, want)
			}
		}
		for _, c := range []struct {
			keep *embed.Embedded[embPerson, string, embTask]
			want string
			left int
		}{{embTasks, "x1 y2 x3", 1}, {embFirst, "x1 y2", 0}, {embLast, "x3 y2", 0}} {
			if err := seed(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				mustRun(t, db, c.keep.Checks()[0].Mend(found))
			}
			a, err := embPeople.ByID("a").One(t.Context(), db)
			if err != nil || fmt.Sprint(a.Tasks) != fmt.Sprint(embList(c.want)) {
				t.Errorf("kept %v, want %s, %v", a.Tasks, c.want, err)
			}
			if left, err := embTasks.Checks()[0].All(t.Context(), db); err != nil || len(left) != c.left {
				t.Errorf("instead of %s: left %v, %v", c.want, left, err)
			}
		}
		if err := mend(t.Context(), db, embFirst.Checks()[1:]); err != nil {
			t.Fatal(err)
		}
		c, err := embPeople.ByID("c").One(t.Context(), db)
		if err != nil || fmt.Sprint(c.Tasks) != fmt.Sprint(embList("x1 y2 z3")) ||
			!strings.Contains(embShow(t, db), "{_id: 'e', tasks: []}") {
			t.Errorf("trimmed %v, %v\n%s", c.Tasks, err, embShow(t, db))
		}
		mustRun(t, db, model.NewPlan(embPeople.Replace(embPerson{ID: "c", Tasks: embList("x1 y2 z3 q4")})))
		if err := mend(t.Context(), db, embLast.Checks()[1:]); err != nil {
			t.Fatal(err)
		}
		if c, err = embPeople.ByID("c").One(t.Context(), db); err != nil ||
			fmt.Sprint(c.Tasks) != fmt.Sprint(embList("y2 z3 q4")) {
			t.Errorf("trimmed %v, %v", c.Tasks, err)
		}
	})
	repeated, over := embTasks.Checks()[0], checkOf(t, "too many elements", embLast.Checks())
	for reason, f := range map[string]model.Finding{
		"no id": finding(repeated, d("key", "x", "times", 2)), "no key": finding(repeated, d("id", "x", "times", 2)),
		"no detail": {Check: repeated.Name}, "a pattern": finding(repeated, d("id", "x", "key", bson.Regex{Pattern: "x"})),
		"of another check": finding(over, d("id", "x", "key", "x")),
	} {
		t.Run(reason, func(t *testing.T) { embErr(t, repeated.Mend([]model.Finding{f}).Err(), errEmbRefused) })
	}
	embErr(t, over.Mend([]model.Finding{finding(over, d("id", "x"))}).Err(), errEmbRefused)
	if c := checkOf(t, "too many elements", embTasks.Checks()); c.Mend != nil {
		t.Error("elements that differ are dropped")
	}
	for _, c := range embLoose.Checks() {
		if strings.HasSuffix(c.Name, "too many elements") {
			t.Error("too many for which bound?")
		}
	}
}

// A move in a transaction is done or isn't, wherever it is cut. Without one, a cut leaves the element in both parents,
// of which running it again tells; taking it out where it was completes it. It never loses the element.
func TestEmbeddedMoveFaults(t *testing.T) {
	move := embTasks.Move("a", "b", embList("x1")[0])
	partial := move
	partial.Options.AllowPartial = true
	seed := func(ctx context.Context, db *mongo.Database) error {
		return embStore(ctx, db, embPerson{ID: "a", Tasks: embList("w0 x1")}, embPerson{ID: "b", Tasks: embList("y2")},
			embPerson{ID: "c", Tasks: embList("x9")})
	}
	const moved = "{_id: 'a', tasks: [{id: 'w', due: 0}]}\n{_id: 'b', tasks: [{id: 'y', due: 2}, {id: 'x', due: 1}]}\n{_id: 'c', tasks: [{id: 'x', due: 9}]}"
	check := func(t testing.TB, db *mongo.Database) {
		if got := embShow(t, db); got != moved {
			t.Errorf("stored\n%s", got)
		}
	}
	for _, tx := range []bool{false, true} {
		run := func(ctx context.Context, db *mongo.Database) (err error) {
			if tx {
				_, err = move.RunTx(ctx, db)
			} else {
				_, err = partial.Run(ctx, db)
			}
			return err
		}
		modeltest.FaultMatrix(t, modeltest.FaultCase{
			Seed: seed, Check: check, Transactions: tx, Run: run,
			Repair: func(ctx context.Context, db *mongo.Database) error {
				err := run(ctx, db)
				if errors.Is(err, model.ErrTaken) && !tx {
					_, err = embTasks.Remove("a", "x").Run(ctx, db)
				} else if errors.Is(err, model.ErrTaken) {
					err = nil
				}
				return err
			},
		})
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := seed(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if _, err := move.Run(t.Context(), db); !errors.Is(err, model.ErrTransactional) {
			t.Errorf("without a transaction: %v", err)
		}
		mustRun(t, db, model.NewPlan(embPeople.Insert(embPerson{ID: "d", Tasks: embList("x1")})))
		before := embShow(t, db)
		for _, c := range []struct {
			reason string
			plan   model.Plan
			err    error
		}{
			{"to one who has another of the key", embTasks.Move("a", "c", embList("x1")[0]), model.ErrTaken},
			{"to one who has an equal one", embTasks.Move("a", "d", embList("x1")[0]), model.ErrTaken},
			{"to nobody", embTasks.Move("a", "q", embList("x1")[0]), model.ErrNotFound},
			{"what changed since", embTasks.Move("a", "b", embList("x7")[0]), model.ErrStale},
			{"to itself", embTasks.Move("a", "a", embList("x1")[0]), errEmbRefused},
			{"from nobody's id", embTasks.Move("", "a", embList("x1")[0]), errEmbRefused},
			{"without a key", embTasks.Move("a", "b", embTask{}), model.ErrStale},
		} {
			c.plan.Options.AllowPartial = true
			_, err := c.plan.Run(t.Context(), db)
			embErr(t, err, c.err)
			if got := embShow(t, db); got != before {
				t.Errorf("%s: stored\n%s", c.reason, got)
			}
		}
	})
}

// Two that move one element at the same time, to different parents, to the same, or there and back, also where an equal
// one is at both ends: each takes one away only when it has added one, so that there are as many as there were.
func TestEmbeddedMoveInterleaved(t *testing.T) {
	run := func(from, to string, tx bool) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			p := embTasks.Move(from, to, embList("x1")[0])
			if tx {
				_, err := p.RunTx(ctx, db)
				return err
			}
			p.Options.AllowPartial = true
			_, err := p.Run(ctx, db)
			return err
		}
	}
	for _, c := range []struct {
		reason, a, b, c string // what they have at first
		from, to        string // the second's; the first moves from a to b
		want            string // where it may be in the end
	}{
		{"to different parents", "x1", "", "", "a", "c", "b c"},
		{"to the same parent", "x1", "", "", "a", "b", "b"},
		{"there and back", "x1", "", "", "b", "a", "a b"},
		{"there and back, at both ends", "x1", "x1", "", "b", "a", "ab"},
		{"there and on", "x1", "", "", "b", "c", "b c"},
		{"changed there", "x1", "", "x5", "c", "b", "a b"},
	} {
		// of others in transactions, see TestEmbeddedMoveConcurrent
		for _, tx := range slices.Compact([]bool{false, c.to == "a"}) {
			t.Run(fmt.Sprint(c.reason, ", transactions: ", tx), func(t *testing.T) {
				modeltest.Interleave(t, modeltest.InterleaveCase{
					Seed: func(ctx context.Context, db *mongo.Database) error {
						return embStore(ctx, db, embPerson{ID: "a", Tasks: embList(c.a)}, embPerson{ID: "b", Tasks: embList(c.b)},
							embPerson{ID: "c", Tasks: embList(c.c)})
					},
					A: run("a", "b", tx), B: run(c.from, c.to, tx), Sample: 3, Transactions: tx,
					Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
						at := ""
						for e, err := range embTasks.Elements(d("id", "x", "due", 1), nil).Each(context.Background(), db) {
							if err != nil {
								t.Error(err)
							}
							at += e.Parent
						}
						if !slices.Contains(strings.Fields(c.want), at) {
							t.Errorf("the element is at %q, want it at one of %q: %v, %v", at, c.want, errA, errB)
						}
					},
				})
			})
		}
	}
}

// In transactions, of many that move one element to different parents one succeeds, and it is there alone.
func TestEmbeddedMoveConcurrent(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		to := []any{embPerson{ID: "a", Tasks: embList("x1")}}
		for n := range 8 {
			to = append(to, embPerson{ID: fmt.Sprint(n)})
		}
		if err := embStore(t.Context(), db, to...); err != nil {
			t.Fatal(err)
		}
		errs := make([]error, 8)
		var all sync.WaitGroup
		for n := range errs {
			all.Go(func() { _, errs[n] = embTasks.Move("a", fmt.Sprint(n), embList("x1")[0]).RunTx(t.Context(), db) })
		}
		all.Wait()
		done := -1
		for n, err := range errs {
			switch {
			case err == nil && done < 0:
				done = n
			case !errors.Is(err, model.ErrStale):
				t.Errorf("%d: %v", n, err)
			}
		}
		if got, want := embElems(t, db, embTasks.Elements(nil, nil)), fmt.Sprintf("%d.0 x1", done); got != want {
			t.Errorf("the element is at %q, want %q", got, want)
		}
	})
}

// An element that somebody changes between the two writes of a move stays where it is; what was added is taken back,
// and the mover is told.
func TestEmbeddedMoveChanged(t *testing.T) {
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return embStore(ctx, db, embPerson{ID: "a", Tasks: embList("x1")}, embPerson{ID: "b"})
		},
		A: func(ctx context.Context, db *mongo.Database) error {
			move := embTasks.Move("a", "b", embList("x1")[0])
			move.Options.AllowPartial = true
			_, err := move.Run(ctx, db)
			return err
		},
		B: func(ctx context.Context, db *mongo.Database) error {
			_, err := embTasks.Update("a", "x", d("$set", d("due", int32(5)))).Run(ctx, db)
			return err
		},
		Sample: 3,
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			at := embElems(t, db, embTasks.Elements(nil, nil))
			moved := at == "b.0 x1" && errA == nil && errors.Is(errB, model.ErrNotFound)
			stayed := at == "a.0 x5" && errors.Is(errA, model.ErrStale) && errB == nil
			if !moved && !stayed {
				t.Errorf("the elements are %s: %v, %v", at, errA, errB)
			}
		},
	})
}
