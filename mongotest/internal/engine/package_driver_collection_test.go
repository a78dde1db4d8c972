// These calls are a table of TestDriver, which tests the whole engine by the Go driver.

package engine_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
)

var driverCollection = map[string]driverTest{
	"Collection.Clone": func(t *testing.T, c *mongo.Collection) {
		wantSame(t, "stored", readStored(t, c.Clone(options.Collection().SetReadConcern(readconcern.Majority()))),
			[]int{1, 2, 3})
	},
	"Collection.Name": func(t *testing.T, c *mongo.Collection) { wantSame(t, "name", c.Name(), "things") },
	"Collection.Database": func(t *testing.T, c *mongo.Collection) {
		wantSame(t, "database", c.Database().Name(), "test")
	},
	"Collection.BulkWrite": func(t *testing.T, c *mongo.Collection) {
		r := must1[*mongo.BulkWriteResult](t)(c.BulkWrite(ctx, []mongo.WriteModel{
			mongo.NewInsertOneModel().SetDocument(bson.D{{Key: "_id", Value: 4}, {Key: "n", Value: 4}}),
			mongo.NewUpdateOneModel().SetFilter(bson.D{}).SetUpdate(setN(10)).SetSort(bson.D{{Key: "n", Value: -1}}),
			mongo.NewUpdateManyModel().SetFilter(bson.D{{Key: "n", Value: bson.D{{Key: "$lt", Value: 3}}}}).
				SetUpdate(setN(0)),
			mongo.NewReplaceOneModel().SetFilter(byID(3)).SetReplacement(bson.D{{Key: "n", Value: 33}}),
			mongo.NewUpdateOneModel().SetFilter(byID(5)).SetUpdate(setN(5)).SetUpsert(true),
			mongo.NewDeleteOneModel().SetFilter(byID(1)),
			mongo.NewDeleteManyModel().SetFilter(byID(99)),
		}))
		wantSame(t, "counts",
			[]int64{r.InsertedCount, r.MatchedCount, r.ModifiedCount, r.UpsertedCount, r.DeletedCount}, "[1 4 4 1 1]")
		wantSame(t, "upserted", r.UpsertedIDs, map[int64]any{4: 5})
		wantSame(t, "stored", readStored(t, c), []int{0, 33, 10, 5})
		_, err := c.BulkWrite(ctx, []mongo.WriteModel{
			mongo.NewInsertOneModel().SetDocument(byID(2)), mongo.NewDeleteManyModel().SetFilter(bson.D{}),
		})
		if !mongo.IsDuplicateKeyError(err) || len(readStored(t, c)) != 4 {
			t.Errorf("an ordered bulk went on after %v", err)
		}
	},
	"Collection.InsertOne": func(t *testing.T, c *mongo.Collection) {
		r := must1[*mongo.InsertOneResult](t)(c.InsertOne(ctx, bson.D{{Key: "n", Value: 4}}))
		if _, ok := r.InsertedID.(bson.ObjectID); !ok {
			t.Errorf("the _id is %v", r.InsertedID)
		}
		wantSame(t, "stored", readStored(t, c), []int{1, 2, 3, 4})
	},
	"Collection.InsertMany": func(t *testing.T, c *mongo.Collection) {
		_, err := c.InsertMany(ctx, []any{byID(2), byID(4)}, options.InsertMany().SetOrdered(false))
		if !mongo.IsDuplicateKeyError(err) || len(readStored(t, c)) != 4 {
			t.Errorf("unordered: %v", err)
		}
	},
	"Collection.DeleteOne": func(t *testing.T, c *mongo.Collection) {
		r := must1[*mongo.DeleteResult](t)(c.DeleteOne(ctx, byID(2), options.DeleteOne().SetHint("_id_")))
		wantSame(t, "deleted", r.DeletedCount, 1)
		wantSame(t, "stored", readStored(t, c), []int{1, 3})
	},
	"Collection.DeleteMany": func(t *testing.T, c *mongo.Collection) {
		over := bson.D{{Key: "$expr", Value: bson.D{{Key: "$gt", Value: bson.A{"$n", "$$over"}}}}}
		r := must1[*mongo.DeleteResult](t)(c.DeleteMany(ctx, over,
			options.DeleteMany().SetLet(bson.D{{Key: "over", Value: 1}})))
		wantSame(t, "deleted", r.DeletedCount, 2)
		wantSame(t, "stored", readStored(t, c), []int{1})
	},
	"Collection.UpdateByID": func(t *testing.T, c *mongo.Collection) {
		r := must1[*mongo.UpdateResult](t)(c.UpdateByID(ctx, 2, setN(20)))
		wantSame(t, "counts", []int64{r.MatchedCount, r.ModifiedCount}, "[1 1]")
		wantSame(t, "stored", readStored(t, c), []int{1, 20, 3})
	},
	"Collection.UpdateOne": func(t *testing.T, c *mongo.Collection) {
		must1[*mongo.UpdateResult](t)(c.UpdateOne(ctx, bson.D{}, setN(30),
			options.UpdateOne().SetSort(bson.D{{Key: "n", Value: -1}})))
		r := must1[*mongo.UpdateResult](t)(c.UpdateOne(ctx, byID(4), setN(4), options.UpdateOne().SetUpsert(true)))
		wantSame(t, "upserted", r.UpsertedID, 4)
		wantSame(t, "stored", readStored(t, c), []int{1, 2, 30, 4})
	},
	"Collection.UpdateMany": func(t *testing.T, c *mongo.Collection) {
		r := must1[*mongo.UpdateResult](t)(c.UpdateMany(ctx, bson.D{}, setN(3)))
		wantSame(t, "counts", []int64{r.MatchedCount, r.ModifiedCount}, "[3 2]")
		wantSame(t, "stored", readStored(t, c), []int{3, 3, 3})
	},
	"Collection.ReplaceOne": func(t *testing.T, c *mongo.Collection) {
		must1[*mongo.UpdateResult](t)(c.ReplaceOne(ctx, byID(2), bson.D{{Key: "m", Value: 1}}))
		wantAll(t, c, `{"_id":1,"n":1}`, `{"_id":2,"m":1}`, `{"_id":3,"n":3}`)
	},
	"Collection.Aggregate": func(t *testing.T, c *mongo.Collection) {
		cur := must1[*mongo.Cursor](t)(c.Aggregate(ctx, stagesFrom(t, `{"$group":{"_id":null,"n":{"$sum":"$n"}}}`)))
		wantSame(t, "sum", numbers(t, cur), []int{6})
	},
	"Collection.CountDocuments": func(t *testing.T, c *mongo.Collection) {
		wantSame(t, "count", must1[int64](t)(c.CountDocuments(ctx, bson.D{}, options.Count().SetSkip(1).SetLimit(5))),
			2)
	},
	"Collection.EstimatedDocumentCount": func(t *testing.T, c *mongo.Collection) {
		wantSame(t, "count", must1[int64](t)(c.EstimatedDocumentCount(ctx)), 3)
	},
	"Collection.Distinct": func(t *testing.T, c *mongo.Collection) {
		var list []int
		must(t, c.Distinct(ctx, "n", doc(t, `{"n":{"$gt":1}}`)).Decode(&list))
		wantSame(t, "values", list, []int{2, 3})
	},
	"Collection.Find": func(t *testing.T, c *mongo.Collection) {
		cur := must1[*mongo.Cursor](t)(c.Find(ctx, bson.D{},
			options.Find().SetSort(bson.D{{Key: "n", Value: -1}}).SetSkip(1).SetBatchSize(1)))
		wantSame(t, "found", numbers(t, cur), []int{2, 1})
	},
	"Collection.FindOne": func(t *testing.T, c *mongo.Collection) {
		var d bson.D
		must(t, c.FindOne(ctx, byID(2), options.FindOne().SetProjection(bson.D{{Key: "_id", Value: 0}})).Decode(&d))
		wantSame(t, "found", show(t, d), `{"n":2}`)
		wantSame(t, "no document", c.FindOne(ctx, byID(9)).Err(), mongo.ErrNoDocuments)
	},
	"Collection.FindOneAndDelete": func(t *testing.T, c *mongo.Collection) {
		var d struct{ N int }
		must(t,
			c.FindOneAndDelete(ctx, bson.D{},
				options.FindOneAndDelete().SetSort(bson.D{{Key: "n", Value: -1}})).Decode(&d))
		wantSame(t, "deleted", d.N, 3)
		wantSame(t, "stored", readStored(t, c), []int{1, 2})
	},
	"Collection.FindOneAndReplace": func(t *testing.T, c *mongo.Collection) {
		var d struct{ N int }
		must(t, c.FindOneAndReplace(ctx, byID(2), bson.D{{Key: "n", Value: 20}}).Decode(&d))
		wantSame(t, "before", d.N, 2)
		wantSame(t, "stored", readStored(t, c), []int{1, 20, 3})
	},
	"Collection.FindOneAndUpdate": func(t *testing.T, c *mongo.Collection) {
		var d struct{ N int }
		must(t,
			c.FindOneAndUpdate(ctx, byID(2), setN(20),
				options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&d))
		wantSame(t, "after", d.N, 20)
	},
	"Collection.Watch": func(t *testing.T, c *mongo.Collection) {
		cs := must1[*mongo.ChangeStream](t)(c.Watch(ctx, stagesFrom(t, `{"$match":{"operationType":"insert"}}`),
			quick()))
		defer cs.Close(ctx)
		must1[*mongo.UpdateResult](t)(c.UpdateByID(ctx, 2, setN(20)))
		insert(t, c, `{"_id":4}`)
		wantEvents(t, "events", events(t, cs),
			`{"operationType":"insert","fullDocument":{"_id":4},`+things+`,"documentKey":{"_id":4}}`)
	},
	"Collection.Indexes": func(t *testing.T, c *mongo.Collection) {
		wantSame(t, "indexes", len(must1[[]mongo.IndexSpecification](t)(c.Indexes().ListSpecifications(ctx))), 1)
	},
	"Collection.SearchIndexes": func(t *testing.T, c *mongo.Collection) {
		_ = c.SearchIndexes() // every method of which is refused
	},
	"Collection.Drop": func(t *testing.T, c *mongo.Collection) {
		must(t, c.Drop(ctx))
		must(t, c.Drop(ctx))
		wantSame(t, "stored", readStored(t, c), []int{})
	},
}
