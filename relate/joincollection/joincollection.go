// Package joincollection declares many-to-many relations with a document for each link: see [JoinCollection].
package joincollection

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/dangling"
)

// JoinCollection is a many-to-many relation that stores one document, the link, for each
// pair: an author wrote a book in some role. Links can have other fields.
//
// Links are written by a [model.Store] of their collection. Insert links two documents, and
// gives [model.ErrTaken] if they are linked. The other methods find a link by the fields of
// its pair. [model.Store.EnsureOne] links two documents unless they are linked:
//
//	likes.EnsureOne(bson.D{{Key: "user", Value: user}, {Key: "item", Value: item}}, like)
//
// [model.Store.SetOne] can give a link other ids: its filter names the old ids. The documents
// of a link must exist, else the error is a [*model.ReferenceError]. A deleted document's
// links are deleted too. If a Restrict rule of an ondelete.OnDelete names the links, the rule
// forbids the deletion.
//
// Source: texts on Azure Cosmos DB.
//
// # Indexes and checks
//
// Indexes returns the unique index on the pair, and one index for each side, newest links
// first.
//
// Checks returns one check for each side. The check finds links to missing documents. The
// repair deletes these links: see [dangling.Dangling].
type JoinCollection[L, LK, A, AK, B, BK any] struct {
	model.Parts

	// Left and Right read the links of a document of the left or right collection. Their
	// methods take the document's id. ondelete.Spec accepts the sides too.
	Left  Side[L, LK, A, AK, B]
	Right Side[L, LK, B, BK, A]

	links  *model.Collection[L, LK]
	lefts  *model.Collection[A, AK]
	rights *model.Collection[B, BK]
	in     untypedRelation
}

// Spec contains the options of a [JoinCollection].
type Spec struct {
	// By is the path of the links' sort field, such as a time. The order is descending,
	// newest first. "" means _id.
	By string
}

// New declares that each document of links connects two documents. The
// value at leftPath is the _id of a document of lefts. The value at rightPath is the _id
// of a document of rights. An invalid path panics with a [*model.DeclarationError].
func New[L, LK, A, AK, B, BK any](
	links *model.Collection[L, LK], leftPath string, lefts *model.Collection[A, AK], rightPath string,
	rights *model.Collection[B, BK],
	spec Spec,
) *JoinCollection[L, LK, A, AK, B, BK] {
	lefts.Docs().MustField("_id")
	rights.Docs().MustField("_id")
	j := &JoinCollection[L, LK, A, AK, B, BK]{links: links, lefts: lefts, rights: rights}
	left, right := core.NewReader[AK](links.Docs(), leftPath).Field(),
		core.NewReader[BK](links.Docs(), rightPath).Field()
	j.in = declareRelation(links.Docs(), left, lefts.Docs(), right, rights.Docs(), spec.By)
	j.Left = newSide[L, LK, A, AK, B](links, j.in.chooseSide(true))
	j.Right = newSide[L, LK, B, BK, A](links, j.in.chooseSide(false))
	j.Parts = model.NewParts(j.in.listIndexes, j.in.listRelations, j.checks, j.in.listFootprints).
		WithDocs(links.Docs(), lefts.Docs(), rights.Docs()).WithReactions(j.in.makeReactions)
	return j
}

// Pair returns the query of the link between two documents.
//
// Cost: one command, one document, served by the unique index on the pair.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Pair(left AK, right BK) *model.Find[L] {
	pair, err := j.in.matchPair(left, right)
	f := j.links.Find(pair)
	f.Limit = 1
	commands.ServeFind(f, j.in.namePairIndex(), err)
	return f
}

func (j *JoinCollection[L, LK, A, AK, B, BK]) checks() []model.Check {
	gone := dangling.Spec{Repair: dangling.DeleteReferrers}
	return append(dangling.New(j.links, j.in.Left.Path, j.lefts, gone).Checks(),
		dangling.New(j.links, j.in.Right.Path, j.rights, gone).Checks()...)
}
