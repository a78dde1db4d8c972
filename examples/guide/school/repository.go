package school

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var (
	ErrUnknown  = errors.New("school: no such student or course")
	ErrEnrolled = errors.New("school: the student is in the course already")
)

// A Repository is made for one request. It takes every model.DB: a *mongo.Database, or
// what a Scope, an Observer or WithTransactions returns.
type Repository struct{ db model.DB }

func New(db model.DB) Repository { return Repository{db} }

// Prepare creates the indexes that are missing.
func (r Repository) Prepare(ctx context.Context) error {
	return everything.Indexes().Ensure(ctx, r.db)
}

// Enrol puts a student into a course. A student who is in it already gives ErrEnrolled. In
// a transaction, an enrolment that is stored exactly so is no error.
func (r Repository) Enrol(ctx context.Context, student, course string) error {
	_, _, err := enrolmentStore.Insert(enrolmentOf(student, course)).Run(ctx, r.db)
	if errors.Is(err, model.ErrTaken) || mongo.IsDuplicateKeyError(err) {
		return fmt.Errorf("%w: %w", ErrEnrolled, err)
	}
	return inWords(err)
}

func enrolmentOf(student, course string) Enrolment {
	return Enrolment{ID: student + "/" + course, Student: StudentRef{ID: student}, Course: course}
}

// Leave takes a student out of a course. An enrolment that isn't there is no error, so that
// a request can be repeated.
func (r Repository) Leave(ctx context.Context, student, course string) error {
	_, _, err := enrolmentStore.Delete(student+"/"+course).Run(ctx, r.db)
	if errors.Is(err, model.ErrNotFound) {
		return nil
	}
	return err
}

// Rename renames a student, in the enrolments too.
func (r Repository) Rename(ctx context.Context, student, name string) error {
	set := bson.D{{Key: "name", Value: name}}
	_, _, err := studentStore.Set(student, set).Run(ctx, r.db)
	return inWords(err)
}

// Announce puts an announcement on the board of a course.
func (r Repository) Announce(ctx context.Context, a Announcement) error {
	_, _, err := announcementStore.Insert(a).Run(ctx, r.db)
	return inWords(err)
}

// AddTopic adds a topic to the end of a syllabus, unless it is there.
func (r Repository) AddTopic(ctx context.Context, course, topic string) error {
	_, _, err := syllabusStore.Edit(course, func(s *Syllabus) error {
		if !slices.Contains(s.Topics, topic) {
			s.Topics = append(s.Topics, topic)
		}
		return nil
	}).Run(ctx, r.db)
	return inWords(err)
}

// Open returns a course, and notes that a student looked at it.
func (r Repository) Open(ctx context.Context, student, course string) (Course, error) {
	c, err := courses.ByID(course).One(ctx, r.db)
	if err != nil {
		return c, inWords(err)
	}
	_, err = seen.Push(student, course).Run(ctx, r.db)
	return c, inWords(err)
}

// Board returns the newest announcements of a course.
func (r Repository) Board(
	ctx context.Context, course string, n int64,
) ([]Announcement, error) {
	return board.Children(course).Limited(n).All(ctx, r.db)
}

// inWords is an error in the words of the school, around what the library said.
func inWords(err error) error {
	if errors.Is(err, model.ErrNotFound) {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return err
}
