package model_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A cinema lists its films. The list shows the year of each film, and never reads the
// plot.
type (
	film struct {
		ID    string `bson:"_id"`
		Title string `bson:"title"`
		Year  int32  `bson:"year"`
		Genre string `bson:"genre"`
		Plot  string `bson:"plot"`
	}
	filmLine struct {
		ID   string `bson:"_id"`
		Year int32  `bson:"year"`
	}
)

var films = model.NewCollection[film, string]("films")

func ExampleFind() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("cinema")
	if _, err := films.InsertMany([]film{
		{"alien", "Alien", 1979, "horror", "…"}, {"duel", "Duel", 1971, "thriller", "…"},
		{"jaws", "Jaws", 1975, "thriller", "…"}, {"heat", "Heat", 1995, "thriller", "…"},
		{"fargo", "Fargo", 1996, "thriller", "…"},
	}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// Each method returns a changed copy, so a query can be kept and narrowed.
	thrillers := films.Find(bson.D{{Key: "genre", Value: "thriller"}})
	newest := thrillers.Sorted(bson.D{{Key: "year", Value: -1}}).Limited(2)
	fmt.Println(newest)
	fmt.Println(newest.Cost())
	n, err := thrillers.Where(bson.D{{Key: "year", Value: bson.D{{Key: "$lt", Value: 1980}}}}).Count(ctx, db)
	fmt.Println(n, "before 1980", err)

	// Project reads only the fields of another type. After returns the query of the
	// page that follows the given values.
	page, err := model.Project[filmLine](newest.After()).All(ctx, db)
	fmt.Println(page, err)
	last := page[len(page)-1]
	next := model.Project[filmLine](newest.After(last.Year, last.ID))
	fmt.Println(next)
	for line, err := range next.Each(ctx, db) {
		fmt.Println(line, err)
	}
	// Output:
	// db.films.find({genre: 'thriller'}).sort({year: -1}).limit(2)
	// 1 command and one per further batch
	// 2 before 1980 <nil>
	// [{fargo 1996} {heat 1995}] <nil>
	// db.films.find({genre: 'thriller', year: {$lte: 1995}, $or: [{year: {$lt: 1995}}, {year: 1995, _id: {$lt: 'heat'}}]}, {_id: 1, year: 1}).sort({year: -1, _id: -1}).limit(2)
	// {jaws 1975} <nil>
	// {duel 1971} <nil>
}
