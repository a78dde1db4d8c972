package school

import (
	"errors"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// inSchool is what holds for all that a request of one school reads and writes.
func inSchool(tenant string, now time.Time) model.Scope {
	return model.Scope{
		Tenant: bson.D{{Key: "school", Value: tenant}},
		Set:    bson.D{{Key: "updatedAt", Value: now}},
	}
}

func Example_tenants() {
	ctx, db, stop := start()
	defer stop()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	north, south := inSchool("north", now).On(db), inSchool("south", now).On(db)

	fmt.Println(New(north).Prepare(ctx))
	check(kateAndMaths(ctx, north))
	fmt.Println(New(north).Enrol(ctx, "kate", "maths"))

	_, err := New(south).Open(ctx, "kate", "maths") // it is not there
	fmt.Println(errors.Is(err, ErrUnknown))
	err = do(ctx, south, courseStore.Insert(Course{ID: "maths"}))
	fmt.Println(mongo.IsDuplicateKeyError(err)) // but its _id is taken

	stored := must(db.Collection("courses").FindOne(ctx, bson.D{}).Raw())
	fmt.Println(stored.Lookup("_id"), stored.Lookup("school"), stored.Lookup("updatedAt"))
	indexes := must(inSchool("north", now).Indexes(everything.Indexes()))
	fmt.Println(indexes.Needed[0])
	// Output:
	// <nil>
	// <nil>
	// true
	// true
	// "maths" "north" {"$date":{"$numberLong":"1777636800000"}}
	// db.announcements.createIndex({school: 1, course: 1, _id: -1})
}
