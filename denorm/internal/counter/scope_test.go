package counter_test

import (
	"slices"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A tenant's teams, and the players that name them; both are deleted softly.
type (
	player struct {
		ID      string                 `bson:"_id"`
		Tenant  string                 `bson:"tenant"`
		Team    string                 `bson:"team,omitempty"`
		Goals   int64                  `bson:"goals"`
		Deleted *int64                 `bson:"deletedAt,omitempty"`
		Pending *denorm.CounterPending `bson:"pending,omitempty"`
	}
	team struct {
		ID      string          `bson:"_id"`
		Tenant  string          `bson:"tenant"`
		Players int64           `bson:"players"`
		Goals   int64           `bson:"goals"`
		Most    int64           `bson:"most,omitempty"`
		Deleted *int64          `bson:"deletedAt,omitempty"`
		Ops     []bson.ObjectID `bson:"ops,omitempty"`
	}
)

var (
	players  = model.NewCollection[player, string]("players")
	teams    = model.NewCollection[team, string]("teams")
	goalSpec = denorm.CounterSpec{
		Count: "players", Sums: []denorm.Field{{From: "goals", To: "goals"}}, Where: bson.D{e("deletedAt", nil)}, Tokens: "ops", Pending: "pending",
	}
	scored = denorm.NewCounter(players, "team", teams, goalSpec)
)

func ofTenant(tenant string) model.Scope {
	return model.Scope{Tenant: bson.D{e("tenant", tenant)}, Delete: bson.D{e("deletedAt", int64(7))}}
}

// A parent that is marked as deleted counts what its children do, so that its numbers are
// true when it is restored. Another tenant's parent isn't touched.
func TestCounterDeletedParents(t *testing.T) {
	tenancy.Differs(t, "it has a scope of its own")
	parallel(t)
	t.Run("count and sum", func(t *testing.T) { counterDeletedParents(t, scored, false) })
	spec := goalSpec
	spec.Maxs = []denorm.Field{{From: "goals", To: "most"}}
	t.Run("greatest", func(t *testing.T) { counterDeletedParents(t, denorm.NewCounter(players, "team", teams, spec), true) })
}

func counterDeletedParents(t *testing.T, scored *denorm.Counter[player, string, team, string], most bool) {
	type change = model.Change[any]
	one := player{ID: "1", Tenant: "a", Team: "red", Goals: 5}
	for _, test := range []struct {
		reason string
		do     change
		want   map[string][3]int64
	}{
		{"a delete", scored.Delete("1", token(1)), map[string][3]int64{"red": {1, 3, 3}, "blue": {}}},
		{"a number", scored.Set("1", bson.D{e("goals", int64(1))}, token(1)), map[string][3]int64{"red": {2, 4, 3}, "blue": {}}},
		{"a move to another parent", scored.Move("1", "blue", token(1)), map[string][3]int64{"red": {1, 3, 3}, "blue": {1, 5, 5}}},
		{"an insert", scored.Insert(player{ID: "3", Tenant: "a", Team: "red", Goals: 9}, token(1)), map[string][3]int64{"red": {3, 17, 9}, "blue": {}}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
				ctx, scoped := t.Context(), ofTenant("a").On(db)
				if err := exec(ctx, db, teams.InsertMany([]team{{ID: "red", Tenant: "a"}, {ID: "blue", Tenant: "a"}, {ID: "foreign", Tenant: "b"}})); err != nil {
					t.Fatal(err)
				}
				mustCount(t, scoped, scored.Insert(one, token(8)), scored.Insert(player{ID: "2", Tenant: "a", Team: "red", Goals: 3}, token(9)))
				mustExec(t, scoped, model.NewPlan(teams.Delete("red")))
				for range 2 {
					mustCount(t, scoped, test.do)
				}
				if n, err := players.Find(bson.D{e("pending", bson.D{e("$exists", true)})}).Count(ctx, db); n > 0 || err != nil {
					t.Errorf("%d players are marked, %v", n, err)
				}
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
					if slices.Contains(got.Ops, token(1)) && got.Tenant != "a" {
						t.Error("another tenant's parent holds the token")
					}
				}
				mustExec(t, db, model.NewPlan(teams.Update("red", bson.D{e("$unset", bson.D{e("deletedAt", "")})})))
				if found, err := scored.Checks()[0].Find().All(ctx, scoped); err != nil || len(found) > 0 {
					t.Errorf("restored, the check finds %v, %v", found, err)
				}
			})
		})
	}
}

// A child that is deleted softly is not counted, holds no mark, and counts again once it
// is restored.
func TestCounterDeletedChildren(t *testing.T) {
	tenancy.Differs(t, "it has a scope of its own")
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, scoped := t.Context(), ofTenant("a").On(db)
		if err := exec(ctx, db, teams.InsertMany([]team{{ID: "red", Tenant: "a"}})); err != nil {
			t.Fatal(err)
		}
		want := func(when string, n int64) {
			t.Helper()
			red, err := teams.ByID("red").One(ctx, db)
			if err != nil || red.Players != n {
				t.Errorf("%s: %d players, %v", when, red.Players, err)
			}
			one, err := players.ByID("1").One(ctx, db)
			if err != nil || one.Pending != nil || (one.Deleted == nil) != (n == 1) {
				t.Errorf("%s: %+v, %v", when, one, err)
			}
			if found, err := foundBy(ctx, db, scored.Checks()); err != nil || len(found) > 0 {
				t.Errorf("%s, the check finds %v, %v", when, found, err)
			}
		}
		mustCount(t, scoped, scored.Insert(player{ID: "1", Tenant: "a", Team: "red", Goals: 5}, token(1)))
		want("inserted", 1)
		for range 2 {
			mustCount(t, scoped, scored.Delete("1", token(2)))
			want("deleted", 0)
		}
		mustCount(t, db, scored.Set("1", bson.D{e("deletedAt", nil)}, token(3)))
		want("restored", 1)
	})
}
