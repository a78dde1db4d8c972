package school

import (
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func Example_audit() {
	ctx, db, stop := start()
	defer stop()
	if err := fill(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// Somebody writes with the driver, past the techniques.
	set := func(collection, id, path string, v any) {
		update := bson.D{{Key: "$set", Value: bson.D{{Key: path, Value: v}}}}
		must(db.Collection(collection).UpdateByID(ctx, id, update))
	}
	set("students", "kate", "seen", bson.A{"a", "b", "c", "d"})
	set("students", "rod", "name", "Rodney")
	set("courses", "maths", "students", int64(7))
	must(db.Collection("enrolments").InsertOne(ctx, Enrolment{
		ID: "jane/art", Student: StudentRef{ID: "jane", Name: "Jane"}, Course: "art",
	}))

	// Look only.
	audit := everything.Audit()
	for finding, err := range audit.Each(ctx, db) {
		fmt.Println(finding, err)
	}

	// Plan all, write nothing; then write.
	dry, err := audit.Job().Run(ctx, db, model.JobOptions{DryRun: true})
	fmt.Println(dry.Writes, "to write,", dry.Left, "left;", err != nil)
	done, err := audit.Job().Run(ctx, db, model.JobOptions{Checkpoint: "jobs"})
	fmt.Println(done.Modified, "written,", done.Left, "left")
	fmt.Println(err)
	// Output:
	// enrolments 'rod/maths': copies {student: {name: 'Rod'}} from 'rod', which has {student: {name: 'Rodney'}} <nil>
	// enrolments 'jane/art': copies {student: {name: 'Jane'}} from 'jane', which doesn't exist <nil>
	// courses 'maths': stores {students: Long('7')}, but its children make {students: 1} <nil>
	// enrolments 'jane/art': course → 'art', which doesn't exist <nil>
	// students 'kate': holds 4 elements <nil>
	// 3 to write, 2 left; true
	// 3 written, 2 left
	// docmodel: job audit: school couldn't process 2 findings: enrolments 'jane/art': copies {student: {name: 'Jane'}} from 'jane', which doesn't exist; enrolments 'jane/art': course → 'art', which doesn't exist
}

// One check, of one course.
func Example_check() {
	ctx, db, stop := start()
	defer stop()
	if err := fill(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	for _, check := range sizes.Checks() {
		check = check.In(bson.D{{Key: "_id", Value: "maths"}})
		fmt.Println(check.Name, "-", check.Rule)
		fmt.Println(check.All(ctx, db))
	}
	// Output:
	// courses.students: numbers that differ from the documents of enrolments - the numbers of each document agree with its children in enrolments
	// [] <nil>
	// enrolments.course: ids that no document of courses has, for its students - each id of enrolments.course is the _id of a document of courses
	// [] <nil>
}
