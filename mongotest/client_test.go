package mongotest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest"
)

func TestClientsShareNothing(t *testing.T) {
	ctx := context.Background()
	a, b := mongotest.NewClient(t).Database("x"), mongotest.NewClient(t).Database("x")
	if err := insert(ctx, a, 1); err != nil {
		t.Fatal(err)
	}
	if n := count(t, b, bson.D{}); n != 0 {
		t.Errorf("the other client has %d documents", n)
	}
}

func TestStopTwice(t *testing.T) {
	client, stop := mongotest.Start()
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
	a, b := mongotest.NewMonitor(), mongotest.NewMonitor()
	client := mongotest.NewClient(t, a, mongotest.Settings{Client: o}, b)
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
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				text, _ := recover().(string)
				if !strings.HasPrefix(text, "mongotest: Settings.Client: ") || !strings.Contains(text, "remedy: ") {
					t.Errorf("panic %q", text)
				}
			}()
			mongotest.NewClient(t, mongotest.Settings{Client: o})
		})
	}
}

func TestInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		db := mongotest.NewClient(t).Database("x")
		if err := insert(ctx, db, 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour) // the driver's heartbeats go on
		if n := count(t, db, bson.D{}); n != 1 {
			t.Errorf("%d documents", n)
		}
	})
}

func TestEachHasFreshDatabases(t *testing.T) {
	names := map[string]bool{}
	for range 2 {
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
			if names[db.Name()] || len(db.Name()) > 30 {
				t.Errorf("database %q", db.Name())
			}
			names[db.Name()] = true
			if n := count(t, db, bson.D{}); n != 0 {
				t.Errorf("%d documents", n)
			}
			if err := insert(context.Background(), db, 1); err != nil {
				t.Error(err)
			}
		})
	}
}

// recorder is a testing.TB that keeps what it is told.
type recorder struct {
	testing.TB
	text string
}

func (*recorder) Helper()                        {}
func (r *recorder) Fatalf(f string, args ...any) { r.text += fmt.Sprintf(f, args...) }
func (r *recorder) Skip(args ...any)             { r.text += "skipped: " + fmt.Sprint(args...) }

func TestNeeds(t *testing.T) {
	for name, feature := range map[string]mongotest.Feature{
		"transactions": mongotest.Transactions, "changestreams": mongotest.ChangeStreams,
	} {
		t.Run(name, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				mongotest.Need(t, db, feature)
			})
		})
	}
}

// The probe of Validators leaves nothing behind.
func TestNeedsValidators(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(&recorder{TB: t}, db, mongotest.Validators)
		names, err := db.ListCollectionNames(context.Background(), bson.D{})
		if err != nil || len(names) != 0 {
			t.Errorf("the probe left %v, %v", names, err)
		}
	})
}

func TestNeed(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := &recorder{TB: t}
		mongotest.Need(r, db, mongotest.Feature{
			Name:  "telepathy",
			Probe: func(context.Context, *mongo.Database) error { return errors.New("none here") },
		})
		want := "mongotest: the test needs telepathy, and is not on a server that may lack it: none here"
		if strings.HasSuffix(t.Name(), "/server") {
			want = "skipped: server lacks: telepathy"
		}
		if r.text != want {
			t.Errorf("got %q, want %q", r.text, want)
		}
		there := func(context.Context, *mongo.Database) error { return nil }
		mongotest.Need(t, db, mongotest.Feature{Name: "nothing", Probe: there})
	})
}
