package composite_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
)

func TestCompositeRefuses(t *testing.T) {
	ann := resident{State: "CA", City: "San", User: 1}
	other := ann
	other.ID = "CA :San :a2"
	_, badText := byPlace.KeyOf("CA", "\xff", 1)
	_, badTime := ofAll.KeyOf("a", 1, bson.DateTime(lastMilli+1), bson.ObjectID{1}, "")
	_, badYear := ofAll.KeyOf("a", 1, time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), bson.ObjectID{1}, "")
	_, badID := ofAll.KeyOf("a", 1, bson.DateTime(0), bson.NilObjectID, "")
	_, few := byPlace.KeyOf("CA", "San")
	_, many := byPlace.KeyOf("CA", "San", 1, 2)
	_, float := byPlace.KeyOf("CA", "San", 1.0)
	_, null := byPlace.KeyOf("CA", nil, 1)
	_, big := byPlace.KeyOf("CA", "San", uint64(math.MaxUint64))
	_, unknown := byPlace.KeyOf("CA", "San", make(chan int))
	_, nothing := byPlace.Key(nil)
	_, missing := ofAll.Key(&bson.D{{Key: "text", Value: "a"}})
	_, array := ofAll.Key(&bson.D{{Key: "text", Value: bson.A{"a"}}})
	_, wrong := byPlace.Key(&other)
	_, partial := placeDoc.ID("CA")
	for reason, err := range map[string]error{
		"text": badText, "time": badTime, "year": badYear, "ObjectID": badID, "few": few, "many": many, "float": float,
		"null": null, "big": big, "unknown": unknown, "nil": nothing, "missing": missing, "array": array,
		"another _id": wrong, "few for a document": partial,
		"insert":                placeStore.Insert(other).Err,
		"insert many":           placeStore.InsertMany(ann, other).Err,
		"move from nothing":     byPlace.Move(nil, ann).Err(),
		"move from another":     byPlace.Move(&other, ann).Err(),
		"move to another":       byPlace.Move(&ann, other).Err(),
		"Prefix":                byPlace.Prefix("CA", 1).Err,
		"long Prefix":           byPlace.Prefix("CA", "San", 1, 2).Err,
		"Range of nothing":      byPlace.Range([]any{"CA", "San", 1}, nil, nil).Err,
		"Range of another type": byPlace.Range([]any{"CA", "San"}, "a", nil).Err,
		"Range backwards":       byPlace.Range([]any{"CA", "San"}, 2, 1).Err,
		"negative backwards":    byPlace.Range([]any{"CA", "San"}, -1, -2).Err,
		"Range in nothing":      byPlace.Range([]any{1}, nil, nil).Err,
		"StartingWith a number": byPlace.StartingWith([]any{"CA", "San"}, "1").Err,
		"StartingWith no text":  byPlace.StartingWith([]any{"CA"}, "\xff").Err,
		"StartingWith the end":  byPlace.StartingWith([]any{"CA", "San", 1}, "1").Err,
		"StartingWith in none":  byPlace.StartingWith([]any{1}, "1").Err,
		"Counts by the last":    byPlace.Counts("CA", "San").Err,
		"Counts of a number":    byPlace.Counts(1).Err,
		"document Prefix":       placeDoc.Prefix(1).Err,
		"document Range":        placeDoc.Range([]any{"CA"}, "b", "a").Err,
		"document Range's type": placeDoc.Range([]any{"CA"}, 1, nil).Err,
	} {
		var bad *model.ValueError
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v, want a *model.ValueError", reason, err)
		}
	}
	var bad *model.ValueError
	if errors.As(badTime, &bad); bad.Field != "at" || bad.Value.(bson.RawValue).DateTime() != lastMilli+1 {
		t.Errorf("%v names %q, %v", badTime, bad.Field, bad.Value)
	}
}

func TestCompositeDeclarations(t *testing.T) {
	type place struct {
		State string `bson:"state"`
		City  string `bson:"city"`
	}
	type located struct {
		ID    place    `bson:"_id"`
		Tags  []string `bson:"tags"`
		Score float64  `bson:"score"`
	}
	type sparse struct { // all of it may be empty
		State string `bson:"state,omitempty"`
		City  string `bson:"city,omitempty"`
	}
	at := model.NewCollection[located, place]("located")
	state, city := keys.Text("state"), keys.Text("city")
	for reason, declare := range map[string]func(){
		"one part":           func() { keys.NewComposite(residents, keys.Text("state")) },
		"none of a kind":     func() { keys.NewComposite(residents, keys.Text("state"), keys.Part{}) },
		"twice":              func() { keys.NewComposite(residents, keys.Text("state"), keys.Text("state")) },
		"missing":            func() { keys.NewComposite(residents, keys.Text("state"), keys.Text("town")) },
		"another type":       func() { keys.NewComposite(residents, keys.Text("state"), keys.Int("city")) },
		"no time":            func() { keys.NewComposite(residents, keys.Text("state"), keys.Time("city")) },
		"no ObjectID":        func() { keys.NewComposite(residents, keys.Text("state"), keys.ID("user")) },
		"a name of a dollar": func() { keys.NewComposite(residents, keys.Text("state"), keys.Text("$x").KeyOnly()) },
		"another order":      func() { keys.NewDocumentKey(at, keys.Text("city"), keys.Text("state")) },
		"not in the _id":     func() { keys.NewDocumentKey(at, keys.Text("state"), keys.Text("town")) },
		"omitempty": func() {
			keys.NewDocumentKey(model.NewCollection[bson.D, sparse]("located"), state, city)
		},
		"another order, open": func() {
			keys.NewDocumentKey(model.NewCollection[bson.D, place]("located"), city, state)
		},
		"a map": func() {
			keys.NewDocumentKey(model.NewCollection[bson.D, bson.M]("located"), state, city)
		},
		"key only":      func() { keys.NewDocumentKey(at, keys.Text("state"), keys.Text("city").KeyOnly()) },
		"a path of two": func() { keys.NewDocumentKey(byDocs, keys.Text("state"), keys.Text("at.city")) },
	} {
		func() {
			defer func() {
				var bad *model.DeclarationError
				if err, _ := recover().(error); !errors.As(err, &bad) {
					t.Errorf("%s: %v", reason, err)
				}
			}()
			declare()
		}()
	}
	var whole model.Technique = keys.NewDocumentKey(at, state, city)
	if whole.Indexes() != nil || whole.Relations() != nil {
		t.Errorf("indexes of a document: %v", whole.Indexes())
	}
	if x := byPlace.Indexes(); x != nil || byPlace.Relations() != nil {
		t.Errorf("indexes: %v", x)
	}
}
