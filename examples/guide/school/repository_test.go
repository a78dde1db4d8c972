package school

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// fill has Rod in maths, and a syllabus.
func fill(ctx context.Context, db model.DB) error {
	_, err := model.Concat(kateAndMaths(), model.NewPlan(
		students.Insert(Student{ID: "rod", Name: "Rod"}),
		edits.Insert(Syllabus{ID: "maths", Topics: []string{"sets"}}, id(8)),
	)).Run(ctx, db)
	return errors.Join(err, New(db).Enrol(ctx, "rod", "maths", id(1)))
}

func ExampleRepository() {
	ctx, db, stop := start()
	defer stop()
	r := New(db)
	err := errors.Join(r.Prepare(ctx), fill(ctx, db))
	fmt.Println(err)

	fmt.Println(r.Enrol(ctx, "kate", "maths", id(2)))
	fmt.Println(r.Enrol(ctx, "kate", "maths", id(2))) // the answer was lost, so: again
	fmt.Println(errors.Is(r.Enrol(ctx, "kate", "maths", id(3)), ErrEnrolled))
	fmt.Println(errors.Is(r.Enrol(ctx, "kate", "latin", id(4)), ErrUnknown))

	c := must(r.Open(ctx, "kate", "maths"))
	fmt.Println(c.Title, c.Students)
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// true
	// true
	// Maths 2
}

// What enrolling costs, and which index serves the board.
func TestCosts(t *testing.T) {
	monitor := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := New(db)
		if err := errors.Join(r.Prepare(t.Context()), fill(t.Context(), db)); err != nil {
			t.Fatal(err)
		}
		cost := model.Cost{Commands: 7, Written: 3, Returned: 3}
		modeltest.WantCost(t, monitor, cost, func() error {
			return r.Enrol(t.Context(), "kate", "maths", id(2))
		})
		modeltest.WantIndexed(t, db, board.Children("maths"), "course_1__id_-1")
	}, modeltest.WithMonitor(monitor))
}

// Enrol is cut at each of its writes, and then run again.
func TestEnrolIsCut(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error { return fill(ctx, db) },
		Run: func(ctx context.Context, db *mongo.Database) error {
			return New(db).Enrol(ctx, "kate", "maths", id(2))
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
	op := func(
		name string, f func(ctx context.Context, r Repository) error,
	) modeltest.VerifyOperation {
		return modeltest.VerifyOperation{
			Name:    name,
			Refused: []error{ErrEnrolled},
			Run:     func(ctx context.Context, db model.DB) error { return f(ctx, New(db)) },
		}
	}
	modeltest.Verify(t, everything, modeltest.VerifyCase{
		Seed: fill,
		Operations: []modeltest.VerifyOperation{
			op("enrol", func(ctx context.Context, r Repository) error {
				return r.Enrol(ctx, "kate", "maths", id(2))
			}),
			op("leave", func(ctx context.Context, r Repository) error {
				return r.Leave(ctx, "rod", "maths", id(3))
			}),
			op("rename", func(ctx context.Context, r Repository) error {
				return r.Rename(ctx, "rod", "Rodney")
			}),
			op("rename to another", func(ctx context.Context, r Repository) error {
				return r.Rename(ctx, "kate", "Katherine")
			}),
			op("add a topic", func(ctx context.Context, r Repository) error {
				return r.AddTopic(ctx, "maths", "sums", id(4))
			}),
			op("open", func(ctx context.Context, r Repository) error {
				_, err := r.Open(ctx, "rod", "maths")
				return err
			}),
			op("announce", func(ctx context.Context, r Repository) error {
				return r.Announce(ctx, Announcement{id(9), "maths", "No lesson on Monday"})
			}),
		},
		Reads: []modeltest.VerifyOperation{
			op("board", func(ctx context.Context, r Repository) error {
				_, err := r.Board(ctx, "maths", 2)
				return err
			}),
		},
		Max: 12,
		Except: map[string]string{
			"open cut": "a visit whose answer was lost is noted twice, which does no harm",
		},
		Ignore: map[string]string{
			"courses.ops":   "tokens, in the order of the actions",
			"students.lock": "counts transactions, with those that ran again",
		},
	})
}
