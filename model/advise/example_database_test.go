package advise_test

import (
	"context"
	"fmt"
	"log"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/mongotest"
)

type singer struct {
	ID   string `bson:"_id"`
	Name string `bson:"name"`
}

type record struct {
	ID     string   `bson:"_id"`
	Singer string   `bson:"singer"`
	Tracks []string `bson:"tracks"`
	Prices []price  `bson:"prices"`
}

type price struct {
	Country string `bson:"country"`
	Cents   int64  `bson:"cents"`
}

var (
	singers = model.NewCollection[singer, string]("singers")
	records = model.NewCollection[record, string]("records")
)

// A database that nobody has described yet. What it holds is told by its documents, and what to make of each relation
// by Choose.
func ExampleSurveyDatabase() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("music")
	plan := singers.InsertMany([]singer{{"ella", "Ella"}, {"nina", "Nina"}, {"billie", "Billie"}})
	for i, of := range []string{"ella", "ella", "nina", "billie"} {
		id := fmt.Sprint("record ", i)
		plan = model.Concat(plan,
			model.NewPlan(records.Insert(record{id, of, []string{"one", "two"}, []price{{"FR", 1900}, {"US", 2100}}})))
	}
	if _, err := plan.Run(ctx, db); err != nil {
		log.Fatal(err)
	}

	found, err := advise.SurveyDatabase(ctx, db, advise.SurveySpec{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(found)
	for _, r := range found.Relations {
		a := advise.Choose(r.Relation)
		fmt.Printf("%s.%s: %s, so %s\n", r.Collection, r.Path, a.Choice, a.Migration)
	}
	// Output:
	// records: all 4 read
	// singers: all 3 read
	// records.prices, embedded
	//   records: all 4 read; prices: all 8 read
	//     children of a parent: 2 at p50, 2 at p99, at most 2; all 4 read
	//     bytes of a parent: 88 at p50, 90 at p99, at most 90; all 4 read
	//     bytes of a child: 36 at p50, 36 at p99, at most 36; all 4 read
	//     children added a day: not known: no child tells when it was added
	//     Parent.Has.Typical 2: p50 of all 4 read
	//     Parent.Has.Max 2: the most of all 4 read
	//     Parent.Bytes 90: p99 of all 4 read
	//     Child.Bytes 36: p99 of all 4 read
	// records.singer → singers._id (3 of 3 there)
	//   singers: all 3 read; records: all 4 read
	//     children of a parent: 1 at p50, 2 at p99, at most 2; all 3 read
	//     parents of a child: 1 at p50, 1 at p99, at most 1; all 4 read
	//     bytes of a parent: 34 at p50, 38 at p99, at most 38; all 3 read
	//     bytes of a child: 166 at p50, 168 at p99, at most 168; all 4 read
	//     children added a day: not known: no child tells when it was added
	//     references that lead nowhere: 0 of 4
	//     Parent.Has.Typical 1: p50 of all 3 read
	//     Parent.Has.Max 2: the most of all 3 read
	//     Child.Has.Typical 1: p50 of all 4 read
	//     Child.Has.Max 1: the most of all 4 read
	//     Parent.Bytes 38: p99 of all 3 read
	//     Child.Bytes 168: p99 of all 4 read
	//     Parent.IDBytes 11: the longest that was read
	// records.prices: embed, so keep
	// records.singer: embed, so migrate.NewAbsorb(singers, "records", records, migrate.AbsorbSpec{…})
}
