package modeltest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model/modeltest"
)

func TestClientsShareNothing(t *testing.T) {
	ctx := context.Background()
	a, b := modeltest.NewClient(t).Database("x"), modeltest.NewClient(t).Database("x")
	if _, err := parts.Insert(part{ID: 1}).Run(ctx, a); err != nil {
		t.Fatal(err)
	}
	if n, err := parts.Find(nil).Count(ctx, b); err != nil || n != 0 {
		t.Errorf("the other client has %d documents, %v", n, err)
	}
}

func TestStopTwice(t *testing.T) {
	client, stop := modeltest.Start()
	if err := client.Ping(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	stop()
	stop()
	if err := client.Ping(context.Background(), nil); err == nil {
		t.Error("a stopped client answers")
	}
}

func TestMonitorsAddUp(t *testing.T) {
	own := 0
	o := options.Client().SetMonitor(&event.CommandMonitor{
		Started: func(context.Context, *event.CommandStartedEvent) { own++ },
	})
	a, b := modeltest.NewMonitor(), modeltest.NewMonitor()
	client := modeltest.NewClient(t, modeltest.Options(modeltest.WithMonitor(a), modeltest.WithClientOptions(o)), modeltest.WithMonitor(b))
	if err := client.Ping(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if a.Cost().Commands != 1 || b.Cost().Commands != 1 || own != 1 {
		t.Errorf("seen: %v, %v, %d", a.Cost(), b.Cost(), own)
	}
	a.Reset()
	if got := a.Cost().Commands + len(a.Commands()); got != 0 {
		t.Errorf("after Reset: %d", got)
	}
}

func TestRefusedOptions(t *testing.T) {
	for name, o := range map[string]*options.ClientOptions{
		"hosts":       options.Client().ApplyURI("mongodb://elsewhere/"),
		"compressors": options.Client().SetCompressors([]string{"zstd"}),
		"nil":         nil,
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				text, _ := recover().(string)
				if !strings.HasPrefix(text, "modeltest: WithClientOptions: ") || !strings.Contains(text, "remedy: ") {
					t.Errorf("panic %q", text)
				}
			}()
			modeltest.WithClientOptions(o)
		})
	}
}

func TestInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		db := modeltest.NewClient(t).Database("x")
		if _, err := parts.Insert(part{ID: 1}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour) // the driver's heartbeats go on
		if n, err := parts.Find(nil).Count(ctx, db); err != nil || n != 1 {
			t.Errorf("%d documents, %v", n, err)
		}
	})
}

func TestEachHasFreshDatabases(t *testing.T) {
	names := map[string]bool{}
	for range 2 {
		modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
			if names[db.Name()] || len(db.Name()) > 30 {
				t.Errorf("database %q", db.Name())
			}
			names[db.Name()] = true
			if n, err := parts.Find(nil).Count(context.Background(), db); err != nil || n != 0 {
				t.Errorf("%d documents, %v", n, err)
			}
			if _, err := parts.Insert(part{ID: 1}).Run(context.Background(), db); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNeeds(t *testing.T) {
	for name, need := range map[string]func(testing.TB, *mongo.Database){
		"transactions": modeltest.NeedTransactions, "changestreams": modeltest.NeedChangeStreams,
	} {
		t.Run(name, func(t *testing.T) {
			modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
				need(t, db)
			})
		})
	}
}

// What NeedValidators finds out, it finds out without a trace.
func TestNeedValidators(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		modeltest.NeedValidators(&recorder{TB: t}, db)
		names, err := db.ListCollectionNames(context.Background(), bson.D{})
		if err != nil || len(names) != 0 {
			t.Errorf("the probe left %v, %v", names, err)
		}
	})
}

func TestNeed(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := &recorder{TB: t}
		modeltest.Need(r, db, "telepathy", func(context.Context, *mongo.Database) error { return errors.New("none here") })
		want := "modeltest: the test needs telepathy, and is not on a server that may lack it: none here"
		if strings.HasSuffix(t.Name(), "/server") {
			want = "skipped: server lacks: telepathy"
		}
		if r.text != want {
			t.Errorf("got %q, want %q", r.text, want)
		}
		modeltest.Need(t, db, "nothing", func(context.Context, *mongo.Database) error { return nil })
	})
}
