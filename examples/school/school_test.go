package school

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// A cast is a school's people and courses. Its number is in all ids, because ids of two
// schools must differ.
type cast byte

const (
	north cast = 1
	south cast = 2
)

func (c cast) id(n byte) bson.ObjectID { return bson.ObjectID{0: 0x65, 10: byte(c), 11: n} }
func (c cast) kate() bson.ObjectID     { return c.id(1) }
func (c cast) rod() bson.ObjectID      { return c.id(2) }
func (c cast) maths() bson.ObjectID    { return c.id(3) }
func (c cast) art() bson.ObjectID      { return c.id(4) }
func (c cast) op(n byte) bson.ObjectID { return c.id(0x10 + n) } // of enrolments, and of takes
func (c cast) tenant() string          { return fmt.Sprint("school ", byte(c)) }

func (c cast) on(db *mongo.Database) Repository { return New(Scope(c.tenant(), noon).On(db)) }

// fill enrols Rod in two courses. He rated one course.
func (c cast) fill(ctx context.Context, db *mongo.Database) error {
	r := c.on(db)
	return errors.Join(
		r.Prepare(ctx),
		r.Add(ctx, []Student{{ID: c.kate(), Name: "Kate"}, {ID: c.rod(), Name: "Rod"}}, []Course{
			{ID: c.maths(), Title: "Maths", Lessons: []Lesson{{"sets", "Sets"}, {"sums", "Sums"}, {"logic", "Logic"}}, Books: 3},
			{ID: c.art(), Title: "Art", Books: 1},
		}),
		r.Enrol(ctx, c.op(1), c.rod(), c.maths()), r.Enrol(ctx, c.op(2), c.rod(), c.art()), r.Rate(ctx, c.op(1), 5),
		r.Announce(ctx, c.news(1)), r.Announce(ctx, c.news(2)),
	)
}

func (c cast) news(n byte) Announcement {
	return Announcement{c.id(0x40 + n), c.maths(), noon.Add(time.Duration(n) * time.Minute), fmt.Sprint("news ", n)}
}

// A user acts on a school: a [Repository], or the code by hand.
type user interface {
	Enrol(ctx context.Context, enrolment, student, course bson.ObjectID) error
	Rate(ctx context.Context, enrolment bson.ObjectID, rating int) error
	Transfer(ctx context.Context, enrolment, course bson.ObjectID) error
	Leave(ctx context.Context, enrolment bson.ObjectID) error
	Rename(ctx context.Context, student bson.ObjectID, name string) error
	Announce(ctx context.Context, a Announcement) error
	Reorder(ctx context.Context, course bson.ObjectID, order ...any) error
	Take(ctx context.Context, course bson.ObjectID, n int64, op bson.ObjectID) error
}

type action struct {
	name string
	run  func(ctx context.Context, u user) error
}

// request returns the context of the n-th request of a client. The token is the same for a
// retry.
func (c cast) request(ctx context.Context, n byte) context.Context {
	return model.WithToken(ctx, c.id(0x20+n))
}

// actions returns all actions in order.
func (c cast) actions() []action {
	out := []action{
		{"enrol", func(ctx context.Context, u user) error { return u.Enrol(ctx, c.op(5), c.kate(), c.maths()) }},
		{"rate", func(ctx context.Context, u user) error { return u.Rate(ctx, c.op(5), 2) }},
		{"rename", func(ctx context.Context, u user) error { return u.Rename(ctx, c.rod(), "Rodney") }},
		{"transfer", func(ctx context.Context, u user) error { return u.Transfer(ctx, c.op(5), c.art()) }},
		{"leave", func(ctx context.Context, u user) error { return u.Leave(ctx, c.op(2)) }},
		{"announce", func(ctx context.Context, u user) error { return u.Announce(ctx, c.news(3)) }},
		{"reorder", func(ctx context.Context, u user) error { return u.Reorder(ctx, c.maths(), "logic", "sets", "sums") }},
		{"take", func(ctx context.Context, u user) error { return u.Take(ctx, c.maths(), 2, c.op(9)) }},
	}
	for i, a := range out {
		out[i].run = func(ctx context.Context, u user) error { return a.run(c.request(ctx, byte(i)), u) }
	}
	return out
}

