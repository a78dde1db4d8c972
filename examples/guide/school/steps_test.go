package school

import (
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func Example_collections() {
	ctx, db, stop := start()
	defer stop()

	plan := kateAndMaths()
	fmt.Println(plan)
	fmt.Println(plan.Cost(), "-", plan.Guarantee())
	must(plan.Run(ctx, db))

	find := students.ByID("kate")
	fmt.Println(find)
	fmt.Println(find.One(ctx, db))
	// Output:
	// db.students.insertOne({_id: 'kate', name: 'Kate', version: Long('0'), lock: Long('0')})
	// db.courses.insertOne({_id: 'maths', title: 'Maths', students: Long('0')})
	// 2 commands, 2 documents written, by _id_ - rerunnable
	// db.students.find({_id: 'kate'}).limit(1)
	// {kate Kate 0 0 []} <nil>
}

func Example_reference() {
	ctx, db, stop := start()
	defer stop()

	must(announcements.InsertMany([]Announcement{
		{id(1), "maths", "Bring a compass"},
		{id(2), "art", "Bring a brush"},
		{id(3), "maths", "No lesson on Monday"},
	}).Run(ctx, db))

	find := board.Children("maths").Limited(2)
	fmt.Println(find)
	fmt.Println(find.Cost())
	for _, a := range must(find.All(ctx, db)) {
		fmt.Println(a.Text)
	}
	fmt.Println(board.Indexes())
	// Output:
	// db.announcements.find({course: 'maths'}).sort({_id: -1}).limit(2)
	// 1 command and one per further batch, by course_1__id_-1
	// No lesson on Monday
	// Bring a compass
	// [db.announcements.createIndex({course: 1, _id: -1})]
}

func Example_copy() {
	ctx, db, stop := start()
	defer stop()
	kate := Student{ID: "kate", Name: "Kate"}
	must(model.NewPlan(students.Insert(kate), enrolments.Insert(kateInMaths)).Run(ctx, db))

	rename := names.Set(&kate, bson.D{{Key: "name", Value: "Katherine"}})
	fmt.Println(rename)
	fmt.Println(rename.Guarantee(), "-", rename.Leaves)
	must(rename.Run(ctx, db))

	fmt.Println(must(enrolments.ByID("kate/maths").One(ctx, db)).Student)

	// kate is still as she was read before. Another change of her name is refused.
	_, err := names.Set(&kate, bson.D{{Key: "name", Value: "Kathy"}}).Run(ctx, db)
	fmt.Println(errors.Is(err, model.ErrStale))
	// Output:
	// db.students.updateOne({_id: 'kate', version: Long('0')}, {$set: {name: 'Katherine', version: Long('1')}})
	// db.enrolments.updateMany({'student.id': 'kate', 'student.version': {$not: {$gte: Long('1')}}}, {$set: {'student.name': 'Katherine', 'student.version': Long('1')}})
	// rerunnable - copies that are older than the source: run the plan again
	// {kate Katherine 1}
	// true
}

func Example_counter() {
	ctx, db, stop := start()
	defer stop()
	must(kateAndMaths().Run(ctx, db))

	op := id(1) // bson.NewObjectID(), made once for the action
	enrol := sizes.Insert(kateInMaths, op)
	for range 2 { // the second run finds the token
		_, result, err := enrol.Run(ctx, db)
		fmt.Println(result.Modified(), "writes,", err)
	}
	fmt.Println(must(courses.ByID("maths").One(ctx, db)).Students)
	// Output:
	// 3 writes, <nil>
	// 0 writes, <nil>
	// 1
}

func Example_bounded() {
	ctx, db, stop := start()
	defer stop()
	must(kateAndMaths().Run(ctx, db))

	fmt.Println(seen.Push("kate", "maths"))
	for _, course := range []string{"maths", "art", "music", "history"} {
		must(seen.Push("kate", course).Run(ctx, db))
	}
	fmt.Println(must(students.ByID("kate").One(ctx, db)).Seen)
	// Output:
	// db.students.updateOne({_id: 'kate'}, {$push: {seen: {$each: ['maths'], $slice: -3}}})
	// [art music history]
}

func Example_versioned() {
	ctx, db, stop := start()
	defer stop()
	must(edits.Insert(Syllabus{ID: "maths", Topics: []string{"sets"}}, id(1)).Run(ctx, db))

	ann := must(syllabuses.ByID("maths").One(ctx, db)) // two teachers read the same version
	bob := ann
	ann.Topics = []string{"sets", "sums"}
	bob.Topics = []string{"sets", "logic"}
	must(edits.Replace(ann, id(2)).Run(ctx, db))
	_, err := edits.Replace(bob, id(3)).Run(ctx, db)
	fmt.Println(errors.Is(err, model.ErrStale))
	fmt.Println(err)

	// Change reads, decides and writes, and does so again if somebody wrote in between.
	_, _, err = edits.Change("maths", id(3), func(s Syllabus) (Syllabus, error) {
		s.Topics = append(s.Topics, "logic")
		return s, nil
	}).Run(ctx, db)
	s := must(syllabuses.ByID("maths").One(ctx, db))
	fmt.Println(s.Topics, s.Version-ann.Version, err)
	// Output:
	// true
	// docmodel: step 1: syllabuses {_id: 'maths'}: stale write, read again: no document matches: it has another version
	// [sets sums logic] 2 <nil>
}

func Example_model() {
	ctx, db, stop := start()
	defer stop()

	indexes := everything.Indexes()
	for _, index := range must(indexes.Diff(ctx, db)).Missing {
		fmt.Println("missing:", index.Collection, model.Shell(index.Keys))
	}
	fmt.Println(indexes.Ensure(ctx, db))
	fmt.Println(must(indexes.Diff(ctx, db)).Empty())

	fmt.Print(everything.Diagram())
	// Output:
	// missing: announcements {course: 1, _id: -1}
	// missing: enrolments {'student.id': 1, _id: -1}
	// missing: enrolments {course: 1}
	// missing: enrolments {'pending.parents': 1}
	// missing: enrolments {'pending.op': 1}
	// <nil>
	// true
	// erDiagram
	//     "courses" {
	//         any _id PK
	//     }
	//     "announcements" {
	//         any _id PK
	//         any course FK
	//     }
	//     "students" {
	//         any _id PK
	//     }
	//     "enrolments" {
	//         any _id PK
	//         any student_id FK "student.id"
	//         any course FK
	//     }
	//     "announcements" }o--o| "courses" : "course: parent reference"
	//     "enrolments" }o--o| "students" : "student.id: copy"
	//     "enrolments" }o--o| "courses" : "course: counted"
}

// A technique that writes syllabuses and doesn't count their version up is refused.
func Example_conflict() {
	defer func() { fmt.Println(recover()) }()
	topics := denorm.NewBounded(syllabuses, "topics", denorm.BoundedSpec{Max: 20})
	model.New("school", edits, topics)
	// Output:
	// docmodel: denorm.Bounded writes syllabuses.topics without increasing version, the version by which embed.Versioned detects stale writes
	// 	at New of "school"
	// 	remedy: give CountUp in the specs that have it (Version for the source of a denorm.Copy), or give the versioned technique Uncounted: "topics" for syllabuses
}
