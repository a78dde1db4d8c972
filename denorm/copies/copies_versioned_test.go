package copies_test

import (
	"testing"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A source that is an embed.Versioned too: its name is copied under a version of its own.
type (
	stockItem struct {
		ID      string `bson:"_id"`
		Name    string `bson:"name"`
		NameV   int64  `bson:"nameVersion"`
		Qty     int64  `bson:"qty"`
		Version int64  `bson:"version"`
	}
	stockLine struct {
		ID   string       `bson:"_id"`
		Item stockItemRef `bson:"item"`
	}
	stockItemRef struct {
		ID   string `bson:"id"`
		Name string `bson:"name"`
		V    int64  `bson:"v"`
	}
)

// TestCopyOfVersioned holds what Spec.Version says: a rename by an update and Refresh reaches the copies, and
// writes to other fields make none of them look old.
func TestCopyOfVersioned(t *testing.T) {
	items := model.NewCollection[stockItem, string]("stockItems")
	lines := model.NewCollection[stockLine, string]("stockLines")
	stock := embed.NewVersioned(items, embed.VersionedSpec{})
	spec := copies.Spec{
		KeyPath: "item.id",
		Fields:  []copies.Field{{From: "name", To: "item.name"}},
		Version: "nameVersion", VersionTo: "item.v",
	}
	names := copies.New(items, lines, spec)
	spec.Version = "version"
	shared := copies.New(items, lines, spec) // the version of every write
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		refresh := func(c *copies.Copy[stockItem, string, string]) int64 {
			t.Helper()
			_, result, err := c.Refresh("nut").Run(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			return result.Modified()
		}
		if _, err := model.NewPlan(
			items.Insert(stockItem{ID: "nut", Name: "nut", NameV: 1, Qty: 9, Version: 1}),
			lines.Insert(stockLine{ID: "l", Item: stockItemRef{"nut", "nut", 1}}),
		).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if _, err := stock.Take("nut", "qty", 2, bson.NilObjectID).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if n := refresh(names); n != 0 {
			t.Errorf("%d copies are written after a write to another field", n)
		}
		rename := bson.D{
			{Key: "$set", Value: bson.D{{Key: "name", Value: "M8"}}},
			{Key: "$inc", Value: bson.D{{Key: "nameVersion", Value: 1}}},
		}
		if _, err := stock.Update("nut", 2, rename, bson.NilObjectID).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if n := refresh(names); n != 1 {
			t.Errorf("%d copies are written after the rename, want 1", n)
		}
		line, err := lines.ByID("l").One(ctx, db)
		if want := (stockItemRef{"nut", "M8", 2}); err != nil || line.Item != want {
			t.Errorf("the copy is %v, %v", line, err)
		}
		if n := refresh(shared); n != 1 {
			t.Errorf("%d copies are written by the version of every write, want 1", n)
		}
	})
}
