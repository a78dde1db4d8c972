package embed_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
)

// A person has contacts, and each contact has phones.
type (
	customer struct {
		ID       string    `bson:"_id"`
		Contacts []contact `bson:"contacts,omitempty"`
	}
	contact struct {
		Email  string  `bson:"email"`
		Phones []phone `bson:"phones,omitempty"`
	}
	phone struct {
		No  string `bson:"no"`
		Ext int32  `bson:"ext,omitempty"`
	}
)

var (
	customers = model.NewCollection[customer, string]("customers")
	contacts  = embed.NewEmbedded[contact](customers, "contacts", embed.EmbeddedSpec{Key: "email", Max: 20})
	phones    = embed.NewNested[phone](contacts, "phones", embed.EmbeddedSpec{Key: "no", Max: 2})
)

func ExampleNested() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("crm")

	plan := model.NewPlan(
		customers.Insert(customer{ID: "andersen", Contacts: []contact{{Email: "thomas@andersen.com"}}}),
		phones.Add("andersen", "thomas@andersen.com", phone{No: "555-5555"}),
		phones.Update("andersen", "thomas@andersen.com", "555-5555", bson.D{{
			Key: "$set", Value: bson.D{{Key: "ext", Value: int32(5555)}},
		}}),
	)
	fmt.Println(plan)
	fmt.Println(plan.Cost())
	if _, err := plan.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	stored, err := customers.ByID("andersen").One(ctx, db)
	fmt.Println(stored, err)
	// Output:
	// db.customers.insertOne({_id: 'andersen', contacts: [{email: 'thomas@andersen.com'}]})
	// db.customers.updateOne({_id: 'andersen', contacts: {$elemMatch: {email: 'thomas@andersen.com', 'phones.no': {$ne: '555-5555'}, 'phones.1': {$exists: false}}}}, {$push: {'contacts.$[e].phones': {no: '555-5555'}}}, {arrayFilters: [{'e.email': 'thomas@andersen.com'}]})
	// db.customers.updateOne({_id: 'andersen', contacts: {$elemMatch: {email: 'thomas@andersen.com', 'phones.no': '555-5555'}}}, {$set: {'contacts.$[e].phones.$[n].ext': 5555}}, {arrayFilters: [{'e.email': 'thomas@andersen.com'}, {'n.no': '555-5555'}]})
	// 3 commands, 3 documents written, by _id_
	// {andersen [{thomas@andersen.com [{555-5555 5555}]}]} <nil>
}
