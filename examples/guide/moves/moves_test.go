package moves

import (
	"context"
	"fmt"
	"log"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// must ends an Example at an error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Panic(err)
	}
	return v
}

func start() (context.Context, *mongo.Database, func()) {
	client, stop := mongotest.Start()
	return context.Background(), client.Database("moves"), stop
}

func Example_versions() {
	ctx, db, stop := start()
	defer stop()
	must(db.Collection("people").InsertOne(ctx, OldPerson{"kate", "Kate Smith"}))
	rod, _, err := personStore.Insert(Person{"rod", "Rod", "Jones"}).Run(ctx, db)
	fmt.Println(rod.Doc, err)

	// The program reads every document in the new form, from its first moment.
	for person, err := range people.Find(nil).Each(ctx, db) {
		fmt.Println(person.First, person.Last, err)
	}
	// A filter is the server's, and sees what is stored.
	lastName := bson.D{{Key: "last", Value: "Smith"}}
	fmt.Println(people.Find(lastName).Count(ctx, db))

	done := must(forms.Migrate(schema.MigrateOptions{}).Run(ctx, db, model.JobOptions{}))
	fmt.Println(done.Modified, "brought up")
	fmt.Println(people.Find(lastName).Count(ctx, db))
	// Output:
	// {rod Rod Jones} <nil>
	// Kate Smith <nil>
	// Rod Jones <nil>
	// 0 <nil>
	// 1 brought up
	// 1 <nil>
}

func Example_extract() {
	ctx, db, stop := start()
	defer stop()
	comment := func(c Comment) model.Write { // the program, which knows the old form
		add := bson.D{{Key: "$addToSet", Value: bson.D{{Key: "comments", Value: c}}}}
		return posts.Update("p1", add)
	}
	must(posts.Insert(Post{ID: "p1"}).Run(ctx, db))
	must(comment(Comment{1, "First"}).Run(ctx, db))
	if err := model.New("move", extract).Indexes().Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	// Copy while the program writes the old form.
	must(extract.Copy().Run(ctx, db, model.JobOptions{}))
	must(comment(Comment{2, "Me too"}).Run(ctx, db))
	fmt.Println(must(extract.Verify().All(ctx, db)))

	// Then the program writes both forms. Copy again, until Verify finds nothing.
	both := model.NewPlan(
		remarks.Insert(Remark{3, "p1", 2, "Bye"}),
		comment(Comment{3, "Bye"}),
	)
	fmt.Println(both.Guarantee())
	must(both.Run(ctx, db))
	must(extract.Copy().Run(ctx, db, model.JobOptions{}))
	fmt.Println(must(extract.Verify().All(ctx, db)))

	// From now on readers read remarks, and the old form can go.
	must(extract.Drop().Run(ctx, db, model.JobOptions{}))
	fmt.Println(must(posts.ByID("p1").One(ctx, db)))
	inOrder := bson.D{{Key: "place", Value: 1}}
	for remark, err := range remarks.Find(nil).Sorted(inOrder).Each(ctx, db) {
		fmt.Println(remark, err)
	}
	// Output:
	// [posts 'p1': missing: [Long('2')]]
	// rerunnable
	// []
	// {p1 []}
	// {1 p1 0 First} <nil>
	// {2 p1 1 Me too} <nil>
	// {3 p1 2 Bye} <nil>
}
