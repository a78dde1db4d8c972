// Inside package joincollection: a many-to-many relation with a document for each pair. The public type has a
// Side for the documents of each end.
//
// # Stored form
//
//	users  {_id: "a"}
//	likes  {_id: "l1", user: "a", item: 7, at: …}      // a link; further fields are the caller's
//	items  {_id: 7}
//
// A unique index on both ids allows one link per pair. An index per side finds the links
// of a document, newest first.
//
// # Protocol
//
//  1. The public type inserts a link. A second link of a pair is a duplicate key: the link is there.
//  2. In a store, a written link fetches both documents, and holds them: a deletion at the same
//     time conflicts. A missing one is a ReferenceError.
//  3. In a store, the deletion of a document deletes its links, unless another rule forbids the
//     deletion. Too many links for an action need Store.DeleteJob.
//  4. deleteLinks is one deleteMany of the links of a document.
//
// # What a crash leaves
//
// One link is one atomic write. deleteLinks can be cut: run it again. Without stores,
// links to documents that don't exist can stay: dangling.Dangling finds them.

package joincollection

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An untypedRelation is the JoinCollection without its Go types.
type untypedRelation struct {
	Links *core.Docs
	// The names of the collections at both ends.
	lefts, rights string
	Left, Right   idref.Held // in the links
	order         bson.D     // newest first, total
}

// declareRelation panics unless each link can store both ids, and links can be sorted by
// a path.
func declareRelation(
	links *core.Docs, left core.Field, lefts *core.Docs, right core.Field, rights *core.Docs, by string,
) untypedRelation {
	place := core.Place("joincollection.New of " + links.Name())
	for _, f := range []core.Field{left, right} {
		switch {
		case f.Arrays > 0:
			place.Fail(fmt.Sprintf("path %q crosses an array", f.Path), "name a single id: each link connects one pair")
		case f.Path == "_id" || strings.HasPrefix(f.Path, "_id."):
			place.Fail(
				fmt.Sprintf("path %q is in the _id", f.Path),
				"store both ids in fields outside the _id; the _id may repeat them",
			)
		}
	}
	if core.Overlap(left.Path, right.Path) {
		place.Fail(fmt.Sprintf("paths %q and %q overlap", left.Path, right.Path), "store each id in a field of its own")
	}
	if by != "" && by != "_id" {
		if f := links.MustField(by); f.Arrays > 0 {
			place.Fail(fmt.Sprintf("path %q crosses an array", f.Path), "order by a single value")
		}
		if core.Overlap(by, left.Path) || core.Overlap(by, right.Path) {
			place.Fail(fmt.Sprintf("the order %q is one of the ids", by), "order by another field")
		}
	}
	return untypedRelation{
		Links: links, lefts: lefts.Name(), rights: rights.Name(),
		Left: idref.NewHeld(links, left.Path, lefts), Right: idref.NewHeld(links, right.Path, rights),
		order: stmt.SortNewestFirst(by),
	}
}

// listIndexes returns the unique index of the pair, and an index per side.
func (j *untypedRelation) listIndexes() []model.Index {
	unique := commands.MakeIndex(
		j.Links.Name(), "one link per pair; the link of a pair", mql.E(j.Left.Path, 1), mql.E(j.Right.Path, 1),
	)
	unique.Unique = true
	left, right := j.chooseSide(true), j.chooseSide(false)
	return []model.Index{unique, left.makeIndex(), right.makeIndex()}
}

// namePairIndex names the unique index, by which a duplicate key is recognised.
func (j *untypedRelation) namePairIndex() string {
	return model.NewIndex("", bson.D{{Key: j.Left.Path, Value: 1}, {Key: j.Right.Path, Value: 1}}).Name
}

// listRelations returns the relations for diagrams.
func (j *untypedRelation) listRelations() []model.Relation {
	end := func(path, to string) model.Relation {
		return model.Relation{
			From: j.Links.Name(), FromPath: path, To: to, ToPath: "_id",
			FromEnd: model.Many, ToEnd: model.ExactlyOne, Label: "join document",
		}
	}
	return []model.Relation{end(j.Left.Path, j.lefts), end(j.Right.Path, j.rights)}
}

// chooseSide returns the left or the right side.
func (j *untypedRelation) chooseSide(left bool) untypedSide {
	if left {
		return untypedSide{
			untypedRelation: j, IDs: j.Left, path: j.Left.Path, docs: j.lefts, other: j.Right.Path, others: j.rights,
		}
	}
	return untypedSide{
		untypedRelation: j, IDs: j.Right, path: j.Right.Path, docs: j.rights, other: j.Left.Path, others: j.lefts,
	}
}

// An untypedSide is the relation seen from the documents of one end.
type untypedSide struct {
	*untypedRelation
	IDs           idref.Held
	path, docs    string // of the ids in the links, and the collection that they lead to
	other, others string // the same of the other side
}

// makeIndex returns the index that finds the links of a document.
func (s *untypedSide) makeIndex() model.Index {
	return commands.MakeLookupIndex(
		s.Links.Name(), "the "+s.Links.Name()+" of a document of "+s.docs+", newest first",
		append(bson.D{{Key: s.path, Value: 1}}, s.order...)...,
	)
}

// reference returns the reference from the links to the side's documents.
func (s *untypedSide) reference() idref.Ref {
	return idref.Ref{From: s.Links.Name(), Path: s.path, To: s.docs}
}

// listFootprints returns the paths that the technique uses.
func (j *untypedRelation) listFootprints() []model.Footprint {
	links := j.Links.Name()
	return append(
		model.Writes.In(links, model.Whole), model.Reads.In(links, j.Left.Path, j.Right.Path, j.order[0].Key)...,
	)
}
