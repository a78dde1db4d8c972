package school

import (
	"context"
	"log"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// start returns an empty database of an engine in this process.
func start() (context.Context, *mongo.Database, func()) {
	client, stop := mongotest.Start() // in a program: mongo.Connect
	return context.Background(), client.Database("school"), stop
}

// must ends an Example at an error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Panic(err)
	}
	return v
}

// check ends an Example at an error.
func check(err error) { must(0, err) }

// id is a fixed id, so that an Example prints the same each time; a program takes
// bson.NewObjectID().
func id(n byte) bson.ObjectID { return bson.ObjectID{11: n} }

// do runs actions, one after another. An action is a change, a plan or a write.
func do(ctx context.Context, db model.DB, actions ...model.Action) error {
	for _, a := range actions {
		if _, err := a.Change().Run(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

// kateAndMaths is what many Examples begin with.
func kateAndMaths(ctx context.Context, db model.DB) error {
	return do(ctx, db,
		studentStore.Insert(Student{ID: "kate", Name: "Kate"}),
		courseStore.Insert(Course{ID: "maths", Title: "Maths"}),
	)
}
