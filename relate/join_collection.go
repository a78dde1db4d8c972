package relate

import (
	"cmp"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/joincollection"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// JoinCollection is a many-to-many relation that stores one document, the link, for each
// pair: an author wrote a book in some role. Links can have other fields.
//
// In a [model.Store], a link's documents must exist, and a deleted document's links are
// deleted too. If a Restrict rule of an [OnDelete] names the links, the rule forbids the
// deletion. [model.Store.SetOne] gives a link other ids: its filter names the old ids.
//
// The methods that write links find them by the pair. They don't read documents, and aren't
// for links at which other techniques look: see [model.Store].
//
// Source: texts on Azure Cosmos DB.
type JoinCollection[L, LK, A, AK, B, BK any] struct {
	model.Parts

	links  *model.Collection[L, LK]
	lefts  *model.Collection[A, AK]
	rights *model.Collection[B, BK]
	left   *core.Reader[AK]
	right  *core.Reader[BK]
	in     joincollection.Relation
}

// JoinCollectionSpec contains the options of a [JoinCollection].
type JoinCollectionSpec struct {
	// By is the path of the links' sort field, such as a time. The order is descending,
	// newest first. "" means _id.
	By string
}

// NewJoinCollection declares that each document of links connects two documents. The
// value at leftPath is the _id of a document of lefts. The value at rightPath is the _id
// of a document of rights. An invalid path panics with a [*model.DeclarationError].
func NewJoinCollection[L, LK, A, AK, B, BK any](
	links *model.Collection[L, LK], leftPath string, lefts *model.Collection[A, AK], rightPath string, rights *model.Collection[B, BK],
	spec JoinCollectionSpec,
) *JoinCollection[L, LK, A, AK, B, BK] {
	lefts.Docs().MustField("_id")
	rights.Docs().MustField("_id")
	j := &JoinCollection[L, LK, A, AK, B, BK]{links: links, lefts: lefts, rights: rights}
	j.left, j.right = core.NewReader[AK](links.Docs(), leftPath), core.NewReader[BK](links.Docs(), rightPath)
	j.in = joincollection.Declare(links.Docs(), j.left.Field(), lefts.Docs(), j.right.Field(), rights.Docs(), spec.By)
	j.Parts = model.NewParts(j.in.Indexes, j.in.Relations, j.checks, j.in.Footprints).
		WithDocs(links.Docs(), lefts.Docs(), rights.Docs()).WithReactions(j.in.Reactions)
	return j
}

// Indexes returns the unique index on the pair, and one index for each side, newest links
// first.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Indexes() []model.Index { return j.Parts.Indexes() }

// Checks returns one check for each side. The check finds links to missing documents. The
// repair deletes these links: see [Dangling].
func (j *JoinCollection[L, LK, A, AK, B, BK]) Checks() []model.Check { return j.Parts.Checks() }

// pairOf returns the filter of a link's pair.
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

// Link returns the plan that stores links, in order. First store the linked documents:
// the plan doesn't check the ids. A retry is safe. Passing a pair twice in links gives a
// [*model.ValueError].
//
// A different stored link with the same pair or _id gives [model.ErrTaken], and earlier
// links stay stored. In a transaction, it gives the server's duplicate key error.
//
// Cost: one command for each 25,000 links or 16 MiB. A pair or _id that is already stored
// costs one to three more commands.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Link(links ...L) model.Plan {
	return j.each(links, j.in.Link)
}

// Ensure returns the plan that stores each link whose pair isn't linked yet. An existing
// link keeps its fields and its _id. Retries and concurrent runs are safe. If the
// parameter links contains a pair twice, the plan gives a [*model.ValueError] and sends
// nothing.
//
// Cost: as [JoinCollection.Link].
func (j *JoinCollection[L, LK, A, AK, B, BK]) Ensure(links ...L) model.Plan {
	return j.each(links, j.in.Ensure)
}

// each returns the plan of one write for each link.
func (j *JoinCollection[L, LK, A, AK, B, BK]) each(links []L, write func(insert model.Write, pair bson.D) model.Write) (p model.Plan) {
	seen := map[string]int{}
	for i := range links {
		w := commands.Own(j.links.Insert(links[i]))
		pair, err := j.pairOf(&links[i])
		if err = j.in.Once(seen, i, pair, cmp.Or(w.Err, err)); err != nil {
			return model.RefusedPlan(j.links.Name(), err)
		}
		p.Steps = append(p.Steps, write(w, pair))
	}
	return p
}

// Unlink returns the write that deletes the link of a pair, if there is one.
//
// Cost: one command, one document, served by the unique index on the pair.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Unlink(left AK, right BK) model.Write {
	return j.in.Unlink(left, right)
}

// Update returns the write that applies update operators to the link of a pair. Running
// it returns model.ErrNotFound if the pair isn't linked. An update of _id or the pair's
// ids is refused: use [model.Store.SetOne].
//
// Cost: as [JoinCollection.Unlink].
func (j *JoinCollection[L, LK, A, AK, B, BK]) Update(left AK, right BK, update bson.D) model.Write {
	return j.in.Update(left, right, update)
}

// Left returns the [JoinSide] of the collection on the left. Its methods take the id of
// a document in that collection. [OnDeleteSpec] also accepts the side.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Left() JoinSide[L, LK, A, AK, B] {
	return JoinSide[L, LK, A, AK, B]{j.links, j.in.Side(true)}
}

// Right returns the [JoinSide] of the collection on the right. Its methods take the id
// of a document in that collection. [OnDeleteSpec] also accepts the side.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Right() JoinSide[L, LK, B, BK, A] {
	return JoinSide[L, LK, B, BK, A]{j.links, j.in.Side(false)}
}

// Pair returns the query of the link between two documents.
//
// Cost: as [JoinCollection.Unlink].
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
