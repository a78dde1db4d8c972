// Package school is the school of docs/GUIDE.md. It grows step by step: each technique in this
// file has a step of the guide and an Example.
package school

import (
	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type Student struct {
	ID   string   `bson:"_id"`
	Name string   `bson:"name"`
	Seen []string `bson:"seen,omitempty"` // step 5: ids of courses, the last three
}

type Course struct {
	ID       string `bson:"_id"`
	Title    string `bson:"title"`
	Students int64  `bson:"students"` // step 4: how many enrolments
}

type Announcement struct {
	ID     bson.ObjectID `bson:"_id"`
	Course string        `bson:"course"` // step 2: the id of a course
	Text   string        `bson:"text"`
}

type Enrolment struct {
	ID      string     `bson:"_id"` // kate/maths: a student is in a course once
	Student StudentRef `bson:"student"`
	Course  string     `bson:"course"`
}

type StudentRef struct {
	ID   string `bson:"id"`
	Name string `bson:"name"` // step 3: a copy
}

type Syllabus struct {
	ID      string   `bson:"_id"` // the id of its course
	Topics  []string `bson:"topics,omitempty"`
	Version int64    `bson:"version"` // step 6: an editor sends it back
}

var (
	students      = model.NewCollection[Student, string]("students")
	courses       = model.NewCollection[Course, string]("courses")
	announcements = model.NewCollection[Announcement, bson.ObjectID]("announcements")
	enrolments    = model.NewCollection[Enrolment, string]("enrolments")
	syllabuses    = model.NewCollection[Syllabus, string]("syllabuses")
)

// A model has all techniques that a program uses together. Its stores write.
var (
	everything = model.New("school", board, names, sizes, seen, edits)

	studentStore      = model.NewStore(everything, students)
	courseStore       = model.NewStore(everything, courses)
	announcementStore = model.NewStore(everything, announcements)
	enrolmentStore    = model.NewStore(everything, enrolments)
	syllabusStore     = model.NewStore(everything, syllabuses)
)

// Step 2: an announcement refers to its course, which must exist.
var board = parentref.New(announcements, "course", courses,
	parentref.Spec{MustExist: true})

// Step 3: an enrolment shows the name of its student.
var names = copies.New(students, enrolments, copies.Spec{
	KeyPath: "student.id",
	Fields:  []copies.Field{{From: "name", To: "student.name"}},
})

// Step 4: a course tells how many students it has.
var sizes = counter.New(enrolments, "course", courses,
	counter.Spec{Count: "students"})

// Step 5: a student's page shows the courses that were looked at last.
var seen = bounded.New(students, "seen", bounded.Spec{Max: 3})

// Step 6: two teachers who edit a syllabus don't overwrite each other.
var edits = embed.NewVersioned(syllabuses, embed.VersionedSpec{})
