package model_test

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A locker is lent until a day. Lending is a technique that the application declares by
// itself. It has pure methods, and embeds the Parts that a model asks for.
type (
	locker struct {
		ID    string    `bson:"_id"`
		User  string    `bson:"user,omitempty"`
		Until time.Time `bson:"until,omitempty"`
	}
	lending struct{ model.Parts }
)

var (
	lockers = model.NewCollection[locker, string]("lockers")
	lends   = newLending()
	gym     = model.New("gym", lends)
)

func newLending() *lending {
	l := &lending{}
	l.Parts = model.NewParts(
		func() []model.Index {
			byUntil := model.NewIndex("lockers", bson.D{{Key: "until", Value: 1}})
			byUntil.Why = "Expired"
			return []model.Index{byUntil}
		},
		nil, // it stores no relation
		func() []model.Check {
			return []model.Check{{
				Name: "lockers: no day", Collection: "lockers", Rule: "a locker that is lent has a day",
				Pipeline: mongo.Pipeline{{{Key: "$match", Value: bson.D{
					{Key: "user", Value: bson.D{{Key: "$exists", Value: true}}}, {Key: "until", Value: nil},
				}}}},
				Tell: func(f *model.Finding) error {
					f.ID, f.Problem = f.Detail.Lookup("_id"), "is lent without a day"
					return nil
				},
			}}
		},
		func() []model.Footprint { // New refuses another technique that owns the same path
			return []model.Footprint{
				{Collection: "lockers", Path: "user", Use: model.Owns}, {Collection: "lockers", Path: "until", Use: model.Owns},
			}
		},
	).WithDocs(lockers.Docs()) // New refuses another Go type for the collection
	return l
}

// Lend gives a free locker to a user.
func (*lending) Lend(id, user string, until time.Time) model.Write {
	return model.Write{
		Collection: "lockers", Expect: model.One, Idempotent: true, Index: model.IDIndex,
		Model: &mongo.UpdateOneModel{
			Filter: bson.D{{Key: "_id", Value: id}, {Key: "user", Value: nil}},
			Update: bson.D{{Key: "$set", Value: bson.D{{Key: "user", Value: user}, {Key: "until", Value: until}}}},
		},
	}
}

// Expired returns the query of the lockers whose day is over.
func (*lending) Expired(now time.Time) *model.Find[locker] {
	find := lockers.Find(bson.D{{Key: "until", Value: bson.D{{Key: "$lt", Value: now}}}})
	find.Index = "until_1" // so that Cost names it
	return find
}

func ExampleTechnique() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("gym")
	fmt.Print(gym.Indexes())
	if _, err := lockers.Insert(locker{ID: "7"}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	lend := lends.Lend("7", "ann", day)
	fmt.Println(lend)
	if _, err := lend.Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	expired := lends.Expired(day.AddDate(0, 1, 0))
	fmt.Println(expired.Cost())
	all, err := expired.All(ctx, db)
	fmt.Println(len(all), all[0].ID, err)

	// Other code lends a locker without a day. The model's audit runs the check above.
	if _, err := lockers.Insert(locker{ID: "8", User: "bob"}).Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	for finding, err := range gym.Audit().Each(ctx, db) {
		fmt.Println(finding, err)
	}
	// Output:
	// db.lockers.createIndex({until: 1})
	// db.lockers.updateOne({_id: '7', user: null}, {$set: {user: 'ann', until: ISODate('2026-03-01T00:00:00.000Z')}})
	// 1 command and one per further batch, by until_1
	// 1 7 <nil>
	// lockers '8': is lent without a day <nil>
}
