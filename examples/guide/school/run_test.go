package school

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func Example_promises() {
	kate := Student{ID: "kate", Name: "Kate"}
	rename := names.Set(&kate, bson.D{{Key: "name", Value: "Katherine"}})
	for _, plan := range []model.Plan{model.NewPlan(seen.Push("kate", "maths")), rename} {
		fmt.Println(plan.Cost())
		fmt.Printf("  %v; leaves: %q\n", plan.Guarantee(), plan.Leaves)
	}
	// Output:
	// 1 command, 1 document written, by _id_
	//   atomic; leaves: ""
	// 2 commands, 1 document written and as many as match, by _id_, student.id_1__id_-1
	//   rerunnable; leaves: "copies that are older than the source: run the plan again"
}

func Example_cut() {
	faults := modeltest.NewFaults()
	client, stop := modeltest.Start(modeltest.WithFaults(faults))
	defer stop()
	ctx, db := context.Background(), client.Database("school")
	must(kateAndMaths().Run(ctx, db))
	r, op := New(db), id(1)

	// The process dies after the enrolment is stored, and before the course is told.
	told := modeltest.Both(modeltest.Writes, modeltest.On("courses"))
	faults.From(told, 1, modeltest.CutBefore()) // From: the driver's own retry fails too
	fmt.Println("cut:", r.Enrol(ctx, "kate", "maths", op) != nil)
	faults.Reset()
	for finding, err := range everything.Audit().Each(ctx, db) {
		fmt.Println(finding, err)
	}
	c := must(r.Open(ctx, "kate", "maths"))
	fmt.Println(c.Students)

	// The same action with the same token completes itself, however often it runs.
	fmt.Println(r.Enrol(ctx, "kate", "maths", op))
	fmt.Println(r.Enrol(ctx, "kate", "maths", op))
	c = must(r.Open(ctx, "kate", "maths"))
	fmt.Println(c.Students)
	// Output:
	// cut: true
	// courses 'maths': stores {students: Long('0')}, but its children make {students: 1} <nil>
	// enrolments 'kate/maths': operation 000000000000000000000001 was begun, but isn't finished <nil>
	// 0
	// <nil>
	// <nil>
	// 1
}

func Example_repeat() {
	faults := modeltest.NewFaults()
	client, stop := modeltest.Start(modeltest.WithFaults(faults))
	defer stop()
	ctx, db := context.Background(), client.Database("school")
	must(kateAndMaths().Run(ctx, db))
	r := New(db)

	told := modeltest.Both(modeltest.Writes, modeltest.On("courses"))
	faults.From(told, 1, modeltest.CutBefore())
	fmt.Println("cut:", r.Enrol(ctx, "kate", "maths", id(1)) != nil)
	faults.Reset()

	// The client sends its request again. It has no token, so the server makes another.
	err := r.Enrol(ctx, "kate", "maths", id(2))
	fmt.Println("taken:", errors.Is(err, model.ErrTaken))
	c := must(r.Open(ctx, "kate", "maths"))
	fmt.Println(c.Students)

	// Finish what the first request began, then compare what is stored with the request.
	_, _, err = sizes.Settle("kate/maths").Run(ctx, db)
	c = must(r.Open(ctx, "kate", "maths"))
	e := must(enrolments.ByID("kate/maths").One(ctx, db))
	fmt.Println(err, c.Students, e.Student.ID == "kate" && e.Course == "maths")
	// Output:
	// cut: true
	// taken: true
	// 0
	// <nil> 1 true
}

func Example_transactions() {
	ctx, db, stop := start()
	defer stop()
	must(kateAndMaths().Run(ctx, db))

	// Each action in a transaction of its own.
	tx, err := model.WithTransactions(ctx, db)
	if err != nil {
		fmt.Println(err) // model.ErrNoTransactions: use db
		return
	}
	fmt.Println(New(tx).Enrol(ctx, "kate", "maths", id(1)))

	// Several actions in one transaction: both, or neither.
	full := errors.New("the new course is full")
	err = model.InTx(ctx, db, func(ctx context.Context) error {
		if err := New(db).Leave(ctx, "kate", "maths", id(2)); err != nil {
			return err
		}
		return full
	})
	fmt.Println(err)
	fmt.Println(must(courses.ByID("maths").One(ctx, db)).Students)
	// Output:
	// <nil>
	// the new course is full
	// 1
}
