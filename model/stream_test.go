package model_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
)

func TestRepeatable(t *testing.T) {
	id := bson.D{{Key: "_id", Value: 1}}
	write := func(m mongo.WriteModel) model.Plan { return model.NewPlan(model.Write{Collection: "c", Model: m}) }
	update := func(filter, update bson.D) model.Plan {
		return write(&mongo.UpdateOneModel{Filter: filter, Update: update})
	}
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "a", Value: 1}}}}
	inc := bson.D{{Key: "$inc", Value: bson.D{{Key: "a", Value: 1}}}}
	once := update(id, inc)
	once.Steps = []model.Step{
		model.Write{Collection: "c", Idempotent: true, Model: &mongo.UpdateOneModel{Filter: id, Update: inc}},
	}
	for _, c := range []struct {
		reason string
		plan   model.Plan
		want   bool
	}{
		{"nothing", model.Plan{}, true},
		{"$set by _id", update(id, set), true},
		{"$set of whatever is found first", update(bson.D{{Key: "b", Value: 1}}, set), false},
		{"$inc, though it is atomic", update(id, inc), false},
		{"what says that it is done once", once, true},
		{"an insert with an _id", write(&mongo.InsertOneModel{Document: id}), true},
		{"one without", write(&mongo.InsertOneModel{Document: bson.D{}}), false},
		{
			reason: "an insert and its deletion",
			plan:   model.Concat(write(&mongo.InsertOneModel{Document: id}), write(&mongo.DeleteOneModel{Filter: id})),
			want:   false,
		},
		{
			reason: "a $merge that isn't marked",
			plan:   model.NewPlan(model.MergeInto{Collection: "c", Pipeline: mongo.Pipeline{{{Key: "$out", Value: "d"}}}}),
			want:   false,
		},
		{"transactional by itself", model.Plan{Transactional: true}, false},
		{"bad input", model.NewPlan(model.Refused("c", errors.New("bad"))), false},
	} {
		if got := c.plan.Repeatable(); got != c.want {
			t.Errorf("%s: %v, want %v", c.reason, got, c.want)
		}
	}
}

func TestStreamRefuses(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	db := mongotest.NewClient(t).Database("stream")
	s, err := db.Client().StartSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.EndSession(t.Context())
	good := model.Stream{
		Name: "s", Collection: "c", Places: "p",
		Plan: func(model.Event) (model.Plan, error) { return model.Plan{}, nil },
	}
	bad := errors.New("bad input")
	for _, c := range []struct {
		reason, want string
		change       func(*model.Stream, *model.StreamOptions)
		ctx          context.Context
	}{
		{"no name", "needs a Name", func(s *model.Stream, _ *model.StreamOptions) { s.Name = "" }, t.Context()},
		{"no plan", "needs a Name", func(s *model.Stream, _ *model.StreamOptions) { s.Plan = nil }, t.Context()},
		{"both", "Plan or Work", func(s *model.Stream, _ *model.StreamOptions) {
			s.Work = func(context.Context, model.DB, model.Event) (model.Plan, error) { return model.Plan{}, nil }
		}, t.Context()},
		{"places in the source", "Places", func(s *model.Stream, _ *model.StreamOptions) { s.Places = "c" }, t.Context()},
		{"polling by nothing", "Since", func(_ *model.Stream, o *model.StreamOptions) { o.Poll = true }, t.Context()},
		{"bad input", "bad input", func(s *model.Stream, _ *model.StreamOptions) { s.Err = bad }, t.Context()},
		{"a session", "session", func(*model.Stream, *model.StreamOptions) {}, mongo.NewSessionContext(t.Context(), s)},
	} {
		stream, o := good, model.StreamOptions{Once: true, Wait: time.Millisecond}
		c.change(&stream, &o)
		if err := stream.Run(c.ctx, db, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.reason, err, c.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := good.Run(ended, db, model.StreamOptions{}); err != nil {
		t.Errorf("in a context that has ended: %v", err)
	}
	if names, err := db.ListCollectionNames(t.Context(), bson.D{}); err != nil || len(names) > 0 {
		t.Errorf("something was written: %v, %v", names, err)
	}
	if got := (model.Stream{Err: bad}).String(); got != "// refused: bad input" {
		t.Errorf("a refused stream is %s", got)
	}
}

// Work reads what its plan needs, and is asked again when the plan is stale. A plan that may not be run twice is
// refused.
func TestStreamWork(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	db := mongotest.NewClient(t).Database("stream")
	asked := 0
	s := model.Stream{
		Name: "s", Collection: "c", Places: "p",
		Work: func(ctx context.Context, db model.DB, e model.Event) (model.Plan, error) {
			asked++
			n, err := (&model.Find[bson.Raw]{Query: model.Query{Collection: "c"}}).Count(ctx, db)
			if err == nil && asked == 1 {
				err = model.ErrStale
			}
			set := bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: n}}}}
			if e.ID.StringValue() == "adds" {
				set = bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: n}}}}
			}
			upsert := true
			return model.NewPlan(model.Write{Collection: "copies", Model: &mongo.UpdateOneModel{
				Filter: bson.D{{Key: "_id", Value: e.ID}}, Update: set, Upsert: &upsert,
			}}), err
		},
	}
	o := model.StreamOptions{Once: true, Wait: time.Millisecond, Workers: 1}
	for i, id := range []string{"a", "adds"} {
		if _, err := db.Collection("c").InsertOne(t.Context(), bson.D{{Key: "_id", Value: id}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), db, o); (err != nil) != (i == 1) ||
			err != nil && !errors.Is(err, model.ErrNotRepeatable) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if n, err := db.Collection("copies").
		CountDocuments(t.Context(), bson.D{{Key: "n", Value: 1}}); err != nil || n != 1 || asked != 3 {
		t.Errorf("%d copies, %d plans, %v", n, asked, err)
	}
}

