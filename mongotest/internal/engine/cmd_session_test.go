package engine_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
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
