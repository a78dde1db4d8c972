package school

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
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

// Enrol puts a student into a course. op is the token of the action, and the same for each
// retry.
func (r Repository) Enrol(
	ctx context.Context, student, course string, op bson.ObjectID,
) error {
	_, _, err := names.Storing(student, func(s *Student) model.Action {
		return sizes.Insert(Enrolment{
			ID:      student + "/" + course,
			Student: StudentRef{ID: s.ID, Name: s.Name, Version: s.Version},
			Course:  course,
		}, op)
	}, student+"/"+course).Run(ctx, r.db)
	return inWords(err)
}

// Leave takes a student out of a course.
func (r Repository) Leave(
	ctx context.Context, student, course string, op bson.ObjectID,
) error {
	_, _, err := sizes.Delete(student+"/"+course, op).Run(ctx, r.db)
	return inWords(err)
}

// Rename renames a student, in the enrolments too. It reads, decides and writes, and does
// so again if somebody else wrote in between.
func (r Repository) Rename(ctx context.Context, student, name string) error {
	_, _, err := model.Change[Student]{
		Read: func(ctx context.Context, db model.DB) (Student, error) {
			return students.ByID(student).One(ctx, db)
		},
		Decide: func(s Student) (model.Plan, error) {
			if s.Name == name { // by a run of this action that was cut
				return names.Propagate(&s), nil
			}
			return names.Set(&s, bson.D{{Key: "name", Value: name}}), nil
		},
	}.Run(ctx, r.db)
	return inWords(err)
}

// Announce puts an announcement on the board of a course.
func (r Repository) Announce(ctx context.Context, a Announcement) error {
	_, err := announcements.Insert(a).Run(ctx, r.db)
	return inWords(err)
}

// AddTopic adds a topic to the end of a syllabus.
func (r Repository) AddTopic(
	ctx context.Context, course, topic string, op bson.ObjectID,
) error {
	_, _, err := edits.Change(course, op, func(s Syllabus) (Syllabus, error) {
		s.Topics = append(s.Topics, topic)
		return s, nil
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
	switch {
	case errors.Is(err, model.ErrNotFound):
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	case errors.Is(err, model.ErrTaken):
		return fmt.Errorf("%w: %w", ErrEnrolled, err)
	}
	return err
}
