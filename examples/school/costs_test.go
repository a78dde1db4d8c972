package school

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The commands and written documents of each action.
//
//   - library: a store without transactions. A crashed action can be run again and has
//     effect once.
//   - WithTransactions: each action of a store in its own transaction.
//   - InTx: the action in one transaction. No reader sees it half done.
//   - by hand: byhand_test.go, in a transaction for several documents. Without tokens,
//     it can't be run again when its answer was lost.
//
// The hello and commit of a transaction are not counted. In a transaction the library
// sends a plan as one command (bulkWrite, since MongoDB 8.0). Enrol and transfer write
// one document more than the code by hand: the one that they copy a name from. So they
// meet a concurrent change of the name.
func Example() {
	ctx := context.Background()
	var columns [4][]model.Cost
	var left [4]string // what readers see, and the audit's findings
	for i := range columns {
		monitor := mongotest.NewMonitor()
		client, stop := mongotest.Start(monitor)
		defer stop()
		db := client.Database("school")
		err := north.fill(ctx, db)
		for _, a := range north.actions() {
			monitor.Reset()
			cost, errRun := modeltest.Measure(monitor, func() error { return run(ctx, db, i, a) })
			for _, c := range monitor.Commands() {
				if c.Name == "hello" || c.Name == "commitTransaction" {
					cost.Commands--
				}
			}
			columns[i], err = append(columns[i], cost), errors.Join(err, errRun)
		}
		var errState error
		left[i], errState = north.state(ctx, north.on(db))
		found, errAudit := north.on(db).Audit(ctx)
		left[i] += fmt.Sprintln("The audit finds", len(found))
		if err = errors.Join(err, errState, errAudit); err != nil {
			fmt.Println(err)
			return
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "action\tlibrary\tWithTransactions\tInTx\tby hand, in a transaction")
	for n, a := range north.actions() {
		fmt.Fprint(w, a.name)
		for _, column := range columns {
			fmt.Fprintf(w, "\t%d sent, %d written", column[n].Commands, column[n].Written)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	fmt.Println("\nEach leaves the same:", left[1] == left[0] && left[2] == left[0] && left[3] == left[0])
	fmt.Print(left[0])
	// Output:
	// action    library            WithTransactions   InTx               by hand, in a transaction
	// enrol     7 sent, 3 written  3 sent, 4 written  3 sent, 4 written  3 sent, 3 written
	// rate      4 sent, 3 written  2 sent, 2 written  2 sent, 2 written  2 sent, 2 written
	// rename    4 sent, 4 written  2 sent, 3 written  2 sent, 3 written  2 sent, 3 written
	// transfer  6 sent, 4 written  3 sent, 4 written  3 sent, 4 written  3 sent, 3 written
	// leave     4 sent, 3 written  2 sent, 2 written  2 sent, 2 written  2 sent, 2 written
	// announce  4 sent, 3 written  1 sent, 2 written  1 sent, 2 written  2 sent, 2 written
	// reorder   1 sent, 1 written  1 sent, 1 written  1 sent, 1 written  1 sent, 1 written
	// take      1 sent, 1 written  1 sent, 1 written  1 sent, 1 written  1 sent, 1 written
	//
	// Each leaves the same: true
	// Maths: 1 students, rating 5 of 1, 1 books, Logic, Sets, Sums, news 3, news 2
	// - Rodney in Maths (5)
	// Art: 1 students, rating none of 0, 1 books
	// - Kate in Art
	// The audit finds 0
}

// run runs an action in the way of a column.
func run(ctx context.Context, db *mongo.Database, how int, a action) error {
	switch r := north.on(db); how {
	case 0:
		return a.run(ctx, r)
	case 1:
		tx, err := model.WithTransactions(ctx, db)
		if err != nil {
			return err
		}
		return a.run(ctx, New(Scope(north.tenant(), noon).On(tx)))
	case 2:
		return model.InTx(ctx, db, func(ctx context.Context) error { return a.run(ctx, r) })
	}
	return a.run(ctx, byHand{db, north.tenant(), noon})
}

// Under the scope, each read uses an index that begins with the tenant.
func TestIndexes(t *testing.T) {
	ctx, monitor := t.Context(), mongotest.NewMonitor()
	db := mongotest.NewClient(t, monitor).Database("school")
	r := north.on(db)
	if err := errors.Join(north.fill(ctx, db), south.fill(ctx, db)); err != nil {
		t.Fatal(err)
	}
	for index, read := range map[string]func() error{
		"tenant_1_course.id_1__id_-1":    func() error { _, err := r.Enrolments(ctx, north.maths(), 1, ""); return err },
		"tenant_1_course_1_at_-1__id_-1": func() error { _, err := r.Announcements(ctx, north.maths(), 1, ""); return err },
		model.IDIndex:                    func() error { _, err := r.Course(ctx, north.maths()); return err },
	} {
		if err := read(); err != nil { // the scope asks for each collection's default collation once
			t.Fatal(err)
		}
		monitor.Reset()
		if err := read(); err != nil {
			t.Fatal(err)
		}
		var sent, query bson.D
		if err := bson.Unmarshal(monitor.Commands()[0].Body, &sent); err != nil {
			t.Fatal(err)
		}
		for _, e := range sent { // without what the driver adds
			if e.Key != "lsid" && !strings.HasPrefix(e.Key, "$") {
				query = append(query, e)
			}
		}
		modeltest.WantIndexed(t, db, query, index)
	}
}
