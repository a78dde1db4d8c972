package embed_test

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
)

// A person has a few addresses, which nobody asks for without the person; and tasks, which are also asked for by
// themselves.
type (
	monster struct {
		ID        string        `bson:"_id"`
		Addresses []address     `bson:"addresses,omitempty"`
		Tasks     []monsterTask `bson:"tasks,omitempty"`
	}
	address struct {
		Street string `bson:"street"`
		City   string `bson:"city"`
	}
	monsterTask struct {
		ID  string `bson:"id"`
		Due string `bson:"due"`
	}
)

var (
	monsters  = model.NewCollection[monster, string]("people")
	addresses = embed.NewEmbedded[address](monsters, "addresses", embed.EmbeddedSpec{Key: "street", Max: 2})
	chores    = embed.NewEmbedded[monsterTask](monsters, "tasks", embed.EmbeddedSpec{
		Key: "id", Max: 100, Indexes: []bson.D{{{Key: "due", Value: 1}}},
	})
)

func ExampleEmbedded() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("sesame")

	people := monsters.InsertMany([]monster{
		{
			ID:        "kate",
			Addresses: []address{{"123 Sesame St", "Anytown"}},
			Tasks:     []monsterTask{{"feed Oscar", "2024-05-02"}, {"nap", "2024-05-09"}},
		},
		{ID: "rod", Tasks: []monsterTask{{"rehearse", "2024-05-02"}}},
	})
	if _, err := people.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	// One element is written without reading the document, and the bound holds whoever else writes.
	add := addresses.Add("kate", address{"123 Avenue Q", "New York"})
	fmt.Println(add)
	set := addresses.Update("kate", "123 Sesame St", bson.D{{
		Key: "$set", Value: bson.D{{Key: "city", Value: "New York"}},
	}})
	fmt.Println(set)
	fmt.Println(set.Cost())
	for _, w := range []model.Write{add, set, addresses.Add("kate", address{"1 Main St", "Nowhere"})} {
		_, err := w.Run(ctx, db)
		fmt.Println(err, errors.Is(err, model.ErrFull))
	}
	kate, err := monsters.ByID("kate").One(ctx, db)
	fmt.Println(kate.Addresses, err)

	// What embedding costs: elements of many parents are found parent by parent, and taken apart.
	tomorrow := chores.Elements(bson.D{{Key: "due", Value: "2024-05-02"}}, bson.D{{Key: "id", Value: 1}})
	fmt.Println(tomorrow)
	fmt.Println(tomorrow.Cost())
	for task, err := range tomorrow.Each(ctx, db) {
		fmt.Println(task.Parent, task.Element.ID, err)
	}
	// Output:
	// db.people.updateOne({_id: 'kate', 'addresses.street': {$ne: '123 Avenue Q'}, 'addresses.1': {$exists: false}}, {$push: {addresses: {street: '123 Avenue Q', city: 'New York'}}})
	// db.people.updateOne({_id: 'kate', 'addresses.street': '123 Sesame St'}, {$set: {'addresses.$[e].city': 'New York'}}, {arrayFilters: [{'e.street': '123 Sesame St'}]})
	// 1 command, 1 document written, by _id_
	// <nil> false
	// <nil> false
	// docmodel: step 1: people {_id: 'kate'}: no room: the array is full true
	// [{123 Sesame St New York} {123 Avenue Q New York}] <nil>
	// db.people.aggregate([{$match: {tasks: {$elemMatch: {due: '2024-05-02'}}}}, {$unwind: {path: '$tasks', includeArrayIndex: 'at'}}, {$match: {'tasks.due': '2024-05-02'}}, {$project: {_id: 0, parent: '$_id', at: 1, element: '$tasks'}}, {$sort: {'element.id': 1, parent: 1, at: 1}}])
	// 1 command and one per further batch, by tasks.due_1
	// kate feed Oscar <nil>
	// rod rehearse <nil>
}
