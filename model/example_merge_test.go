package model_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A playlist has a list of tracks, and says when it was changed.
type (
	playlist struct {
		ID      string        `bson:"_id"`
		Changed int32         `bson:"changed"` // a year
		Tracks  []playedTrack `bson:"tracks,omitempty"`
	}
	playedTrack struct {
		Title string `bson:"title"`
	}
)

var (
	playlists    = model.NewCollection[playlist, string]("playlists")
	playedTracks = embed.NewEmbedded[playedTrack](playlists, "tracks", embed.EmbeddedSpec{Key: "title", Max: 100})
)

func changedIn(id string, year int32) model.Write {
	return playlists.Update(id, bson.D{{Key: "$set", Value: bson.D{{Key: "changed", Value: year}}}})
}

// Two writes of one document become one command, which is atomic.
func ExampleMerge() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("music")
	if _, err := playlists.Insert(playlist{ID: "jazz", Changed: 2024}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	add := model.Merge(playedTracks.Add("jazz", playedTrack{"Naima"}), changedIn("jazz", 2026))
	fmt.Println(add)
	fmt.Println(add.Cost())
	_, err := add.Run(ctx, db)
	fmt.Println(err)
	fmt.Println(playlists.ByID("jazz").One(ctx, db))

	// Two writes of one path can't be one write. The refused write runs nothing.
	both := model.Merge(changedIn("jazz", 2026), changedIn("jazz", 2027))
	var conflict *model.ConflictError
	fmt.Println(errors.As(both.Err, &conflict), conflict.Paths)
	_, err = both.Run(ctx, db)
	fmt.Println(err)
	// Output:
	// db.playlists.updateOne({_id: 'jazz', 'tracks.title': {$ne: 'Naima'}, 'tracks.99': {$exists: false}}, {$push: {tracks: {title: 'Naima'}}, $set: {changed: 2026}})
	// 1 command, 1 document written, by _id_
	// <nil>
	// {jazz 2026 [{Naima}]} <nil>
	// true [$set changed $set changed]
	// docmodel: step 1: playlists: $set changed conflicts with $set changed: one update can't contain both (write 1 and write 2): leave one out, or run them as steps of one plan, with RunTx
}
