package school

import (
	"context"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// byHand implements the actions with the driver, for a server with transactions: tenant
// and deletion in every filter, a transaction for several documents, few commands. One
// findAndModify reads and writes a document. It stores no tokens, so an action whose
// answer was lost can't be run again.
type byHand struct {
	db     *mongo.Database
	tenant string
	now    time.Time
}

// doc makes a document of names and values.
func doc(pairs ...any) (out bson.D) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return out
}

func (h byHand) tx(ctx context.Context, f func(ctx context.Context) error) error {
	session, err := h.db.Client().StartSession()
	if err != nil {
		return err
	}
	defer session.EndSession(ctx)
	_, err = session.WithTransaction(ctx, func(ctx context.Context) (any, error) { return nil, f(ctx) })
	return err
}

func (h byHand) live(id any) bson.D { return doc("_id", id, "tenant", h.tenant, "deletedAt", nil) }

// one updates an existing document.
func (h byHand) one(ctx context.Context, collection string, filter bson.D, update any) error {
	r, err := h.db.Collection(collection).UpdateOne(ctx, filter, update)
	if err == nil && r.MatchedCount == 0 {
		err = model.ErrNotFound
	}
	return err
}

// before updates a document and decodes its old values.
func (h byHand) before(ctx context.Context, collection string, filter bson.D, update, into any) error {
	o := options.FindOneAndUpdate().SetReturnDocument(options.Before)
	return h.db.Collection(collection).FindOneAndUpdate(ctx, filter, update, o).Decode(into)
}

// told changes a course's numbers and computes the average.
func told(students int, sum, n int) mongo.Pipeline {
	add := func(path string, n int) bson.D { return doc("$add", bson.A{"$" + path, n}) }
	average := doc("$cond", bson.A{doc("$gt", bson.A{"$ratings.n", 0}), doc("$divide", bson.A{"$ratings.sum", "$ratings.n"}), nil})
	return mongo.Pipeline{
		doc("$set", doc("students", add("students", students), "ratings.sum", add("ratings.sum", sum), "ratings.n", add("ratings.n", n))),
		doc("$set", doc("rating", average)),
	}
}

// rated returns the sum and number that an enrolment adds to its course's ratings.
func rated(e Enrolment) (sum, n int) {
	if e.Rating == nil {
		return 0, 0
	}
	return *e.Rating, 1
}

// Enrol also writes to the student, so that no concurrent rename is missed.
func (h byHand) Enrol(ctx context.Context, enrolment, student, course bson.ObjectID) error {
	return h.tx(ctx, func(ctx context.Context) error {
		var s Student
		var c Course
		if err := h.before(ctx, "students", h.live(student), doc("$set", doc("enrolled", enrolment)), &s); err != nil {
			return err
		}
		if err := h.before(ctx, "courses", h.live(course), doc("$inc", doc("students", 1)), &c); err != nil {
			return err
		}
		_, err := h.db.Collection("enrolments").InsertOne(ctx, doc(
			"_id", enrolment, "tenant", h.tenant, "student", StudentRef{ID: student, Name: s.Name},
			"course", CourseRef{ID: course, Title: c.Title}, "rating", nil,
		))
		return err
	})
}

func (h byHand) Rate(ctx context.Context, enrolment bson.ObjectID, rating int) error {
	return h.tx(ctx, func(ctx context.Context) error {
		var was Enrolment
		if err := h.before(ctx, "enrolments", h.live(enrolment), doc("$set", doc("rating", rating)), &was); err != nil {
			return err
		}
		sum, n := rated(was)
		return h.one(ctx, "courses", h.live(was.Course.ID), told(0, rating-sum, 1-n))
	})
}

func (h byHand) Transfer(ctx context.Context, enrolment, course bson.ObjectID) error {
	return h.tx(ctx, func(ctx context.Context) error {
		var to Course
		if err := h.before(ctx, "courses", h.live(course), doc("$inc", doc("students", 1)), &to); err != nil {
			return err
		}
		var was Enrolment
		set := doc("course", CourseRef{ID: course, Title: to.Title}, "rating", nil)
		if err := h.before(ctx, "enrolments", h.live(enrolment), doc("$set", set), &was); err != nil {
			return err
		}
		sum, n := rated(was)
		return h.one(ctx, "courses", h.live(was.Course.ID), told(-1, -sum, -n))
	})
}

func (h byHand) Leave(ctx context.Context, enrolment bson.ObjectID) error {
	return h.tx(ctx, func(ctx context.Context) error {
		var was Enrolment
		if err := h.before(ctx, "enrolments", h.live(enrolment), doc("$set", doc("deletedAt", h.now)), &was); err != nil {
			return err
		}
		sum, n := rated(was)
		return h.one(ctx, "courses", h.live(was.Course.ID), told(-1, -sum, -n))
	})
}

func (h byHand) Rename(ctx context.Context, student bson.ObjectID, name string) error {
	return h.tx(ctx, func(ctx context.Context) error {
		if err := h.one(ctx, "students", h.live(student), doc("$set", doc("name", name))); err != nil {
			return err
		}
		copies := doc("student.id", student, "tenant", h.tenant, "deletedAt", nil)
		_, err := h.db.Collection("enrolments").UpdateMany(ctx, copies, doc("$set", doc("student.name", name)))
		return err
	})
}

func (h byHand) Announce(ctx context.Context, a Announcement) error {
	return h.tx(ctx, func(ctx context.Context) error {
		push := doc("$each", []News{{a.ID, a.At, a.Text}}, "$sort", doc("at", -1, "_id", -1), "$slice", shown)
		if err := h.one(ctx, "courses", h.live(a.Course), doc("$push", doc("latest", push))); err != nil {
			return err
		}
		_, err := h.db.Collection("announcements").InsertOne(ctx, doc("_id", a.ID, "tenant", h.tenant, "course", a.Course, "at", a.At, "text", a.Text))
		return err
	})
}

// Reorder needs all lessons, and looks each up in the stored list.
func (h byHand) Reorder(ctx context.Context, course bson.ObjectID, order ...any) error {
	is := doc("$filter", doc("input", "$lessons", "as", "l", "cond", doc("$eq", bson.A{"$$l.id", "$$id"})))
	all := doc("$map", doc("input", order, "as", "id", "in", doc("$first", is)))
	guard := append(h.live(course), doc("lessons.id", doc("$all", order), "lessons", doc("$size", len(order)))...)
	return h.one(ctx, "courses", guard, mongo.Pipeline{doc("$set", doc("lessons", all))})
}

func (h byHand) Take(ctx context.Context, course bson.ObjectID, n int64, _ bson.ObjectID) error {
	return h.one(ctx, "courses", append(h.live(course), doc("books", doc("$gte", n))...), doc("$inc", doc("books", -n)))
}
