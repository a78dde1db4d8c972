// These calls are a table of TestDriver, which tests the whole engine by the Go driver.

package engine_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

var driverClient = map[string]driverTest{
	"Client.AppendDriverInfo": func(t *testing.T, c *mongo.Collection) {
		c.Database().Client().AppendDriverInfo(options.DriverInfo{Name: "wrapper", Version: "1"})
		must(t, c.Database().Client().Ping(ctx, nil))
	},
	"Client.Disconnect": func(t *testing.T, c *mongo.Collection) {
		client, _ := start(t)
		must(t, client.Ping(ctx, nil))
		other := must1[*mongo.Client](t)(mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/")))
		must(t, other.Disconnect(ctx))
		wantSame(t, "after it", other.Ping(ctx, nil), mongo.ErrClientDisconnected)
	},
	"Client.Ping": func(t *testing.T, c *mongo.Collection) {
		for _, pref := range []*readpref.ReadPref{
			nil, readpref.Primary(), readpref.Nearest(), readpref.SecondaryPreferred(),
		} {
			must(t, c.Database().Client().Ping(ctx, pref))
		}
	},
	"Client.StartSession": func(t *testing.T, c *mongo.Collection) {
		s := must1[*mongo.Session](t)(c.Database().Client().StartSession())
		defer s.EndSession(ctx)
		must(t, c.FindOne(mongo.NewSessionContext(ctx, s), byID(1)).Err())
		snapshot := must1[*mongo.Session](t)(c.Database().Client().StartSession(options.Session().SetSnapshot(true)))
		defer snapshot.EndSession(ctx)
		must(t, c.FindOne(mongo.NewSessionContext(ctx, snapshot), byID(1)).Err())
	},
	"Client.Database": func(t *testing.T, c *mongo.Collection) {
		wantSame(t, "stored", readStored(t, c.Database().Client().Database("test").Collection("things")),
			[]int{1, 2, 3})
	},
	"Client.ListDatabases": func(t *testing.T, c *mongo.Collection) {
		r := must1[mongo.ListDatabasesResult](t)(c.Database().Client().ListDatabases(ctx, bson.D{}))
		if len(r.Databases) != 1 || r.Databases[0].Name != "test" || r.Databases[0].Empty || r.TotalSize == 0 {
			t.Errorf("databases %+v", r)
		}
	},
	"Client.ListDatabaseNames": func(t *testing.T, c *mongo.Collection) {
		wantSame(t, "names",
			must1[[]string](t)(c.Database().Client().
				ListDatabaseNames(ctx, doc(t, `{"name":{"$regex":"^t"}}`))), []string{"test"})
	},
	"Client.UseSession": func(t *testing.T, c *mongo.Collection) {
		must(t, c.Database().Client().UseSession(ctx, func(ctx context.Context) error {
			wantSame(t, "running", mongo.SessionFromContext(ctx).TransactionRunning(), false)
			return c.FindOne(ctx, byID(1)).Err()
		}))
	},
	"Client.UseSessionWithOptions": func(t *testing.T, c *mongo.Collection) {
		err := c.Database().Client().
			UseSessionWithOptions(ctx, options.Session().SetCausalConsistency(true), func(ctx context.Context) error {
				if _, err := c.UpdateByID(ctx, 1, setN(10)); err != nil {
					return err
				}
				return c.FindOne(ctx, bson.D{{Key: "n", Value: 10}}).Err()
			})
		must(t, err)
	},
	"Client.Watch": func(t *testing.T, c *mongo.Collection) {
		client := c.Database().Client()
		cs := must1[*mongo.ChangeStream](t)(client.Watch(ctx, mongo.Pipeline{}, quick()))
		defer cs.Close(ctx)
		insert(t, client.Database("other").Collection("x"), `{"_id":4}`)
		wantSame(t, "events", len(events(t, cs)), 1)
	},
	"Client.NumberSessionsInProgress": func(t *testing.T, c *mongo.Collection) {
		s := must1[*mongo.Session](t)(c.Database().Client().StartSession())
		wantSame(t, "with one", c.Database().Client().NumberSessionsInProgress(), 1)
		s.EndSession(ctx)
		wantSame(t, "with none", c.Database().Client().NumberSessionsInProgress(), 0)
	},
	"Client.BulkWrite": func(t *testing.T, c *mongo.Collection) {
		r := must1[*mongo.ClientBulkWriteResult](t)(c.Database().Client().BulkWrite(ctx, []mongo.ClientBulkWrite{
			{
				Database: "test", Collection: "things",
				Model: mongo.NewClientUpdateOneModel().SetFilter(byID(1)).SetUpdate(setN(10)),
			},
			{Database: "other", Collection: "log", Model: mongo.NewClientInsertOneModel().SetDocument(byID("x"))},
		}))
		wantSame(t, "counts",
			[]int64{r.InsertedCount, r.MatchedCount, r.ModifiedCount, r.UpsertedCount, r.DeletedCount}, "[1 1 1 0 0]")
		wantSame(t, "stored", readStored(t, c), []int{10, 2, 3})
	},
}
