package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm/eventlog"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A bank must know how each balance came about, and what it was on any day. So it stores
// what happened, and makes the balances from it.
type (
	movement struct {
		Cents int64  `bson:"cents"`
		Text  string `bson:"text"`
	}
	balance struct {
		Cents int64 `bson:"cents"`
	}
)

var (
	movements = model.NewCollection[eventlog.Commit[string, movement], string]("movements")
	balances  = model.NewCollection[eventlog.State[string, balance], string]("balances")
	ledger    = eventlog.New(movements,
		eventlog.Spec[string, movement, balance]{Fold: moved, Snapshots: balances, Every: 100})
)

func moved(b balance, m movement) (balance, error) {
	b.Cents += m.Cents
	return b, nil
}

var errShort = errors.New("not enough money")

func ExampleEventLog() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("bank")
	if err := model.New("bank", ledger).Indexes().Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	monday := time.Date(2024, 3, 4, 9, 0, 0, 0, time.UTC)
	op := func(n byte) bson.ObjectID { return bson.ObjectID{11: n} } // bson.NewObjectID() in a program

	// Two events of a new account, at version 0: both are stored, or none. Sent twice, they are stored once.
	open := ledger.Append("anna", 0, monday, []movement{{5000, "opened"}, {2000, "salary"}}, op(1))
	for range 2 {
		if _, err := open.Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}

	plan, _ := open.Decide(nil) // what it sent, after a read of the last commit
	fmt.Println(plan)
	fmt.Println(plan.Cost())

	// Who read an older version is told so.
	_, err := ledger.Append("anna", 1, monday, []movement{{-100, "coffee"}}, op(2)).Run(ctx, db)
	fmt.Println(errors.Is(err, eventlog.ErrVersion), err)

	// What is decided from the state is decided again if another append comes first.
	withdraw := func(cents int64) func(eventlog.State[string, balance]) ([]movement, error) {
		return func(s eventlog.State[string, balance]) ([]movement, error) {
			if s.State.Cents < cents {
				return nil, errShort
			}
			return []movement{{-cents, "withdrawn"}}, nil
		}
	}
	for i, cents := range []int64{6500, 1000} {
		r, err := ledger.Decide("anna", monday.AddDate(0, 0, 1), op(byte(3+i)), withdraw(cents)).Run(ctx, db)
		fmt.Println(cents, r.Modified(), err)
	}

	// The newest balance, that of Monday, and that after the first event.
	load := ledger.Load("anna")
	for _, read := range []model.ChangeOf[eventlog.State[string, balance]]{
		load, ledger.AsOf("anna", monday), ledger.At("anna", 1),
	} {
		s, _, err := read.Run(ctx, db)
		fmt.Println("version", s.Version, "-", s.State.Cents, err)
	}
	fmt.Println(ledger.Commits("anna", 3, 3))

	// Output:
	// db.movements.insertOne({_id: 'anna#0000000000000001', key: 'anna', first: Long('1'), last: Long('2'), at: ISODate('2024-03-04T09:00:00.000Z'), token: ObjectId('000000000000000000000001'), events: [{cents: Long('5000'), text: 'opened'}, {cents: Long('2000'), text: 'salary'}]})
	// 1 command, 1 document written, by _id_
	// true docmodel: movements: 'anna' was expected at version 1, but it is at version 2
	// 6500 1 <nil>
	// 1000 0 not enough money
	// version 3 - 500 <nil>
	// version 2 - 7000 <nil>
	// version 1 - 5000 <nil>
	// db.movements.find({_id: {$gte: 'anna#0000000000000001', $lt: 'anna#0000000000000004'}, last: {$gte: Long('3')}}).sort({_id: 1})
}
