package mongotest_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/mongotest"
)

// product makes a cartesian product, which takes days. It closes begins before it does.
func product(ctx context.Context, db *mongo.Database, begins chan<- bool) error {
	_, err := db.Collection("c").InsertOne(ctx, bson.D{})
	close(begins)
	if err != nil {
		return err
	}
	numbers := bson.D{{Key: "$range", Value: bson.A{0, 10_000}}}
	pipeline := bson.A{
		bson.D{{
			Key:   "$set",
			Value: bson.D{{Key: "a", Value: numbers}, {Key: "b", Value: numbers}, {Key: "c", Value: numbers}},
		}},
	}
	for _, path := range []string{"$a", "$b", "$c"} {
		pipeline = append(pipeline, bson.D{{Key: "$unwind", Value: path}})
	}
	pipeline = append(pipeline, bson.D{{
		Key:   "$group",
		Value: bson.D{{Key: "_id", Value: nil}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}},
	}})
	_, err = db.Collection("c").Aggregate(ctx, pipeline)
	return err
}

// soon holds that f takes little time, and that it leaves no goroutine behind.
func soon(t *testing.T, before int, f func()) {
	t.Helper()
	begin := time.Now()
	f()
	if d := time.Since(begin); d > 20*time.Second { // the command by itself has no end
		t.Errorf("it took %v", d)
	}
	for range 300 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	all := make([]byte, 1<<20)
	t.Errorf("%d goroutines, %d before: %s", runtime.NumGoroutine(), before, all[:runtime.Stack(all, true)])
}

func TestStopInterrupts(t *testing.T) {
	before := runtime.NumGoroutine()
	client, stop := mongotest.Start()
	var working sync.WaitGroup
	for range 3 {
		begins := make(chan bool)
		working.Go(func() {
			if err := product(context.Background(), client.Database("x"), begins); err == nil {
				t.Error("the product was made")
			}
		})
		<-begins
	}
	time.Sleep(50 * time.Millisecond)
	soon(t, before, func() {
		stop()
		working.Wait()
	})
}

// A test that ends while a command runs, and closes nothing itself, ends soon too.
func TestCleanupInterrupts(t *testing.T) {
	before := runtime.NumGoroutine()
	for name, db := range map[string]func(t *testing.T) *mongo.Database{
		"NewClient": func(t *testing.T) *mongo.Database { return mongotest.NewClient(t).Database("x") },
		"Each": func(t *testing.T) (db *mongo.Database) {
			mongotest.Each(t, func(t *testing.T, own *mongo.Database) {
				if db == nil && !strings.Contains(t.Name(), "/server") { // which ends no command by itself
					db = own
					begins := make(chan bool)
					go product(context.Background(), own, begins)
					<-begins
					time.Sleep(50 * time.Millisecond)
				}
			})
			return nil
		},
	} {
		soon(t, before+1, func() {
			t.Run(name, func(t *testing.T) {
				if db := db(t); db != nil {
					begins := make(chan bool)
					go product(context.Background(), db, begins)
					<-begins
					time.Sleep(50 * time.Millisecond)
				}
			})
		})
	}
}

// The clock of a bubble stands still while a command runs, so that nothing that waits for a time ends it.
func TestStopInterruptsInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := mongotest.NewClient(t).Database("x")
		if err := db.Client().Ping(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		begins := make(chan bool)
		go product(context.Background(), db, begins)
		<-begins
		for range 1000 {
			runtime.Gosched()
		}
	})
}
