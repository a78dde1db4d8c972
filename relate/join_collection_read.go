package relate

import "github.com/docmodel/docmodel/model"

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
	f := j.links.Find(pair)
	f.Limit = 1
	served(&f.Query, j.in.pairIndex(), err)
	return f
}

// OfLeft returns the query of a left document's links, newest first. Its Count tells how many there are.
//
// Cost: one command, and one per further batch; filter and order are served by [JoinCollection.Indexes].
func (j *JoinCollection[L, LK, A, AK, B, BK]) OfLeft(left AK) model.Find[L] {
	id, err := j.leftID(left)
	f := j.links.Find(nil)
	j.in.of(&f.Query, j.in.left, id, j.in.leftIndex(), err)
	return f
}

// OfRight returns the query of a right document's links, newest first. Its Count tells how many there are.
//
// Cost: as [JoinCollection.OfLeft].
func (j *JoinCollection[L, LK, A, AK, B, BK]) OfRight(right BK) model.Find[L] {
	id, err := j.rightID(right)
	f := j.links.Find(nil)
	j.in.of(&f.Query, j.in.right, id, j.in.rightIndex(), err)
	return f
}

// RightsOf returns a left document's links with the right documents that they lead to, newest link first: both in one
// command. A link whose right document is missing comes with none.
//
// Cost: one command; as many index keys and links as are returned, served by [JoinCollection.Indexes], and a lookup by
// _id for each.
func (j *JoinCollection[L, LK, A, AK, B, BK]) RightsOf(left AK, page LinkPage[L]) model.Aggregate[Linked[L, B]] {
	f := j.page(j.OfLeft(left), page)
	a := model.AggregateAs[Linked[L, B]](j.links, j.in.joined(&f.Query, j.in.right, j.in.rights))
	linkedBy(&a.Aggregation, &f.Query)
	return a
}

// LeftsOf returns a right document's links with the left documents that they lead to, newest link first: both in one
// command. A link whose left document is missing comes with none.
//
// Cost: as [JoinCollection.RightsOf].
func (j *JoinCollection[L, LK, A, AK, B, BK]) LeftsOf(right BK, page LinkPage[L]) model.Aggregate[Linked[L, A]] {
	f := j.page(j.OfRight(right), page)
	a := model.AggregateAs[Linked[L, A]](j.links, j.in.joined(&f.Query, j.in.left, j.in.lefts))
	linkedBy(&a.Aggregation, &f.Query)
	return a
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
	return j.in.place(doc, err)
}

// LeftCounts returns how many links each of some left documents has, in the order of their ids; one without links has no
// entry. No id at all is refused.
//
// Cost: one command; one index key per link, served by [JoinCollection.Indexes].
func (j *JoinCollection[L, LK, A, AK, B, BK]) LeftCounts(lefts ...AK) model.Aggregate[LinkCount[AK]] {
	ids, err := encodeIDs(j.lefts, j.in.links, j.in.left, lefts)
	a := model.AggregateAs[LinkCount[AK]](j.links, j.in.counts(j.in.left, ids))
	piped(&a.Aggregation, j.in.leftIndex(), err)
	return a
}

// RightCounts returns how many links each of some right documents has, in the order of their ids; one without links has no
// entry. No id at all is refused.
//
// Cost: as [JoinCollection.LeftCounts].
func (j *JoinCollection[L, LK, A, AK, B, BK]) RightCounts(rights ...BK) model.Aggregate[LinkCount[BK]] {
	ids, err := encodeIDs(j.rights, j.in.links, j.in.right, rights)
	a := model.AggregateAs[LinkCount[BK]](j.links, j.in.counts(j.in.right, ids))
	piped(&a.Aggregation, j.in.rightIndex(), err)
	return a
}
