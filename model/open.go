package model

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/docmodel/docmodel/internal/runctx"
)

// collectionOf opens the driver's collection, with the codec's options. Each command that this module
// sends goes through it. A read that decides a write goes to the primary.
func collectionOf(
	ctx context.Context, db *mongo.Database, c *codec, name string, more ...options.Lister[options.CollectionOptions],
) *mongo.Collection {
	all := make([]options.Lister[options.CollectionOptions], 0, 3)
	if c != nil {
		o := options.Collection()
		if c.options != nil {
			o.SetBSONOptions(c.options)
		}
		if r := c.driverRegistry(); r != nil {
			o.SetRegistry(r)
		}
		all = append(all, o)
	}
	all = append(all, more...)
	if runctx.Decides(ctx) {
		all = append(all, options.Collection().SetReadPreference(readpref.Primary()))
	}
	return db.Collection(name, all...)
}
