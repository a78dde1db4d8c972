// These calls are a table of TestDriver, which tests the whole engine by the Go driver.

package engine_test

import (
	"bytes"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var driverDatabase = map[string]driverTest{
	"Database.Client": func(t *testing.T, c *mongo.Collection) { must(t, c.Database().Client().Ping(ctx, nil)) },
	"Database.Name":   func(t *testing.T, c *mongo.Collection) { wantSame(t, "name", c.Database().Name(), "test") },
	"Database.Collection": func(t *testing.T, c *mongo.Collection) {
		wantSame(t, "name", c.Database().Collection("x").Name(), "x")
	},
	"Database.Aggregate": func(t *testing.T, c *mongo.Collection) {
		cur := must1[*mongo.Cursor](t)(c.Database().
			Aggregate(ctx, stagesFrom(t, `{"$changeStream":{}}`, `{"$match":{"operationType":"delete"}}`)))
		defer cur.Close(ctx)
		insert(t, c, `{"_id":4}`)
		must1[*mongo.DeleteResult](t)(c.DeleteOne(ctx, byID(4)))
		wantSame(t, "a change of the database", cur.Next(ctx), true)
	},
	"Database.RunCommand": func(t *testing.T, c *mongo.Collection) {
		var reply struct{ N int }
		must(t, c.Database().RunCommand(ctx, bson.D{{Key: "count", Value: "things"}}).Decode(&reply))
		wantSame(t, "count", reply.N, 3)
	},
	"Database.RunCommandCursor": func(t *testing.T, c *mongo.Collection) {
		find := bson.D{{Key: "find", Value: "things"}, {Key: "batchSize", Value: 1}}
		wantSame(t, "found", numbers(t, must1[*mongo.Cursor](t)(c.Database().RunCommandCursor(ctx, find))),
			[]int{1, 2, 3})
	},
	"Database.CreateView": func(t *testing.T, c *mongo.Collection) {
		must(t, c.Database().CreateView(ctx, "view", "things", stagesFrom(t, `{"$match":{"n":{"$gt":1}}}`)))
		wantSame(t, "seen", numbers(t, must1[*mongo.Cursor](t)(c.Database().Collection("view").Find(ctx, bson.D{}))),
			[]int{2, 3})
	},
	"Database.Drop": func(t *testing.T, c *mongo.Collection) {
		must(t, c.Database().Drop(ctx))
		wantSame(t, "databases", must1[[]string](t)(c.Database().Client().ListDatabaseNames(ctx, bson.D{})), []string{})
	},
	"Database.ListCollectionSpecifications": func(t *testing.T, c *mongo.Collection) {
		list := must1[[]mongo.CollectionSpecification](t)(c.Database().ListCollectionSpecifications(ctx, bson.D{}))
		if len(list) != 1 || list[0].Name != "things" || list[0].Type != "collection" ||
			list[0].ReadOnly || list[0].UUID == nil ||
			list[0].IDIndex.Name != "_id_" {
			t.Errorf("specifications %+v", list)
		}
	},
	"Database.ListCollections": func(t *testing.T, c *mongo.Collection) {
		cur := must1[*mongo.Cursor](t)(c.Database().
			ListCollections(ctx, bson.D{{Key: "name", Value: "things"}}, options.ListCollections().SetNameOnly(true)))
		var list []bson.D
		must(t, cur.All(ctx, &list))
		wantSame(t, "collections", show(t, list[0]), `{"name":"things","type":"collection"}`)
	},
	"Database.ListCollectionNames": func(t *testing.T, c *mongo.Collection) {
		wantSame(t, "names", must1[[]string](t)(c.Database().ListCollectionNames(ctx, bson.D{})), []string{"things"})
	},
	"Database.Watch": func(t *testing.T, c *mongo.Collection) {
		cs := must1[*mongo.ChangeStream](t)(c.Database().Watch(ctx, mongo.Pipeline{}, quick()))
		defer cs.Close(ctx)
		insert(t, c.Database().Collection("other"), `{"_id":4}`)
		wantSame(t, "events", len(events(t, cs)), 1)
	},
	"Database.CreateCollection": func(t *testing.T, c *mongo.Collection) {
		db := c.Database()
		must(t, db.CreateCollection(ctx, "strict",
			options.CreateCollection().SetValidator(doc(t, `{"n":{"$type":"int"}}`))))
		wantCode(t, "making it again",
			db.CreateCollection(ctx, "strict", options.CreateCollection().SetValidator(bson.D{})), 48)
		_, err := db.Collection("strict").InsertOne(ctx, bson.D{{Key: "n", Value: "x"}})
		wantCode(t, "what the validator refuses", err, 121)
	},
	// GridFS is two collections and the driver's own code.
	"Database.GridFSBucket": func(t *testing.T, c *mongo.Collection) {
		bucket := c.Database().GridFSBucket(options.GridFSBucket().SetChunkSizeBytes(1000))
		content := strings.Repeat("0123456789", 512)
		id := must1[bson.ObjectID](t)(bucket.UploadFromStream(ctx, "file", strings.NewReader(content)))
		var got bytes.Buffer
		must1[int64](t)(bucket.DownloadToStream(ctx, id, &got))
		wantSame(t, "content", got.String() == content, true)
		wantSame(t, "chunks", must1[int64](t)(c.Database().Collection("fs.chunks").CountDocuments(ctx, bson.D{})), 6)
		must(t, bucket.Delete(ctx, id))
	},
}

var driverIndexView = map[string]driverTest{
	"IndexView.List": func(t *testing.T, c *mongo.Collection) {
		var list []bson.D
		must(t, must1[*mongo.Cursor](t)(c.Indexes().List(ctx)).All(ctx, &list))
		wantSame(t, "indexes", show(t, list[0]), `{"v":2,"key":{"_id":1},"name":"_id_"}`)
	},
	"IndexView.ListSpecifications": func(t *testing.T, c *mongo.Collection) {
		addIndex(t, c, `{"n":1}`, options.Index().SetUnique(true))
		x := must1[[]mongo.IndexSpecification](t)(c.Indexes().ListSpecifications(ctx))[1]
		if x.Name != "n_1" || x.Unique == nil || !*x.Unique || x.Sparse != nil || x.Namespace != "test.things" {
			t.Errorf("index %+v", x)
		}
	},
	"IndexView.CreateOne": func(t *testing.T, c *mongo.Collection) {
		name := must1[string](t)(c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "n", Value: -1}}}))
		wantSame(t, "name", name, "n_-1")
	},
	"IndexView.CreateMany": func(t *testing.T, c *mongo.Collection) {
		names := must1[[]string](t)(c.Indexes().CreateMany(ctx, []mongo.IndexModel{
			{Keys: bson.D{{Key: "n", Value: 1}}},
			{Keys: bson.D{{Key: "m", Value: 1}}, Options: options.Index().SetName("other").SetSparse(true)},
		}))
		wantSame(t, "names", names, []string{"n_1", "other"})
	},
	"IndexView.DropOne": func(t *testing.T, c *mongo.Collection) {
		addIndex(t, c, `{"n":1}`, nil)
		must(t, c.Indexes().DropOne(ctx, "n_1"))
		wantCode(t, "again", c.Indexes().DropOne(ctx, "n_1"), 27)
	},
	"IndexView.DropWithKey": func(t *testing.T, c *mongo.Collection) {
		addIndex(t, c, `{"n":1,"m":-1}`, nil)
		must(t, c.Indexes().DropWithKey(ctx, bson.D{{Key: "n", Value: 1}, {Key: "m", Value: -1}}))
	},
	"IndexView.DropAll": func(t *testing.T, c *mongo.Collection) {
		addIndex(t, c, `{"n":1}`, nil)
		must(t, c.Indexes().DropAll(ctx))
		wantSame(t, "indexes", len(must1[[]mongo.IndexSpecification](t)(c.Indexes().ListSpecifications(ctx))), 1)
	},
}
