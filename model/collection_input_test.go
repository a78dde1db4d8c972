// These tests hold that the methods of a collection refuse filters, sorts and updates that don't fit its documents' type.

package model_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// course has a field of each kind that a filter can be wrong about.
type course struct {
	ID      bson.ObjectID `bson:"_id"`
	Title   string        `bson:"title"`
	Seats   int           `bson:"seats"`
	Price   bson.Decimal128
	Begins  time.Time
	Open    bool
	Cover   []byte
	Tags    []string
	Grid    [][]int
	Teacher teacher
	Lessons []lesson
	Extra   bson.M
	Any     any
	Note    *string
}

type teacher struct {
	Name  string
	Phone map[string]string
}

type lesson struct {
	No    int
	Title string
	Marks []int
}

var courses = model.NewCollection[course, bson.ObjectID]("courses")

// TestFilterInput: a filter that no document can meet is refused, with the path, the value and the nearest name.
func TestFilterInput(t *testing.T) {
	for _, c := range []struct {
		filter bson.D
		path   string // of the ValueError; "" where the filter is good
		want   string
	}{
		{nil, "", ""},
		{
			filter: d("title", "x", "seats", 3, "price", 2.5, "begins", time.Now(), "open", true, "cover", []byte("x"),
				"tags", "a", "note", "x"),
			path: "", want: "",
		},
		{d("titel", "x"), "titel", `did you mean "title"?`},
		{d("title", 3), "title", "is a int, but the field is of type string"},
		{d("title", nil), "", ""},
		{d("title", bson.Regex{Pattern: "^a"}), "", ""},
		{d("seats", bson.Regex{Pattern: "^a"}), "seats", "but the field is of type"},
		{d("title", d("$regex", "^a", "$options", "i")), "", ""},
		{d("seats", d("$regex", "^a")), "seats", "can't match a pattern"},
		{d("seats", d("$gte", 1, "$lt", int64(9))), "", ""},
		{d("seats", d("$gte", "1")), "seats", "is a string"},
		{d("seats", d("$gt", bson.MinKey{})), "", ""},
		{d("seats", d("$not", d("$lt", "3"))), "seats", "is a string"},
		{d("seats", d("$in", bson.A{1, "2"})), "seats", "is a string"},
		{d("title", d("$in", []string{"a", "b"})), "", ""},
		{d("_id", d("$in", []string{"a"})), "_id", "is a string"},
		{d("_id", d("$in", []bson.ObjectID{{}})), "", ""},
		{d("_id", "5f0000000000000000000001"), "_id", "bson.ObjectID"},
		{d("seats", d("$in", []int{1, 2})), "", ""},
		{d("title", d("$in", []int{1, 2})), "title", "but the field is of type"},
		{d("begins", d("$gte", "2026-01-01")), "begins", "time.Time"},
		{d("begins", bson.DateTime(1)), "", ""},
		{d("seats", d("$mod", bson.A{2, 0})), "", ""},
		{d("title", d("$mod", bson.A{2, 0})), "title", "$mod"},
		{d("tags", bson.A{"a", "b"}), "", ""},
		{d("tags", d("$all", bson.A{"a", 2})), "tags", "is a int"},
		{d("tags.0", "a"), "", ""},
		{d("tags.0", 1), "tags.0", "is a int"},
		{d("tags.x", "a"), "tags.x", `"tags" is of type string, which has no field "x"`},
		{d("tags", d("$size", 2)), "", ""},
		{d("title", d("$size", 2)), "title", "$size needs an array"},
		{d("grid.0.1", 4), "", ""},
		{d("grid", bson.A{1, 2}), "", ""},
		{d("grid", d("$elemMatch", d("$elemMatch", d("$gt", 1)))), "", ""},
		{d("teacher.name", "x"), "", ""},
		{d("teacher.nam", "x"), "teacher.nam", `did you mean "name"?`},
		{d("teacher", d("name", "x")), "", ""},
		{d("teacher", d("nam", "x")), "teacher.nam", `did you mean "name"?`},
		{d("teacher", "x"), "teacher", "is a string"},
		{d("teacher", teacher{Name: "x"}), "", ""},
		{d("teacher.phone.home", 3), "", ""}, // a map is not known
		{d("lessons.title", "x"), "", ""},
		{d("lessons.2.title", "x"), "", ""},
		{d("lessons.titel", "x"), "lessons.titel", `did you mean "title"?`},
		{d("lessons", d("$elemMatch", d("no", 1, "title", "x"))), "", ""},
		{d("lessons", d("$elemMatch", d("no", "1"))), "lessons.no", "is a string"},
		{d("lessons", d("$elemMatch", d("$or", bson.A{d("nr", 1)}))), "lessons.nr", `did you mean "no"?`},
		{d("lessons.marks", d("$elemMatch", d("$gt", 3, "$lt", "5"))), "lessons.marks", "is a string"},
		{d("seats", d("$elemMatch", d("$gt", 3))), "seats", "$elemMatch needs an array"},
		{d("extra.whatever", 1, "any", "x", "any.deep", 2), "", ""},
		{d("$or", bson.A{d("title", "x"), d("$and", bson.A{d("seats", "3")})}), "seats", "is a string"},
		{d("$or", []bson.D{d("title", "x"), d("seats", "3")}), "seats", "is a string"},
		{d("$expr", d("$gt", bson.A{"$nothing", 1})), "", ""},
		{d("$nor", bson.A{d("seat", 3)}), "seat", `did you mean "seats"?`},
		{bson.D{{Key: "title", Value: d("$exists", true)}, {Key: "seats", Value: d("$type", "int")}}, "", ""},
	} {
		find := courses.Find(c.filter)
		checkInput(t, find.String(), find.Err, c.path, c.want)
		checkInput(t, "Where", courses.Find(nil).Where(c.filter).Err, c.path, c.want)
		checkInput(t, "Modify", courses.Modify(c.filter, d("$inc", d("seats", 1))).Err, c.path, c.want)
		match := courses.Aggregate(mongo.Pipeline{d("$match", c.filter), d("$match", d("made", 1))})
		if c.filter != nil {
			checkInput(t, "Aggregate", match.Err, c.path, c.want)
		}
		if err := courses.Unchecked().Find(c.filter).Err; err != nil {
			t.Errorf("Unchecked: %v", err)
		}
		byHand := courses.Find(nil)
		if byHand.Filter = c.filter; byHand.Err != nil {
			t.Error(byHand.Err)
		}
	}
}

