package relate

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// JoinCollection is a many-to-many relation with a document for each pair, which can hold fields of its own: an author has
// written a book in some role; a user has liked an item at some time. Neither side grows with its links. Make it with
// [NewJoinCollection].
//
// One link is one document, so that each operation on one is atomic: no half of a link can be there without the other. A
// link and the documents that it ties are three: reads report an end that is missing, [JoinCollection.DanglingLefts] and
// [JoinCollection.DanglingRights] find and mend such links, and [OnDelete] takes the links away with an end.
//
// Source: authors and books by joining documents, seeds 000 and 003; likes with their time, seed 001.
type JoinCollection[L, LK, A, AK, B, BK any] struct {
	links  *model.Collection[L, LK]
	lefts  *model.Collection[A, AK]
	rights *model.Collection[B, BK]
	left   *model.Reader[L, AK]
	right  *model.Reader[L, BK]
	by     string // "" means _id
	order  bson.D // newest first, total
}

// JoinCollectionSpec says what a [JoinCollection] needs beside its paths. The zero value is valid.
type JoinCollectionSpec struct {
	// By is the path by which links are put in order, the newest having the greatest value. "" means _id, which is in the
	// order of creation for ObjectIDs.
	By string
}

// LinkedError says that a pair is linked already, by another document than the one that was to be stored.
type LinkedError struct {
	Collection  string // of the links
	Left, Right any    // the ids of the pair
}

func (e *LinkedError) Error() string {
	return fmt.Sprintf("docmodel: %s: %s and %s are linked already", e.Collection, model.Shell(e.Left), model.Shell(e.Right))
}

// NewJoinCollection declares that each document of links ties one document of lefts, whose id it holds at leftPath, to one
// of rights, at rightPath. It panics with a [*model.DeclarationError] when a path doesn't exist, crosses an array, is
// within _id, or holds another type than the _id that it leads to, and when both paths are the same. At most one spec may
// be given.
func NewJoinCollection[L, LK, A, AK, B, BK any](
	links *model.Collection[L, LK], leftPath string, lefts *model.Collection[A, AK], rightPath string, rights *model.Collection[B, BK],
	spec ...JoinCollectionSpec,
) *JoinCollection[L, LK, A, AK, B, BK] {
	j := &JoinCollection[L, LK, A, AK, B, BK]{links: links, lefts: lefts, rights: rights}
	model.MustField(lefts, "_id")
	model.MustField(rights, "_id")
	j.left, j.right = model.NewReader[AK](links, leftPath), model.NewReader[BK](links, rightPath)
	place := "NewJoinCollection of " + links.Name()
	fail := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: place, Remedy: remedy})
	}
	for _, f := range []model.Field{j.left.Field(), j.right.Field()} {
		switch {
		case f.Arrays > 0:
			fail(fmt.Sprintf("path %q crosses an array", f.Path), "name a single id: each link ties one pair")
		case f.Path == "_id" || strings.HasPrefix(f.Path, "_id."):
			fail(fmt.Sprintf("path %q is within _id", f.Path), "hold both ids in fields of their own; _id may repeat them")
		}
	}
	if overlap(leftPath, rightPath) {
		fail(fmt.Sprintf("paths %q and %q overlap", leftPath, rightPath), "hold each id in a field of its own")
	}
	switch {
	case len(spec) > 1:
		fail("more than one JoinCollectionSpec", "give one")
	case len(spec) == 1 && spec[0].By != "" && spec[0].By != "_id":
		j.by = spec[0].By
		if f := model.MustField(links, j.by); f.Arrays > 0 {
			fail(fmt.Sprintf("path %q crosses an array", f.Path), "order by a single value")
		}
		if overlap(j.by, leftPath) || overlap(j.by, rightPath) {
			fail(fmt.Sprintf("the order %q is one of the ids", j.by), "order by another field")
		}
		j.order = bson.D{{Key: j.by, Value: -1}}
	}
	j.order = append(j.order, bson.E{Key: "_id", Value: -1})
	return j
}

// overlap reports whether one path is the other, or above it.
func overlap(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

func (j *JoinCollection[L, LK, A, AK, B, BK]) leftPath() string  { return j.left.Field().Path }
func (j *JoinCollection[L, LK, A, AK, B, BK]) rightPath() string { return j.right.Field().Path }

// Ends returns the ids that a link holds, and whether it holds both.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Ends(link *L) (left AK, right BK, ok bool) {
	left, okLeft := j.left.First(link)
	right, okRight := j.right.First(link)
	return left, right, okLeft && okRight && j.lefts.CheckID(j.leftPath(), left) == nil && j.rights.CheckID(j.rightPath(), right) == nil
}

// pair is the filter of one pair.
func (j *JoinCollection[L, LK, A, AK, B, BK]) pair(left AK, right BK) (bson.D, error) {
	a, err := encodeID(j.lefts, j.links.Name(), j.leftPath(), left)
	if err != nil {
		return nil, err
	}
	b, err := encodeID(j.rights, j.links.Name(), j.rightPath(), right)
	if err != nil {
		return nil, err
	}
	return bson.D{{Key: j.leftPath(), Value: model.Eq(a)}, {Key: j.rightPath(), Value: model.Eq(b)}}, nil
}

