package school

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func Example_cut() {
	faults := mongotest.NewFaults()
	client, stop := mongotest.Start(faults)
	defer stop()
	ctx, db := context.Background(), client.Database("school")
	check(kateAndMaths(ctx, db))
	enrol := func() error {
		return New(db).Enrol(requested(ctx, "kate", "4f1c"), "kate", "maths")
	}

	// The process dies after the enrolment is stored, and before the course is told.
	told := mongotest.Both(mongotest.Writes, mongotest.On("courses"))
	faults.From(told, 1, mongotest.CutBefore()) // From: the driver's own retry fails too
	fmt.Println("cut:", enrol() != nil)
	faults.Reset()
	for finding, err := range everything.Audit().Each(ctx, db) {
		fmt.Println(finding, err)
	}

	// The same request with the same token completes itself, however often it runs.
	fmt.Println(enrol())
	fmt.Println(enrol())
	fmt.Println(must(courses.ByID("maths").One(ctx, db)).Students)
	// Output:
	// cut: true
	// enrolments 'kate/maths': an action of a store was begun, but isn't finished <nil>
	// <nil>
	// <nil>
	// 1
}

// requested returns the context of a user's request, which has a key of its client. Two
// users can choose the same key.
func requested(ctx context.Context, user, key string) context.Context {
	if key == "" {
		return ctx
	}
	sum := sha256.Sum256([]byte(user + " " + key))
	return model.WithToken(ctx, bson.ObjectID(sum[:12]))
}

func Example_repeat() {
	faults := mongotest.NewFaults()
	client, stop := mongotest.Start(faults)
	defer stop()
	ctx, db := context.Background(), client.Database("school")
	check(kateAndMaths(ctx, db))

	told := mongotest.Both(mongotest.Writes, mongotest.On("courses"))
	faults.From(told, 1, mongotest.CutBefore())
	fmt.Println("cut:", New(db).Enrol(ctx, "kate", "maths") != nil)
	faults.Reset()

	// The client sends its request again, without a token.
	err := New(db).Enrol(ctx, "kate", "maths")
	fmt.Println("taken:", errors.Is(err, ErrEnrolled))
	fmt.Println(must(courses.ByID("maths").One(ctx, db)).Students)

	// Ensure finishes what the first request began, and returns what is stored.
	want := enrolmentOf("kate", "maths")
	stored, _, err := enrolmentStore.Ensure(want).Run(ctx, db)
	fmt.Println(err, stored.Doc.Student.ID == want.Student.ID && stored.Doc.Course == want.Course)
	fmt.Println(must(courses.ByID("maths").One(ctx, db)).Students)
	// Output:
	// cut: true
	// taken: true
	// 0
	// <nil> true
	// 1
}

func Example_transactions() {
	ctx, db, stop := start()
	defer stop()
	check(kateAndMaths(ctx, db))

	// Each action in a transaction of its own.
	tx, err := model.WithTransactions(ctx, db)
	if err != nil {
		fmt.Println(err) // model.ErrNoTransactions: use db
		return
	}
	fmt.Println(New(tx).Enrol(ctx, "kate", "maths"))

	// Several actions in one transaction: both, or neither.
	full := errors.New("the new course is full")
	err = model.InTx(ctx, db, func(ctx context.Context) error {
		if err := New(db).Leave(ctx, "kate", "maths"); err != nil {
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
