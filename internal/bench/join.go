package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/join"
	"github.com/dwoolworth/goodm"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A product lists the ids of its parts. Only the contender goodm uses the goodm tag.
type product struct {
	ID    bson.ObjectID   `bson:"_id"`
	Name  string          `bson:"name"`
	Parts []bson.ObjectID `bson:"parts,omitempty" goodm:"ref=parts"`
}

type part struct {
	ID     bson.ObjectID `bson:"_id"`
	Number string        `bson:"partno"`
	Name   string        `bson:"name"`
	Qty    int           `bson:"qty"`
	Cost   float64       `bson:"cost"`
	Price  float64       `bson:"price"`
}

type joined = join.Joined[product, part, bson.ObjectID]

const (
	parents   = 1_000
	perParent = 20
	chunk     = 10_000 // ids in a command, as in Join
)

var (
	products = model.NewCollection[product, bson.ObjectID]("products")
	parts    = model.NewCollection[part, bson.ObjectID]("parts")
	assembly = join.New(products, "parts", parts, join.Spec{})
)

func init() {
	if err := goodm.Register(&product{}, "products"); err != nil {
		panic(err)
	}
}

// A joiner returns every product with its parts in stored order.
type joiner struct {
	name string
	join func(context.Context, *mongo.Database) ([]joined, error)
}

var joiners = []joiner{
	{"hand-written loop", joinByHand},
	{"docmodel Join.Load", joinLoad},
	{"docmodel Join.Pipeline ($lookup)", joinPipeline},
	{"goodm BatchPopulate, assembled by hand", joinGoodm},
	{"N+1: a find for each product", joinOneByOne},
}

// joinTable compares the joins on a backend.
func joinTable(ctx context.Context, rounds int, b backend, s shape) (table, error) {
	cs, stop, err := joinContenders(ctx, b, s)
	if err != nil {
		return table{}, err
	}
	defer stop()
	rows, err := compare(rounds, cs)
	return table{
		title: fmt.Sprintf("Join %d products × %d parts, %s, on %s", parents, perParent, s.name, b.name),
		note: "Reading the products is part of it. Target: Join.Load at most 1.1 of the hand-written loop; on a server, below " +
			"$lookup and far below N+1. " + b.note,
		rows: rows,
	}, err
}

// joinContenders prepares the joins on fresh data. It counts round trips first, on
// another client, because a monitor slows down timed runs.
func joinContenders(ctx context.Context, b backend, s shape) (cs []contender, stop func(), err error) {
	monitor := mongotest.NewMonitor()
	watched, stopWatched, err := b.open(monitor.CommandMonitor())
	if err != nil {
		return nil, nil, err
	}
	defer stopWatched()
	db, stop, err := b.open(nil)
	if err != nil {
		return nil, nil, err
	}
	for _, db := range []*mongo.Database{watched, db} {
		if err := s.store(ctx, db); err != nil {
			stop()
			return nil, nil, err
		}
	}
	for _, j := range joiners {
		cost, err := modeltest.Measure(monitor, func() error { _, err := j.join(ctx, watched); return err })
		if err != nil {
			stop()
			return nil, nil, fmt.Errorf("%s: %w", j.name, err)
		}
		cs = append(cs, contender{
			name: j.name, trips: cost.Commands,
			run: func() error { _, err := j.join(ctx, db); return err },
		})
	}
	return cs, stop, nil
}

// A shape is how many parts there are, which the products share evenly.
type shape struct {
	name  string
	parts int
}

var shapes = []shape{
	{"each part in one", parents * perParent},
	{"each part in ten", parents * perParent / 10},
}

