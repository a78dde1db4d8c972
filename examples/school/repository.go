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

// What a caller may ask for by errors.Is.
var (
	ErrNoStudent   = errors.New("school: there is no such student")
	ErrNoCourse    = errors.New("school: there is no such course")
	ErrNotEnrolled = errors.New("school: there is no such enrolment")
	ErrEnrolled    = errors.New("school: the student is in the course already")
	ErrNoLesson    = errors.New("school: the course has no such lesson")
	ErrOutOfStock  = errors.New("school: there aren't as many exercise books")
)

// A Repository is made for one request, on a database under the [Scope] of the request's tenant. No action needs a
// transaction. Run again with the same token after a crash, an action completes itself; or Mend does. Any action can be run
// within model.InTx too, or on the database of model.WithTransactions.
type Repository struct{ db model.DB }

// New returns the repository of a database, which is under the scope of a tenant.
func New(db model.DB) Repository { return Repository{db} }

// Prepare makes the indexes that are missing.
func (r Repository) Prepare(ctx context.Context) error {
	return everything.Indexes().Ensure(ctx, r.db)
}

// Add stores students and courses.
func (r Repository) Add(ctx context.Context, s []Student, c []Course) error {
	_, err := model.Concat(students.InsertMany(s), courses.InsertMany(c)).Run(ctx, r.db)
	return err
}

// Enrol puts a student into a course, which counts it. The enrolment's ID is op, bson.NewObjectID(), the same when it is
// tried again.
func (r Repository) Enrol(ctx context.Context, student, course, op bson.ObjectID) error {
	_, _, err := names.Storing(student, func(s *Student) model.Change[any] {
		return titles.Storing(course, func(c *Course) model.Change[any] {
			ref := StudentRef{ID: s.ID, Name: s.Name, Version: s.Version}
			return numbers.Insert(Enrolment{ID: op, Student: ref, Course: CourseRef{c.ID, c.Title, c.Version}}, op)
		}, op)
	}, op).Run(ctx, r.db)
	if errors.Is(err, model.ErrNotFound) {
		_, errStudent := students.ByID(student).One(ctx, r.db) // which of the two isn't there
		return cmp.Or(said(errStudent, model.ErrNotFound, ErrNoStudent), said(err, model.ErrNotFound, ErrNoCourse))
	}
	return twice(err)
}

// Rate gives an enrolment's course a rating, which its average follows.
func (r Repository) Rate(ctx context.Context, enrolment bson.ObjectID, rating int, op bson.ObjectID) error {
	_, _, err := numbers.Set(enrolment, bson.D{{Key: "rating", Value: rating}}, op).Run(ctx, r.db)
	return said(err, model.ErrNotFound, ErrNotEnrolled)
}

// Leave ends an enrolment. It is marked as deleted, and its course counts it no longer. One that has ended is no error.
func (r Repository) Leave(ctx context.Context, enrolment, op bson.ObjectID) error {
	_, _, err := numbers.Delete(enrolment, op).Run(ctx, r.db)
	return err
}

// Transfer moves an enrolment to another course. The rating was of the old course, and goes.
func (r Repository) Transfer(ctx context.Context, enrolment, course, op bson.ObjectID) error {
	_, _, err := titles.Storing(course, func(c *Course) model.Change[any] {
		set, err := titles.Fields(c) // with course.id, by which the numbers follow
		if err != nil {
			return model.Change[any]{Err: err}
		}
		return numbers.Set(enrolment, append(set, bson.E{Key: "rating", Value: nil}), op)
	}, enrolment).Run(ctx, r.db)
	if errors.Is(err, model.ErrNotFound) {
		_, errCourse := courses.ByID(course).One(ctx, r.db)
		return cmp.Or(said(errCourse, model.ErrNotFound, ErrNoCourse), said(err, model.ErrNotFound, ErrNotEnrolled))
	}
	return twice(err)
}

