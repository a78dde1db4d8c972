package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func Example() {
	main()
	// Output:
	// db.categories.createIndex({parent: 1, order: 1})
	// db.categories.createIndex({path: 1}, {name: 'path_1', unique: true, partialFilterExpression: {path: {$exists: true}}})
	// db.products.createIndex({category: 1, name: -1, _id: -1})
	// db.products.createIndex({'details.author': 1}, {name: 'details.author_1_book', partialFilterExpression: {'details.kind': 'book'}})
	// db.products.createIndex({'parts.id': 1, _id: -1})
	// db.orders.createIndex({state: 1, at: 1})
	//
	// books of Heinlein:
	// db.products.find({'details.kind': 'book', 'details.author': 'Heinlein'})
	// - Friday, by Heinlein, 368 pages
	// - Moon, by Heinlein, 382 pages
	//
	// a part gets another name:
	// the drill has M8 lock nut
	//
	// an order takes from the stock:
	// db.products.updateOne({_id: 'drill', qty: {$gte: Long('2')}, takes: {$ne: ObjectId('650000000000000000000001')}}, {$inc: {qty: Long('-2'), version: Long('1')}, $push: {takes: {$each: [ObjectId('650000000000000000000001')], $slice: -100}}})
	// kate_000002: shop: there is not as much in stock
	// kate_000003: placed, 1 lines, 48.00
	// kate_000002: refused, 2 lines, 98.00
	// kate_000001: placed, 2 lines, 187.00
	// Kate has 2 orders and spent 235.00; 1 drill is left
}

// order returns a customer's n-th order, of 187.00.
func order(customer string, n int64) Order {
	return Order{
		ID: fmt.Sprintf("%s_%06d", customer, n), Customer: customer, Number: n, At: noon, State: New, Op: bson.ObjectID{byte(n), customer[0]}, Undo: bson.ObjectID{byte(n), customer[0], 1},
		Lines: []Line{{"drill", "Drill", 8900, 2}, {"friday", "Friday", 900, 1}}, Total: 18700,
	}
}

// The cost of each action, and the index of each query.
func TestActions(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		s, ctx := seed(t, db, 2000), t.Context()
		for _, action := range []struct {
			name string
			want model.Cost
			run  func() error
		}{
			{"browse", model.Cost{Commands: 3, Returned: 4}, func() error { _, err := s.Browse(ctx, "Books"); return err }},
			{"books", model.Cost{Commands: 1, Returned: 2}, func() error { _, err := s.Books(ctx, "Heinlein"); return err }},
			{"refile", model.Cost{Commands: 7, Written: 4, Returned: 4}, func() error { return s.Refile(ctx, "Novels", "Home") }},
			{"edit", model.Cost{Commands: 2, Written: 1, Returned: 1}, func() error {
				return s.Edit(ctx, "moon", bson.ObjectID{2}, func(p Product) (Product, error) { p.Price++; return p, nil })
			}},
			{"rename a part", model.Cost{Commands: 4, Written: 3, Returned: 1}, func() error { return s.RenamePart(ctx, "nut", "nut") }},
			{"checkout", model.Cost{Commands: 2, Written: 1, Returned: 3}, func() error {
				_, err := s.Checkout(ctx, "rod", noon, map[string]int64{"drill": 2, "friday": 1})
				return err
			}},
			{"place", model.Cost{Commands: 2 + 2 + 5, Written: 1 + 2 + 3, Returned: 2}, func() error { return s.Place(ctx, order("rod", 1)) }},
			{"place, sold out", model.Cost{Commands: 16, Written: 3, Returned: 6}, func() error { return wanted(s.Place(ctx, order("rod", 2)), ErrSoldOut) }},
			{"orders", model.Cost{Commands: 1, Returned: 2}, func() error { _, err := s.Orders(ctx, "rod", 3); return err }},
			{"mend nothing", model.Cost{Commands: 1}, func() error { _, err := s.Mend(ctx, noon.Add(time.Hour)); return err }},
		} {
			t.Run(action.name, func(t *testing.T) { modeltest.WantCost(t, monitor, action.want, action.run) })
		}
		wrong, errTotals := totals.Checks()[0].All(ctx, db)
		stale, errNames := partNames.Checks()[0].All(ctx, db)
		if err := errors.Join(errTotals, errNames); err != nil || len(wrong)+len(stale) > 0 {
			t.Errorf("%v, %v, %v", wrong, stale, err)
		}
		modeltest.WantIndexed(t, db, books("Heinlein"), "details.author_1_book")
		modeltest.WantIndexed(t, db, browse([]string{"Novels"}), "category_1_name_-1__id_-1")
		modeltest.WantIndexed(t, db, history("rod", 3), model.IDIndex)
		modeltest.WantIndexed(t, db, unfinished(noon), "state_1_at_1")
	}, monitor)
}

