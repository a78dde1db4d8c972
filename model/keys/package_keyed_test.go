// These tests of the whole package store documents of several tenants, whose _ids contain the tenant.

package keys_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
)

var (
	keyedDocs    = model.NewCollection[bson.D, string]("letters")
	keyedLetters = keys.NewSequence(keyedDocs, model.NewCollection[keys.SequenceCounter[string], string]("counters"),
		keys.SequenceSpec{Days: model.NewCollection[keys.DayBucket, string]("days")})
	keyedModel = model.New("letters", keyedLetters)
	keyedStore = model.NewStore(keyedModel, keyedDocs)
)

func keyedTenant(db model.DB, name string) model.DB {
	return model.Scope{Tenant: bson.D{{Key: "tenant", Value: name}}}.On(db)
}

// Two tenants count for an owner of the same name, and pack the owner's documents.
func TestKeyedCounters(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	at := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, name := range []string{"a", "b"} {
			own := keyedTenant(keyedModel.On(db), name)
			for _, w := range []model.Write{
				keyedLetters.Open("alice"), keyedLetters.Open("alice"), keyedLetters.Raise("alice", 4),
				keyedLetters.Days.Pack("alice", 5, at),
			} {
				if _, err := w.Run(t.Context(), own); err != nil {
					t.Fatal(err)
				}
			}
			if n, err := keyedLetters.Allocator(own, 3).Next(t.Context(), "alice"); err != nil || n != 5 {
				t.Errorf("%s: next %d, %v", name, n, err)
			}
			counter, err := keyedLetters.Take("alice", 1).Run(t.Context(), own)
			if err != nil || counter.ID != "alice" || counter.Last != 8 {
				t.Errorf("%s: counter %v, %v", name, counter, err)
			}
			day, err := keyedLetters.Days.Range("alice", "2026-11-01", "2026-11-30").One(t.Context(), own)
			if err != nil || day.ID != "alice_2026-11-29" {
				t.Errorf("%s: day %v, %v", name, day, err)
			}
			if _, err := keyedLetters.Days.After("alice", "2026-11-29").
				One(t.Context(), own); !errors.Is(err, model.ErrNotFound) {
				t.Errorf("%s: a later day: %v", name, err)
			}
			key, err := keyedLetters.Key(name, 1)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := keyedStore.Insert(bson.D{{Key: "_id", Value: key}}).Run(t.Context(), own); err != nil {
				t.Fatal(err)
			}
			if found, err := keyedLetters.Checks()[0].All(t.Context(), own); err != nil || len(found) != 1 {
				t.Errorf("a missing counter: %v, %v", found, err)
			}
			if _, err := keyedLetters.Checks()[0].Job().Run(t.Context(), own, model.JobOptions{}); err != nil {
				t.Fatal(err)
			}
			for _, check := range keyedLetters.Checks() {
				if found, err := check.All(t.Context(), own); err != nil || len(found) > 0 {
					t.Errorf("%s: %v, %v", check.Name, found, err)
				}
			}
		}
	})
}

// Counters and days with old _ids are joined to those of the tenant.
func TestKeyedCountersMove(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			own := func(d bson.D) bson.D { return append(d, bson.E{Key: "tenant", Value: "a"}) }
			_, err := db.Collection("counters").InsertMany(ctx, []any{
				own(bson.D{{Key: "_id", Value: "alice"}, {Key: "last", Value: int64(7)}}),
				own(bson.D{{Key: "_id", Value: "bob"}, {Key: "last", Value: int64(2)}}),
			})
			if err == nil {
				_, err = db.Collection("days").
					InsertOne(ctx, own(bson.D{{Key: "_id", Value: "alice_2026-11-29"}, {Key: "keys", Value: bson.A{"1"}}}))
			}
			if err == nil {
				_, err = keyedLetters.Raise("alice", 3).Run(ctx, keyedTenant(db, "a"))
			}
			if err == nil {
				_, err = keyedLetters.Days.Pack("alice", 5, time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)).
					Run(ctx, keyedTenant(db, "a"))
			}
			return err
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, err := model.MoveKeys(keyedLetters).Run(ctx, keyedTenant(db, "a"), model.JobOptions{})
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			var counters []bson.Raw
			cur, err := db.Collection("counters").Find(t.Context(), bson.D{})
			if err == nil {
				err = cur.All(t.Context(), &counters)
			}
			if err != nil || len(counters) != 2 {
				t.Errorf("%v, %v", counters, err)
			}
			for _, c := range counters {
				want := int64(2)
				if model.Shell(c.Lookup("_id")) == "{tenant: 'a', of: 'alice'}" {
					want = 7
				}
				if last, _ := c.Lookup("last").AsInt64OK(); last != want || c.Lookup("_id", "of").Type == 0 ||
					c.Lookup("docmodelMoved").Type != 0 {
					t.Errorf("counter %v", c)
				}
			}
			const date = "2026-11-29"
			day, err := keyedLetters.Days.Range("alice", date, date).One(t.Context(), keyedTenant(db, "a"))
			if err != nil || len(day.Keys) != 2 {
				t.Errorf("day %v, %v", day, err)
			}
		},
	})
}

