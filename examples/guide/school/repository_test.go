package school

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// fill has Rod in maths, and a syllabus.
func fill(ctx context.Context, db model.DB) error {
	return errors.Join(kateAndMaths(ctx, db), do(ctx, db,
		studentStore.Insert(Student{ID: "rod", Name: "Rod"}),
		syllabusStore.Insert(Syllabus{ID: "maths", Topics: []string{"sets"}}),
	), New(db).Enrol(ctx, "rod", "maths"))
}

func ExampleRepository() {
	ctx, db, stop := start()
	defer stop()
	r := New(db)
	err := errors.Join(r.Prepare(ctx), fill(ctx, db))
	fmt.Println(err)

	fmt.Println(r.Enrol(ctx, "kate", "maths"))
	fmt.Println(errors.Is(r.Enrol(ctx, "kate", "maths"), ErrEnrolled))
	fmt.Println(errors.Is(r.Enrol(ctx, "kate", "latin"), ErrUnknown))

	c := must(r.Open(ctx, "kate", "maths"))
	fmt.Println(c.Title, c.Students)
	// Output:
	// <nil>
	// <nil>
	// true
	// true
	// Maths 2
}

// What enrolling costs, and which index serves the board.
func TestCosts(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := New(db)
		if err := errors.Join(r.Prepare(t.Context()), fill(t.Context(), db)); err != nil {
			t.Fatal(err)
		}
		cost := model.Cost{Commands: 6, Written: 3, Returned: 3}
		modeltest.WantCost(t, monitor, cost, func() error {
			return r.Enrol(t.Context(), "kate", "maths")
		})
		modeltest.WantIndexed(t, db, board.Children("maths"), "course_1__id_-1")
	}, monitor)
}

// Enrol is cut at each of its writes, and then run again with the same token.
func TestEnrolIsCut(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error { return fill(ctx, db) },
		Run: func(ctx context.Context, db *mongo.Database) error {
			return New(db).Enrol(model.WithToken(ctx, id(1)), "kate", "maths")
		},
		Check: func(t testing.TB, db *mongo.Database) {
			c, err := courses.ByID("maths").One(t.Context(), db)
			if err != nil || c.Students != 2 {
				t.Errorf("%+v, %v", c, err)
			}
		},
	})
}

// Every action by itself, cut at every write, and beside each other action.
func TestVerify(t *testing.T) {
	token := byte(0)
	op := func(
		name string, f func(ctx context.Context, r Repository) error,
	) modeltest.VerifyOperation {
		token++
		request := id(token) // each request has a token of its own
		run := func(ctx context.Context, db model.DB) error {
			return f(model.WithToken(ctx, request), New(db))
		}
		return modeltest.VerifyOperation{Name: name, Refused: []error{ErrEnrolled}, Run: run}
	}
	news := Announcement{id(9), "maths", "No lesson on Monday"}
	modeltest.Verify(t, everything, modeltest.VerifyCase{
		Seed: fill,
		Operations: []modeltest.VerifyOperation{
			op("enrol", func(c context.Context, r Repository) error { return r.Enrol(c, "kate", "maths") }),
			op("leave", func(c context.Context, r Repository) error { return r.Leave(c, "rod", "maths") }),
			op("rename", func(c context.Context, r Repository) error { return r.Rename(c, "rod", "Rodney") }),
			op("rename to another", func(c context.Context, r Repository) error { return r.Rename(c, "kate", "Katherine") }),
			op("add a topic", func(c context.Context, r Repository) error { return r.AddTopic(c, "maths", "sums") }),
			op("announce", func(c context.Context, r Repository) error { return r.Announce(c, news) }),
			op("open", func(c context.Context, r Repository) error { _, err := r.Open(c, "rod", "maths"); return err }),
		},
		Reads: []modeltest.VerifyOperation{
			op("board", func(c context.Context, r Repository) error { _, err := r.Board(c, "maths", 2); return err }),
		},
		Max: 12,
		Except: map[string]string{
			"open cut": "a visit whose answer was lost is noted twice, which does no harm",
		},
	})
}

// Each action of each store, with documents that are made of the types.
func TestStores(t *testing.T) {
	const kept = "the school keeps its courses and students"
	modeltest.Verify(t, everything, modeltest.VerifyCase{
		Except: map[string]string{"courses delete": kept, "students delete": kept},
	})
}