// store stores the shape's data, the same each time.
func (s shape) store(ctx context.Context, db *mongo.Database) error {
	ps, all := make([]part, s.parts), make([]product, parents)
	for i := range ps {
		ps[i] = part{
			ID: id(1, i), Number: fmt.Sprintf("%03d-aff-%06d", i%1000, i), Name: fmt.Sprintf("#%d grommet", i),
			Qty: i % 100, Cost: float64(i) + 0.94, Price: float64(i) + 3.99,
		}
	}
	for i := range all {
		all[i] = product{ID: id(2, i), Name: fmt.Sprintf("left-handed smoke shifter %d", i)}
		for n := range perParent {
			const apart = 37 // so that a product's parts don't lie together
			all[i].Parts = append(all[i].Parts, ps[(i*perParent+n)*apart%s.parts].ID)
		}
	}
	_, err := model.Concat(products.InsertMany(all), parts.InsertMany(ps)).Run(ctx, db)
	return err
}

func id(kind byte, n int) bson.ObjectID {
	return bson.ObjectID{0: 0x66, 1: kind, 9: byte(n >> 16), 10: byte(n >> 8), 11: byte(n)}
}

func joinByHand(ctx context.Context, db *mongo.Database) ([]joined, error) {
	var all []product
	if err := find(ctx, db.Collection("products"), bson.D{}, &all); err != nil {
		return nil, err
	}
	var ids []bson.ObjectID
	seen := map[bson.ObjectID]struct{}{}
	for _, p := range all {
		for _, id := range p.Parts {
			if _, ok := seen[id]; !ok {
				seen[id] = struct{}{}
				ids = append(ids, id)
			}
		}
	}
	found := make(map[bson.ObjectID]part, len(ids))
	for some := range slices.Chunk(ids, chunk) {
		var docs []part
		if err := find(ctx, db.Collection("parts"), in(some), &docs); err != nil {
			return nil, err
		}
		for _, d := range docs {
			found[d.ID] = d
		}
	}
	return assemble(all, found), nil
}

func joinLoad(ctx context.Context, db *mongo.Database) ([]joined, error) {
	all, err := products.Find(nil).All(ctx, db)
	if err != nil {
		return nil, err
	}
	return assembly.Load(ctx, db, all)
}

func joinPipeline(ctx context.Context, db *mongo.Database) ([]joined, error) {
	return assembly.Pipeline(nil).All(ctx, db)
}

// joinGoodm puts the parts in order by hand: goodm returns them in one list.
func joinGoodm(ctx context.Context, db *mongo.Database) ([]joined, error) {
	var all []product
	if err := goodm.Find(ctx, bson.D{}, &all, goodm.FindOptions{DB: db}); err != nil {
		return nil, err
	}
	var docs []part
	if err := goodm.BatchPopulate(ctx, all, "parts", &docs, goodm.PopulateOptions{DB: db}); err != nil {
		return nil, err
	}
	return assemble(all, byID(docs)), nil
}

func joinOneByOne(ctx context.Context, db *mongo.Database) ([]joined, error) {
	var all []product
	if err := find(ctx, db.Collection("products"), bson.D{}, &all); err != nil {
		return nil, err
	}
	out := make([]joined, 0, len(all))
	for _, p := range all {
		var docs []part
		if err := find(ctx, db.Collection("parts"), in(p.Parts), &docs); err != nil {
			return nil, err
		}
		out = append(out, assemble([]product{p}, byID(docs))...)
	}
	return out, nil
}

func in(ids []bson.ObjectID) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}
}

func find(ctx context.Context, c *mongo.Collection, filter bson.D, into any) error {
	cur, err := c.Find(ctx, filter)
	if err != nil {
		return err
	}
	return cur.All(ctx, into)
}

func byID(docs []part) map[bson.ObjectID]part {
	found := make(map[bson.ObjectID]part, len(docs))
	for _, d := range docs {
		found[d.ID] = d
	}
	return found
}

// assemble gives each product its parts in stored order, and says which are missing.
func assemble(all []product, found map[bson.ObjectID]part) []joined {
	out := make([]joined, len(all))
	for i, p := range all {
		out[i] = joined{Parent: p, Children: make([]part, 0, len(p.Parts))}
		for _, id := range p.Parts {
			if d, ok := found[id]; ok {
				out[i].Children = append(out[i].Children, d)
			} else {
				out[i].Missing = append(out[i].Missing, id)
			}
		}
	}
	return out
}
