// Package school is the school of GUIDE.md. It grows step by step: each technique in this
// file has a step of the guide and an Example.
package school

import (
	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type Student struct {
	ID      string   `bson:"_id"`
	Name    string   `bson:"name"`
	Version int64    `bson:"version"`        // step 3: of the name
	Lock    int64    `bson:"lock"`           // step 3: for transactions
	Seen    []string `bson:"seen,omitempty"` // step 5: ids of courses, the last three
}

type Course struct {
	ID       string          `bson:"_id"`
	Title    string          `bson:"title"`
	Students int64           `bson:"students"`      // step 4: how many enrolments
	Ops      []bson.ObjectID `bson:"ops,omitempty"` // step 4: tokens of the latest actions
}

type Announcement struct {
	ID     bson.ObjectID `bson:"_id"`
	Course string        `bson:"course"` // step 2: the id of a course
	Text   string        `bson:"text"`
}

type Enrolment struct {
	ID      string                 `bson:"_id"` // kate/maths: a student is in a course once
	Student StudentRef             `bson:"student"`
	Course  string                 `bson:"course"`
	Pending *denorm.CounterPending `bson:"pending,omitempty"` // step 4: an action under way
}

type StudentRef struct {
	ID      string `bson:"id"`
	Name    string `bson:"name"`    // step 3: a copy
	Version int64  `bson:"version"` // step 3: which name it is a copy of
}

type Syllabus struct {
	ID      string          `bson:"_id"` // the id of its course
	Topics  []string        `bson:"topics,omitempty"`
	Version int64           `bson:"version"`       // step 6: of the document
	Ops     []bson.ObjectID `bson:"ops,omitempty"` // step 6: tokens of the latest actions
}

var (
	students      = model.NewCollection[Student, string]("students")
	courses       = model.NewCollection[Course, string]("courses")
	announcements = model.NewCollection[Announcement, bson.ObjectID]("announcements")
	enrolments    = model.NewCollection[Enrolment, string]("enrolments")
	syllabuses    = model.NewCollection[Syllabus, string]("syllabuses")
)

// Step 2: an announcement refers to its course.
var board = relate.NewParentRef(announcements, "course", courses, relate.ParentRefSpec{})

// Step 3: an enrolment shows the name of its student.
var names = denorm.NewCopy(students, enrolments, denorm.CopySpec{
	KeyPath:   "student.id",
	Fields:    []denorm.Field{{From: "name", To: "student.name"}},
	Version:   "version",
	VersionTo: "student.version",
	Lock:      "lock",
})

// Step 4: a course tells how many students it has.
var sizes = denorm.NewCounter(enrolments, "course", courses, denorm.CounterSpec{
	Count: "students", Tokens: "ops", Pending: "pending",
})

// Step 5: a student's page shows the courses that were looked at last.
var seen = denorm.NewBounded(students, "seen", denorm.BoundedSpec{Max: 3})

// Step 6: two teachers who edit a syllabus don't overwrite each other.
var edits = embed.NewVersioned(syllabuses, embed.VersionedSpec{Tokens: "ops"})

// Step 7: what a program uses together.
var everything = model.New("school", board, names, sizes, seen, edits)
