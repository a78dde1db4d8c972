package expiry

import (
	"context"
	"errors"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// cutoff is the latest time of an expired document.
func (x *Expiry) cutoff(now time.Time) bson.DateTime {
	return bson.NewDateTimeFromTime(now.Add(-x.spec.After))
}

// Expired matches the documents that have expired by a time.
func (x *Expiry) Expired(now time.Time) bson.D {
	return bson.D{{Key: x.at, Value: bson.D{{Key: "$lte", Value: x.cutoff(now)}}}}
}

// Live matches the documents that have not expired by a time.
func (x *Expiry) Live(now time.Time) bson.D {
	return bson.D{{Key: x.at, Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$lte", Value: x.cutoff(now)}}}}}}
}

// A Pair is the schema.ExpiryPair of a document, with encoded documents.
type Pair struct {
	ID        bson.RawValue
	Hot, Cold bson.Raw
	Expired   bool
}

// beside puts a document into a field, and what another collection holds under its _id beside it.
func beside(mine, other, as string) mongo.Pipeline {
	return mongo.Pipeline{
		{{Key: "$replaceWith", Value: bson.D{{Key: "_id", Value: "$_id"}, {Key: mine, Value: "$$ROOT"}}}},
		{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: other}, {Key: "localField", Value: "_id"},
			{Key: "foreignField", Value: "_id"}, {Key: "as", Value: as},
		}}},
	}
}

// Both finds the documents that are in both collections: an archive was interrupted, a
// document was restored or changed since, or its _id was used again.
func (x *Expiry) Both(now time.Time) model.Aggregation {
	if x.cold == "" {
		return model.Aggregation{Err: x.NoArchive()}
	}
	isDate := bson.D{{Key: "$eq", Value: bson.A{bson.D{{Key: "$type", Value: "$doc." + x.at}}, "date"}}}
	past := bson.D{{Key: "$lte", Value: bson.A{"$doc." + x.at, x.cutoff(now)}}}
	return model.Aggregation{Collection: x.cold, Pipeline: append(beside("cold", x.Name(), "doc"),
		bson.D{{Key: "$unwind", Value: "$doc"}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		bson.D{{
			Key:   "$addFields",
			Value: bson.D{{Key: "expired", Value: bson.D{{Key: "$and", Value: bson.A{isDate, past}}}}},
		}})}
}

func readOne(ctx context.Context, db model.DB, collection string, filter bson.D) (bson.Raw, error) {
	doc, err := (&model.Find[bson.Raw]{Query: model.Query{
		Collection: collection, Filter: filter, Options: model.ReadOptions{ReadPreference: readpref.Primary()},
	}}).One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return nil, nil
	}
	return doc, err
}
