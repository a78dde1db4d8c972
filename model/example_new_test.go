package model_test

import (
	"fmt"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/relate/parentref"
)

// A garage is at a street, whose name it shows. Its version guards it: of two people who change it at once, one reads
// again. What writes to a garage has to count the version up, or the guard is worth nothing.
type (
	street struct {
		ID   string `bson:"_id"`
		Name string `bson:"name"`
	}
	garage struct {
		ID      string `bson:"_id"`
		Street  string `bson:"street"`
		Sign    string `bson:"sign"`
		Version int64  `bson:"version"`
	}
)

var (
	streets = model.NewCollection[street, string]("streets")
	garages = model.NewCollection[garage, string]("garages")

	changes = embed.NewVersioned(garages, embed.VersionedSpec{})
	places  = parentref.New(garages, "street", streets, parentref.Spec{CountUp: "version"})
	signs   = copies.New(streets, garages, copies.Spec{
		KeyPath: "street", Fields: []copies.Field{{From: "name", To: "sign"}}, CountUp: "version",
	})

	// A copy that was forgotten to count the version up.
	careless = copies.New(streets, garages, copies.Spec{
		KeyPath: "street",
		Fields:  []copies.Field{{From: "name", To: "sign"}},
	})
)

func ExampleNew() {
	city := model.New("city", changes, places, signs)
	fmt.Println(city.Name(), city.Collections(), len(city.Checks()))
	fmt.Print(city.Indexes())

	// What can't hold together is refused when the program starts.
	defer func() { fmt.Println(recover()) }()
	model.New("city", changes, places, careless)

	// Output:
	// city [garages streets] 3
	// db.garages.createIndex({street: 1, _id: -1})
	// docmodel: copies.Copy writes garages.street, copies.Copy owns garages.sign without increasing version, the version by which embed.Versioned detects stale writes
	// 	at New of "city"
	// 	remedy: give CountUp in the specs that have it (Version for the source of a copies.Copy), or give the versioned technique Uncounted: "street", "sign" for garages
}
