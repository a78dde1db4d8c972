package school

import (
	"context"
	"log"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// start returns an empty database of an engine in this process.
func start() (context.Context, *mongo.Database, func()) {
	client, stop := modeltest.Start() // in a program: mongo.Connect
	return context.Background(), client.Database("school"), stop
}

// must ends an Example at an error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Panic(err)
	}
	return v
}

// id is a fixed id, so that an Example prints the same each time; a program takes
// bson.NewObjectID().
func id(n byte) bson.ObjectID { return bson.ObjectID{11: n} }

// kateAndMaths is what many Examples begin with.
func kateAndMaths() model.Plan {
	return model.NewPlan(
		students.Insert(Student{ID: "kate", Name: "Kate"}),
		courses.Insert(Course{ID: "maths", Title: "Maths"}),
	)
}

var kateInMaths = Enrolment{
	ID: "kate/maths", Student: StudentRef{ID: "kate", Name: "Kate"}, Course: "maths",
}
