package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What a caller may ask for by errors.Is.
var (
	ErrNoProduct  = errors.New("shop: there is no such product")
	ErrNoCustomer = errors.New("shop: there is no such customer")
	ErrSoldOut    = errors.New("shop: there is not as much in stock")
)

// Shop is what the rest of a program sees. None of its actions needs a transaction.
type Shop struct{ db *mongo.Database }

// Prepare makes the indexes that are missing.
func (s Shop) Prepare(ctx context.Context) error {
	return everything.Indexes().Ensure(ctx, s.db)
}

// File puts a category into another; "" means that it is in none.
func (s Shop) File(ctx context.Context, id, in string) error {
	_, _, err := tree.Insert(Category{ID: id}, place(in)).Run(ctx, s.db)
	return err
}

// Refile puts a category, with all that it has, into another one.
func (s Shop) Refile(ctx context.Context, id, in string) error {
	_, _, err := tree.Move(id, place(in)).Run(ctx, s.db)
	return err
}

func place(in string) paths.Place[string] {
	if in == "" {
		return paths.LastRoot[string]()
	}
	return paths.LastChild(in)
}

// Offer stores a product. op is bson.NewObjectID(), the same when it is tried again.
func (s Shop) Offer(ctx context.Context, p Product, op bson.ObjectID) error {
	_, err := stock.Insert(p, op).Run(ctx, s.db)
	return err
}

// Edit gives a product, as it is stored now, to a function, and stores what that makes of it: again if somebody else wrote
// meanwhile.
func (s Shop) Edit(ctx context.Context, product string, op bson.ObjectID, edit func(Product) (Product, error)) error {
	_, _, err := stock.Change(product, op, edit).Run(ctx, s.db)
	return said(err, model.ErrNotFound, ErrNoProduct)
}

// Browse returns the products of a category and of all below it.
func (s Shop) Browse(ctx context.Context, category string) ([]Product, error) {
	top, err := categories.ByID(category).One(ctx, s.db)
	if err != nil {
		return nil, err
	}
	ids := []string{category}
	for c, err := range tree.Descendants(&top, 0).Each(ctx, s.db) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, c.ID)
	}
	return browse(ids).All(ctx, s.db)
}

func browse(categories []string) *model.Find[Product] {
	return products.Find(bson.D{{Key: "category", Value: bson.D{{Key: "$in", Value: categories}}}}).Sorted(bson.D{{Key: "name", Value: 1}})
}

// Books returns the books of an author.
func (s Shop) Books(ctx context.Context, author string) ([]Product, error) {
	return books(author).All(ctx, s.db)
}

func books(author string) *model.Find[Product] {
	return kinds.Having("book", bson.D{{Key: "author", Value: author}})
}

// RenamePart gives a part, as it was read, another name, which the products that are made of it show too.
func (s Shop) RenamePart(ctx context.Context, p Part, name string) error {
	_, err := partNames.Set(&p, bson.D{{Key: "name", Value: name}}).Run(ctx, s.db)
	return err
}

// SignUp stores a customer, whose orders begin at number 1.
func (s Shop) SignUp(ctx context.Context, c Customer) error {
	_, err := model.NewPlan(customers.Insert(c), numbers.Open(c.ID)).Run(ctx, s.db)
	return err
}

// Checkout makes an order of how many are wanted of which products: with its number, and the names and prices of now. It is
// not stored, and its number is lost if it is never placed.
func (s Shop) Checkout(ctx context.Context, customer string, at time.Time, wanted map[string]int64) (Order, error) {
	ids := slices.Sorted(maps.Keys(wanted))
	found, err := products.Find(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}).Sorted(bson.D{{Key: "_id", Value: 1}}).All(ctx, s.db)
	if err != nil {
		return Order{}, err
	}
	if len(found) < len(ids) {
		return Order{}, fmt.Errorf("%w: of %q", ErrNoProduct, ids)
	}
	counter, err := numbers.Take(customer, 1).Run(ctx, s.db)
	if err != nil {
		return Order{}, said(err, model.ErrNotFound, ErrNoCustomer)
	}
	o := Order{Customer: customer, Number: counter.Last, At: at, State: New, Op: bson.NewObjectID(), Undo: bson.NewObjectID()}
	for _, p := range found {
		o.Lines = append(o.Lines, Line{p.ID, p.Name, p.Price, wanted[p.ID]})
		o.Total += p.Price * wanted[p.ID]
	}
	o.ID, err = numbers.Key(customer, o.Number)
	return o, err
}

