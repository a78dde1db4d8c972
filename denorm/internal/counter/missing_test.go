package counter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A child can't be given a parent that doesn't exist: nothing is written.
func TestCounterMissingParent(t *testing.T) {
	parallel(t)
	draft := volumeOf("3", "z", 1)
	draft.State = "draft" // doesn't count
	bothWays(t, func(t *testing.T, db *mongo.Database, way model.DB) {
		if err := seedHouses(t.Context(), db, volumeOf("1", "a", 100)); err != nil {
			t.Fatal(err)
		}
		before, _ := modeltest.Dump(t.Context(), db)
		refused := map[string]model.Change[any]{
			"insert": fully.Insert(volumeOf("3", "z", 1), token(1)), "insert of what doesn't count": fully.Insert(draft, token(2)),
			"move": fully.Move("1", "z", token(3)), "set": fully.Set("1", bson.D{e("house", "z"), e("title", "T")}, token(4)),
			"insert, partial": loosen.Insert(volumeOf("3", "z", 1), token(1)), "move, partial": loosen.Move("1", "z", token(3)),
			"insert beside another": fully.Insert(volumeOf("4", "a", 1), token(5)).Also(fully.Insert(volumeOf("3", "z", 1), token(6))),
		}
		if way != model.DB(db) {
			refused["insert, without tokens"] = inTx.Insert(volumeOf("3", "z", 1), token(1))
			refused["move, without tokens"] = inTx.Move("1", "z", token(3))
		} else {
			delete(refused, "insert beside another")
		}
		for name, change := range refused {
			err := counterRun(t.Context(), way, change)
			if !errors.Is(err, model.ErrNotFound) || !strings.Contains(err.Error(), "volumes.house names the parent 'z'") {
				t.Errorf("%s: %v", name, err)
			}
			if after, _ := modeltest.Dump(t.Context(), db); after != before {
				t.Fatalf("%s: changed to\n%s", name, after)
			}
		}
	})
}

// The parent is deleted between its read and its write: the inserted child is withdrawn.
func TestCounterMissingParentLate(t *testing.T) {
	tenancy.Differs(t, "its scope keeps deleted parents, which still count")
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := seedHouses(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		insert := counted.Insert(volumeOf("3", "a", 1), token(1))
		s, err := insert.Read(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		mustExec(t, db, model.NewPlan(houses.Delete("a")))
		p, err := insert.Decide(s)
		if err != nil {
			t.Fatal(err)
		}
		wantError(t, exec(t.Context(), db, p), model.ErrNotFound)
		wantError(t, counterRun(t.Context(), db, insert), model.ErrNotFound)
		if n, err := volumes.Find(nil).Count(t.Context(), db); n != 0 || err != nil {
			t.Errorf("%d volumes, %v", n, err)
		}
	})
}

// The check finds children whose parent doesn't exist.
func TestCounterMissingParentCheck(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := errors.Join(seedHouses(t.Context(), db, volumeOf("1", "a", 1)),
			exec(t.Context(), db, volumes.InsertMany([]volume{volumeOf("2", "z", 1), volumeOf("3", "", 1)}))); err != nil {
			t.Fatal(err)
		}
		for _, c := range []model.Check{fully.Checks()[1], inTx.Checks()[1]} {
			found, err := c.All(t.Context(), db)
			if err != nil || len(found) != 1 || found[0].Problem != "house → 'z', which doesn't exist" {
				t.Errorf("%s: %v, %v", c.Name, found, err)
			}
		}
	})
}

// Another tenant's parent doesn't exist for a child, and isn't written.
func TestCounterForeignParent(t *testing.T) {
	tenancy.Differs(t, "it has a scope of its own")
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, scoped := t.Context(), ofTenant("a").On(db)
		if err := exec(ctx, db, teams.InsertMany([]team{{ID: "red", Tenant: "a"}, {ID: "foreign", Tenant: "b"}})); err != nil {
			t.Fatal(err)
		}
		mustCount(t, scoped, scored.Insert(player{ID: "1", Tenant: "a", Team: "red", Goals: 5}, token(8)))
		before, _ := modeltest.Dump(ctx, db)
		for range 2 {
			wantError(t, counterRun(ctx, scoped, scored.Move("1", "foreign", token(1))), model.ErrNotFound)
			wantError(t, counterRun(ctx, scoped, scored.Insert(player{ID: "2", Tenant: "a", Team: "foreign"}, token(2))), model.ErrNotFound)
		}
		if after, _ := modeltest.Dump(ctx, db); after != before {
			t.Errorf("changed to\n%s", after)
		}
	})
}
