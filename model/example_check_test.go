package model_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
)

type (
	customer struct {
		ID       string    `bson:"_id"`
		Contacts []contact `bson:"contacts,omitempty"`
	}
	contact struct {
		Email string `bson:"email"`
	}
)

var customers = model.NewCollection[customer, string]("customers")

// Other code stored a contact twice. The checks of the technique find that, and mend it.
func ExampleCheck() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("crm")
	contacts := embed.NewEmbedded[contact](customers, "contacts",
		embed.EmbeddedSpec{Key: "email", Max: 2, Keep: embed.KeepFirst})

	twice := []contact{{Email: "thomas@andersen.com"}, {Email: "thomas@andersen.com"}, {Email: "info@andersen.com"}}
	if _, err := customers.Insert(customer{ID: "andersen", Contacts: twice}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	for _, check := range contacts.Checks() {
		fmt.Printf("%s (%s)\n", check.Name, check.Rule)
		found, err := check.In(bson.D{{Key: "_id", Value: "andersen"}}).All(ctx, db)
		if err != nil {
			fmt.Println(err)
		}
		for _, f := range found {
			fmt.Println("\t" + f.String())
		}
		if check.Mend == nil || len(found) == 0 {
			continue
		}
		progress, err := check.Job().Run(ctx, db, model.JobOptions{})
		fmt.Printf("\tmended %d, %v\n", progress.Modified, err)
	}
	// Output:
	// customers.contacts: repeated keys (each key occurs once in contacts)
	// 	customers 'andersen': holds the key 'thomas@andersen.com' 2 times
	// 	mended 1, <nil>
	// customers.contacts: too many elements (contacts has at most 2 elements)
	// customers.contacts: null (contacts isn't null)
	// customers.contacts: malformed (contacts is an array of documents, each with a key at email)
}
