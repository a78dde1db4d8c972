// Shop stores products of many kinds in a tree of categories, their parts and stock,
// customers and orders. It runs on an embedded engine, or on the server of MONGODB_URI.
// Folder trees stores the categories in six representations.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func main() { connect.Main("shop", tour) }

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func fill(ctx context.Context, s Shop) error {
	errs := []error{s.Prepare(ctx), s.SignUp(ctx, Customer{ID: "kate", Name: "Kate"}), s.SignUp(ctx, Customer{ID: "rod", Name: "Rod"})}
	for _, c := range [][2]string{{"Home", ""}, {"Tools", "Home"}, {"Books", "Home"}, {"Novels", "Books"}} {
		errs = append(errs, s.File(ctx, c[0], c[1]))
	}
	_, err := parts.InsertMany([]Part{{"nut", "M8 nut"}, {"bolt", "M8 bolt"}}).Run(ctx, s.db)
	errs = append(errs, err)
	for n, p := range []Product{
		{ID: "drill", Name: "Drill", Category: "Tools", Price: 8900, Qty: 3, Details: Tool{600}, Parts: []PartName{{"nut", "M8 nut"}, {"bolt", "M8 bolt"}}},
		{ID: "moon", Name: "Moon", Category: "Novels", Price: 1200, Qty: 10, Details: Book{"Heinlein", 382}},
		{ID: "friday", Name: "Friday", Category: "Novels", Price: 900, Qty: 1, Details: Book{"Heinlein", 368}},
	} {
		errs = append(errs, s.Offer(ctx, p, bson.ObjectID{1, byte(n)}))
	}
	return errors.Join(errs...)
}

func tour(ctx context.Context, w io.Writer, db *mongo.Database) error {
	s := Shop{db}
	if err := fill(ctx, s); err != nil {
		return err
	}
	fmt.Fprint(w, everything.Indexes())
	fmt.Fprintln(w, "\nbooks of Heinlein:\n"+books("Heinlein").String())
	found, err := s.Browse(ctx, "Books")
	if err != nil {
		return err
	}
	for _, p := range found {
		switch d := p.Details.(type) {
		case Book:
			fmt.Fprintf(w, "- %s, by %s, %d pages\n", p.Name, d.Author, d.Pages)
		case Tool:
			fmt.Fprintf(w, "- %s, %d W\n", p.Name, d.Watts)
		}
	}
	if err := s.RenamePart(ctx, "nut", "M8 lock nut"); err != nil {
		return err
	}
	renamed, err := products.ByID("drill").One(ctx, db)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\na part gets another name:\nthe drill has %s\n", renamed.Parts[0].Name)
	fmt.Fprintf(w, "\nan order takes from the stock:\n%s\n", stock.Take("drill", "qty", 2, bson.ObjectID{0: 0x65, 11: 1}))
	for _, wanted := range []map[string]int64{{"drill": 2, "friday": 1}, {"drill": 1, "friday": 1}, {"moon": 4}} {
		o, err := s.Checkout(ctx, "kate", noon, wanted)
		if err != nil {
			return err
		}
		if err := s.Place(ctx, o); err != nil {
			fmt.Fprintln(w, o.ID+":", err)
		}
	}
	all, err := s.Orders(ctx, "kate", 0)
	for _, o := range all {
		fmt.Fprintf(w, "%s: %s, %d lines, %d.%02d\n", o.ID, o.State, len(o.Lines), o.Total/100, o.Total%100)
	}
	if err != nil {
		return err
	}
	kate, errKate := customers.ByID("kate").One(ctx, db)
	drill, errDrill := products.ByID("drill").One(ctx, db)
	fmt.Fprintf(w, "Kate has %d orders and spent %d.%02d; %d drill is left\n", kate.Orders, kate.Spent/100, kate.Spent%100, drill.Qty)
	return errors.Join(errKate, errDrill)
}
