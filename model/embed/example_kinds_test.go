package embed_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
)

// A shop's products are of many kinds, each with fields of its own.
type (
	ware  interface{ ware() }
	album struct {
		ID     string   `bson:"_id"`
		Artist string   `bson:"artist"`
		Tracks []string `bson:"tracks,omitempty"`
	}
	jeans struct {
		ID     string `bson:"_id"`
		Length int32  `bson:"length"`
	}
)

func (album) ware() {}
func (jeans) ware() {}

var (
	wareTypes = embed.NewUnion[ware]("type", embed.Case[album]("album"), embed.Case[jeans]("jeans"))
	wares     = model.NewCollectionWith[ware, string]("wares", wareTypes.Options())
	wareKinds = embed.NewKinds(wares, wareTypes, embed.KindsSpec{Indexes: []embed.KindIndex{
		{Tag: "album", Keys: bson.D{{Key: "artist", Value: 1}}}, {Tag: "jeans", Keys: bson.D{{Key: "length", Value: 1}}},
	}})
)

func ExampleKinds() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")

	fill := wares.InsertMany([]ware{album{"a1", "Nina", []string{"Sinnerman"}}, album{"a2", "Ella", nil}, jeans{"j1", 34}})
	if _, err := fill.Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	// An index for each kind holds the documents of that kind alone.
	fmt.Print(model.New("shop", wareKinds).Indexes())
	long := wareKinds.Having("jeans", bson.D{{Key: "length", Value: bson.D{{Key: "$gte", Value: 32}}}})
	fmt.Println(long)
	fmt.Println(long.Cost())
	found, err := long.All(ctx, db)
	fmt.Println(found, err)
	// Decoded as the one type that they are.
	albums := embed.Only[album](wareKinds).Where(bson.D{{Key: "artist", Value: "Nina"}})
	fmt.Println(albums)
	for a, err := range albums.Each(ctx, db) {
		fmt.Println(a.Tracks, err)
	}
	counts, err := wareKinds.Counts().All(ctx, db)
	fmt.Println(counts, err)
	// Output:
	// db.wares.createIndex({artist: 1}, {name: 'artist_1_album', partialFilterExpression: {type: 'album'}})
	// db.wares.createIndex({length: 1}, {name: 'length_1_jeans', partialFilterExpression: {type: 'jeans'}})
	// db.wares.find({type: 'jeans', length: {$gte: 32}})
	// 1 command and one per further batch, by length_1_jeans
	// [{j1 34}] <nil>
	// db.wares.find({type: 'album', artist: 'Nina'})
	// [Sinnerman] <nil>
	// [{"album" 2} {"jeans" 1}] <nil>
}
