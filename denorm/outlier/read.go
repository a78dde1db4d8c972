package outlier

import (
	"github.com/docmodel/docmodel/denorm/internal/bucket"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// lookupPages is the stage that adds to each owner the overflow documents that a filter
// matches, if the owner's field flagged is true. The $expr is a stage of its own, because
// DocumentDB uses no index for a $match with both.
func (o *untypedOutlier) lookupPages(filter bson.D, more ...bson.D) bson.D {
	inner := mongo.Pipeline{
		mql.Match(filter...),
		mql.Match(mql.E("$expr", mql.Op("$eq", "$$flagged", true))),
		mql.SortID(),
	}
	return bson.D{{Key: "$lookup", Value: bson.D{
		{Key: "from", Value: o.in.Docs.Name()}, {Key: "let", Value: bson.D{{Key: "flagged", Value: "$flagged"}}},
		{Key: "pipeline", Value: append(inner, more...)}, {Key: "as", Value: "page"},
	}}}
}

// findAllElements returns the stages of an owner's elements, in the array and in the
// overflow documents that a filter matches. The owner goes through twice, once for its
// array and once for its overflow. So both come in order, in one stream, from one read of
// the owner.
func (o *untypedOutlier) findAllElements(id bson.RawValue, filter bson.D) mongo.Pipeline {
	second := mql.Op("$eq", "$part", 1)
	return mongo.Pipeline{
		mql.Match(commands.MatchID(id)...),
		mql.Project(mql.E("kept", o.listKept()), mql.E("flagged", o.hasFlag()),
			mql.E("part", mql.Literal(bson.A{0, 1}))),
		mql.Unwind("$part"),
		mql.Project(mql.E("kept", mql.Cond(second, bson.A{}, "$kept")),
			mql.E("flagged", mql.Op("$and", second, "$flagged"))),
		o.lookupPages(filter, mql.Project(mql.E("items", bucket.ListItems()))),
		{{
			Key:   "$unwind",
			Value: bson.D{{Key: "path", Value: "$page"}, {Key: "preserveNullAndEmptyArrays", Value: true}},
		}},
		mql.Project(mql.E("item", mql.IfNull("$page.items", "$kept"))),
		mql.Unwind("$item"),
		mql.ReplaceRoot("$item"),
	}
}

// findElements is the pipeline of an owner's elements.
func (o *untypedOutlier) findElements(owner any) (mongo.Pipeline, error) {
	id, filter, err := o.encodeOwner(owner)
	return o.findAllElements(id, filter), err
}

// findHolding is the pipeline of an owner's element by its key.
func (o *untypedOutlier) findHolding(owner, key any) (mongo.Pipeline, error) {
	id, err := o.docs.RawID("_id", owner)
	if err != nil {
		return nil, err
	}
	e, err := o.in.EncodeElementKey(owner, key)
	if err != nil {
		return nil, err
	}
	same := mql.Match(mql.E(o.in.Spec.ElementKey, mql.Eq(e.ID)))
	return append(o.findAllElements(id, o.in.MatchHolder(e)), same), nil
}

// encodeOwner returns an owner's _id, and the filter of its overflow.
func (o *untypedOutlier) encodeOwner(owner any) (id bson.RawValue, overflow bson.D, err error) {
	if id, err = o.docs.RawID("_id", owner); err == nil {
		overflow, err = o.in.MatchKey(owner)
	}
	return id, overflow, err
}

// countElements is the pipeline that counts an owner's elements. It reads the counts of
// the overflow documents, not their elements.
func (o *untypedOutlier) countElements(owner any) (mongo.Pipeline, error) {
	id, filter, err := o.encodeOwner(owner)
	return mongo.Pipeline{
		mql.Match(commands.MatchID(id)...),
		mql.Project(mql.E("kept", mql.Op("$size", o.listKept())), mql.E("flagged", o.hasFlag())),
		o.lookupPages(filter, mql.Project(mql.E("n", 1))),
		mql.Project(mql.E("_id", 0), mql.E("kept", 1), mql.E("overflow", mql.Op("$sum", "$page.n")),
			mql.E("pages", mql.Op("$size", "$page"))),
	}, err
}
