package model_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"

	"github.com/docmodel/docmodel/internal/tenancy"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestStreamBeginsAmongWrites holds that a stream finds its place to begin at while others write to the collection: a
// change that is made between the opening of the change stream and its first batch must be neither an error nor lost.
func TestStreamBeginsAmongWrites(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	client, stop := mongotest.Start()
	defer stop()
	db := client.Database("begin")
	ctx, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for ctx.Err() == nil {
				_, _ = db.Collection("c").InsertOne(ctx, bson.D{{Key: "n", Value: 1}})
			}
		})
	}
	for range 60 {
		s := model.Stream{
			Name: bson.NewObjectID().Hex(), Collection: "c", Places: "p",
			Plan: func(model.Event) (model.Plan, error) { return model.Plan{}, nil },
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if err := s.Run(ctx, db, model.StreamOptions{FromNow: true, Wait: time.Millisecond}); ctx.Err() == nil {
			t.Error("the stream has ended by itself:", err)
		}
		cancel()
	}
	cancel()
	writers.Wait()
}