// Documents of the three techniques with old _ids are moved. Other collections still refer to them.
func TestKeyedDocumentsMove(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	room := bson.D{{Key: "house", Value: "a"}, {Key: "floor", Value: int64(1)}, {Key: "door", Value: "x"}}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			own := func(id any, d bson.D) bson.D {
				return append(append(bson.D{{Key: "_id", Value: id}}, d...), bson.E{Key: "tenant", Value: "a"})
			}
			var err error
			for name, docs := range map[string][]any{
				"wLetters": {
					own("alice_001", bson.D{{Key: "text", Value: "one"}}),
					own("alice_002", bson.D{{Key: "text", Value: "two"}}),
				},
				"wPlaces": {
					own("CA :Reno :a1", bson.D{
						{Key: "state", Value: "CA"}, {Key: "city", Value: "Reno"}, {Key: "user", Value: int64(1)},
					}),
				},
				"wRooms": {own(room, bson.D{{Key: "name", Value: "a"}})},
				"wNotes": {own("n", bson.D{{Key: "letter", Value: "alice_002"}})},
			} {
				_, e := db.Collection(name).InsertMany(ctx, docs)
				err = errors.Join(err, e)
			}
			_, _, e := worldMail.Insert(keyedLetter{ID: "alice_001", Text: "of b"}).Run(ctx, keyedTenant(worldModel.On(db), "b"))
			return errors.Join(err, e)
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, err := model.MoveKeys(worldSequence, worldComposite, worldDocuments).
				Run(ctx, keyedTenant(worldModel.On(db), "a"), model.JobOptions{})
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			own := keyedTenant(worldModel.On(db), "a")
			for _, step := range []struct {
				worldStep
				want string
			}{
				{
					worldStep: found("letters", worldSequence.Newest("alice")),
					want:      "letters: {v: [{_id: 'alice_002', text: 'two', n: Long('0')}, {_id: 'alice_001', text: 'one', n: Long('0')}]}",
				},
				{
					worldStep: found("places", worldComposite.Prefix("CA")),
					want:      "places: {v: [{_id: 'CA :Reno :a1', state: 'CA', city: 'Reno', user: Long('1')}]}",
				},
				{
					worldStep: found("rooms", worldDocuments.Prefix("a", 1)),
					want:      "rooms: {v: [{_id: {house: 'a', floor: Long('1'), door: 'x'}, name: 'a'}]}",
				},
				{found("joined", model.AggregateAs[bson.D](worldNotes, mongo.Pipeline{
					{{
						Key: "$lookup",
						Value: bson.D{
							{Key: "from", Value: "wLetters"}, {Key: "localField", Value: "letter"}, {Key: "foreignField", Value: "_id"},
							{Key: "as", Value: "l"},
						},
					}},
					{{Key: "$project", Value: bson.D{{Key: "_id", Value: "$letter"}, {Key: "l", Value: "$l.text"}}}},
				})), "joined: {v: [{_id: 'alice_002', l: ['two']}]}"},
			} {
				if got := step.show(t.Context(), own); got != step.want {
					t.Errorf("%s, want %s", got, step.want)
				}
			}
			if got, err := worldSequence.At("alice", 1).
				One(t.Context(), keyedTenant(worldModel.On(db), "b")); err != nil || got.Text != "of b" {
				t.Errorf("b: %v, %v", got, err)
			}
		},
	})
}

// A validation made from the documents' types accepts the _ids of tenants, and is found unchanged.
func TestKeyedValidation(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Feature{Name: "validation", Probe: func(
			ctx context.Context, db *mongo.Database,
		) error {
			return db.CreateCollection(ctx, "probe")
		}})
		own := worldModel.On(db)
		for _, v := range []model.Validation{
			schema.Of(worldLetters, schema.Spec{}).Validation(),
			schema.Of(worldRooms, schema.Spec{}).Validation(),
		} {
			for name, on := range map[string]model.DB{"base": own, "tenant": keyedTenant(own, "a")} {
				if err := v.Ensure(t.Context(), on); err != nil {
					t.Fatal(err)
				}
				if _, differs, err := v.Diff(t.Context(), on); err != nil || len(differs) > 0 {
					t.Errorf("%s: %v, %v", name, differs, err)
				}
			}
		}
		for _, name := range []string{"a", "b"} {
			_, err := model.NewPlan(
				worldLetters.Insert(keyedLetter{ID: "alice_001"}), worldRooms.Insert(keyedRoom{ID: keyedRoomID{"a", 1, "x"}}),
			).Run(t.Context(), keyedTenant(own, name))
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		bad := model.Write{
			Collection: "wLetters",
			Model:      &mongo.InsertOneModel{Document: bson.D{{Key: "_id", Value: "x"}, {Key: "text", Value: 1}}},
		}
		if _, err := bad.Run(t.Context(), keyedTenant(own, "a")); err == nil {
			t.Error("an invalid document was stored")
		}
	})
}
