package denorm

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An OutlierCount says how many elements an owner has: those that its array keeps, and those in its overflow documents.
type OutlierCount struct {
	Kept     int64 `bson:"kept"`
	Overflow int64 `bson:"overflow"`
	Pages    int64 `bson:"pages"` // overflow documents
}

// N is how many elements there are in all.
func (c OutlierCount) N() int64 { return c.Kept + c.Overflow }

// pages is the stage that adds to each owner its overflow documents that a filter matches, if "flagged" says that there are any. The
// $expr stands alone: DocumentDB serves a $match beside it by no index.
func (o *outlying) pages(filter bson.D, more ...bson.D) bson.D {
	inner := mongo.Pipeline{
		{{Key: "$match", Value: filter}},
		{{Key: "$match", Value: mql.Op("$expr", mql.Op("$eq", "$$flagged", true))}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
	}
	return bson.D{{Key: "$lookup", Value: bson.D{
		{Key: "from", Value: o.in.name}, {Key: "let", Value: bson.D{{Key: "flagged", Value: "$flagged"}}},
		{Key: "pipeline", Value: append(inner, more...)}, {Key: "as", Value: "page"},
	}}}
}

// all are the stages of an owner's elements, of the pages that a filter matches. The owner goes through twice, once for its array
// and once for its pages: so both come in order, as one stream, from one reading of the owner.
func (o *outlying) all(id bson.RawValue, filter bson.D) mongo.Pipeline {
	second := mql.Op("$eq", "$part", 1)
	return mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "_id", Value: model.Eq(id)}}}},
		{{Key: "$project", Value: bson.D{
			{Key: "kept", Value: o.list()}, {Key: "flagged", Value: o.flagged()}, {Key: "part", Value: mql.Literal(bson.A{0, 1})},
		}}},
		{{Key: "$unwind", Value: "$part"}},
		{{Key: "$project", Value: bson.D{
			{Key: "kept", Value: mql.Op("$cond", second, bson.A{}, "$kept")}, {Key: "flagged", Value: mql.Op("$and", second, "$flagged")},
		}}},
		o.pages(filter, bson.D{{Key: "$project", Value: bson.D{{Key: "items", Value: items()}}}}),
		{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$page"}, {Key: "preserveNullAndEmptyArrays", Value: true}}}},
		{{Key: "$project", Value: bson.D{{Key: "item", Value: mql.Op("$ifNull", "$page.items", "$kept")}}}},
		{{Key: "$unwind", Value: "$item"}},
		{{Key: "$replaceRoot", Value: bson.D{{Key: "newRoot", Value: "$item"}}}},
	}
}

func (o *outlying) elements(id bson.RawValue, err error, owner any) (mongo.Pipeline, error) {
	filter, keyErr := o.in.ofKey(owner)
	if err == nil {
		err = keyErr
	}
	return o.all(id, filter), err
}

func (o *outlying) holding(id bson.RawValue, err error, owner, key any) (mongo.Pipeline, error) {
	if err != nil {
		return nil, err
	}
	e, err := o.keyed(owner, key)
	if err != nil {
		return nil, err
	}
	same := bson.D{{Key: "$match", Value: bson.D{{Key: o.in.spec.Key, Value: model.Eq(e.id)}}}}
	return append(o.all(id, o.in.holder(e)), same), nil
}

func (o *outlying) count(id bson.RawValue, err error, owner any) (mongo.Pipeline, error) {
	filter, keyErr := o.in.ofKey(owner)
	if err == nil {
		err = keyErr
	}
	return mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "_id", Value: model.Eq(id)}}}},
		{{Key: "$project", Value: bson.D{{Key: "kept", Value: mql.Op("$size", o.list())}, {Key: "flagged", Value: o.flagged()}}}},
		o.pages(filter, bson.D{{Key: "$project", Value: bson.D{{Key: "n", Value: 1}}}}),
		{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "kept", Value: 1},
			{Key: "overflow", Value: mql.Op("$sum", "$page.n")}, {Key: "pages", Value: mql.Op("$size", "$page")},
		}}},
	}, err
}
