package school

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Errors for errors.Is.
var (
	ErrNoStudent   = errors.New("school: there is no such student")
	ErrNoCourse    = errors.New("school: there is no such course")
	ErrNotEnrolled = errors.New("school: there is no such enrolment")
	ErrEnrolled    = errors.New("school: the student is in the course already")
	ErrNoLesson    = errors.New("school: the course has no such lesson")
	ErrOutOfStock  = errors.New("school: there aren't as many exercise books")
)

// A Repository serves one request, on a database under the tenant's [Scope]. Actions need
// no transaction. After a crash, run the action again, with the same token of
// model.WithToken, or run Mend. Actions also run within model.InTx or on the database of
// model.WithTransactions.
type Repository struct{ db model.DB }

// New returns the repository of a database under a tenant's scope.
func New(db model.DB) Repository { return Repository{db} }

// Prepare creates missing indexes.
func (r Repository) Prepare(ctx context.Context) error {
	return everything.Indexes().Ensure(ctx, r.db)
}

// Add stores students and courses.
func (r Repository) Add(ctx context.Context, s []Student, c []Course) error {
	_, _, err := studentStore.InsertMany(s...).Run(ctx, r.db)
	if err == nil {
		_, _, err = courseStore.InsertMany(c...).Run(ctx, r.db)
	}
	return err
}

// Enrol adds a student to a course, which counts the student. enrolment is the new
// document's ID, the same for a retry.
func (r Repository) Enrol(ctx context.Context, enrolment, student, course bson.ObjectID) error {
	e := Enrolment{ID: enrolment, Student: StudentRef{ID: student}, Course: CourseRef{ID: course}}
	_, _, err := enrolmentStore.Insert(e).Run(ctx, r.db)
	if errors.Is(err, model.ErrNotFound) {
		_, errStudent := students.ByID(student).One(ctx, r.db) // finds the missing document
		return cmp.Or(said(errStudent, model.ErrNotFound, ErrNoStudent), said(err, model.ErrNotFound, ErrNoCourse))
	}
	return twice(err)
}

// Rate sets an enrolment's rating, which changes the course's average.
func (r Repository) Rate(ctx context.Context, enrolment bson.ObjectID, rating int) error {
	_, _, err := enrolmentStore.Set(enrolment, bson.D{{Key: "rating", Value: rating}}).Run(ctx, r.db)
	return said(err, model.ErrNotFound, ErrNotEnrolled)
}

// Leave marks an enrolment as deleted. The course no longer counts it. An ended enrolment
// is not an error.
func (r Repository) Leave(ctx context.Context, enrolment bson.ObjectID) error {
	_, _, err := enrolmentStore.Delete(enrolment).Run(ctx, r.db)
	if errors.Is(err, model.ErrNotFound) {
		return nil
	}
	return err
}

// Transfer moves an enrolment to another course and removes the rating.
func (r Repository) Transfer(ctx context.Context, enrolment, course bson.ObjectID) error {
	set := bson.D{{Key: "course.id", Value: course}, {Key: "rating", Value: nil}}
	_, _, err := enrolmentStore.Set(enrolment, set).Run(ctx, r.db)
	if errors.Is(err, model.ErrNotFound) {
		_, errCourse := courses.ByID(course).One(ctx, r.db)
		return cmp.Or(said(errCourse, model.ErrNotFound, ErrNoCourse), said(err, model.ErrNotFound, ErrNotEnrolled))
	}
	return twice(err)
}

// Rename renames a student, also in enrolments.
func (r Repository) Rename(ctx context.Context, student bson.ObjectID, name string) error {
	_, _, err := studentStore.Set(student, bson.D{{Key: "name", Value: name}}).Run(ctx, r.db)
	return said(err, model.ErrNotFound, ErrNoStudent)
}

// Announce stores an announcement and shows it in its course.
func (r Repository) Announce(ctx context.Context, a Announcement) error {
	_, _, err := announcementStore.Insert(a).Run(ctx, r.db)
	return said(err, model.ErrNotFound, ErrNoCourse)
}

// Reorder puts the given lessons first, in this order.
func (r Repository) Reorder(ctx context.Context, course bson.ObjectID, order ...any) error {
	_, err := lessons.Reorder(course, 0, order...).Run(ctx, r.db)
	return said(err, embed.ErrNoElement, ErrNoLesson, model.ErrNotFound, ErrNoCourse)
}

// Take takes n exercise books from a course's stock. It is one command, because the server
// compares and counts. op is bson.NewObjectID(), the same for a retry.
func (r Repository) Take(ctx context.Context, course bson.ObjectID, n int64, op bson.ObjectID) error {
	_, err := stock.Take(course, "books", n, op).Run(ctx, r.db)
	return said(err, model.ErrGuard, ErrOutOfStock, model.ErrNotFound, ErrNoCourse)
}

// Course returns a course with its numbers, newest announcements and lessons: one
// document.
func (r Repository) Course(ctx context.Context, course bson.ObjectID) (Course, error) {
	c, err := courses.ByID(course).One(ctx, r.db)
	return c, said(err, model.ErrNotFound, ErrNoCourse)
}

// Enrolments returns a page of a course's enrolments, newest first. token is "" for the
// first page.
func (r Repository) Enrolments(ctx context.Context, course bson.ObjectID, n int64, token string) (model.Page[Enrolment], error) {
	return enrolled.Right.Links(course).Limited(n).Page(ctx, r.db, token)
}

// Announcements returns a page of a course's announcements, newest first.
func (r Repository) Announcements(ctx context.Context, course bson.ObjectID, n int64, token string) (model.Page[Announcement], error) {
	return latest.Children(course).Limited(n).Page(ctx, r.db, token)
}

// Audit returns the findings of all checks, including unfinished actions.
func (r Repository) Audit(ctx context.Context) (found []model.Finding, err error) {
	for f, err := range everything.Audit().Each(ctx, r.db) {
		if err != nil {
			return found, err
		}
		found = append(found, f)
	}
	return found, nil
}

// Mend repairs the findings and finishes crashed actions, for a nightly job. action is
// the longest time that an action takes. Techniques are repaired in order: links to
// missing documents are deleted before the rest is counted.
func (r Repository) Mend(ctx context.Context, action time.Duration) error {
	audit := everything.Audit()
	for i, check := range audit.Checks {
		audit.Checks[i].Age = min(check.Age, action)
	}
	_, err := audit.Job().Run(ctx, r.db, model.JobOptions{})
	return err
}

// twice returns the error for a pair that is enrolled already: the enrolment's write meets
// the relation's unique index.
func twice(err error) error {
	if mongo.IsDuplicateKeyError(err) && model.DuplicateIndex(err) != model.IDIndex {
		return fmt.Errorf("%w: %w", ErrEnrolled, err)
	}
	return err
}

// said wraps a technique's error in the school's error. pairs alternate the technique's
// and the school's errors.
func said(err error, pairs ...error) error {
	for i := 0; i < len(pairs); i += 2 {
		if errors.Is(err, pairs[i]) {
			return fmt.Errorf("%w: %w", pairs[i+1], err)
		}
	}
	return err
}
