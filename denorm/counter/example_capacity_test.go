package counter_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	capacityCourse struct {
		ID       string `bson:"_id"`
		Seats    int    `bson:"seats"` // seats in the room
		Students int    `bson:"students"`
		Last     string `bson:"last,omitempty"` // the student who came last
	}
	capacityPlace struct {
		ID     string `bson:"_id"`
		Course string `bson:"course"`
	}
)

var (
	capacityCourses = model.NewCollection[capacityCourse, string]("courses")
	capacityPlaces  = model.NewCollection[capacityPlace, string]("places")
	studentsOf      = counter.New(capacityPlaces, "course", capacityCourses,
		counter.Spec{Count: "students"})
	placeStore = model.NewStore(model.New("courses", studentsOf), capacityPlaces)
)

// enroll returns the change that gives a student a place in a course, if the course has a
// free seat. The second write of [model.Change.Also] is to the document that the Counter
// updates: both become one write, whose condition sees the number before the update.
func enroll(course, student string) model.Change {
	free := model.Write{
		Collection: capacityCourses.Name(),
		Model: mongo.NewUpdateOneModel().
			SetFilter(bson.D{
				{Key: "_id", Value: course},
				{Key: "$expr", Value: bson.D{{Key: "$lt", Value: bson.A{"$students", "$seats"}}}},
			}).
			SetUpdate(bson.D{{Key: "$set", Value: bson.D{{Key: "last", Value: student}}}}),
		Expect:  model.One,
		Reasons: []model.Reason{{If: bson.D{{Key: "_id", Value: course}}, Err: model.ErrFull}},
	}
	place := capacityPlace{ID: course + "/" + student, Course: course}
	return placeStore.Insert(place).Also(free)
}

// A course with a limited number of students. It needs transactions. Without them, a
// [slots.Slots] with Stock gives out a limited number.
func ExampleCounter_capacity() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("school")
	if _, err := capacityCourses.Insert(capacityCourse{ID: "go", Seats: 2}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	for _, student := range []string{"ann", "bob", "cy"} {
		result, err := enroll("go", student).Run(ctx, db)
		fmt.Println(student, len(result.Steps), errors.Is(err, model.ErrFull))
	}
	course, err := capacityCourses.ByID("go").One(ctx, db)
	fmt.Println(course, err)
	// Output:
	// ann 2 false
	// bob 2 false
	// cy 2 true
	// {go 2 2 bob} <nil>
}
