package model_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// TestStreamLeavesNothing holds that a stream that is stopped, at any time, ends its workers. Its cursor may stay until
// the server closes it by itself: the driver gives it up where the context ends within a getMore.
func TestStreamLeavesNothing(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	before := runtime.NumGoroutine()
	client, stop := mongotest.Start()
	db := client.Database("stream")
	for i := range 10 {
		s := model.Stream{
			Name: fmt.Sprint("stream ", i), Collection: "c", Places: "p",
			Plan: func(model.Event) (model.Plan, error) { return model.Plan{}, nil },
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+7*i)*time.Millisecond)
		go func() { _, _ = db.Collection("c").InsertOne(ctx, bson.D{{Key: "at", Value: i}}) }()
		if err := s.Run(ctx, db, model.StreamOptions{FromNow: true, Wait: time.Millisecond}); ctx.Err() == nil {
			t.Error("the stream has ended by itself:", err)
		}
		cancel()
	}
	stop()
	for wait := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(wait) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
