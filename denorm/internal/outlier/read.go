package outlier

import (
	"github.com/docmodel/docmodel/denorm/internal/bucket"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// pages is the stage that adds to each owner its overflow documents that a filter matches, if "flagged" says that there
// are any. The $expr stands alone: DocumentDB serves a $match beside it by no index.
func (o *Outlier) pages(filter bson.D, more ...bson.D) bson.D {
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

// all are the stages of an owner's elements, of the pages that a filter matches. The owner goes through twice, once for
// its array and once for its pages: so both come in order, as one stream, from one reading of the owner.
func (o *Outlier) all(id bson.RawValue, filter bson.D) mongo.Pipeline {
	second := mql.Op("$eq", "$part", 1)
	return mongo.Pipeline{
		mql.Match(commands.MatchID(id)...),
		mql.Project(mql.E("kept", o.list()), mql.E("flagged", o.flagged()), mql.E("part", mql.Literal(bson.A{0, 1}))),
		mql.Unwind("$part"),
		mql.Project(mql.E("kept", mql.Cond(second, bson.A{}, "$kept")),
			mql.E("flagged", mql.Op("$and", second, "$flagged"))),
		o.pages(filter, mql.Project(mql.E("items", bucket.ListItems()))),
		{{
			Key:   "$unwind",
			Value: bson.D{{Key: "path", Value: "$page"}, {Key: "preserveNullAndEmptyArrays", Value: true}},
		}},
		mql.Project(mql.E("item", mql.IfNull("$page.items", "$kept"))),
		mql.Unwind("$item"),
		mql.ReplaceRoot("$item"),
	}
}

// Elements is the pipeline of an owner's elements.
func (o *Outlier) Elements(owner any) (mongo.Pipeline, error) {
	id, filter, err := o.of(owner)
	return o.all(id, filter), err
}

// Holding is the pipeline of an owner's element by its key.
func (o *Outlier) Holding(owner, key any) (mongo.Pipeline, error) {
	id, err := o.docs.RawID("_id", owner)
	if err != nil {
		return nil, err
	}
	e, err := o.in.EncodeElementKey(owner, key)
	if err != nil {
		return nil, err
	}
	same := mql.Match(mql.E(o.in.Spec.ElementKey, mql.Eq(e.ID)))
	return append(o.all(id, o.in.MatchHolder(e)), same), nil
}

// of returns an owner's _id, and the filter of its overflow.
func (o *Outlier) of(owner any) (id bson.RawValue, overflow bson.D, err error) {
	if id, err = o.docs.RawID("_id", owner); err == nil {
		overflow, err = o.in.MatchKey(owner)
	}
	return id, overflow, err
}

// Count is the pipeline that counts an owner's elements.
func (o *Outlier) Count(owner any) (mongo.Pipeline, error) {
	id, filter, err := o.of(owner)
	return mongo.Pipeline{
		mql.Match(commands.MatchID(id)...),
		mql.Project(mql.E("kept", mql.Op("$size", o.list())), mql.E("flagged", o.flagged())),
		o.pages(filter, mql.Project(mql.E("n", 1))),
		mql.Project(mql.E("_id", 0), mql.E("kept", 1), mql.E("overflow", mql.Op("$sum", "$page.n")),
			mql.E("pages", mql.Op("$size", "$page"))),
	}, err
}
