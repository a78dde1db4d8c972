package denorm

import (
	"fmt"

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
		{{Key: "$match", Value: op("$expr", op("$eq", "$$flagged", true))}},
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
	second := op("$eq", "$part", 1)
	return mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "_id", Value: model.Eq(id)}}}},
		{{Key: "$project", Value: bson.D{
			{Key: "kept", Value: o.list()}, {Key: "flagged", Value: o.flagged()}, {Key: "part", Value: literal(bson.A{0, 1})},
		}}},
		{{Key: "$unwind", Value: "$part"}},
		{{Key: "$project", Value: bson.D{
			{Key: "kept", Value: op("$cond", second, bson.A{}, "$kept")}, {Key: "flagged", Value: op("$and", second, "$flagged")},
		}}},
		o.pages(filter, bson.D{{Key: "$project", Value: bson.D{{Key: "items", Value: items()}}}}),
		{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$page"}, {Key: "preserveNullAndEmptyArrays", Value: true}}}},
		{{Key: "$project", Value: bson.D{{Key: "item", Value: op("$ifNull", "$page.items", "$kept")}}}},
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
		{{Key: "$project", Value: bson.D{{Key: "kept", Value: op("$size", o.list())}, {Key: "flagged", Value: o.flagged()}}}},
		o.pages(filter, bson.D{{Key: "$project", Value: bson.D{{Key: "n", Value: 1}}}}),
		{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "kept", Value: 1},
			{Key: "overflow", Value: op("$sum", "$page.n")}, {Key: "pages", Value: op("$size", "$page")},
		}}},
	}, err
}

// An OutlierFault is what is wrong with an owner.
type OutlierFault string

const (
	Unsplit   OutlierFault = "unsplit"   // its array is over Max, and was not split
	Oversized OutlierFault = "oversized" // its array is over Max, though there is overflow: other code pushed into it
	Unflagged OutlierFault = "unflagged" // it has overflow, and no flag: readers miss it
	Leftover  OutlierFault = "leftover"  // a Split that was cut has left overflow documents, and the array was shortened since
)

// An OutlierDrift is an owner whose array, flag and overflow don't go together, as [Outlier.Check] found it.
type OutlierDrift struct {
	Fault OutlierFault  `bson:"fault"`
	ID    bson.RawValue `bson:"_id"`             // of the owner
	N     int64         `bson:"n"`               // how many elements its array holds
	Pages []OutlierPage `bson:"pages,omitempty"` // its overflow documents; none where the flag is set
}

// An OutlierPage is an overflow document of an owner without the flag.
type OutlierPage struct {
	ID    string `bson:"_id"`
	Split int64  `bson:"split"` // how long the array was that a Split wrote it from; 0 for one that was appended to
	Held  bool   `bson:"held"`  // all of its elements are in the owner's array
}

// String is the drift for a reader: "unsplit: 'b1' holds 7".
func (d OutlierDrift) String() string {
	return string(d.Fault) + ": " + model.Shell(d.ID) + " holds " + fmt.Sprint(d.N)
}

// An OutlierOrphan is an overflow document whose owner is not there.
type OutlierOrphan struct {
	ID    string        `bson:"_id"`
	Owner bson.RawValue `bson:"key"`
	N     int64         `bson:"n"`
	Bytes int64         `bson:"bytes"`
}

// check is the pipeline over the owners. A page counts as a Split's if it has its stamp.
func (o *outlying) check() mongo.Pipeline {
	lookup := lookup(o.in.name, "_id", "key", "pages")
	args := lookup[0].Value.(bson.D)
	held := op("$setIsSubset", items(), "$$kept")
	lookup[0].Value = append(args,
		bson.E{Key: "let", Value: bson.D{{Key: "flagged", Value: "$flagged"}, {Key: "kept", Value: "$kept"}}},
		bson.E{Key: "pipeline", Value: mongo.Pipeline{
			{{Key: "$match", Value: op("$expr", op("$eq", "$$flagged", false))}},
			{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
			{{Key: "$project", Value: bson.D{{Key: "key", Value: 1}, {Key: "split", Value: op("$ifNull", "$split", 0)}, {Key: "held", Value: held}}}},
		}})
	over := op("$gt", "$n", o.spec.Max)
	some := func(cond any) bson.D { // of the pages
		return op("$anyElementTrue", bson.A{op("$map", bson.D{{Key: "input", Value: "$pages"}, {Key: "as", Value: "page"}, {Key: "in", Value: cond}})})
	}
	branch := func(fault OutlierFault, when bson.D) bson.D {
		return bson.D{{Key: "case", Value: when}, {Key: "then", Value: literal(string(fault))}}
	}
	fault := op("$switch", bson.D{{Key: "branches", Value: bson.A{
		branch(Oversized, op("$and", over, "$flagged")),
		branch(Unflagged, some(op("$eq", "$$page.split", 0))),
		branch(Leftover, op("$and", over, some(op("$gt", "$$page.split", "$n")))),
		branch(Unsplit, over),
		branch(Unflagged, some(op("$not", "$$page.held"))),
		branch(Leftover, op("$gt", op("$size", "$pages"), 0)),
	}}, {Key: "default", Value: literal("")}})
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "kept", Value: o.list()}, {Key: "flagged", Value: o.flagged()}}}},
		lookup,
		{{Key: "$project", Value: bson.D{
			{Key: "n", Value: op("$size", "$kept")}, {Key: "flagged", Value: 1},
			{Key: "pages._id", Value: 1}, {Key: "pages.split", Value: 1}, {Key: "pages.held", Value: 1},
		}}},
		{{Key: "$project", Value: bson.D{{Key: "n", Value: 1}, {Key: "pages", Value: 1}, {Key: "fault", Value: fault}}}},
		{{Key: "$match", Value: bson.D{{Key: "fault", Value: bson.D{{Key: "$ne", Value: ""}}}}}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
	}
}

func (o *outlying) orphans() mongo.Pipeline {
	find := lookup(o.docs, "key", "_id", "owner")
	find[0].Value = append(find[0].Value.(bson.D), bson.E{Key: "pipeline", Value: mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}},
	}})
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "key", Value: 1}, {Key: "n", Value: 1}, {Key: "bytes", Value: 1}}}},
		find,
		{{Key: "$match", Value: bson.D{{Key: "owner", Value: bson.D{{Key: "$size", Value: 0}}}}}},
		{{Key: "$unset", Value: "owner"}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
	}
}
