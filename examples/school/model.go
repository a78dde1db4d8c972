// Package school stores students, courses and enrolments of several schools in one
// database. Several techniques write most documents. A course is counted, copied from,
// filled with announcements and lessons, and has a stock. An enrolment is a join
// document, a counted child and has two copies.
//
// The Example prints the cost of each action, beside code written by hand.
package school

import (
	"time"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/denorm/subset"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/relate/joincollection"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Student has a name that enrolments copy.
type Student struct {
	ID   bson.ObjectID `bson:"_id"`
	Name string        `bson:"name"`
}

// A Course is a page in one document. Comments name the technique of a field.
type Course struct {
	ID       bson.ObjectID   `bson:"_id"`
	Title    string          `bson:"title"`
	Students int64           `bson:"students"`          // numbers
	Ratings  counter.Average `bson:"ratings"`           // numbers
	Rating   *float64        `bson:"rating"`            // numbers: the average, nil without ratings
	Latest   []News          `bson:"latest,omitempty"`  // latest: the newest announcements
	Lessons  []Lesson        `bson:"lessons,omitempty"` // lessons
	Books    int64           `bson:"books"`             // stock: remaining exercise books
	Stock    int64           `bson:"stock"`             // stock: its version
	Takes    []bson.ObjectID `bson:"takes,omitempty"`   // stock: the latest actions
}

// A Lesson is a line of a course's plan.
type Lesson struct {
	ID    string `bson:"id"`
	Title string `bson:"title"`
}

// News is the copy of an announcement in its course.
type News struct {
	ID   bson.ObjectID `bson:"_id"`
	At   time.Time     `bson:"at"`
	Text string        `bson:"text"`
}

// An Announcement belongs to a course.
type Announcement struct {
	ID     bson.ObjectID `bson:"_id"`
	Course bson.ObjectID `bson:"course"`
	At     time.Time     `bson:"at"`
	Text   string        `bson:"text"`
}

// An Enrolment connects a student and a course and copies their names.
type Enrolment struct {
	ID        bson.ObjectID `bson:"_id"`
	Student   StudentRef    `bson:"student"`
	Course    CourseRef     `bson:"course"`
	Rating    *int          `bson:"rating"` // of the course, 1 to 5
	DeletedAt *time.Time    `bson:"deletedAt,omitempty"`
}

// A StudentRef is the copy of a student in enrolments.
type StudentRef struct {
	ID   bson.ObjectID `bson:"id"`
	Name string        `bson:"name"`
}

// A CourseRef is the copy of a course in enrolments.
type CourseRef struct {
	ID    bson.ObjectID `bson:"id"`
	Title string        `bson:"title"`
}

const shown = 2 // announcements in a course

var (
	students      = model.NewCollection[Student, bson.ObjectID]("students")
	courses       = model.NewCollection[Course, bson.ObjectID]("courses")
	enrolments    = model.NewCollection[Enrolment, bson.ObjectID]("enrolments")
	announcements = model.NewCollection[Announcement, bson.ObjectID]("announcements")

	enrolled = joincollection.New(enrolments, "student.id", students, "course.id", courses, joincollection.Spec{})
	names    = copies.New(students, enrolments, copies.Spec{
		KeyPath: "student.id", Fields: []copies.Field{{From: "name", To: "student.name"}},
	})
	titles = copies.New(courses, enrolments, copies.Spec{
		KeyPath: "course.id", Fields: []copies.Field{{From: "title", To: "course.title"}},
	})
	// The condition is the scope's soft deletion: an enrolment that ended isn't counted.
	numbers = counter.New(enrolments, "course.id", courses, counter.Spec{
		Count: "students", Averages: []counter.AverageField{{From: "rating", To: "ratings", Value: "rating"}},
		Where: bson.D{{Key: "deletedAt", Value: nil}},
	})
	latest = subset.New(announcements, "course", courses, "latest", subset.Spec{
		Max: shown, By: bson.D{{Key: "at", Value: -1}}, Fields: []string{"at", "text"},
	})
	lessons = embed.NewEmbedded[Lesson](courses, "lessons", embed.EmbeddedSpec{Key: "id", Max: 100})
	// The stock's decisions don't need the uncounted fields, which have other writers.
	stock = embed.NewVersioned(courses, embed.VersionedSpec{Version: "stock", Tokens: "takes", Uncounted: []string{
		"title", "students", "ratings", "rating", "latest", "lessons",
	}})

	// The order is that of repairs: enrolled deletes links to missing documents before
	// numbers counts.
	everything = model.New("school", enrolled, names, titles, numbers, latest, lessons, stock)

	studentStore      = model.NewStore(everything, students)
	courseStore       = model.NewStore(everything, courses)
	enrolmentStore    = model.NewStore(everything, enrolments)
	announcementStore = model.NewStore(everything, announcements)
)

// Scope limits everything that a request reads and writes to the tenant's documents, and
// turns deletions into marks.
func Scope(tenant string, now time.Time) model.Scope {
	return model.Scope{Tenant: bson.D{{Key: "tenant", Value: tenant}}, Delete: bson.D{{Key: "deletedAt", Value: now}}}
}
