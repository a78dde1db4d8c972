package eventlog_test

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm/eventlog"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A shop stores what happens to its orders as events. The list of orders is a view of
// each, made by a stream; later it is to show more.
type (
	orderEvent struct {
		What  string `bson:"what"`
		Cents int64  `bson:"cents,omitempty"`
	}
	orderView struct {
		State string `bson:"state"`
		Cents int64  `bson:"cents"`
	}
)

var (
	orderCommits = model.NewCollection[eventlog.Commit[int64, orderEvent], string]("orderEvents")
	orderLog     = eventlog.New(orderCommits, eventlog.Spec[int64, orderEvent, string]{
		Fold: func(_ string, e orderEvent) (string, error) { return e.What, nil },
	})
	orderViews = model.NewCollection[eventlog.State[int64, orderView], int64]("orders")
	orderList  = eventlog.NewProjection(orderLog, orderViews, eventlog.ProjectionSpec[orderView, orderEvent]{
		Fold: func(v orderView, e orderEvent) (orderView, error) { return orderView{State: e.What}, nil },
	})
	// The next version of the program also shows what an order costs.
	pricedList = eventlog.NewProjection(orderLog, orderViews, eventlog.ProjectionSpec[orderView, orderEvent]{
		Revision: 1,
		Fold: func(v orderView, e orderEvent) (orderView, error) {
			return orderView{e.What, v.Cents + e.Cents}, nil
		},
	})
)

func ExampleProjection() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	now := time.Date(2024, 3, 4, 9, 0, 0, 0, time.UTC)
	once := model.StreamOptions{Once: true, Wait: time.Millisecond} // a program runs it until it ends
	steps := []func() error{
		func() error {
			_, err := orderLog.Append(7, 0, now, []orderEvent{{"ordered", 4000}, {"extended", 500}},
				bson.ObjectID{11: 1}).Run(ctx, db)
			return err
		},
		func() error { return orderList.Stream().Run(ctx, db, once) },
		func() error { return show(ctx, db, orderList) },

		// The new program fills a new generation. The old one goes on meanwhile.
		func() error { _, err := pricedList.Rebuild().Run(ctx, db, model.JobOptions{}); return err },
		func() error {
			_, err := orderLog.Append(7, 2, now, []orderEvent{{"paid", 0}}, bson.ObjectID{11: 2}).Run(ctx, db)
			return err
		},
		func() error { return orderList.Stream().Run(ctx, db, once) },
		func() error { return show(ctx, db, pricedList) },

		// Nothing is behind when readers are led to it.
		func() error { _, err := pricedList.Switch().Run(ctx, db, model.JobOptions{}); return err },
		func() error { return show(ctx, db, pricedList) },
		func() error { _, err := pricedList.Drop(1).Run(ctx, db); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(pricedList.In(2).ByID(7))
	// Output:
	// generation 1: version 2, extended, 0
	// generation 1: version 3, paid, 0
	// generation 2: version 3, paid, 4500
	// db.getCollection('orders.2').find({_id: Long('7')}).limit(1)
}

func show(ctx context.Context, db model.DB, list *eventlog.Projection[int64, orderEvent, orderView]) error {
	g, _, err := list.Generations().Run(ctx, db)
	if err != nil {
		return err
	}
	v, _, err := list.Load(7).Run(ctx, db)
	fmt.Printf("generation %d: version %d, %s, %d\n", g.Live, v.Version, v.State.State, v.State.Cents)
	return err
}
