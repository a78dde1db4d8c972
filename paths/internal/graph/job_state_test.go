package graph_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/graph"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type town struct {
	ID    string `bson:"_id"`
	Roads []struct {
		To string `bson:"to"`
		Km int    `bson:"km"`
	} `bson:"roads,omitempty"`
}

var towns = model.NewCollection[town, string]("towns")

// graphPanic is what f panics with, as an error.
func graphPanic(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

// States of another computation, of a Clear that was cut, or of two processes at once are
// not gone on from.
func TestGraphMixed(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	all := graphOf("a:bc b:c c:ad d:")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		run := func(s *paths.Supersteps, steps int) error { return graphSteps(ctx, db, s, steps) }
		for reason, f := range map[string]func() error{
			"other sources": func() error {
				return errors.Join(
					run(near.Distances("a"), 0), run(near.Distances("b"), 0),
				)
			},
			"another computation": func() error {
				return errors.Join(
					run(near.Distances("a"), 1), run(near.Components(), 0),
				)
			},
			"another damping": func() error {
				return errors.Join(
					run(ranks.PageRank(paths.RankSpec{}), 1), run(ranks.PageRank(paths.RankSpec{Damping: 0.5}), 0),
				)
			},
			"begun by another": func() error {
				return errors.Join(
					run(near.Distances("a"), 1), testkit.Exec(ctx, db, coreOf("near").DeclareComponents().PlanBegin()),
				)
			},
			"a Clear that was cut": func() error {
				c := near.Clear()
				c.Steps = c.Steps[:2]
				err := errors.Join(run(near.Distances("a"), 1), testkit.Exec(ctx, db, c))
				last, errLast := near.Distances("a").Steps().Sorted(bson.D{{Key: "_id", Value: -1}}).One(ctx, db)
				if err == nil && (errLast != nil || last.Kind != "distances") {
					t.Errorf("the last record is of %q, %v", last.Kind, errLast)
				}
				return errors.Join(err, run(near.Distances("a"), 0))
			},
			"a state that went back": func() error {
				err := run(ranks.PageRank(paths.RankSpec{}), 3)
				_, err2 := db.Collection("ranks").UpdateOne(
					ctx, bson.D{{Key: "_id", Value: "a"}},
					bson.D{{Key: "$set", Value: bson.D{{Key: "step", Value: 1}}}},
				)
				return errors.Join(err, err2, run(ranks.PageRank(paths.RankSpec{}), 0))
			},
		} {
			t.Run(reason, func(t *testing.T) {
				graphMustSeed(t, db, all)
				if err := f(); !errors.Is(err, paths.ErrGraphState) {
					t.Errorf("error %v", err)
				}
				if err := testkit.Exec(ctx, db, near.Clear(), ranks.Clear()); err != nil {
					t.Fatal(err)
				}
				graphWantDistances(t, graphRun(t, db, near, near.Distances("b")), all, "b")
				graphWantRanks(t, graphRun(t, db, ranks, ranks.PageRank(paths.RankSpec{})), all, 0.85)
			})
		}
	})
}

// What changes in the graph while it is computed, counts as the computations say.
func TestGraphChanges(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, before := t.Context(), graphOf("a:b b:c c:d d: e:")
		graphMustSeed(t, db, before)
		for _, s := range []*paths.Supersteps{
			near.Distances("a"), groups.Components(), ranks.PageRank(paths.RankSpec{}),
		} {
			if err := graphSteps(ctx, db, s, 1); err != nil {
				t.Fatal(err)
			}
		}
		for id, follows := range map[string][]string{"a": {"e"}, "c": {"e", "new"}} {
			_, err := db.Collection("accounts").UpdateOne(
				ctx, bson.D{{Key: "_id", Value: id}},
				bson.D{{Key: "$set", Value: bson.D{{Key: "follows", Value: follows}}}},
			)
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := accounts.Insert(account{ID: "new"}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		graphWantComponents(t, graphRun(t, db, groups, groups.Components()), before)
		graphWantRanks(t, graphRun(t, db, ranks, ranks.PageRank(paths.RankSpec{})), before, 0.85)
		got := graphRun(t, db, near, near.Distances("a")) // a's edge was read before it changed, c's after
		for id, want := range map[string]int64{"a": 0, "b": 1, "c": 2, "e": 3, "new": 3} {
			if s, ok := got[id]; !ok || s.Step != want || len(got) != 5 {
				t.Errorf("%s is %d away, want %d, of %d", id, s.Step, want, len(got))
			}
		}
	})
}

