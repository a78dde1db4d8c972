package relate

import (
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Linked is a link with the document at its other end; Doc is nil when that one is missing.
type Linked[L, D any] struct {
	Link L  `bson:"link"`
	Doc  *D `bson:"doc"`
}

// LinkCount is how many links a document has.
type LinkCount[K any] struct {
	ID K     `bson:"_id"`
	N  int64 `bson:"n"`
}

// A LinkPage says which part of a document's links is read, newest first. The zero value is all of them.
type LinkPage[L any] struct {
	Limit int64 // how many; 0 means all
	After *L    // go on after this link, the last of the page before; nil means begin with the newest
}

// Pair returns the query of the link of a pair.
//
// Cost: one command, served by the unique index on the pair.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Pair(left AK, right BK) model.Find[L] {
	pair, err := j.pair(left, right)
	f := j.links.Find(pair).Limited(1)
	f.Index = j.pairIndex()
	if f.Err == nil {
		f.Err = err
	}
	return f
}

// OfLeft returns the query of a left document's links, newest first. Its Count tells how many there are.
//
// Cost: one command, and one per further batch; filter and order are served by [JoinCollection.Indexes].
func (j *JoinCollection[L, LK, A, AK, B, BK]) OfLeft(left AK) model.Find[L] {
	id, err := encodeID(j.lefts, j.links.Name(), j.leftPath(), left)
	return j.of(j.leftPath(), id, err, 1)
}

// OfRight returns the query of a right document's links, newest first. Its Count tells how many there are.
//
// Cost: as [JoinCollection.OfLeft].
func (j *JoinCollection[L, LK, A, AK, B, BK]) OfRight(right BK) model.Find[L] {
	id, err := encodeID(j.rights, j.links.Name(), j.rightPath(), right)
	return j.of(j.rightPath(), id, err, 2)
}

func (j *JoinCollection[L, LK, A, AK, B, BK]) of(path string, id any, err error, index int) model.Find[L] {
	f := j.links.Find(bson.D{{Key: path, Value: model.Eq(id)}}).Sorted(j.order)
	f.Index = j.Indexes()[index].Name
	if f.Err == nil {
		f.Err = err
	}
	return f
}

// RightsOf returns a left document's links with the right documents that they lead to, newest link first: both in one
// command. A link whose right document is missing comes with none.
//
// Cost: one command; as many index keys and links as are returned, served by [JoinCollection.Indexes], and a lookup by
// _id for each.
func (j *JoinCollection[L, LK, A, AK, B, BK]) RightsOf(left AK, page LinkPage[L]) model.Aggregate[Linked[L, B]] {
	return joined[Linked[L, B]](j.links, j.page(j.OfLeft(left), page), j.rightPath(), j.rights.Name())
}

// LeftsOf returns a right document's links with the left documents that they lead to, newest link first: both in one
// command. A link whose left document is missing comes with none.
//
// Cost: as [JoinCollection.RightsOf].
func (j *JoinCollection[L, LK, A, AK, B, BK]) LeftsOf(right BK, page LinkPage[L]) model.Aggregate[Linked[L, A]] {
	return joined[Linked[L, A]](j.links, j.page(j.OfRight(right), page), j.leftPath(), j.lefts.Name())
}

// page narrows a query to what comes after a link.
func (j *JoinCollection[L, LK, A, AK, B, BK]) page(f model.Find[L], page LinkPage[L]) model.Find[L] {
	if page.After != nil && f.Err == nil {
		values, err := j.place(page.After)
		if err != nil {
			f.Err = err
			return f
		}
		f = f.After(values...)
	}
	return f.Limited(page.Limit)
}

// place returns what a link holds at the fields of the order.
func (j *JoinCollection[L, LK, A, AK, B, BK]) place(link *L) ([]any, error) {
	doc, err := j.links.Encode(*link)
	if err != nil {
		return nil, &model.ValueError{Collection: j.links.Name(), Field: "After", Reason: err.Error()}
	}
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: doc}})
	if err != nil {
		return nil, &model.ValueError{Collection: j.links.Name(), Field: "After", Reason: err.Error()}
	}
	values := make([]any, len(j.order))
	for i, e := range j.order {
		v, err := bson.Raw(raw).LookupErr(append([]string{"v"}, strings.Split(e.Key, ".")...)...)
		if err != nil || v.Type == bson.TypeNull {
			return nil, &model.ValueError{Collection: j.links.Name(), Field: "After", Reason: "the link holds nothing at " + e.Key + ", by which links are in order"}
		}
		values[i] = v
	}
	return values, nil
}

// joined is the pipeline of a query of links, each with the document at one of its ends.
func joined[R, L, LK any](links *model.Collection[L, LK], f model.Find[L], path, from string) model.Aggregate[R] {
	stages := matching(f.Filter, bson.D{{Key: "$sort", Value: f.Sort}})
	if f.Limit > 0 {
		stages = append(stages, bson.D{{Key: "$limit", Value: f.Limit}})
	}
	stages = append(stages,
		nested("link"),
		bson.D{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: from}, {Key: "localField", Value: "link." + path}, {Key: "foreignField", Value: "_id"}, {Key: "as", Value: "doc"},
		}}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "doc", Value: bson.D{{Key: "$arrayElemAt", Value: bson.A{"$doc", 0}}}}}}},
	)
	a := model.AggregateAs[R](links, stages)
	a.Index = f.Index
	if f.Err != nil {
		a.Err = f.Err
	}
	return a
}

// LeftCounts returns how many links each of some left documents has, in the order of their ids; one without links has no
// entry. No id at all is refused.
//
// Cost: one command; one index key per link, served by [JoinCollection.Indexes].
func (j *JoinCollection[L, LK, A, AK, B, BK]) LeftCounts(lefts ...AK) model.Aggregate[LinkCount[AK]] {
	ids, err := encodeIDs(j.lefts, j.links.Name(), j.leftPath(), lefts)
	return counts[LinkCount[AK]](j.links, j.leftPath(), ids, err, j.Indexes()[1].Name)
}

// RightCounts returns how many links each of some right documents has, as [JoinCollection.LeftCounts].
func (j *JoinCollection[L, LK, A, AK, B, BK]) RightCounts(rights ...BK) model.Aggregate[LinkCount[BK]] {
	ids, err := encodeIDs(j.rights, j.links.Name(), j.rightPath(), rights)
	return counts[LinkCount[BK]](j.links, j.rightPath(), ids, err, j.Indexes()[2].Name)
}

func counts[R, L, LK any](links *model.Collection[L, LK], path string, ids bson.A, err error, index string) model.Aggregate[R] {
	a := model.AggregateAs[R](links, matching(
		bson.D{{Key: path, Value: bson.D{{Key: "$in", Value: ids}}}},
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$" + path}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
	))
	a.Index = index
	if a.Err == nil {
		a.Err = err
	}
	return a
}
