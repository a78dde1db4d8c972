package model_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A stream that polls by a field is refused under a scope that sets the field in the stream's own updates: it would
// poll them for ever.
func TestStreamPolledScopes(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		for reason, c := range map[string]struct {
			scope       model.Scope
			mark, since string
			refused     bool
		}{
			"the polled field":               {model.Scope{Set: d("at", 9)}, "by", "at", true},
			"a field around it":              {model.Scope{Set: d("at", d("n", 9))}, "by", "at.n", true},
			"in the polled collection":       {model.Scope{Set: d("at", 9), Collections: []string{"parts"}}, "by", "at", true},
			"another field":                  {model.Scope{Set: d("changed", 9)}, "by", "at", false},
			"a field that begins like it":    {model.Scope{Set: d("att", 9)}, "by", "at", false},
			"only new documents":             {model.Scope{Insert: d("at", 9)}, "by", "at", false},
			"another collection":             {model.Scope{Set: d("at", 9), Collections: []string{"others"}}, "by", "at", false},
			"a stream without own updates":   {model.Scope{Set: d("at", 9)}, "", "at", false},
			"two scopes, one with the field": {model.Scope{Set: d("at", 9)}, "by", "at", true},
		} {
			if err := db.Collection("parts").Drop(ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Collection("parts").
				InsertOne(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "at", Value: d("n", 5)}}); err != nil {
				t.Fatal(err)
			}
			planned := 0
			s := model.Stream{
				Name: reason, Collection: "parts", Places: "places", Since: c.since, Mark: c.mark,
				Plan: func(e model.Event) (model.Plan, error) {
					planned++
					return model.Plan{}, nil
				},
			}
			on := c.scope.On(model.Scope{Set: d("first", 1)}.On(db))
			err := s.Run(ctx, on, model.StreamOptions{Poll: true, Once: true})
			var conflict *model.ConflictError
			if errors.As(err, &conflict) != c.refused || !c.refused && err != nil || (planned == 0) != c.refused {
				t.Errorf("%s: %d plans, %v", reason, planned, err)
			}
			if c.refused && conflict != nil && conflict.Collection != "parts" {
				t.Errorf("%s: %v", reason, err)
			}
		}
	})
}
