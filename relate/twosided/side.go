// Package twosided declares relations that both sides store: one to many ([TwoWay]) and many to many
// ([ManyToMany]).
package twosided

import (
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
)

// A Side is one side of a [TwoWay] or a [ManyToMany]. The side's documents (D) contain
// ids of documents on the other side (O).
type Side[D, K, O, OK any] struct {
	inside

	docs   *model.Collection[D, K]
	others *model.Collection[O, OK]
	held   *core.Reader[OK]
	in     untypedSide
}

// inside is for the rules of package ondelete.
type inside = core.Inner[idref.Ref]

func newSide[D, K, O, OK any](
	docs *model.Collection[D, K], others *model.Collection[O, OK], in untypedSide,
) Side[D, K, O, OK] {
	return Side[D, K, O, OK]{
		inside: core.NewInner(in.Ref), docs: docs, others: others,
		held: core.NewReader[OK](docs.Docs(), in.IDs.Path), in: in,
	}
}

// ids returns the ids that a document in memory contains, in stored order.
func (s Side[D, K, O, OK]) ids(doc *D) (ids []OK) {
	if doc == nil {
		return nil
	}
	ids = s.held.Append(nil, doc)
	if s.in.Ref.List == "" { // a single reference can be empty
		ids = slices.DeleteFunc(ids, func(id OK) bool { return s.in.IDs.Docs.CheckID(s.in.IDs.Path, id) != nil })
	}
	return ids
}

// Listed returns the query of the other side's documents that doc refers to, in no
// defined order.
//
// Cost: one command per batch, served by _id.
func (s Side[D, K, O, OK]) Listed(doc *D) *model.Find[O] {
	f := idref.FindIDs(s.others, s.in.IDs, s.ids(doc))
	if doc == nil {
		f.Err = s.docs.Docs().Refuse(s.in.IDs.Path, nil, "is nil: give a document")
	}
	return f
}

// Others returns the query of the other side's documents that refer to this id.
//
// Cost: one command per batch, by the index on these references.
func (s Side[D, K, O, OK]) Others(id K) *model.Find[O] {
	v, err := s.in.Back.Encode(id)
	f := s.others.Find(stmt.MatchValue(s.in.BackID, v))
	f.Sort = slices.Clone(s.in.Sort)
	commands.ServeFind(f, s.in.Index.Name, err)
	return f
}