// state returns what readers see of a school, without the techniques' own fields.
func (c cast) state(ctx context.Context, r Repository) (string, error) {
	var b strings.Builder
	rate := func(v *float64) string {
		if v == nil {
			return "none"
		}
		return fmt.Sprint(*v)
	}
	for _, id := range []bson.ObjectID{c.maths(), c.art()} {
		course, errCourse := r.Course(ctx, id)
		page, errPage := r.Enrolments(ctx, id, 10, "")
		if err := errors.Join(errCourse, errPage); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s: %d students, rating %s of %d, %d books", course.Title, course.Students, rate(course.Rating), course.Ratings.N, course.Books)
		for _, l := range course.Lessons {
			fmt.Fprintf(&b, ", %s", l.Title)
		}
		for _, n := range course.Latest {
			fmt.Fprintf(&b, ", %s", n.Text)
		}
		fmt.Fprintln(&b)
		for _, e := range page.Docs {
			fmt.Fprintf(&b, "- %s in %s", e.Student.Name, e.Course.Title)
			if e.Rating != nil {
				fmt.Fprintf(&b, " (%d)", *e.Rating)
			}
			fmt.Fprintln(&b)
		}
	}
	return b.String(), nil
}

// audited fails the test if the audit finds anything.
func (c cast) audited(t testing.TB, db *mongo.Database) {
	t.Helper()
	if found, err := c.on(db).Audit(t.Context()); len(found) > 0 || err != nil {
		t.Errorf("%s: %v, %v", c.tenant(), found, err)
	}
}

// Each action has its effect once, however often it runs, and doesn't change the other
// school.
func TestActions(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, r := t.Context(), north.on(db)
		if err := errors.Join(north.fill(ctx, db), south.fill(ctx, db)); err != nil {
			t.Fatal(err)
		}
		beside, err := south.state(ctx, south.on(db))
		if err != nil {
			t.Fatal(err)
		}
		maths, art := north.maths(), north.art()
		wants := []struct {
			course   bson.ObjectID
			students int64
			rating   float64 // 0 for none
			ok       func(Course) bool
		}{
			{maths, 2, 5, nil}, {maths, 2, 3.5, nil}, {maths, 2, 3.5, nil}, {art, 2, 0, nil}, {art, 1, 0, nil},
			{maths, 1, 5, func(c Course) bool { return len(c.Latest) == shown && c.Latest[0].Text == "news 3" }},
			{maths, 1, 5, func(c Course) bool { return c.Lessons[0].ID == "logic" && c.Lessons[2].ID == "sums" }},
			{maths, 1, 5, func(c Course) bool { return c.Books == 1 }},
		}
		for i, a := range north.actions() {
			for range 2 {
				if err := a.run(ctx, r); err != nil {
					t.Fatalf("%s: %v", a.name, err)
				}
				want := wants[i]
				c, err := r.Course(ctx, want.course)
				rating := 0.0
				if c.Rating != nil {
					rating = *c.Rating
				}
				if err != nil || c.Students != want.students || rating != want.rating || want.ok != nil && !want.ok(c) {
					t.Errorf("after %s: %+v, %v", a.name, c, err)
				}
			}
			north.audited(t, db)
		}
		got, err := north.state(ctx, r)
		want := "Maths: 1 students, rating 5 of 1, 1 books, Logic, Sets, Sums, news 3, news 2\n- Rodney in Maths (5)\n" +
			"Art: 1 students, rating none of 0, 1 books\n- Kate in Art\n"
		if got != want || err != nil {
			t.Errorf("%s\n%v", got, err)
		}
		south.audited(t, db)
		if now, err := south.state(ctx, south.on(db)); now != beside || err != nil {
			t.Errorf("%s\n%v\nwas\n%s", now, err, beside)
		}
	})
}

