package relate

import (
	"cmp"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/joincollection"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// JoinCollection is a many-to-many relation with a document for each pair, which can hold fields of its own: an author has
// written a book in some role; a user has liked an item at some time. Neither side grows with its links. Make it with
// [NewJoinCollection].
//
// One link is one document, so each operation on a link is atomic. A document at an end of a link can be missing: reads
// report a missing end, [JoinCollection.Checks] finds and deletes such links, and [OnDelete] deletes the links with an end.
//
// Source: authors and books by joining documents, seeds 000 and 003; likes with their time, seed 001.
//
// Indexes returns the unique index on the pair, and for each side the compound index that serves its links newest first.
// Without the unique index, two writers at once can store two links of one pair.
//
// Checks returns two checks: of links whose left document is missing, and of links whose right
// document is missing. Mending deletes the link; for another scope, declare a [Dangling] of the
// path. Cost and Age are those of [Dangling.Checks].
type JoinCollection[L, LK, A, AK, B, BK any] struct {
	model.Parts

	links  *model.Collection[L, LK]
	lefts  *model.Collection[A, AK]
	rights *model.Collection[B, BK]
	left   *core.Reader[AK]
	right  *core.Reader[BK]
	in     joincollection.Relation
}

// JoinCollectionSpec says what a [JoinCollection] needs beside its paths. The zero value is valid.
type JoinCollectionSpec struct {
	// By is the path that orders links; the newest link has the greatest value. "" means _id, which is in the
	// order of creation for ObjectIDs.
	By string
}

// NewJoinCollection declares that each document of links ties one document of lefts, whose id it holds at leftPath, to one
// of rights, at rightPath. It panics with a [*model.DeclarationError] when a path doesn't exist, crosses an array, is
// within _id, or holds another type than the _id that it leads to, and when both paths are the same.
func NewJoinCollection[L, LK, A, AK, B, BK any](
	links *model.Collection[L, LK], leftPath string, lefts *model.Collection[A, AK], rightPath string, rights *model.Collection[B, BK],
	spec JoinCollectionSpec,
) *JoinCollection[L, LK, A, AK, B, BK] {
	lefts.Docs().MustField("_id")
	rights.Docs().MustField("_id")
	j := &JoinCollection[L, LK, A, AK, B, BK]{links: links, lefts: lefts, rights: rights}
	j.left, j.right = core.NewReader[AK](links.Docs(), leftPath), core.NewReader[BK](links.Docs(), rightPath)
	j.in = joincollection.Declare(links.Docs(), j.left.Field(), lefts.Docs(), j.right.Field(), rights.Docs(), spec.By)
	j.Parts = model.NewParts(j.in.Indexes, j.in.Relations, j.checks, j.in.Footprints)
	return j
}

// pairOf is the filter of the pair that a link ties.
func (j *JoinCollection[L, LK, A, AK, B, BK]) pairOf(link *L) (bson.D, error) {
	left, okLeft := j.left.First(link)
	right, okRight := j.right.First(link)
	switch {
	case !okLeft:
		return nil, j.in.HoldsNone(j.in.Left)
	case !okRight:
		return nil, j.in.HoldsNone(j.in.Right)
	}
	return j.in.Pair(left, right)
}

// Link returns the plan that stores links, in order. Run again with the same documents, it recognizes its own. A pair that
// another document ties ends the plan with [model.ErrTaken], and so does a document that was stored with other fields under the
// same _id; the links before it stay. The plan doesn't check that the documents at both ends exist: store them first. A pair
// that is given twice refuses the plan. Without links the plan does nothing.
//
// Cost: one command for each 25,000 links or 16 MiB; documents written: all. On a pair that is linked already, one or two
// commands more to tell whose it is.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Link(links ...L) model.Plan {
	return j.each(links, j.in.Link)
}

// Ensure returns the plan that links pairs unless they are linked: a link that is there already keeps its fields and its
// _id. It can be run again; of two at once, one is stored. A pair that is given twice refuses the plan.
//
// Cost: one command for each 25,000 links or 16 MiB; documents written: all that were not there. One command more when two
// writers met.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Ensure(links ...L) model.Plan {
	return j.each(links, j.in.Ensure)
}

// each is the plan of one write for each link, made of the insert.
func (j *JoinCollection[L, LK, A, AK, B, BK]) each(links []L, write func(insert model.Write, pair bson.D) model.Write) (p model.Plan) {
	seen := map[string]int{}
	for i := range links {
		w := j.links.Insert(links[i])
		pair, err := j.pairOf(&links[i])
		if err = j.in.Once(seen, i, pair, cmp.Or(w.Err, err)); err != nil {
			return model.RefusedPlan(j.links.Name(), err)
		}
		p.Steps = append(p.Steps, write(w, pair))
	}
	return p
}

// Unlink returns the write that deletes the link of a pair, if there is one. [JoinSide.Unlink] deletes all links of a
// document.
//
// Cost: one command, one document, served by the unique index on the pair.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Unlink(left AK, right BK) model.Write {
	return j.in.Unlink(left, right)
}

// Update returns the write that applies update operators to the link of a pair. If the pair isn't linked, running it gives
// model.ErrNotFound. An update of an id of the pair, or of _id, is refused: see [JoinCollection.Move].
//
// Cost: one command, one document, served by the unique index on the pair. It can be run again if its operators can.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Update(left AK, right BK, update bson.D) model.Write {
	return j.in.Update(left, right, update)
}

// Move returns the write that gives a link, as it was read, other ends. Its fields and its _id stay. If the link was
// moved since, running it gives model.ErrStale; if it was deleted, model.ErrNotFound; if another link ties the new pair already, model.ErrTaken.
//
// Cost: one command, one document, found by _id; one to three commands more when nothing matched. It can be run again.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Move(link *L, left AK, right BK) model.Write {
	id, err := j.in.Links.ID(link)
	var was bson.D
	if err == nil {
		was, err = j.pairOf(link)
	}
	return j.in.Move(id, was, left, right, err)
}

// Left returns the left side.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Left() JoinSide[L, LK, A, AK, B] {
	return JoinSide[L, LK, A, AK, B]{j.links, j.in.Side(true)}
}

// Right returns the right side.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Right() JoinSide[L, LK, B, BK, A] {
	return JoinSide[L, LK, B, BK, A]{j.links, j.in.Side(false)}
}

// Pair returns the query of the link of a pair.
//
// Cost: one command, served by the unique index on the pair.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Pair(left AK, right BK) *model.Find[L] {
	pair, err := j.in.Pair(left, right)
	f := j.links.Find(pair)
	f.Limit = 1
	commands.Served(f, j.in.PairIndex(), err)
	return f
}

func (j *JoinCollection[L, LK, A, AK, B, BK]) checks() []model.Check {
	gone := DanglingSpec{Repair: DeleteReferrers}
	return append(NewDangling(j.links, j.in.Left.Path, j.lefts, gone).Checks(), NewDangling(j.links, j.in.Right.Path, j.rights, gone).Checks()...)
}
