package copies_test

import (
	"testing"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Courses, which count who is enrolled, and enrolments, which show the course's fields.
type (
	course struct {
		ID       string   `bson:"_id"`
		Name     string   `bson:"name"`
		Teacher  string   `bson:"teacher,omitempty"`
		Rooms    []string `bson:"rooms,omitempty"`
		Students int64    `bson:"students"`
	}
	enrolment struct {
		ID     string    `bson:"_id"`
		Course courseRef `bson:"course"`
		Grade  int       `bson:"grade,omitempty"`
	}
	courseRef struct {
		ID      string   `bson:"id"`
		Seat    int      `bson:"seat,omitempty"` // not of the copy
		Name    string   `bson:"name"`
		Teacher string   `bson:"teacher,omitempty"`
		Rooms   []string `bson:"rooms,omitempty"`
	}
)

var (
	courses    = model.NewCollectionWith[course, string]("courses", model.CollectionOptions{StoreField: "kept"})
	enrolments = model.NewCollection[enrolment, string]("enrolments")
	enrolled   = counter.New(enrolments, "course.id", courses, counter.Spec{Count: "students"})
	shown      = copies.New(courses, enrolments, copies.Spec{KeyPath: "course.id", Fields: []copies.Field{
		{From: "name", To: "course.name"}, {From: "teacher", To: "course.teacher"}, {From: "rooms", To: "course.rooms"},
	}})
	school         = model.New("school", enrolled, shown)
	enrolmentStore = model.NewStore(school, enrolments)
	courseStore    = model.NewStore(school, courses)
)

// A document that counts, and holds copied fields, moves with both: fields that the new source doesn't have are taken
// away.
func TestCopyInCountedDocument(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		a := course{ID: "a", Name: "Algebra", Teacher: "Noether", Rooms: []string{"1", "2"}}
		b := course{ID: "b", Name: "Botany"}
		if err := testkit.Store(ctx, db, testkit.Docs{"courses": {a, b}}); err != nil {
			t.Fatal(err)
		}
		want := func(holds enrolment) {
			t.Helper()
			e, err := enrolments.ByID("e").One(ctx, db)
			if err != nil || model.Shell(asDoc(t, e)) != model.Shell(asDoc(t, holds)) {
				t.Errorf("%+v, want %+v, %v", e, holds, err)
			}
			wrong, errWrong := testkit.FoundBy(ctx, db, enrolled.Checks())
			stale, errStale := testkit.FoundBy(ctx, db, shown.Checks())
			if errWrong != nil || errStale != nil || len(wrong)+len(stale) > 0 {
				t.Errorf("%v, %v, %v, %v", wrong, stale, errWrong, errStale)
			}
		}
		testkit.MustChange(t, db, enrolmentStore.Insert(enrolment{ID: "e", Course: courseRef{ID: "a", Seat: 7}}))
		want(enrolment{ID: "e", Course: courseRef{"a", 7, "Algebra", "Noether", []string{"1", "2"}}})
		testkit.MustChange(t, db, enrolmentStore.Set("e", bson.D{testkit.E("course.id", "b"), testkit.E("grade", 3)}))
		want(enrolment{ID: "e", Course: courseRef{ID: "b", Seat: 7, Name: "Botany"}, Grade: 3})
		testkit.MustChange(t, db, courseStore.Set("b", bson.D{testkit.E("name", "Biology")}))
		want(enrolment{ID: "e", Course: courseRef{ID: "b", Seat: 7, Name: "Biology"}, Grade: 3})
	})
}

func asDoc(t *testing.T, v any) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// A refresh of named documents reads and writes no others.
func TestCopyRefreshNamed(t *testing.T) {
	testkit.Parallel(t)
	for _, f := range copyForms {
		t.Run(f.name, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				ctx := t.Context()
				s := origin{ID: "s", Name: "new", V: 2, Docs: []string{"h1", "h2"}}
				var list []any
				for _, id := range []string{"h1", "h2", "h3"} {
					old := held{ID: "s", Name: "old", V: 1}
					h := holder{
						ID: id, Src: "s", Name: "old", V: 1, Items: []held{old}, Groups: []group{{Items: []held{old}}},
					}
					if id == "h3" && f.name != "listed" {
						h = holder{ID: id}
					}
					list = append(list, h)
				}
				if err := testkit.Store(ctx, db, testkit.Docs{"origins": {s}, "holders": list}); err != nil {
					t.Fatal(err)
				}
				for _, want := range []int64{1, 0} {
					_, result, err := f.c.Refresh("s", "h1", "h3", "none").Run(ctx, db)
					if err != nil || result.Modified() != want {
						t.Errorf("wrote %d, want %d, %v", result.Modified(), want, err)
					}
				}
				if found, err := testkit.FoundBy(ctx, db, f.c.Checks()); err != nil || len(found) != 1 ||
					found[0].ID.StringValue() != "h2" {
					t.Errorf("the check finds %v, %v", found, err)
				}
				plan, err := f.c.Refresh("s", "h1").Decide(asDoc(t, s))
				if err != nil || len(plan.Steps) != 1 || plan.Steps[0].(model.Write).Index != model.IDIndex {
					t.Errorf("%s, %v: not by _id", plan, err)
				}
				if _, _, err := f.c.Refresh("s").Run(ctx, db); err != nil {
					t.Error(err)
				}
				if found, err := testkit.FoundBy(ctx, db, f.c.Checks()); err != nil || len(found) != 0 {
					t.Errorf("refreshed, the check finds %v, %v", found, err)
				}
			})
		})
	}
	testkit.WantError(t, inItems.Refresh("s", "").Err, testkit.ErrRefused)
}