// What a program's function does wrong ends the run, and writes nothing.
func TestGraphProgramErrors(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	errOwn := errors.New("own")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range []struct {
			reason  string
			compute func(v *paths.GraphVertex[account, string, leastHeard, string]) error
			want    string
		}{
			{
				"an error", func(*paths.GraphVertex[account, string, leastHeard, string]) error { return errOwn },
				"vertex 'a': own",
			},
			{"an empty id", func(v *paths.GraphVertex[account, string, leastHeard, string]) error {
				v.Send("", "x")
				return nil
			}, "is empty: give an id"},
		} {
			t.Run(test.reason, func(t *testing.T) {
				graphMustSeed(t, db, graphOf("a:b b:"))
				_, err := paths.NewProgram(told, test.compute).Job().Run(t.Context(), db, model.JobOptions{})
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %v", err)
				}
				if got := graphStates(t, db, told); len(got) != 0 {
					t.Errorf("written %v", got)
				}
			})
		}
	})
}

// Several messages to one vertex come in the order of senders and of sending; one to
// nobody is lost; an account that doesn't halt is called again without a message.
func TestGraphMessages(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		graphMustSeed(t, db, graphOf("a:d b:d c: d:"))
		heard := paths.NewProgram(told, func(v *paths.GraphVertex[account, string, leastHeard, string]) error {
			for _, m := range v.Messages {
				v.State.Least += m.From + m.M + " "
			}
			if v.Step == 1 {
				for _, to := range v.Edges {
					v.Send(to, "$x")
					v.Send("nobody", "lost")
					v.Send(to, "2")
				}
			}
			if v.ID == "c" {
				v.State.Least += "c"
			}
			if v.ID != "c" || v.Step == 3 {
				v.Halt = true
			}
			return nil
		})
		got := graphRun(t, db, told, heard)
		for id, want := range map[string]string{"a": "", "b": "", "c": "ccc", "d": "a$x a2 b$x b2 "} {
			var s leastHeard
			if err := got[id].Value.Unmarshal(&s); err != nil || s.Least != want {
				t.Errorf("%s heard %q, want %q, %v", id, s.Least, want, err)
			}
		}
		if last, err := heard.Steps().Sorted(
			bson.D{{Key: "_id", Value: -1}},
		).One(t.Context(), db); err != nil || last.Step != 3 {
			t.Errorf("last %v, %v", last, err)
		}
	})
}

// A run can be stopped after each superstep, and a program after each batch.
func TestGraphStops(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	all := graphOf("a:b b:c c:d d:e e:")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, s := range graphComputations() {
			t.Run(s.name, func(t *testing.T) {
				graphMustSeed(t, db, all)
				stops := 0
				for {
					options := model.JobOptions{BatchSize: 2, Checkpoint: "progress"}
					options.Progress = func(p model.Progress) error {
						if p.Done {
							return nil
						}
						return errGraphStop
					}
					_, err := s.steps.Job().Run(t.Context(), db, options)
					if err == nil {
						break
					}
					if stops++; !errors.Is(err, errGraphStop) || stops > 100 {
						t.Fatal(err)
					}
				}
				s.want(t, graphStates(t, db, s.graph), all)
				if stops < 4 {
					t.Errorf("stopped %d times", stops)
				}
			})
		}
	})
}

func TestGraphResults(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		graphMustSeed(t, db, graphOf("a:b b:c c:a d:a x:y y:x z:"))
		ids := func(f *model.Find[graphState]) (out string) {
			list, err := f.All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range list {
				out += s.ID
			}
			return out
		}
		graphRun(t, db, near, near.Distances("b"))
		graphRun(t, db, groups, groups.Components())
		graphRun(t, db, ranks, ranks.PageRank(paths.RankSpec{}))
		for reason, test := range map[string]struct{ got, want string }{
			"Within 1": {ids(near.Within(1)), "bc"}, "Within 9": {ids(near.Within(9)), "bca"},
			"States":    {ids(near.States()), "abc"},
			"Component": {ids(groups.Component("a")), "abcd"}, "no component": {ids(groups.Component("b")), ""},
			"another": {ids(groups.Component("x")), "xy"}, "alone": {ids(groups.Component("z")), "z"},
			"Top": {ids(ranks.Top(3)), "abc"}, "Top of more": {ids(ranks.Top(30).Limited(1)), "a"},
		} {
			if test.got != test.want {
				t.Errorf("%s: %q, want %q", reason, test.got, test.want)
			}
		}
		if _, err := near.States("x").One(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("an unreached vertex's state: %v", err)
		}
	})
}

// An error of a computation that can't go on begins as all others do, also where no plan
// wraps it.
func TestGraphStateErrors(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	for name, last := range map[string]graph.Record{
		"another computation": {Kind: "distances"}, "a Clear that was cut": {Kind: "clearing"},
		"other sources": {Kind: "rank", Asked: 1},
	} {
		err := coreOf("ranks").DeclarePageRank(0, 0).PlanStep(last).Err()
		if !errors.Is(err, paths.ErrGraphState) || strings.Count(err.Error(), "docmodel: ") != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
