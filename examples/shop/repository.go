package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Errors for errors.Is.
var (
	ErrNoProduct  = errors.New("shop: there is no such product")
	ErrNoCustomer = errors.New("shop: there is no such customer")
	ErrSoldOut    = errors.New("shop: there is not as much in stock")
)

// Shop is the repository. Actions need no transaction.
type Shop struct{ db model.DB }

// Prepare creates missing indexes.
func (s Shop) Prepare(ctx context.Context) error {
	return everything.Indexes().Ensure(ctx, s.db)
}

// File stores a category in another category. in is "" for a root.
func (s Shop) File(ctx context.Context, id, in string) error {
	_, err := tree.Insert(Category{ID: id}, place(in)).Run(ctx, s.db)
	return err
}

// Refile moves a category, with everything below it, into another category.
func (s Shop) Refile(ctx context.Context, id, in string) error {
	_, err := tree.Move(id, place(in)).Run(ctx, s.db)
	return err
}

func place(in string) paths.Place[string] {
	if in == "" {
		return paths.LastRoot[string]()
	}
	return paths.LastChild(in)
}

// Offer stores a product. op is bson.NewObjectID(), the same for a retry.
func (s Shop) Offer(ctx context.Context, p Product, op bson.ObjectID) error {
	_, _, err := productStore.Insert(p).Run(model.WithToken(ctx, op), s.db)
	return err
}

// Edit passes the stored product to a function and stores the result. It tries again if
// another client wrote first.
func (s Shop) Edit(ctx context.Context, product string, op bson.ObjectID, edit func(Product) (Product, error)) error {
	_, _, err := productStore.Edit(product, func(p *Product) (err error) {
		*p, err = edit(*p)
		return err
	}).Run(model.WithToken(ctx, op), s.db)
	return said(err, model.ErrNotFound, ErrNoProduct)
}

// Browse returns the products of a category and of all categories below it.
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

// Books returns an author's books.
func (s Shop) Books(ctx context.Context, author string) ([]Product, error) {
	return books(author).All(ctx, s.db)
}

func books(author string) *model.Find[Product] {
	return kinds.Having("book", bson.D{{Key: "author", Value: author}})
}

// RenamePart renames a part, also in its products.
func (s Shop) RenamePart(ctx context.Context, part, name string) error {
	_, _, err := partStore.Set(part, bson.D{{Key: "name", Value: name}}).Run(ctx, s.db)
	return err
}

// SignUp stores a customer. Its order numbers begin at 1.
func (s Shop) SignUp(ctx context.Context, c Customer) error {
	if _, _, err := customerStore.Insert(c).Run(ctx, s.db); err != nil {
		return err
	}
	_, err := numbers.Open(c.ID).Run(ctx, s.db)
	return err
}

// Checkout makes an order with its number and today's names and prices. wanted maps
// products to quantities. Checkout doesn't store the order. If the order is never placed,
// its number is lost.
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

// Place stores an order and takes its products from the stock: all of them, or none and
// ErrSoldOut. After a crash, run it again with the same order, or run Mend. Only one
// process at a time may work on an order.
func (s Shop) Place(ctx context.Context, o Order) error {
	stored, err := orders.ByID(o.ID).One(ctx, s.db)
	if errors.Is(err, model.ErrNotFound) {
		stored = o
		_, _, err = orderStore.Insert(o).Run(ctx, s.db)
	}
	if err != nil {
		return err
	}
	return s.finish(ctx, stored)
}

// finish continues an order from its state. Repeated steps have the same token and count
// once.
func (s Shop) finish(ctx context.Context, o Order) error {
	switch o.State {
	case Placed:
		return s.markPlaced(ctx, o)
	case Refused:
		return ErrSoldOut
	case Refusing:
		return s.giveBack(ctx, o)
	}
	for _, l := range o.Lines {
		_, err := stock.Take(l.Product, "qty", l.Qty, o.Op).Run(ctx, s.db)
		if errors.Is(err, model.ErrGuard) || errors.Is(err, model.ErrNotFound) { // sold out, or no longer offered
			if err := s.setState(ctx, o, Refusing); err != nil {
				return err
			}
			return s.giveBack(ctx, o)
		}
		if err != nil {
			return err
		}
	}
	return s.markPlaced(ctx, o)
}

// markPlaced marks an order as placed. Its customer counts it once. After a crash between these
// writes, the token lets a second run finish the first.
func (s Shop) markPlaced(ctx context.Context, o Order) error {
	return s.setState(model.WithToken(ctx, o.Op), o, Placed)
}

func (s Shop) setState(ctx context.Context, o Order, state State) error {
	_, _, err := orderStore.Set(o.ID, bson.D{{Key: "state", Value: state}}).Run(ctx, s.db)
	return err
}

// giveBack returns what was taken for an order: each product with the order's token.
func (s Shop) giveBack(ctx context.Context, o Order) error {
	for _, l := range o.Lines {
		back := stock.Guarded(l.Product, bson.D{{Key: "takes", Value: o.Op}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "qty", Value: l.Qty}}}}, o.Undo)
		if _, err := back.Run(ctx, s.db); err != nil && !errors.Is(err, model.ErrGuard) && !errors.Is(err, model.ErrNotFound) {
			return err
		}
	}
	if err := s.setState(ctx, o, Refused); err != nil {
		return err
	}
	return ErrSoldOut
}

// Orders returns a page of a customer's orders, newest first, with numbers less than
// below; 0 is the first page. It only needs the _id index.
func (s Shop) Orders(ctx context.Context, customer string, below int64) ([]Order, error) {
	return history(customer, below).All(ctx, s.db)
}

func history(customer string, below int64) *model.Find[Order] {
	if below == 0 {
		return numbers.Newest(customer).Limited(20)
	}
	return numbers.Previous(customer, below).Limited(20)
}

// Mend continues unfinished orders from before a time, and returns their number. An order
// that is placed, but not counted by its customer, is the audit's: see Audit.
func (s Shop) Mend(ctx context.Context, before time.Time) (int, error) {
	begun, err := unfinished(before).All(ctx, s.db)
	if err != nil {
		return 0, err
	}
	for _, o := range begun {
		if err := s.finish(ctx, o); err != nil && !errors.Is(err, ErrSoldOut) {
			return 0, err
		}
	}
	return len(begun), nil
}

// Audit finishes stores' actions that crashed, and repairs wrong numbers and names. action is
// the longest time that an action takes.
func (s Shop) Audit(ctx context.Context, action time.Duration) (model.Progress, error) {
	audit := everything.Audit()
	for i := range audit.Checks {
		audit.Checks[i].Age = action
	}
	return audit.Job().Run(ctx, s.db, model.JobOptions{})
}

func unfinished(before time.Time) *model.Find[Order] {
	return orders.Find(bson.D{
		{Key: "state", Value: bson.D{{Key: "$in", Value: []State{New, Refusing}}}}, {Key: "at", Value: bson.D{{Key: "$lt", Value: before}}},
	})
}

// said wraps a technique's error in the shop's error.
func said(err, technique, ours error) error {
	if errors.Is(err, technique) {
		return fmt.Errorf("%w: %w", ours, err)
	}
	return err
}
