package paths

import (
	"math"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Page returns the query of a part of a node's children, in order, as its list says: limit of them after skip. A limit of 0 means
// all. Ids that lead nowhere are passed over, so that a page can be shorter; a node that isn't there has no children. It carries a
// [*model.ValueError] for a negative number.
//
// Cost: one command; the server reads the node, and each child of the page by _id. It doesn't read those that are skipped, as
// [ChildTree.Children] with a Skip does.
func (p *ChildTree[D, K]) Page(id K, skip, limit int) model.Aggregate[D] {
	enc, err := p.id(id)
	s, err := p.t.rep.(*childTree).page(enc, skip, limit, err)
	return aggregateOf(p.planner, s, err)
}

// ChildCount is what [ChildTree.CountChildren] gives.
type ChildCount struct {
	N int64 `bson:"n"`
}

// CountChildren returns the query of how many children a node's list has: one document, or none where the node isn't there. Ids that
// lead nowhere count.
//
// Cost: one command, which reads the node by _id, and no child.
func (p *ChildTree[D, K]) CountChildren(id K) model.Aggregate[ChildCount] {
	enc, err := p.id(id)
	return model.Aggregate[ChildCount]{Aggregation: p.t.rep.(*childTree).counted(enc, err)}
}

// Listing returns the query of the nodes whose lists name a node: its parent, if the tree is whole; two where a move was cut, or the
// lists were damaged. The node needn't be there.
//
// Cost: one command, by the index on the lists.
func (p *ChildTree[D, K]) Listing(id K) model.Find[D] {
	enc, err := p.id(id)
	f := p.docs.Find(bson.D{{Key: p.t.fields[0], Value: model.Eq(enc)}})
	f.Index, f.Err = p.t.indexes[1].Name, err
	return f
}

func aggregateOf[D, K any](p planner[D, K], s source, err error) model.Aggregate[D] {
	a := model.AggregateAs[D](p.docs, s.pipeline)
	a.Index, a.Err = s.index, err
	return a
}

// listedAt is the field in which a child's place in its list is told; it is not in the results, and nor is the one of [joined].
const listedAt = "_at"

func (t *childTree) page(id bson.RawValue, skip, limit int, err error) (source, error) {
	switch {
	case err != nil:
		return source{}, err
	case skip < 0:
		return source{}, t.refused("skip", skip, "is negative")
	case limit < 0:
		return source{}, t.refused("limit", limit, "is negative; 0 means all")
	case limit == 0:
		limit = math.MaxInt32
	}
	slice := bson.D{{Key: "$slice", Value: bson.A{"$" + t.path, min(skip, math.MaxInt32), min(limit, math.MaxInt32)}}}
	return match(model.IDIndex, bson.D{{Key: "_id", Value: model.Eq(id)}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "id", Value: slice}}}},
		bson.D{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$id"}, {Key: "includeArrayIndex", Value: listedAt}}}},
		bson.D{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: t.docs}, {Key: "localField", Value: "id"}, {Key: "foreignField", Value: "_id"}, {Key: "as", Value: joined},
		}}},
		bson.D{{Key: "$unwind", Value: "$" + joined}},
		sortBy(listedAt, 1),
		bson.D{{Key: "$replaceRoot", Value: bson.D{{Key: "newRoot", Value: "$" + joined}}}}), nil
}

func (t *childTree) counted(id bson.RawValue, err error) model.Aggregation {
	list := bson.D{{Key: "$ifNull", Value: bson.A{"$" + t.path, bson.A{}}}}
	return model.Aggregation{Collection: t.docs, Index: model.IDIndex, Err: err, Pipeline: mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "_id", Value: model.Eq(id)}}}},
		{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "n", Value: bson.D{{Key: "$size", Value: list}}}}}},
	}}
}