// A function that wants to stop stops the stream, and nothing that was read is lost.
func TestStreamProgress(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	db := mongotest.NewClient(t).Database("stream")
	stop, runs := errors.New("enough"), 0
	var seen []string
	s := model.Stream{Name: "s", Collection: "c", Places: "p", Plan: func(e model.Event) (model.Plan, error) {
		seen = append(seen, e.ID.StringValue())
		return model.Plan{}, nil
	}}
	for _, id := range []string{"a", "b", "c"} {
		if _, err := db.Collection("c").InsertOne(t.Context(), bson.D{{Key: "_id", Value: id}}); err != nil {
			t.Fatal(err)
		}
	}
	o := model.StreamOptions{
		Once: true, Wait: time.Millisecond, Workers: 1, Queue: 1,
		Progress: func(p model.StreamProgress) error {
			if p.Applied == 1 {
				return stop
			}
			return nil
		},
	}
	for ; runs < 10; runs++ {
		err := s.Run(t.Context(), db, o)
		if err == nil {
			break
		}
		if err != stop {
			t.Fatal(err)
		}
	}
	if got := strings.Join(seen, ""); got != "abc" || runs != 3 {
		t.Errorf("%d runs that were stopped saw %s", runs, got)
	}
}

// Stopping leaves what is queued for the next run.
func TestStreamStopsAtOnce(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	db := mongotest.NewClient(t).Database("stream")
	var seen atomic.Int64
	s := model.Stream{Name: "s", Collection: "c", Places: "p", Plan: func(e model.Event) (model.Plan, error) {
		seen.Add(1)
		time.Sleep(time.Millisecond)
		return model.Plan{}, nil
	}}
	o := model.StreamOptions{Once: true, Wait: time.Millisecond, Workers: 1, SaveEvery: 1, FromNow: true}
	if err := s.Run(t.Context(), db, o); err != nil {
		t.Fatal(err)
	}
	docs := make([]any, 500)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}}
	}
	if _, err := db.Collection("c").InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("enough")
	o.Progress = func(p model.StreamProgress) error {
		if p.Applied > 0 {
			return stop
		}
		return nil
	}
	if err := s.Run(t.Context(), db, o); err != stop || seen.Load() > 250 {
		t.Errorf("stopped with %v after %d of %d events", err, seen.Load(), len(docs))
	}
	o.Progress = nil
	if err := s.Run(t.Context(), db, o); err != nil || seen.Load() < 500 || seen.Load() > 502 {
		t.Errorf("the next run ends with %v; %d events in all", err, seen.Load())
	}
}