// Place stores an order and takes what it wants from the stock: all of it, or ErrSoldOut and nothing. After a crash it is
// run again with the same order; or Mend does so. One process at a time works on an order.
func (s Shop) Place(ctx context.Context, o Order) error {
	stored, err := orders.ByID(o.ID).One(ctx, s.db)
	if errors.Is(err, model.ErrNotFound) {
		stored = o
		_, err = numbers.Insert(o.Customer, o.Number, o).Run(ctx, s.db)
	}
	if err != nil {
		return err
	}
	return s.finish(ctx, stored)
}

// finish goes on with an order where it stands. Whatever is done twice has the same token, and counts once.
func (s Shop) finish(ctx context.Context, o Order) error {
	switch o.State {
	case Placed:
		if o.Pending != nil { // the customer wasn't told
			_, _, err := totals.Settle(o.ID).Run(ctx, s.db)
			return err
		}
		return nil
	case Refused:
		return ErrSoldOut
	case Refusing:
		return s.giveBack(ctx, o)
	}
	for _, l := range o.Lines {
		_, err := stock.Take(l.Product, "qty", l.Qty, o.Op).Run(ctx, s.db)
		if errors.Is(err, embed.ErrGuard) || errors.Is(err, model.ErrNotFound) { // sold out, or not offered any more
			if _, err := orders.Update(o.ID, set(Refusing)).Run(ctx, s.db); err != nil {
				return err
			}
			return s.giveBack(ctx, o)
		}
		if err != nil {
			return err
		}
	}
	_, _, err := totals.Set(o.ID, bson.D{{Key: "state", Value: Placed}}, o.Op).Run(ctx, s.db)
	return err
}

// giveBack returns what was taken for an order: a product that knows the order's token.
func (s Shop) giveBack(ctx context.Context, o Order) error {
	for _, l := range o.Lines {
		back := stock.Guarded(l.Product, bson.D{{Key: "ops", Value: o.Op}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "qty", Value: l.Qty}}}}, o.Undo)
		if _, err := back.Run(ctx, s.db); err != nil && !errors.Is(err, embed.ErrGuard) && !errors.Is(err, model.ErrNotFound) {
			return err
		}
	}
	if _, err := orders.Update(o.ID, set(Refused)).Run(ctx, s.db); err != nil {
		return err
	}
	return ErrSoldOut
}

func set(s State) bson.D { return bson.D{{Key: "$set", Value: bson.D{{Key: "state", Value: s}}}} }

// Orders returns a page of a customer's orders, the newest first: below a number, or 0 for the first page. It needs no index
// but _id's.
func (s Shop) Orders(ctx context.Context, customer string, below int64) ([]Order, error) {
	return history(customer, below).All(ctx, s.db)
}

func history(customer string, below int64) *model.Find[Order] {
	if below == 0 {
		return numbers.Newest(customer).Limited(20)
	}
	return numbers.Previous(customer, below).Limited(20)
}

// Mend goes on with orders that were begun before a time and not finished. It returns how many there were.
func (s Shop) Mend(ctx context.Context, before time.Time) (int, error) {
	begun, err := unfinished(before).All(ctx, s.db)
	untold, errUntold := totals.Pending(before).All(ctx, s.db)
	if err := errors.Join(err, errUntold); err != nil {
		return 0, err
	}
	for _, o := range append(begun, untold...) {
		if err := s.finish(ctx, o); err != nil && !errors.Is(err, ErrSoldOut) {
			return 0, err
		}
	}
	return len(begun) + len(untold), nil
}

func unfinished(before time.Time) *model.Find[Order] {
	return orders.Find(bson.D{
		{Key: "state", Value: bson.D{{Key: "$in", Value: []State{New, Refusing}}}}, {Key: "at", Value: bson.D{{Key: "$lt", Value: before}}},
	})
}

// said is an error in the words of the shop, around what a technique said.
func said(err, technique, ours error) error {
	if errors.Is(err, technique) {
		return fmt.Errorf("%w: %w", ours, err)
	}
	return err
}