// wanted returns nil if err is the wanted error.
func wanted(err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	return fmt.Errorf("%w is not %w", err, want)
}

// seed fills the shop, with n more products and orders.
func seed(t *testing.T, db *mongo.Database, n int) Shop {
	s := Shop{db}
	var goods []Product
	var sold []Order
	for i := range n {
		goods = append(goods, Product{ID: fmt.Sprint("p", i), Category: fmt.Sprint("c", i), Details: Book{Author: fmt.Sprint("a", i)}})
		o := order("other", int64(i))
		o.State = Placed
		sold = append(sold, o)
	}
	_, err := model.Concat(products.InsertMany(goods), orders.InsertMany(sold)).Run(t.Context(), db)
	if err := errors.Join(fill(t.Context(), s), err); err != nil {
		t.Fatal(err)
	}
	return s
}

// Errors are the shop's.
func TestErrors(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		s, ctx := seed(t, db, 0), t.Context()
		checkout := func(customer, product string) error {
			_, err := s.Checkout(ctx, customer, noon, map[string]int64{product: 1})
			return err
		}
		sold := errors.New("not for sale")
		keep := func(p Product) (Product, error) { return p, sold }
		for _, c := range []struct {
			name      string
			got, want error
		}{
			{"no product", checkout("kate", "saw"), ErrNoProduct},
			{"no customer", checkout("eve", "drill"), ErrNoCustomer},
			{"no product to edit", s.Edit(ctx, "saw", bson.ObjectID{3}, keep), ErrNoProduct},
			{"an edit that fails", s.Edit(ctx, "drill", bson.ObjectID{3}, keep), sold},
		} {
			if !errors.Is(c.got, c.want) {
				t.Errorf("%s: %v; want %v", c.name, c.got, c.want)
			}
		}
	})
}

// Four customers want two of three drills each. One gets them. The other orders give
// everything back.
func TestSoldOut(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		s, ctx := seed(t, db, 0), t.Context()
		var wait sync.WaitGroup
		errs := make([]error, 4)
		for n := range errs {
			wait.Go(func() {
				o := order("kate", int64(n+1))
				o.Lines[0], o.Lines[1] = Line{"moon", "Moon", 1200, 2}, Line{"drill", "Drill", 8900, 2}
				errs[n] = s.Place(ctx, o)
			})
		}
		wait.Wait()
		got := 0
		for _, err := range errs {
			if err == nil {
				got++
			} else if !errors.Is(err, ErrSoldOut) {
				t.Error(err)
			}
		}
		drill, errDrill := products.ByID("drill").One(ctx, db)
		moon, errMoon := products.ByID("moon").One(ctx, db)
		if err := errors.Join(errDrill, errMoon); err != nil || got != 1 || drill.Qty != 1 || moon.Qty != 8 {
			t.Errorf("%d got them; %d drills are left, %d moons, %v", got, drill.Qty, moon.Qty, err)
		}
	})
}

