package composite_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A field of the type that somebody sets, changes or wraps between the reading and the move makes it stale, and isn't
// lost. One that is empty in another way is none.
func TestCompositeMoveGuards(t *testing.T) {
	const key = "CA :San :a1"
	stored := bson.D{
		{Key: "_id", Value: key}, {Key: "state", Value: "CA"}, {Key: "city", Value: "San"},
		{Key: "user", Value: int64(1)},
	}
	named := append(stored[:4:4], bson.E{Key: "name", Value: "Ann"})
	open := keys.NewComposite(model.NewCollection[bson.M, string]("residents"), keys.Text("state"), keys.Text("city"))
	openStored := bson.D{{Key: "_id", Value: "CA :San"}, {Key: "state", Value: "CA"}, {Key: "city", Value: "San"}}
	set := func(name string, v any) bson.D { return bson.D{{Key: "$set", Value: bson.D{{Key: name, Value: v}}}} }
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			reason string
			stored bson.D
			update bson.D
			stale  bool
		}{
			{"nothing", stored, set("user", int64(1)), false},
			{"a field that was not there", stored, set("name", "Ann"), true},
			{"a list that has the empty text", stored, set("name", bson.A{""}), true},
			{"nothing, said otherwise", stored, set("name", nil), false},
			{"a list that has the value", named, set("name", bson.A{"Ann"}), true},
			{"a field that is taken away", named, bson.D{{Key: "$unset", Value: bson.D{{Key: "name", Value: ""}}}},
				true},
			{"a field that the type doesn't know", named, set("other", 1), false},
			{"any field of a map", openStored, set("other", 1), true},
		} {
			compositeStore(t, db, "residents", []any{c.stored})
			var move, replace model.Plan
			if len(c.stored) == 3 {
				was, err := open.Prefix("CA", "San").One(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				move, replace = open.Move(&was, bson.M{"state": "NV", "city": "Reno"}),
					open.Move(&was, bson.M{"state": "CA", "city": "San", "x": 1})
			} else {
				was, err := byPlace.Prefix("CA", "San", 1).One(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				now := was
				now.Name = "Anna"
				move = byPlace.Move(&was, resident{State: "NV", City: "Reno", User: 1})
				replace = byPlace.Move(&was, now)
			}
			if _, err := db.Collection("residents").UpdateByID(t.Context(), c.stored[0].Value, c.update); err != nil {
				t.Fatal(err)
			}
			move.Options.AllowPartial = true
			for _, p := range []model.Plan{move, replace} {
				err := compositeRun(t.Context(), db, p)
				if !c.stale {
					if p.Transactional && err == nil {
						compositeStore(t, db, "residents", []any{c.stored})
					} else if err != nil {
						t.Errorf("%s: %v", c.reason, err)
					}
					continue
				}
				if !errors.Is(err, model.ErrStale) {
					t.Errorf("%s: %v", c.reason, err)
				}
			}
			n, err := db.Collection("residents").CountDocuments(t.Context(), bson.D{})
			if err != nil || n != 1 { // also a stale move leaves one: it takes its copy back
				t.Errorf("%s: leaves %d documents, %v", c.reason, n, err)
			}
		}
	})
}
