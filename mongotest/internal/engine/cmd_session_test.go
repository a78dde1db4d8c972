package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// $listLocalSessions tells of the sessions that commands came in, until they end or are too old.
func TestListLocalSessions(t *testing.T) {
	clock := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	client, e := start(t)
	e.SetClock(func() time.Time { return clock })
	admin := client.Database("admin")
	list := func(in *mongo.Session) (out []bson.Raw) {
		t.Helper()
		cur, err := admin.Aggregate(mongo.NewSessionContext(ctx, in),
			mongo.Pipeline{{{Key: "$listLocalSessions", Value: bson.D{}}}})
		must(t, err)
		must(t, cur.All(ctx, &out))
		return out
	}
	one := must1[*mongo.Session](t)(client.StartSession())
	defer one.EndSession(ctx)
	if got := list(one); len(got) != 1 || !got[0].Lookup("_id", "id").Equal(one.ID().Lookup("id")) ||
		!got[0].Lookup("lastUse").Time().Equal(clock) {
		t.Fatalf("%v, want the session %v", got, one.ID())
	}
	var started struct {
		ID             bson.Raw
		TimeoutMinutes int32
	}
	in := mongo.NewSessionContext(ctx, one)
	must(t, admin.RunCommand(in, bson.D{{Key: "startSession", Value: 1}}).Decode(&started))
	if got := list(one); len(got) != 2 || started.TimeoutMinutes != 30 {
		t.Errorf("%v after one was started, which lasts %d minutes", got, started.TimeoutMinutes)
	}
	clock = clock.Add(29 * time.Minute)
	must(t, admin.RunCommand(in, bson.D{{Key: "refreshSessions", Value: bson.A{started.ID}}}).Err())
	clock = clock.Add(29 * time.Minute)
	if got := list(one); len(got) != 2 {
		t.Errorf("%v after one was refreshed", got)
	}
	must(t, admin.RunCommand(in, bson.D{{Key: "endSessions", Value: bson.A{started.ID}}}).Err())
	if got := list(one); len(got) != 1 {
		t.Errorf("%v after one was ended", got)
	}
}

// TestManualTransaction is the example of the manual's page core/transactions-in-applications: the callback
// API, over two databases.
func TestManualTransaction(t *testing.T) {
	client, _ := start(t)
	foo, bar := client.Database("mydb1").Collection("foo"), client.Database("mydb2").Collection("bar")
	insert(t, foo, `{"_id":0,"abc":0}`)
	insert(t, bar, `{"_id":0,"xyz":0}`)
	session := must1[*mongo.Session](t)(client.StartSession())
	defer session.EndSession(ctx)
	run := func(fail error) (any, error) {
		return session.WithTransaction(ctx, func(ctx context.Context) (any, error) {
			if _, err := foo.InsertOne(ctx, doc(t, `{"_id":1,"abc":1}`)); err != nil {
				return nil, err
			}
			if _, err := bar.InsertOne(ctx, doc(t, `{"_id":1,"xyz":999}`)); err != nil {
				return nil, err
			}
			return "Inserted into collections in different databases", fail
		}, options.Transaction().SetReadConcern(readconcern.Local()).SetWriteConcern(writeconcern.Majority()))
	}
	if _, err := run(errBoom); !errors.Is(err, errBoom) {
		t.Error(err)
	}
	wantAll(t, foo, `{"_id":0,"abc":0}`)
	wantAll(t, bar, `{"_id":0,"xyz":0}`)
	wantSame(t, "result", must1[any](t)(run(nil)), "Inserted into collections in different databases")
	wantAll(t, foo, `{"_id":0,"abc":0}`, `{"_id":1,"abc":1}`)
	wantAll(t, bar, `{"_id":0,"xyz":0}`, `{"_id":1,"xyz":999}`)
}

// TestKillAllSessions holds that it ends open transactions.
func TestKillAllSessions(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"n":1}`)
	s, tx := begin(t, c)
	if err := set(tx, c, 1, 2); err != nil {
		t.Fatal(err)
	}
	if err := c.Database().RunCommand(ctx, doc(t, `{"killAllSessions":[]}`)).Err(); err != nil {
		t.Fatal(err)
	}
	if err := set(ctx, c, 1, 3); err != nil {
		t.Error(err)
	}
	wantTransient(t, "committing what was killed", s.CommitTransaction(ctx), 251)
	wantAll(t, c, `{"_id":1,"n":3}`)
}
