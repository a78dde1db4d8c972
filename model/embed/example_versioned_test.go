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

// An order with its lines is one document, which is written whole, or not at all.
type (
	cart struct {
		ID      string          `bson:"_id"`
		Lines   []cartLine      `bson:"lines,omitempty"`
		Total   int64           `bson:"total"`
		Version int64           `bson:"version"`
		Ops     []bson.ObjectID `bson:"ops,omitempty"`
	}
	cartLine struct {
		Article string `bson:"article"`
		Price   int64  `bson:"price"`
	}
)

var (
	carts      = model.NewCollection[cart, string]("carts")
	cartSets   = embed.NewVersioned(carts, embed.VersionedSpec{Tokens: "ops"})
	cartsStore = model.NewStore(model.New("shop", cartSets), carts)
)

func ExampleVersioned() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	op := func(n byte) bson.ObjectID { return bson.ObjectID{11: n} } // bson.NewObjectID, once for each operation

	if _, _, err := cartsStore.Insert(cart{ID: "c1"}).Run(model.WithToken(ctx, op(1)), db); err != nil {
		fmt.Println(err)
		return
	}
	// Read, change, write if nobody wrote since; else again.
	buy := cartsStore.Edit("c1", func(c *cart) error {
		c.Lines = append(c.Lines, cartLine{"lamp", 40})
		c.Total += 40
		return nil
	})
	for range 2 { // the second run finds its token, and changes nothing
		if _, _, err := buy.Run(model.WithToken(ctx, op(2)), db); err != nil {
			fmt.Println(err)
			return
		}
	}
	read, err := carts.ByID("c1").One(ctx, db)
	fmt.Println(read.Lines, read.Total, "version", read.Version, err)

	// A form that was filled in slowly: the whole document, in the version that it was read in.
	late := read
	late.Version--
	_, _, err = cartsStore.Replace(late).Run(ctx, db)
	fmt.Println(errors.Is(err, embed.ErrVersion))

	// By operators, without a read: two who read the same version. The first wins.
	first := cartSets.Update("c1", read.Version,
		bson.D{{Key: "$set", Value: bson.D{{Key: "total", Value: int64(36)}}}}, op(3))
	second := cartSets.Update("c1", read.Version,
		bson.D{{Key: "$set", Value: bson.D{{Key: "total", Value: int64(30)}}}}, op(4))
	fmt.Println(first)
	fmt.Println(first.Cost())
	for _, w := range []model.Write{first, second, first} {
		result, err := w.Run(ctx, db)
		fmt.Println(result.Steps[0].Status, errors.Is(err, model.ErrStale))
	}
	// A guard needs no version: no discount below 30.
	_, err = cartSets.Take("c1", "total", 40, op(5)).Run(ctx, db)
	fmt.Println(err)
	// Output:
	// [{lamp 40}] 40 version 215490 <nil>
	// true
	// db.carts.updateOne({_id: 'c1', version: Long('215490'), ops: {$ne: ObjectId('000000000000000000000003')}}, {$set: {total: Long('36'), version: Long('215491')}, $push: {ops: {$each: [ObjectId('000000000000000000000003')], $slice: -100}}})
	// 1 command, 1 document written, by _id_
	// applied false
	// not sent true
	// already false
	// docmodel: step 1: carts {_id: 'c1'}: the document exists, but the condition of the write doesn't hold
}
