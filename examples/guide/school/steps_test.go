package school

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func Example_store() {
	ctx, db, stop := start()
	defer stop()

	kate := Student{ID: "kate", Name: "Kate"}
	_, _, err := studentStore.Insert(kate).Run(ctx, db)
	fmt.Println(err)

	// Set changes fields by their paths. Edit changes the struct.
	set := bson.D{{Key: "name", Value: "Katherine"}}
	stored, _, err := studentStore.Set("kate", set).Run(ctx, db)
	fmt.Println(stored.Doc.Name, err)
	stored, _, err = studentStore.Edit("kate", func(s *Student) error {
		s.Name += " Smith"
		return nil
	}).Run(ctx, db)
	fmt.Println(stored.Doc.Name, err)

	find := students.ByID("kate")
	fmt.Println(find)
	fmt.Println(find.One(ctx, db))
	_, _, err = studentStore.Delete("kate").Run(ctx, db)
	fmt.Println(err)
	// Output:
	// <nil>
	// Katherine <nil>
	// Katherine Smith <nil>
	// db.students.find({_id: 'kate'}).limit(1)
	// {kate Katherine Smith []} <nil>
	// <nil>
}

func Example_reference() {
	ctx, db, stop := start()
	defer stop()
	check(kateAndMaths(ctx, db))

	check(do(ctx, db, announcementStore.InsertMany(
		Announcement{id(1), "maths", "Bring a compass"},
		Announcement{id(2), "maths", "No lesson on Monday"},
		Announcement{id(3), "maths", "Test on Friday"},
	)))
	err := do(ctx, db, announcementStore.Insert(Announcement{id(4), "art", "Bring a brush"}))
	fmt.Println(errors.Is(err, model.ErrNotFound), err)

	find := board.Children("maths").Limited(2)
	fmt.Println(find)
	fmt.Println(find.Cost())
	for _, a := range must(find.All(ctx, db)) {
		fmt.Println(a.Text)
	}
	fmt.Println(board.Indexes())
	// Output:
	// true docmodel: not found: mongo: no documents in result (announcements.course names 'art', which isn't in courses)
	// db.announcements.find({course: 'maths'}).sort({_id: -1}).limit(2)
	// 1 command and one per further batch, by course_1__id_-1
	// Test on Friday
	// No lesson on Monday
	// [db.announcements.createIndex({course: 1, _id: -1})]
}

func Example_copy() {
	ctx, db, stop := start()
	defer stop()
	check(kateAndMaths(ctx, db))

	// The enrolment names the student. The store fills in the rest.
	stored, _, err := enrolmentStore.Insert(enrolmentOf("kate", "maths")).Run(ctx, db)
	fmt.Println(stored.Doc.Student, err)

	rename := studentStore.Set("kate", bson.D{{Key: "name", Value: "Katherine"}})
	fmt.Println(planOf(ctx, db, rename))
	check(do(ctx, db, rename))
	fmt.Println(must(enrolments.ByID("kate/maths").One(ctx, db)).Student)

	// The copy is the store's.
	set := bson.D{{Key: "student.name", Value: "Kathy"}}
	fmt.Println(do(ctx, db, enrolmentStore.Set("kate/maths", set)))
	// Output:
	// {kate Kate} <nil>
	// db.students.updateOne({_id: 'kate'}, {$set: {name: 'Katherine'}})
	// db.enrolments.updateMany({'student.id': 'kate', 'student.name': {$ne: 'Katherine'}}, {$set: {'student.name': 'Katherine'}}) // copies.Copy
	// {kate Katherine}
	// docmodel: enrolments: student.name: can't be written: a technique of the model writes it
}

// planOf returns what a change writes in a transaction. It doesn't run it.
func planOf(ctx context.Context, db model.DB, c model.Action) (p model.Plan) {
	check(model.InTx(ctx, db, func(ctx context.Context) (err error) {
		p, err = c.Change().Plan(ctx, db)
		return err
	}))
	return p
}

func Example_counter() {
	ctx, db, stop := start()
	defer stop()
	check(kateAndMaths(ctx, db))

	enrol := enrolmentStore.Insert(enrolmentOf("kate", "maths"))
	plan := planOf(ctx, db, enrol)
	fmt.Println(plan)
	fmt.Println(plan.CostTx())
	check(do(ctx, db, enrol))
	fmt.Println(must(courses.ByID("maths").One(ctx, db)).Students)

	err := do(ctx, db, enrolmentStore.Insert(enrolmentOf("kate", "latin")))
	fmt.Println(errors.Is(err, model.ErrNotFound))
	check(do(ctx, db, enrolmentStore.Delete("kate/maths")))
	fmt.Println(must(courses.ByID("maths").One(ctx, db)).Students)
	// Output:
	// db.enrolments.insertOne({_id: 'kate/maths', student: {id: 'kate', name: 'Kate'}, course: 'maths'})
	// db.courses.updateOne({_id: 'maths'}, {$inc: {students: Long('1')}}) // counter.Counter
	// db.students.updateOne({_id: 'kate'}, {$inc: {'_m.hold': Long('1')}}) // copies.Copy
	// 1 command, 3 documents written, by _id_
	// 1
	// true
	// 0
}

func Example_bounded() {
	ctx, db, stop := start()
	defer stop()
	check(kateAndMaths(ctx, db))

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
	check(do(ctx, db, syllabusStore.Insert(Syllabus{ID: "maths", Topics: []string{"sets"}})))

	ann := must(syllabuses.ByID("maths").One(ctx, db)) // two teachers read the same version
	bob := ann
	ann.Topics = []string{"sets", "sums"}
	bob.Topics = []string{"sets", "logic"}
	check(do(ctx, db, syllabusStore.Replace(ann)))
	err := do(ctx, db, syllabusStore.Replace(bob))
	fmt.Println(errors.Is(err, embed.ErrVersion))

	// Edit reads, decides and writes, and does so again if somebody wrote in between.
	s, _, err := syllabusStore.Edit("maths", func(s *Syllabus) error {
		s.Topics = append(s.Topics, "logic")
		return nil
	}).Run(ctx, db)
	fmt.Println(s.Doc.Topics, s.Doc.Version-ann.Version, err)
	// Output:
	// true
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
	topics := bounded.New(syllabuses, "topics", bounded.Spec{Max: 20})
	model.New("school", edits, topics)
	// Output:
	// docmodel: bounded.Bounded writes syllabuses.topics without increasing version, the version by which embed.Versioned detects stale writes
	// 	at New of "school"
	// 	remedy: give CountUp in the specs that have it (Version for the source of a copies.Copy), or give the versioned technique Uncounted: "topics" for syllabuses
}
