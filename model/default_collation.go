package model

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// A command without a collation has the default collation of its collection, and so have
// the _id index and the unique indexes of the collection. If the default makes the tenants
// "acme" and "ACME" equal, no condition in a filter keeps their _ids and unique keys
// apart. So before the first command of a string tenant in a collection, the library asks
// for the default, and refuses every default except the simple collation.

// alsoFirst adds the first collection of a pipeline to the uses, because its default
// collation applies to the whole pipeline.
func alsoFirst(list []use, collection string) []use {
	if len(list) == 0 {
		return nil
	}
	return append(list, use{collection, list[0].tenant})
}

// checkCollations refuses a collection whose default collation isn't simple.
func checkCollations(ctx context.Context, db DB, list []use) error {
	known := core.CollationsOf(db)
	var ask []use
	for _, u := range list {
		if known.IsSimple(db.Name(), u.collection) {
			continue
		}
		if !slices.ContainsFunc(ask, func(other use) bool { return other.collection == u.collection }) {
			ask = append(ask, u)
		}
	}
	if len(ask) == 0 {
		return nil
	}
	return askCollations(ctx, db, known, ask)
}

// askCollations asks the primary for the default collations. It remembers collections that
// exist, because their default can't change. It asks outside a transaction, in which the
// command is forbidden.
func askCollations(ctx context.Context, db DB, known *core.Collations, ask []use) error {
	names := make(bson.A, len(ask))
	for i, u := range ask {
		names[i] = u.collection
	}
	observationOf(ctx).sent(1)
	primary := db.Client().Database(db.Name(), options.Database().SetReadPreference(readpref.Primary()))
	filter := bson.D{{Key: "name", Value: bson.D{{Key: "$in", Value: names}}}}
	list, err := primary.ListCollectionSpecifications(runctx.WithoutSession(ctx), filter)
	if err != nil {
		return cannotAsk(db, names, err)
	}
	for _, found := range list {
		collation, _ := found.Options.Lookup("collation").DocumentOK()
		locale, ok := collation.Lookup("locale").StringValueOK()
		if !ok || locale == "simple" {
			known.AddSimple(db.Name(), found.Name)
			continue
		}
		i := slices.IndexFunc(ask, func(u use) bool { return u.collection == found.Name })
		named := bson.D{{Key: "locale", Value: locale}, {Key: "strength", Value: collation.Lookup("strength")}}
		return &ConflictError{
			Collection: found.Name,
			Paths:      [2]string{"default collation " + shell(named), "scope " + ask[i].tenant},
			Reason: "it can make two tenants equal: create the collection with the simple collation, and give another collation " +
				"to the commands and indexes that need it, or give the tenants ids that aren't strings",
		}
	}
	return nil
}

// cannotAsk returns the error of a question for default collations.
func cannotAsk(db DB, names bson.A, err error) error {
	const unauthorized = 13
	remedy := ""
	if server := mongo.ServerError(nil); errors.As(err, &server) && server.HasErrorCode(unauthorized) {
		remedy = ": grant the user the action listCollections on the database " + db.Name()
	}
	return fmt.Errorf("docmodel: can't read the default collations of %s, which a string tenant needs%s: %w",
		shell(names), remedy, err)
}
