package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A maker's name is copied into its goods: beside its id, and into an element of a list.
type maker struct {
	ID   bson.ObjectID `bson:"_id"`
	Name string        `bson:"name"`
	V    int64         `bson:"v"`
}

type made struct {
	ID    bson.ObjectID `bson:"_id"`
	Maker bson.ObjectID `bson:"maker"`
	Name  string        `bson:"name"`
	V     int64         `bson:"v"`
	By    []makerCopy   `bson:"by,omitempty"`
}

type makerCopy struct {
	ID   bson.ObjectID `bson:"id"`
	Name string        `bson:"name"`
	V    int64         `bson:"v"`
}

const copyCount = 100_000

var (
	makers = model.NewCollection[maker, bson.ObjectID]("makers")
	goods  = model.NewCollection[made, bson.ObjectID]("goods")
	one    = id(4, 0) // of whom all are

	fields   = []copies.Field{{From: "name", To: "name"}}
	elements = []copies.Field{{From: "name", To: "by.name"}}

	byMaker        = copies.New(makers, goods, copies.Spec{KeyPath: "maker", Fields: fields})
	byMakerVersion = copies.New(makers, goods, copies.Spec{KeyPath: "maker", Fields: fields, Version: "v", VersionTo: "v"})
	inList         = copies.New(makers, goods, copies.Spec{KeyPath: "by.id", Fields: elements})
	inListVersion  = copies.New(makers, goods, copies.Spec{KeyPath: "by.id", Fields: elements, Version: "v", VersionTo: "by.v"})
)

// A propagation gives every copy the maker's name.
type propagation struct {
	name string
	run  func(context.Context, *mongo.Database, maker) (changed int64, err error)
}

// propagations are the ways to propagate, by the place of the copies. By version, older
// copies are updated and newer copies are left, also by hand.
var propagations = map[string][]propagation{
	"a field beside the source's _id": {
		{"hand-written UpdateMany", func(ctx context.Context, db *mongo.Database, m maker) (int64, error) {
			return updateByHand(ctx, db, bson.D{{Key: "maker", Value: m.ID}}, bson.D{{Key: "name", Value: m.Name}})
		}},
		{"docmodel Copy.Propagate", propagate(byMaker)},
	},
	"a field and a version beside the source's _id": {
		{"hand-written UpdateMany, guarded by version", func(ctx context.Context, db *mongo.Database, m maker) (int64, error) {
			return updateByHand(ctx, db, bson.D{{Key: "maker", Value: m.ID}, {Key: "v", Value: bson.D{{Key: "$lt", Value: m.V}}}},
				bson.D{{Key: "name", Value: m.Name}, {Key: "v", Value: m.V}})
		}},
		{"docmodel Copy.Propagate, by version", propagate(byMakerVersion)},
	},
	"an element of a list": {
		{"hand-written UpdateMany", func(ctx context.Context, db *mongo.Database, m maker) (int64, error) {
			return updateByHand(ctx, db, bson.D{{Key: "by.id", Value: m.ID}}, bson.D{{Key: "by.$[e].name", Value: m.Name}}, bson.D{{Key: "e.id", Value: m.ID}})
		}},
		{"docmodel Copy.Propagate", propagate(inList)},
	},
	"an element of a list, with a version": {
		{"hand-written UpdateMany, guarded by version", func(ctx context.Context, db *mongo.Database, m maker) (int64, error) {
			older := bson.D{{Key: "$lt", Value: m.V}}
			return updateByHand(ctx, db,
				bson.D{{Key: "by", Value: bson.D{{Key: "$elemMatch", Value: bson.D{{Key: "id", Value: m.ID}, {Key: "v", Value: older}}}}}},
				bson.D{{Key: "by.$[e].name", Value: m.Name}, {Key: "by.$[e].v", Value: m.V}}, bson.D{{Key: "e.id", Value: m.ID}, {Key: "e.v", Value: older}})
		}},
		{"docmodel Copy.Propagate, by version", propagate(inListVersion)},
	},
}

func propagate(c *copies.Copy[maker, bson.ObjectID, bson.ObjectID]) func(context.Context, *mongo.Database, maker) (int64, error) {
	return func(ctx context.Context, db *mongo.Database, m maker) (int64, error) {
		r, err := c.Propagate(&m).Run(ctx, db)
		return r.Modified(), err
	}
}

func updateByHand(ctx context.Context, db *mongo.Database, filter, set bson.D, arrayFilters ...any) (int64, error) {
	o := options.UpdateMany()
	if len(arrayFilters) > 0 {
		o.SetArrayFilters(arrayFilters)
	}
	r, err := db.Collection("goods").UpdateMany(ctx, filter, bson.D{{Key: "$set", Value: set}}, o)
	if err != nil {
		return 0, err
	}
	return r.ModifiedCount, nil
}

// storeGoods stores n documents with a copy in each form, and the indexes that find them.
func storeGoods(ctx context.Context, db *mongo.Database, n int) error {
	all := make([]made, n)
	for i := range all {
		all[i] = made{ID: id(5, i), Maker: one, Name: "-", By: []makerCopy{{ID: id(4, 1), Name: "another"}, {ID: one, Name: "-"}, {ID: id(4, 2), Name: "a third"}}}
	}
	for part := range slices.Chunk(all, 10_000) { // DocumentDB takes 25,000 in a command
		if _, err := goods.InsertMany(part).Run(ctx, db); err != nil {
			return err
		}
	}
	return model.New("test", byMaker, inList).Indexes().Ensure(ctx, db)
}

// propagateTable compares the propagations on a backend. Each run uses a new name and
// version.
func propagateTable(ctx context.Context, rounds int, b backend, where string) (table, error) {
	db, stop, err := b.open(nil)
	if err != nil {
		return table{}, err
	}
	defer stop()
	if err := storeGoods(ctx, db, copyCount); err != nil {
		return table{}, err
	}
	var cs []contender
	version := int64(0)
	for _, p := range propagations[where] {
		cs = append(cs, contender{name: p.name, trips: 1, run: func() error {
			version++
			changed, err := p.run(ctx, db, maker{ID: one, Name: fmt.Sprintf("name %09d", version), V: version})
			if err == nil && changed != copyCount {
				err = fmt.Errorf("%d documents changed, not %d", changed, copyCount)
			}
			return err
		}})
	}
	rows, err := compare(min(rounds, 7), cs)
	return table{
		title: fmt.Sprintf("Propagate a name to %d documents, to %s, on %s", copyCount, where, b.name),
		note:  "Target: at most 1.05 of the hand-written UpdateMany. " + b.note,
		rows:  rows,
	}, err
}
