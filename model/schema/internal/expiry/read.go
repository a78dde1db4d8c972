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

// computeCutoff returns the greatest value of the time field with which a document has expired at now.
func (x *Expiry) computeCutoff(now time.Time) bson.DateTime {
	return bson.NewDateTimeFromTime(now.Add(-x.spec.After))
}

// MatchExpired matches the documents that have expired at now. A comparison with a date finds only dates, so documents
// without a time aren't found.
func (x *Expiry) MatchExpired(now time.Time) bson.D {
	return bson.D{{Key: x.at, Value: bson.D{{Key: "$lte", Value: x.computeCutoff(now)}}}}
}

// MatchLive matches all other documents: their time is later, missing, or no date.
func (x *Expiry) MatchLive(now time.Time) bson.D {
	return bson.D{{Key: x.at, Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$lte", Value: x.computeCutoff(now)}}}}}}
}

// A Pair is a schema.ExpiryPair: a document and its copy with the same _id.
type Pair struct {
	ID        bson.RawValue
	Hot, Cold bson.Raw
	Expired   bool
}

// lookUpOther returns the stages that put a document into the field mine, and the documents of the collection other
// with its _id into the list as: {_id, doc, cold: […]}. In fields of their own, both keep all their names.
func lookUpOther(mine, other, as string) mongo.Pipeline {
	return mongo.Pipeline{
		{{Key: "$replaceWith", Value: bson.D{{Key: "_id", Value: "$_id"}, {Key: mine, Value: "$$ROOT"}}}},
		{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: other}, {Key: "localField", Value: "_id"},
			{Key: "foreignField", Value: "_id"}, {Key: "as", Value: as},
		}}},
	}
}

// FindPairs finds the documents that are in both collections, as Pair documents. It reads the whole archive, and
// documents by _id. A pair remains after a crash, after Restore, if a document changed before its delete, or if an _id
// was used again.
func (x *Expiry) FindPairs(now time.Time) model.Aggregation {
	if x.cold == "" {
		return model.Aggregation{Err: x.RefuseWithoutArchive()}
	}
	isDate := bson.D{{Key: "$eq", Value: bson.A{bson.D{{Key: "$type", Value: "$doc." + x.at}}, "date"}}}
	past := bson.D{{Key: "$lte", Value: bson.A{"$doc." + x.at, x.computeCutoff(now)}}}
	return model.Aggregation{Collection: x.cold, Pipeline: append(lookUpOther("cold", x.Name(), "doc"),
		bson.D{{Key: "$unwind", Value: "$doc"}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		bson.D{{
			Key:   "$addFields",
			Value: bson.D{{Key: "expired", Value: bson.D{{Key: "$and", Value: bson.A{isDate, past}}}}},
		}})}
}

// readOne reads a document at the primary. It is nil if there is no document.
func readOne(ctx context.Context, db model.DB, collection string, filter bson.D) (bson.Raw, error) {
	doc, err := (&model.Find[bson.Raw]{Query: model.Query{
		Collection: collection, Filter: filter, Options: model.ReadOptions{ReadPreference: readpref.Primary()},
	}}).One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return nil, nil
	}
	return doc, err
}
