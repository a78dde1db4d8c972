package keys_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// All readings of a day go to one place of the index, or to one shard: the day's. Spread over
// four parts they go to four. A reading is read from one part, and a day from all four.
type dayReading struct {
	ID   string  `bson:"_id"`
	Day  string  `bson:"day"` // 2014-03-28#002
	At   int     `bson:"at"`
	Temp float64 `bson:"temp"`
}

var (
	dayReadings = model.NewCollection[dayReading, string]("readings")
	perDay      = keys.NewSpread(dayReadings, "day", keys.SpreadSpec{
		Parts: 4, By: "_id", Order: bson.D{{Key: "at", Value: -1}},
	})
	// The same with twice as many parts, while documents are still under one of four.
	perDay8 = keys.NewSpread(dayReadings, "day", keys.SpreadSpec{
		Parts: 8, Was: []int{4}, By: "_id", Order: bson.D{{Key: "at", Value: -1}},
	})
)

func ExampleSpread() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("weather")
	weather := model.New("weather", perDay)
	if err := weather.Indexes().Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	store := model.NewStore(weather, dayReadings) // adds the part to the day
	for n := range 6 {
		r := dayReading{ID: fmt.Sprint("r", n), Day: "2014-03-28", At: n, Temp: float64(n)}
		if _, _, err := store.Insert(r).Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(perDay.Point("2014-03-28", "r3"))
	day := perDay.Find("2014-03-28", nil).Limited(3)
	fmt.Println(day)
	list, err := day.All(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range list {
		fmt.Println(r.At, r.Day)
	}

	// Eight parts: reads look under both, and a job moves documents while others read and write.
	fmt.Println(perDay8.Point("2014-03-28", "r3"))
	p, err := perDay8.Checks()[0].Job().Run(ctx, db, model.JobOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Modified, "documents moved")
	// Output:
	// db.readings.find({day: '2014-03-28#003', _id: 'r3'})
	// db.readings.find({day: {$in: ['2014-03-28#000', '2014-03-28#001', '2014-03-28#002', '2014-03-28#003']}}).sort({at: -1, _id: -1}).limit(3)
	// 5 2014-03-28#000
	// 4 2014-03-28#002
	// 3 2014-03-28#003
	// db.readings.find({day: {$in: ['2014-03-28#007', '2014-03-28#003']}, _id: 'r3'})
	// 4 documents moved
}
