package outbox

import (
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// matchParked matches the documents with parked events.
func (o *untypedOutbox) matchParked() bson.D {
	return bson.D{mql.E(o.parked+".id", mql.Op("$gt", bson.NilObjectID))} // a range of the index
}

// countEvents adds up the waiting, failing and parked events.
func (o *untypedOutbox) countEvents() mongo.Pipeline {
	size := func(path string) bson.D { return mql.Op("$size", mql.List(path)) }
	return mongo.Pipeline{
		mql.Match(mql.E("$or", bson.A{
			bson.D{mql.E(o.hash, mql.Op("$gte", int64(0))), o.matchWaiting()},
			o.matchParked(),
		})),
		mql.Project(
			mql.E("waiting", size(o.events)), mql.E("parked", size(o.parked)),
			mql.E("oldest", mql.Op("$min", "$"+o.events+".at")),
			mql.E("failing", mql.Op("$size", bson.D{mql.E("$filter", bson.D{
				mql.E("input", mql.List(o.events)), mql.E("as", "e"), mql.E("cond", mql.Op("$gt", "$$e.attempts", 0)),
			})})),
		),
		mql.Group(nil, mql.E("documents", mql.Op("$sum", 1)), mql.E("waiting", mql.Op("$sum", "$waiting")),
			mql.E("failing", mql.Op("$sum", "$failing")),
			mql.E("parked", mql.Op("$sum", "$parked")), mql.E("oldest", mql.Op("$min", "$oldest"))),
	}
}
