package engine_test

import (
	"context"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// indexUses returns how often each index of the collection was used: "_id_:1 n_1:2".
func indexUses(t testing.TB, c *mongo.Collection) string {
	t.Helper()
	cur, err := c.Aggregate(ctx, stagesFrom(t, `{"$indexStats":{}}`))
	must(t, err)
	var list []struct {
		Name     string
		Host     string
		Key      bson.D
		Accesses struct{ Ops int64 }
	}
	must(t, cur.All(ctx, &list))
	text := ""
	for _, x := range list {
		if x.Host == "" || len(x.Key) != 1 {
			t.Errorf("%s has the host %q and the key %v", x.Name, x.Host, x.Key)
		}
		text += fmt.Sprintf("%s:%d ", x.Name, x.Accesses.Ops)
	}
	return text
}

func TestIndexStats(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":2}`)
	n := mongo.IndexModel{Keys: bson.D{{Key: "n", Value: 1}}}
	must1[string](t)(c.Indexes().CreateOne(ctx, n))
	byN := doc(t, `{"n":{"$gt":1}}`)
	for _, s := range []struct {
		reason string
		use    func() error
		want   string
	}{
		{"nothing has read", func() error { return nil }, "_id_:0 n_1:0 "},
		{"a find by the index", func() error { return c.FindOne(ctx, byN).Err() }, "_id_:0 n_1:1 "},
		{"by _id", func() error { return c.FindOne(ctx, doc(t, `{"_id":1}`)).Err() }, "_id_:1 n_1:1 "},
		{"an update", func() error {
			_, err := c.UpdateOne(ctx, byN, doc(t, `{"$set":{"m":1}}`))
			return err
		}, "_id_:1 n_1:2 "},
		{"a count", func() error {
			_, err := c.CountDocuments(ctx, byN)
			return err
		}, "_id_:1 n_1:3 "},
		{"all documents", func() error { return c.FindOne(ctx, bson.D{}).Err() }, "_id_:1 n_1:3 "},
		{"an explain", func() error {
			return c.Database().
				RunCommand(ctx, bson.D{{
					Key:   "explain",
					Value: bson.D{{Key: "find", Value: c.Name()}, {Key: "filter", Value: byN}},
				}}).Err()
		}, "_id_:1 n_1:3 "},
		{"an index that is altered", func() error {
			return c.Database().RunCommand(ctx,
				doc(t, `{"collMod":"`+c.Name()+`","index":{"name":"n_1","hidden":true}}`)).Err()
		}, "_id_:1 n_1:3 "},
		{"one that is made anew", func() error {
			if err := c.Indexes().DropOne(ctx, "n_1"); err != nil {
				return err
			}
			_, err := c.Indexes().CreateOne(ctx, n)
			return err
		}, "_id_:1 n_1:0 "},
	} {
		must(t, s.use())
		if got := indexUses(t, c); got != s.want {
			t.Errorf("%s: %s, want %s", s.reason, got, s.want)
		}
	}
}

func TestCollStats(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":2}`)
	var got []struct {
		NS           string `bson:"ns"`
		Count        int
		StorageStats struct {
			Size, Count, AvgObjSize, TotalIndexSize, TotalSize, Nindexes int
		}
	}
	cur, err := c.Aggregate(ctx, stagesFrom(t, `{"$collStats":{"count":{},"storageStats":{}}}`))
	must(t, err)
	must(t, cur.All(ctx, &got))
	// A document is 4 bytes of length, two ints with their names, and an end.
	if s := got[0].StorageStats; len(got) != 1 || got[0].NS != "test."+c.Name() || got[0].Count != 2 ||
		s.Size != 2*(4+9+7+1) || s.AvgObjSize != 21 ||
		s.TotalIndexSize != 2*(4+8) || s.TotalSize != s.Size+s.TotalIndexSize || s.Nindexes != 1 {
		t.Errorf("%+v", got)
	}
	_, err = c.Database().Collection("gone").Aggregate(ctx, stagesFrom(t, `{"$collStats":{"count":{}}}`))
	wantCode(t, "a collection that isn't there", err, 26)
	must(t, c.Database().Client().UseSession(ctx, func(ctx context.Context) error {
		s := mongo.SessionFromContext(ctx)
		must(t, s.StartTransaction())
		_, err := c.Aggregate(ctx, stagesFrom(t, `{"$collStats":{"count":{}}}`))
		wantCode(t, "in a transaction", err, 263)
		return s.AbortTransaction(ctx)
	}))
}

func TestDocumentsOfADatabase(t *testing.T) {
	c := collection(t)
	db := c.Database()
	cur, err := db.Aggregate(ctx, stagesFrom(t, `{"$documents":[{"x":1},{"x":"$$y"}]}`, `{"$merge":"`+c.Name()+`"}`),
		options.Aggregate().SetLet(bson.D{{Key: "y", Value: 2}}))
	must(t, err)
	must(t, cur.Close(ctx))
	if n, err := c.CountDocuments(ctx, doc(t, `{"x":{"$in":[1,2]}}`)); err != nil || n != 2 {
		t.Errorf("%d documents were merged: %v", n, err)
	}
	for _, s := range []struct {
		reason string
		run    func() error
	}{
		{"of a collection", func() error {
			_,
				err := c.Aggregate(ctx, stagesFrom(t, `{"$documents":[]}`))
			return err
		}},
		{
			reason: "a database without documents",
			run:    func() error { _, err := db.Aggregate(ctx, stagesFrom(t, `{"$match":{}}`)); return err },
		},
		{"nothing", func() error { _, err := db.Aggregate(ctx, mongo.Pipeline{}); return err }},
		{
			reason: "a database's figures",
			run: func() error {
				_, err := db.Aggregate(ctx,
					stagesFrom(t, `{"$collStats":{"count":{}}}`))
				return err
			},
		},
	} {
		wantCode(t, s.reason, s.run(), 73)
	}
}

func TestRedactedChanges(t *testing.T) {
	c := collection(t)
	cs, err := c.Watch(ctx,
		stagesFrom(t, `{"$redact":{"$cond":[{"$eq":["$secret",true]},"$$PRUNE","$$DESCEND"]}}`,
			`{"$project":{"fullDocument":1}}`), quick())
	must(t, err)
	insert(t, c, `{"_id":1,"a":{"secret":true},"b":{"x":1}}`)
	wantEvents(t, "$redact", events(t, cs), `{"fullDocument":{"_id":1,"b":{"x":1}}}`)
}
