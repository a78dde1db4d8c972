package relate

import (
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// JoinCollection is a many-to-many relation with a document for each pair, which can hold fields of its own: an author has
// written a book in some role; a user has liked an item at some time. Neither side grows with its links. Make it with
// [NewJoinCollection].
//
// One link is one document, so that each operation on one is atomic: no half of a link can be there without the other. A
// link and the documents that it ties are three: reads report an end that is missing, [JoinCollection.Checks] finds and
// deletes such links, and [OnDelete] takes the links away with an end.
//
// Source: authors and books by joining documents, seeds 000 and 003; likes with their time, seed 001.
type JoinCollection[L, LK, A, AK, B, BK any] struct {
	links  *model.Collection[L, LK]
	lefts  *model.Collection[A, AK]
	rights *model.Collection[B, BK]
	left   *model.Reader[L, AK]
	right  *model.Reader[L, BK]
	in     joinCollection
}

// JoinCollectionSpec says what a [JoinCollection] needs beside its paths. The zero value is valid.
type JoinCollectionSpec struct {
	// By is the path by which links are put in order, the newest having the greatest value. "" means _id, which is in the
	// order of creation for ObjectIDs.
	By string
}

// LinkedError says that a pair is linked already, by another document than the one that was to be stored. It wraps
// [model.ErrTaken].
type LinkedError struct {
	Collection  string // of the links
	Left, Right any    // the ids of the pair
}

func (e *LinkedError) Error() string {
	return fmt.Sprintf("docmodel: %s: %s and %s are linked already", e.Collection, model.Shell(e.Left), model.Shell(e.Right))
}

func (e *LinkedError) Unwrap() error { return model.ErrTaken }

// NewJoinCollection declares that each document of links ties one document of lefts, whose id it holds at leftPath, to one
// of rights, at rightPath. It panics with a [*model.DeclarationError] when a path doesn't exist, crosses an array, is
// within _id, or holds another type than the _id that it leads to, and when both paths are the same. At most one spec may
// be given.
func NewJoinCollection[L, LK, A, AK, B, BK any](
	links *model.Collection[L, LK], leftPath string, lefts *model.Collection[A, AK], rightPath string, rights *model.Collection[B, BK],
	spec ...JoinCollectionSpec,
) *JoinCollection[L, LK, A, AK, B, BK] {
	model.MustField(lefts, "_id")
	model.MustField(rights, "_id")
	j := &JoinCollection[L, LK, A, AK, B, BK]{links: links, lefts: lefts, rights: rights}
	j.left, j.right = model.NewReader[AK](links, leftPath), model.NewReader[BK](links, rightPath)
	j.in = joinCollection{links: links.Name(), lefts: lefts.Name(), rights: rights.Name(), left: leftPath, right: rightPath}
	j.in.declare(j.left.Field(), j.right.Field(), spec, func(path string) model.Field { return model.MustField(links, path) })
	return j
}

// Ends returns the ids that a link holds, and whether it holds both.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Ends(link *L) (left AK, right BK, ok bool) {
	left, okLeft := j.left.First(link)
	right, okRight := j.right.First(link)
	return left, right, okLeft && okRight && j.lefts.CheckID(j.in.left, left) == nil && j.rights.CheckID(j.in.right, right) == nil
}

// leftID and rightID are encoded ids of the documents at a link's ends.
func (j *JoinCollection[L, LK, A, AK, B, BK]) leftID(id AK) (any, error) {
	return encodeID(j.lefts, j.in.links, j.in.left, id)
}

func (j *JoinCollection[L, LK, A, AK, B, BK]) rightID(id BK) (any, error) {
	return encodeID(j.rights, j.in.links, j.in.right, id)
}

// pair is the filter of one pair.
func (j *JoinCollection[L, LK, A, AK, B, BK]) pair(left AK, right BK) (bson.D, error) {
	a, err := j.leftID(left)
	if err != nil {
		return nil, err
	}
	b, err := j.rightID(right)
	if err != nil {
		return nil, err
	}
	return j.in.pair(a, b), nil
}

func (j *JoinCollection[L, LK, A, AK, B, BK]) pairOf(link *L) (bson.D, error) {
	if link == nil {
		return nil, j.in.holdsNone(j.in.left)
	}
	left, ok := j.left.First(link)
	if !ok {
		return nil, j.in.holdsNone(j.in.left)
	}
	right, ok := j.right.First(link)
	if !ok {
		return nil, j.in.holdsNone(j.in.right)
	}
	return j.pair(left, right)
}

// Indexes returns the unique index on the pair, and for each side the compound index that serves its links newest first.
// Without the first, two links of one pair can be stored by two writers at once.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Indexes() []model.Index { return j.in.indexes() }

// Relations returns both relations, for diagrams: a link belongs to one document on each side.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Relations() []model.Relation { return j.in.relations() }

// References returns both references, left first: what is decided about them is decided about the links of either side.
func (j *JoinCollection[L, LK, A, AK, B, BK]) References() []Reference {
	return []Reference{j.LeftReference(), j.RightReference()}
}

func (j *JoinCollection[L, LK, A, AK, B, BK]) referrer() {}

// LeftReference returns the reference from the links to the left side.
func (j *JoinCollection[L, LK, A, AK, B, BK]) LeftReference() Reference {
	return Reference{from: j.in.links, path: j.in.left, to: j.in.lefts}
}

// RightReference returns the reference from the links to the right side.
func (j *JoinCollection[L, LK, A, AK, B, BK]) RightReference() Reference {
	return Reference{from: j.in.links, path: j.in.right, to: j.in.rights}
}

// Checks returns two checks: of links whose left document is missing, and of links whose right
// document is missing. Mending deletes the link; for another policy, declare a [Dangling] of the
// path. Cost and Age are those of [Dangling.Checks].
func (j *JoinCollection[L, LK, A, AK, B, BK]) Checks() []model.Check {
	gone := DanglingSpec{Repair: DeleteReferrers}
	return append(NewDangling(j.links, j.in.left, j.lefts, gone).Checks(), NewDangling(j.links, j.in.right, j.rights, gone).Checks()...)
}
