package counter_test

import (
	"testing"

	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A tenant's teams, and the players that name them; both are deleted softly.
type (
	player struct {
		ID      string `bson:"_id"`
		Tenant  string `bson:"tenant"`
		Team    string `bson:"team,omitempty"`
		Goals   int64  `bson:"goals"`
		Deleted *int64 `bson:"deletedAt,omitempty"`
	}
	team struct {
		ID      string `bson:"_id"`
		Tenant  string `bson:"tenant"`
		Players int64  `bson:"players"`
		Goals   int64  `bson:"goals"`
		Most    int64  `bson:"most,omitempty"`
		Deleted *int64 `bson:"deletedAt,omitempty"`
	}
)

var (
	players  = model.NewCollection[player, string]("players")
	teams    = model.NewCollectionWith[team, string]("teams", model.CollectionOptions{StoreField: "kept"})
	goalSpec = counter.Spec{
		Count: "players", Sums: []counter.Field{{From: "goals", To: "goals"}},
		Where: bson.D{testkit.E("deletedAt", nil)},
	}
	scored = scoreOf(goalSpec)
)

// A score is a counter of players, with the store of a model that has only this counter.
type score struct {
	*counter.Counter[player, string, team, string]

	players *model.Store[player, string]
}

type playerChange = model.ChangeOf[model.Stored[player]]

func scoreOf(spec counter.Spec) score {
	c := counter.New(players, "team", teams, spec)
	return score{c, model.NewStore(model.New("league", c), players)}
}

func mustPlay(t *testing.T, db model.DB, list ...playerChange) {
	t.Helper()
	for _, c := range list {
		if _, _, err := c.Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
}

func ofTenant(tenant string) model.Scope {
	return model.Scope{Tenant: bson.D{testkit.E("tenant", tenant)}, Delete: bson.D{testkit.E("deletedAt", int64(7))}}
}

// A parent that is marked as deleted counts what its children do, so that its numbers are
// true when it is restored. Another tenant's parent isn't touched.
func TestCounterDeletedParents(t *testing.T) {
	tenancy.Differs(t, "it has a scope of its own")
	testkit.Parallel(t)
	t.Run("count and sum", func(t *testing.T) { counterDeletedParents(t, scored, false) })
	spec := goalSpec
	spec.Maxs = []counter.Field{{From: "goals", To: "most"}}
	t.Run("greatest", func(t *testing.T) { counterDeletedParents(t, scoreOf(spec), true) })
}

func counterDeletedParents(t *testing.T, scored score, most bool) {
	one := player{ID: "1", Tenant: "a", Team: "red", Goals: 5}
	for _, test := range []struct {
		reason string
		do     playerChange
		want   map[string][3]int64
	}{
		{"a delete", scored.players.Delete("1"), map[string][3]int64{"red": {1, 3, 3}, "blue": {}}},
		{
			reason: "a number",
			do:     scored.players.Set("1", bson.D{testkit.E("goals", int64(1))}),
			want:   map[string][3]int64{"red": {2, 4, 3}, "blue": {}},
		},
		{
			reason: "a move to another parent",
			do:     scored.players.Set("1", bson.D{testkit.E("team", "blue")}),
			want:   map[string][3]int64{"red": {1, 3, 3}, "blue": {1, 5, 5}},
		},
	} {
		t.Run(test.reason, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				ctx, scoped := t.Context(), ofTenant("a").On(db)
				if err := testkit.Exec(ctx, db,
					teams.InsertMany([]team{
						{ID: "red", Tenant: "a"}, {ID: "blue", Tenant: "a"}, {ID: "foreign", Tenant: "b"},
					})); err != nil {
					t.Fatal(err)
				}
				mustPlay(t, scoped, scored.players.Insert(one),
					scored.players.Insert(player{ID: "2", Tenant: "a", Team: "red", Goals: 3}))
				testkit.MustExec(t, scoped, model.NewPlan(teams.Delete("red")))
				mustPlay(t, scoped, test.do)
				all, err := teams.Find(nil).All(ctx, db)
				if err != nil {
					t.Fatal(err)
				}
				for _, got := range all {
					want := test.want[got.ID]
					if !most {
						want[2] = 0
					}
					if n := [3]int64{got.Players, got.Goals, got.Most}; n != want {
						t.Errorf("%s holds %v, want %v", got.ID, n, want)
					}
				}
				testkit.MustExec(t, db,
					model.NewPlan(teams.Update("red", bson.D{testkit.E("$unset", bson.D{testkit.E("deletedAt", "")})})))
				if found, err := scored.Checks()[0].Find().All(ctx, scoped); err != nil || len(found) > 0 {
					t.Errorf("restored, the check finds %v, %v", found, err)
				}
			})
		})
	}
}

// A child that is deleted softly is not counted, tells of no action, and counts again once
// it is restored.
func TestCounterDeletedChildren(t *testing.T) {
	tenancy.Differs(t, "it has a scope of its own")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, scoped := t.Context(), ofTenant("a").On(db)
		if err := testkit.Exec(ctx, db, teams.InsertMany([]team{{ID: "red", Tenant: "a"}})); err != nil {
			t.Fatal(err)
		}
		want := func(when string, n int64) {
			t.Helper()
			red, err := teams.ByID("red").One(ctx, db)
			if err != nil || red.Players != n {
				t.Errorf("%s: %d players, %v", when, red.Players, err)
			}
			one, err := players.ByID("1").One(ctx, db)
			if err != nil || (one.Deleted == nil) != (n == 1) {
				t.Errorf("%s: %+v, %v", when, one, err)
			}
			if raw, err := db.Collection("players").
				FindOne(ctx, bson.D{testkit.E("_m.op", bson.D{testkit.E("$exists", true)})}).Raw(); err == nil {
				t.Errorf("%s: %s is unfinished", when, raw)
			}
			if found, err := testkit.FoundBy(ctx, db, scored.Checks()); err != nil || len(found) > 0 {
				t.Errorf("%s, the check finds %v, %v", when, found, err)
			}
		}
		mustPlay(t, scoped, scored.players.Insert(player{ID: "1", Tenant: "a", Team: "red", Goals: 5}))
		want("inserted", 1)
		mustPlay(t, scoped, scored.players.Delete("1"))
		want("deleted", 0)
		mustPlay(t, db, scored.players.Set("1", bson.D{testkit.E("deletedAt", nil)}))
		want("restored", 1)
	})
}