// Rename renames a student, where enrolments show the name too.
func (r Repository) Rename(ctx context.Context, student bson.ObjectID, name string) error {
	_, _, err := model.Change[Student]{
		Read: func(ctx context.Context, db model.DB) (Student, error) { return students.ByID(student).One(ctx, db) },
		Decide: func(s Student) (model.Plan, error) {
			if s.Name == name { // by this action, which may have been cut
				return names.Propagate(&s), nil
			}
			return names.Set(&s, bson.D{{Key: "name", Value: name}}), nil
		},
	}.Run(ctx, r.db)
	return said(err, model.ErrNotFound, ErrNoStudent)
}

// Announce stores an announcement, and its course shows it. Its ID is the same when it is tried again.
func (r Repository) Announce(ctx context.Context, a Announcement) error {
	plan := latest.Insert(a)
	plan.IfStale = []model.Step{announcements.Delete(a.ID)} // there is no such course
	_, err := plan.Run(ctx, r.db)
	return said(err, model.ErrNotFound, ErrNoCourse)
}

// Reorder puts lessons first, in an order.
func (r Repository) Reorder(ctx context.Context, course bson.ObjectID, order ...any) error {
	_, err := lessons.Reorder(course, 0, order...).Run(ctx, r.db)
	return said(err, embed.ErrNoElement, ErrNoLesson, model.ErrNotFound, ErrNoCourse)
}

// Take takes exercise books from a course's stock.
func (r Repository) Take(ctx context.Context, course bson.ObjectID, n int64, op bson.ObjectID) error {
	_, err := stock.Take(course, "books", n, op).Run(ctx, r.db)
	return said(err, embed.ErrGuard, ErrOutOfStock, model.ErrNotFound, ErrNoCourse)
}

// Course returns a course with its numbers, newest announcements and lessons: one document.
func (r Repository) Course(ctx context.Context, course bson.ObjectID) (Course, error) {
	c, err := courses.ByID(course).One(ctx, r.db)
	return c, said(err, model.ErrNotFound, ErrNoCourse)
}

// Enrolments returns a page of a course's enrolments, the newest first: for "" the first page.
func (r Repository) Enrolments(ctx context.Context, course bson.ObjectID, n int64, token string) (model.Page[Enrolment], error) {
	return enrolled.Right().Links(course).Limited(n).Page(ctx, r.db, token)
}

// Announcements returns a page of all announcements of a course, the newest first.
func (r Repository) Announcements(ctx context.Context, course bson.ObjectID, n int64, token string) (model.Page[Announcement], error) {
	return latest.Children(course).Limited(n).Page(ctx, r.db, token)
}

// Audit returns what the checks of all techniques find, actions that were begun and not finished among it.
func (r Repository) Audit(ctx context.Context) (found []model.Finding, err error) {
	for f, err := range everything.Audit().Each(ctx, r.db) {
		if err != nil {
			return found, err
		}
		found = append(found, f)
	}
	return found, nil
}

// Mend mends what the checks find, and finishes what processes that died began, for a job at night. An action takes no longer than
// the given time. Techniques are mended in their order: enrolments of nobody are deleted before what is left is counted.
func (r Repository) Mend(ctx context.Context, action time.Duration) error {
	audit := everything.Audit()
	for i, check := range audit.Checks {
		audit.Checks[i].Age = min(check.Age, action)
	}
	_, err := audit.Job().Run(ctx, r.db, model.JobOptions{})
	return err
}

// twice is the error of a pair that is enrolled already: the counter's write meets the unique index of the relation.
func twice(err error) error {
	if mongo.IsDuplicateKeyError(err) && model.DuplicateIndex(err) != model.IDIndex {
		return fmt.Errorf("%w: %w", ErrEnrolled, err)
	}
	return err
}

// said is an error in the words of the school, around what a technique said: pairs are of the technique's and the school's.
func said(err error, pairs ...error) error {
	for i := 0; i < len(pairs); i += 2 {
		if errors.Is(err, pairs[i]) {
			return fmt.Errorf("%w: %w", pairs[i+1], err)
		}
	}
	return err
}
