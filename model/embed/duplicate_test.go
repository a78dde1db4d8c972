package embed_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// A duplicate key on an index that a write knows nothing of is no reason of the write.
func TestDuplicateStaysOne(t *testing.T) {
	p := verLot{ID: "l", Qty: 2, Version: 1}
	op := bson.NewObjectID()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		unique := func(collection, path string) {
			keys := mongo.IndexModel{
				Keys:    d(path, 1),
				Options: options.Index().SetUnique(true).SetPartialFilterExpression(d(path, d("$exists", true))),
			}
			if _, err := db.Collection(collection).Indexes().CreateOne(ctx, keys); err != nil {
				t.Fatal(err)
			}
		}
		unique("lots", "qty")
		unique("people", "home.zip")
		unique("people", "tasks.text")
		if err := verStore(ctx, db, p, verLot{ID: "other", Qty: 7}); err != nil {
			t.Fatal(err)
		}
		mine := embP("a1 b1")
		mine.Home = &embHome{City: "x"}
		mine.Tasks[0].Steps = []embStep{{No: 1}}
		other := embPerson{ID: "o", Tasks: []embTask{{ID: "a", Text: "taken"}}, Home: &embHome{Zip: "taken"}}
		none := embPerson{ID: "n"}
		if err := embStore(ctx, db, mine, other, none); err != nil {
			t.Fatal(err)
		}
		taken := embTask{ID: "a", Text: "taken"}
		for name, c := range map[string]struct {
			index string
			write model.Write
		}{
			"Versioned.Update":  {"lots|qty_1", verPlain.Update("l", 1, d("$set", d("qty", 7)), verNone)},
			"Versioned.Guarded": {"lots|qty_1", verTokens.Guarded("l", d("qty", 2), d("$set", d("qty", 7)), op)},
			"Embedded.Put":      {"people|tasks.text_1", embTasks.Put("p", taken)},
			"Embedded.Add":      {"people|tasks.text_1", embTasks.Add("p", embTask{ID: "c", Text: "taken"})},
			"Embedded.Update":   {"people|tasks.text_1", embTasks.Update("p", "a", d("$set", d("text", "taken")))},
			"Embedded.Replace":  {"people|tasks.text_1", embTasks.Replace("p", taken)},
			"One.Update":        {"people|home.zip_1", embHomes.Update("p", d("$set", d("zip", "taken")))},
			"One.Create":        {"people|home.zip_1", embHomes.Create("n", embHome{Zip: "taken"})},
		} {
			_, err := c.write.Run(ctx, db)
			collection, index, _ := strings.Cut(c.index, "|")
			if !mongo.IsDuplicateKeyError(err) || errors.Is(err, model.ErrStale) || errors.Is(err, model.ErrGuard) ||
				model.DuplicateIndex(err) != index ||
				!strings.Contains(err.Error(), collection) || !strings.Contains(err.Error(), index) {
				t.Errorf("%s: %v; index %q", name, err, model.DuplicateIndex(err))
			}
		}
		began := time.Now()
		calls := 0
		_, _, err := verPlainStore.Edit("l", func(lot *verLot) error {
			calls++
			lot.Qty = 7
			return nil
		}).Run(ctx, db)
		if !mongo.IsDuplicateKeyError(err) || calls != 1 || time.Since(began) > 5*time.Second {
			t.Errorf("Edit tried %d times: %v", calls, err)
		}
		if got := verShow(t, db); got != "qty 2 version 1" {
			t.Errorf("stored: %s", got)
		}
	})
}