// Pages list all documents of a course in time order.
func TestPages(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, r := t.Context(), north.on(db)
		if err := errors.Join(
			north.fill(ctx, db), south.fill(ctx, db), r.Enrol(ctx, north.op(5), north.kate(), north.maths()), r.Announce(ctx, north.news(3)),
		); err != nil {
			t.Fatal(err)
		}
		var got []string
		for token, n := "", 0; n == 0 || token != ""; n++ {
			p, err := r.Enrolments(ctx, north.maths(), 1, token)
			if err != nil || len(p.Docs) != 1 {
				t.Fatal(p, err)
			}
			got, token = append(got, p.Docs[0].Student.Name), p.Next
		}
		for token, n := "", 0; n == 0 || token != ""; n++ {
			p, err := r.Announcements(ctx, north.maths(), 2, token)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range p.Docs {
				got = append(got, a.Text)
			}
			token = p.Next
		}
		if s := strings.Join(got, ", "); s != "Kate, Rod, news 3, news 2, news 1" {
			t.Error(s)
		}
		mine, err := r.Enrolments(ctx, north.maths(), 1, "")
		if err != nil {
			t.Fatal(err)
		}
		if p, err := south.on(db).Enrolments(ctx, north.maths(), 1, mine.Next); err == nil {
			t.Errorf("the token of another school reads %v", p)
		}
		scoped := Scope(north.tenant(), noon).On(db)
		var refused *model.ValueError
		if _, err := New(Scope("", noon).On(db)).Course(ctx, north.maths()); !errors.As(err, &refused) {
			t.Errorf("a request of no school: %v", err)
		}
		if n, err := enrolments.Find(nil).Count(ctx, scoped); n != 3 || err != nil {
			t.Errorf("%d enrolments, %v", n, err)
		}
	})
}

// Errors are the school's and leave nothing. Documents of another school are missing.
func TestErrors(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, r := t.Context(), north.on(db)
		if err := errors.Join(north.fill(ctx, db), south.fill(ctx, db)); err != nil {
			t.Fatal(err)
		}
		was, errWas := north.state(ctx, r)
		beside, errBeside := south.state(ctx, south.on(db))
		rod, maths, op := north.rod(), north.maths(), north.op(9)
		news := north.news(3)
		for _, nowhere := range []bson.ObjectID{{9}, south.kate(), south.maths(), south.op(1)} {
			news.Course = nowhere
			for _, c := range []struct {
				name      string
				got, want error
			}{
				{"no student", r.Enrol(ctx, op, nowhere, maths), ErrNoStudent},
				{"no course", r.Enrol(ctx, op, rod, nowhere), ErrNoCourse},
				{"enrolled twice", r.Enrol(ctx, op, rod, maths), ErrEnrolled},
				{"no enrolment to rate", r.Rate(ctx, nowhere, 3), ErrNotEnrolled},
				{"no enrolment to end", r.Leave(ctx, nowhere), nil},
				{"no enrolment to transfer", r.Transfer(ctx, nowhere, maths), ErrNotEnrolled},
				{"no course to transfer to", r.Transfer(ctx, north.op(1), nowhere), ErrNoCourse},
				{"a course that the student is in", r.Transfer(ctx, north.op(1), north.art()), ErrEnrolled},
				{"nobody to rename", r.Rename(ctx, nowhere, "X"), ErrNoStudent},
				{"news of no course", r.Announce(ctx, news), ErrNoCourse},
				{"no lesson", r.Reorder(ctx, maths, "sets", "singing"), ErrNoLesson},
				{"lessons of no course", r.Reorder(ctx, nowhere, "sets"), ErrNoCourse},
				{"more books than there are", r.Take(ctx, maths, 4, op), ErrOutOfStock},
				{"books of no course", r.Take(ctx, nowhere, 1, op), ErrNoCourse},
			} {
				if !errors.Is(c.got, c.want) {
					t.Errorf("%s, %s: %v; want %v", c.name, nowhere.Hex(), c.got, c.want)
				}
			}
		}
		got, errGot := north.state(ctx, r)
		now, errNow := south.state(ctx, south.on(db))
		if err := errors.Join(errWas, errBeside, errGot, errNow); err != nil || got != was || now != beside {
			t.Errorf("%s\nwas\n%s\n%s\nwas\n%s\n%v", got, was, now, beside, err)
		}
		north.audited(t, db)
		south.audited(t, db)
		if err := r.Announce(ctx, north.news(3)); err != nil { // its ID is free, though it was tried on no course
			t.Error(err)
		}
	})
}