// After a crash at any write, another run or a nightly job completes the order: placed
// and counted once, or refused and given back.
func TestPlaceCut(t *testing.T) {
	for _, c := range []struct {
		name               string
		friday             int64
		want               State
		drills, sum, after int64
	}{{"placed", 1, Placed, 1, 18700, 0}, {"refused", 2, Refused, 3, 0, 1}} {
		o := order("kate", 1)
		o.Lines[1].Qty = c.friday
		place := func(ctx context.Context, db *mongo.Database) error {
			if err := (Shop{db}).Place(ctx, o); err != nil && !errors.Is(err, ErrSoldOut) {
				return err
			}
			return nil
		}
		for name, repair := range map[string]func(context.Context, *mongo.Database) error{
			"again": place,
			"by the job": func(ctx context.Context, db *mongo.Database) error {
				if n, err := orders.ByID(o.ID).Count(ctx, db); err != nil || n == 0 { // nothing is stored
					return errors.Join(err, place(ctx, db))
				}
				_, errMend := Shop{db}.Mend(ctx, noon.Add(time.Second))
				_, errAudit := Shop{db}.Audit(ctx, 0)
				return errors.Join(errMend, errAudit)
			},
		} {
			t.Run(c.name+" "+name, func(t *testing.T) {
				modeltest.FaultMatrix(t, modeltest.FaultCase{
					Sample: 4, Run: place, Repair: repair,
					Seed: func(ctx context.Context, db *mongo.Database) error {
						err := fill(ctx, Shop{db})
						_, errNumber := numbers.Take("kate", 1).Run(ctx, db)
						return errors.Join(err, errNumber)
					},
					Check: func(t testing.TB, db *mongo.Database) {
						stored, errOrder := orders.ByID(o.ID).One(t.Context(), db)
						drill, errDrill := products.ByID("drill").One(t.Context(), db)
						friday, errFriday := products.ByID("friday").One(t.Context(), db)
						kate, errKate := customers.ByID("kate").One(t.Context(), db)
						if err := errors.Join(errOrder, errDrill, errFriday, errKate); err != nil || stored.State != c.want ||
							drill.Qty != c.drills || friday.Qty != c.after || kate.Spent != c.sum {
							t.Errorf("%+v\n%+v\n%+v\n%+v\n%v", stored, drill, friday, kate, err)
						}
					},
				})
			})
		}
	}
}

// A product is edited while one of its parts is renamed. Both changes stay, in every
// order of their commands.
func TestEditWhileRenamed(t *testing.T) {
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Sample: 4, Match: mongotest.All,
		Seed: func(ctx context.Context, db *mongo.Database) error { return fill(ctx, Shop{db}) },
		A: func(ctx context.Context, db *mongo.Database) error {
			return Shop{db}.Edit(ctx, "drill", bson.ObjectID{2}, func(p Product) (Product, error) { p.Price++; return p, nil })
		},
		B: func(ctx context.Context, db *mongo.Database) error {
			return Shop{db}.RenamePart(ctx, "nut", "lock nut")
		},
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			drill, err := products.ByID("drill").One(t.Context(), db)
			stale, errStale := partNames.Checks()[0].All(t.Context(), db)
			if err := errors.Join(err, errStale, errA, errB); err != nil || drill.Price != 8901 || len(stale) > 0 {
				t.Errorf("%+v, %v, %v", drill, stale, err)
			}
		},
	})
}

// Another process finishes what a crashed process left.
func TestMend(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		s, ctx := seed(t, db, 0), t.Context()
		begun, refusing := order("kate", 1), order("rod", 1)
		refusing.State = Refusing
		if _, err := orders.InsertMany([]Order{begun, refusing}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		n, err := s.Mend(ctx, noon.Add(time.Second))
		all, errAll := orders.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).All(ctx, db)
		if n != 2 || errors.Join(err, errAll) != nil || all[0].State != Placed || all[1].State != Refused {
			t.Errorf("%d, %+v, %v, %v", n, all, err, errAll)
		}
	})
}