func checkInput(t *testing.T, what string, err error, path, want string) {
	t.Helper()
	if path == "" {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		return
	}
	var bad *model.ValueError
	if !errors.As(err, &bad) || bad.Field != path || !strings.Contains(err.Error(), want) || bad.Collection != "courses" {
		t.Errorf("%s: %v; want %s: %s", what, err, path, want)
	}
}

// TestSortInput: a sort by what the documents don't have is refused.
func TestSortInput(t *testing.T) {
	checkInput(t, "Sorted", courses.Find(nil).Sorted(d("begin", 1)).Err, "begin", `did you mean "begins"?`)
	checkInput(t, "Sorted",
		courses.Find(nil).
			Sorted(d("begins", 1, "lessons.no", -1, "extra.x", 1, "score", d("$meta", "textScore"))).Err, "", "")
}

// TestUpdateInput: so is an update that no document can take.
func TestUpdateInput(t *testing.T) {
	for _, c := range []struct {
		update bson.D
		path   string
		want   string
	}{
		{d("$set", d("title", "x", "seats", 3, "tags", bson.A{"a"}, "teacher.name", "x", "note", nil)), "", ""},
		{d("$set", d("titel", "x")), "titel", `did you mean "title"?`},
		{d("$set", d("seats", "3")), "seats", "is a string"},
		{d("$set", d("tags", "a")), "tags", "[]string"},
		{d("$set", d("tags.0", "a", "tags.$", "b", "tags.$[]", "c", "lessons.$[x].title", "d")), "", ""},
		{d("$set", d("lessons.$[x].titel", "d")), "lessons.$[x].titel", `did you mean "title"?`},
		{d("$set", d("teacher", teacher{Name: "x"})), "", ""},
		{d("$set", d("teacher", d("nam", "x"))), "teacher.nam", `did you mean "name"?`},
		{d("$inc", d("seats", 1), "$mul", d("price", 1.1)), "", ""},
		{d("$inc", d("title", 1)), "title", "$inc needs a number"},
		{d("$inc", d("seats", "1")), "seats", "is a string"},
		{d("$push", d("tags", "a")), "", ""},
		{d("$push", d("tags", 1)), "tags", "is a int"},
		{d("$push", d("tags", d("$each", bson.A{"a", 1}, "$slice", -3))), "tags", "is a int"},
		{d("$push", d("title", "a")), "title", "$push needs an array"},
		{d("$push", d("lessons", lesson{No: 1})), "", ""},
		{d("$push", d("lessons", d("nr", 1))), "lessons.nr", `did you mean "no"?`},
		{d("$addToSet", d("seats", 1)), "seats", "$addToSet needs an array"},
		{d("$pull", d("lessons", d("no", d("$gt", 3)))), "", ""},
		{d("$pull", d("lessons", d("nr", 3))), "lessons.nr", `did you mean "no"?`},
		{d("$pull", d("tags", d("$in", bson.A{"a", 1}))), "tags", "is a int"},
		{d("$pullAll", d("tags", bson.A{"a", 1})), "tags", "is a int"},
		{d("$pop", d("tags", 1)), "", ""},
		{d("$pop", d("seats", 1)), "seats", "$pop needs an array"},
		{d("$unset", d("note", "")), "", ""},
		{d("$unset", d("notes", "")), "notes", `did you mean "note"?`},
		{d("$rename", d("old", "title")), "", ""},
		{d("$rename", d("title", "heading")), "heading", "stores no field"},
		{d("$min", d("begins", time.Now()), "$max", d("seats", 4)), "", ""},
		{d("$max", d("seats", "4")), "seats", "is a string"},
		{d("$set", d("extra.x", 1, "any", 2)), "", ""},
		{d("$bit", d("seats", d("and", 3))), "", ""},
		{d("$bit", d("title", d("and", 3))), "title", "$bit needs a number"},
		{d("$currentDate", d("begins", true)), "", ""},
		{d("$set", d("_id", oid(2))), "_id", "$set can't change an _id"},
		{d("$unset", d("_id.part", "")), "_id", "$unset can't change an _id"},
		{d("$rename", d("_id", "note")), "_id", "$rename can't change an _id"},
		{d("$rename", d("note", "_id")), "_id", "$rename can't change an _id"},
		{d("$setOnInsert", d("_id", oid(1))), "", ""},
	} {
		w := courses.Update(oid(1), c.update)
		checkInput(t, w.String(), w.Err, c.path, c.want)
		checkInput(t, "Modify", courses.Modify(d("_id", oid(1)), c.update).Err, c.path, c.want)
		if w := courses.Unchecked().Update(oid(1), c.update); w.Err != nil {
			t.Errorf("Unchecked: %v", w.Err)
		}
	}
}

// What it costs to hold a filter of ten keys against the type: the difference of the two.
func BenchmarkFilterInput(b *testing.B) {
	now := time.Now()
	filter := d("title", "x", "seats", d("$gte", 1), "begins", d("$lt", now), "open", true, "tags",
		"a", "teacher.name", "x",
		"lessons.no", 3, "lessons.title", "t", "price", 2.5, "note", "n")
	for name, c := range map[string]*model.Collection[course, bson.ObjectID]{
		"checked": courses, "unchecked": courses.Unchecked(),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if c.Find(filter).Err != nil {
					b.Fatal("refused")
				}
			}
		})
	}
}
