package model_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type seat struct {
	ID   string `bson:"_id"`
	Free int    `bson:"free"`
}

var seats = model.NewCollection[seat, string]("seats")

// book takes a seat of a show, if nobody else changes the show between the read and the write.
func book(show string) model.ChangeOf[seat] {
	return model.ChangeOf[seat]{
		Name: "book a seat",
		Read: func(ctx context.Context, db model.DB) (seat, error) { return seats.ByID(show).One(ctx, db) },
		Decide: func(s seat) (model.Plan, error) {
			if s.Free == 0 {
				return model.Plan{}, fmt.Errorf("%s: %w", show, model.ErrFull)
			}
			return model.NewPlan(model.Write{Collection: "seats", Expect: model.One, Model: &mongo.UpdateOneModel{
				Filter: bson.D{{Key: "_id", Value: show}, {Key: "free", Value: s.Free}},
				Update: bson.D{{Key: "$inc", Value: bson.D{{Key: "free", Value: -1}}}},
			}}), nil
		},
	}
}

// A log says what an application did to its database: not the commands alone, but the operation that sent them, that it
// met another writer and was done again, and what that cost. The show's name is a value, and in no line.
func ExampleObserver() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, database := context.Background(), client.Database("theatre")
	if _, err := seats.Insert(seat{"hamlet", 2}).Run(ctx, database); err != nil {
		fmt.Println(err)
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Key { // what differs from run to run, and what the names below say
			case slog.TimeKey, "id", "parent", "took", "caller":
				return slog.Attr{}
			}
			return a
		},
	}))
	db := model.LogTo(logger).On(database)

	change := book("hamlet")
	read, met := change.Read, false
	change.Read = func(inner context.Context, db model.DB) (seat, error) {
		s, err := read(inner, db)
		if !met { // somebody else books at the same time
			met = true
			_, err = seats.Update("hamlet", bson.D{{Key: "$inc", Value: bson.D{{Key: "free", Value: -1}}}}).Run(ctx, database)
		}
		return s, err
	}
	for range 2 {
		if _, _, err := change.Run(ctx, db); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// level=WARN msg="docmodel change" name="book a seat" attempt=2 commands=5 written=1 modified=1 returned=3
	// level=INFO msg="docmodel change" name="book a seat" attempt=1 failure=full commands=1 returned=1
	// hamlet: docmodel: no room
}