func (j *JoinCollection[L, LK, A, AK, B, BK]) pairOf(link *L) (bson.D, error) {
	for _, end := range []struct {
		path string
		held bool
	}{{j.leftPath(), holds(j.left, link)}, {j.rightPath(), holds(j.right, link)}} {
		if !end.held {
			return nil, &model.ValueError{Collection: j.links.Name(), Field: end.path, Reason: "the link holds no id"}
		}
	}
	left, _ := j.left.First(link)
	right, _ := j.right.First(link)
	return j.pair(left, right)
}

func holds[D, V any](r *model.Reader[D, V], doc *D) bool {
	if doc == nil {
		return false
	}
	_, ok := r.First(doc)
	return ok
}

// linked is the reason that a pair can't be stored: another link ties it.
func (j *JoinCollection[L, LK, A, AK, B, BK]) linked(pair bson.D) []model.Reason {
	e := &LinkedError{Collection: j.links.Name(), Left: bare(pair[0].Value), Right: bare(pair[1].Value)}
	return []model.Reason{{If: pair, Err: e}}
}

// bare takes the $eq off a condition that model.Eq made.
func bare(cond any) any {
	if d, ok := cond.(bson.D); ok && len(d) == 1 && d[0].Key == "$eq" {
		return d[0].Value
	}
	return cond
}

// Indexes returns the unique index on the pair, and for each side the compound index that serves its links newest first.
// Without the first, two links of one pair can be stored by two writers at once.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Indexes() []model.Index {
	unique := model.NewIndex(j.links.Name(), bson.D{{Key: j.leftPath(), Value: 1}, {Key: j.rightPath(), Value: 1}})
	unique.Unique = true
	unique.Why = "one link for each pair; the link of a pair"
	return []model.Index{unique, j.index(j.leftPath(), j.lefts.Name()), j.index(j.rightPath(), j.rights.Name())}
}

func (j *JoinCollection[L, LK, A, AK, B, BK]) pairIndex() string { return j.Indexes()[0].Name }

func (j *JoinCollection[L, LK, A, AK, B, BK]) index(path, side string) model.Index {
	x := model.NewIndex(j.links.Name(), append(bson.D{{Key: path, Value: 1}}, j.order...))
	x.Why = "the " + j.links.Name() + " of a document of " + side + ", newest first"
	return x
}

// Relations returns both relations, for diagrams: a link belongs to one document on each side.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Relations() []model.Relation {
	end := func(path, to string) model.Relation {
		return model.Relation{
			From: j.links.Name(), FromPath: path, To: to, ToPath: "_id",
			FromEnd: model.Many, ToEnd: model.ExactlyOne, Label: "join document",
		}
	}
	return []model.Relation{end(j.leftPath(), j.lefts.Name()), end(j.rightPath(), j.rights.Name())}
}

// References returns both references, left first: what is decided about them is decided about the links of either side.
func (j *JoinCollection[L, LK, A, AK, B, BK]) References() []Reference {
	return []Reference{j.LeftReference(), j.RightReference()}
}

func (j *JoinCollection[L, LK, A, AK, B, BK]) referrer() {}

// LeftReference returns the reference from the links to the left side.
func (j *JoinCollection[L, LK, A, AK, B, BK]) LeftReference() Reference {
	return Reference{from: j.links.Name(), path: j.leftPath(), to: j.lefts.Name()}
}

// RightReference returns the reference from the links to the right side.
func (j *JoinCollection[L, LK, A, AK, B, BK]) RightReference() Reference {
	return Reference{from: j.links.Name(), path: j.rightPath(), to: j.rights.Name()}
}

// DanglingLefts finds links whose left document is missing. Its repair, unless a spec says otherwise, deletes them.
func (j *JoinCollection[L, LK, A, AK, B, BK]) DanglingLefts(spec ...DanglingSpec) *Dangling[L, LK, A, AK] {
	return NewDangling(j.links, j.leftPath(), j.lefts, orDelete(spec)...)
}

// DanglingRights finds links whose right document is missing. Its repair, unless a spec says otherwise, deletes them.
func (j *JoinCollection[L, LK, A, AK, B, BK]) DanglingRights(spec ...DanglingSpec) *Dangling[L, LK, B, BK] {
	return NewDangling(j.links, j.rightPath(), j.rights, orDelete(spec)...)
}

func orDelete(spec []DanglingSpec) []DanglingSpec {
	if len(spec) == 0 {
		return []DanglingSpec{{Repair: DeleteReferrers}}
	}
	return spec
}

// deleteMany is a write that deletes links by a filter, which an index serves.
func (j *JoinCollection[L, LK, A, AK, B, BK]) deleteMany(filter bson.D, index string) model.Write {
	return model.Write{Collection: j.links.Name(), Index: index, Model: &mongo.DeleteManyModel{Filter: filter}}
}
