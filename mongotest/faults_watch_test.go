package mongotest_test

import (
	"context"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest"
)

// A change stream whose commands fail one after the other has every event once, in order: the driver goes on by tokens.
func TestFaultsWatch(t *testing.T) {
	for name, action := range map[string]mongotest.Action{
		"before": mongotest.CutBefore(), "after": mongotest.CutAfter(),
		"label": mongotest.Fail(11600, "ResumableChangeStreamError"), "cursor": mongotest.Fail(43),
	} {
		for _, command := range []string{"aggregate", "getMore"} {
			if name == "cursor" && command == "aggregate" {
				continue // it opens the cursor
			}
			for n := 1; n <= 3; n++ {
				t.Run(fmt.Sprint(name, " ", command, " ", n), func(t *testing.T) {
					t.Parallel()
					testFaultsWatch(t, mongotest.Named(command), n, action)
				})
			}
		}
	}
}

func testFaultsWatch(t *testing.T, m mongotest.Match, n int, action mongotest.Action) {
	ctx := context.Background()
	f := mongotest.NewFaults()
	client := mongotest.NewClient(t, f)
	db := client.Database("test")
	first, err := db.Watch(ctx, mongo.Pipeline{})
	if err != nil {
		t.Fatal(err)
	}
	token := first.ResumeToken()
	if err := first.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := insert(ctx, db, 1, 2, 3, 4, 5, 6); err != nil {
		t.Fatal(err)
	}
	f.Reset()
	f.On(m, n, action)
	stream, err := db.Watch(ctx, mongo.Pipeline{}, options.ChangeStream().SetStartAfter(token).SetBatchSize(1))
	var got []int32
	for err == nil && len(got) < 6 && stream.Next(ctx) {
		id, _ := stream.Current.Lookup("documentKey", "_id").Int32OK()
		got = append(got, id)
	}
	if err == nil {
		err = stream.Err()
		defer stream.Close(ctx)
	}
	if fmt.Sprint(got) != "[1 2 3 4 5 6]" && f.Count(m) >= n {
		t.Errorf("events of %v, %v", got, err)
	}
}
