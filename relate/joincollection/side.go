package joincollection

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/internal/idref"
)

// A Side is one side of a [JoinCollection]: links (L) connect its documents (D) with
// documents of the other side (O). All methods are served by [JoinCollection].Indexes.
type Side[L, LK, D, K, O any] struct {
	inside

	links *model.Collection[L, LK]
	in    untypedSide
}

// inside is for the rules of package ondelete.
type inside = core.Inner[idref.Ref]

func newSide[L, LK, D, K, O any](links *model.Collection[L, LK], in untypedSide) Side[L, LK, D, K, O] {
	return Side[L, LK, D, K, O]{inside: core.NewInner(in.reference()), links: links, in: in}
}

// Links returns the query of a document's links, newest first.
//
// Cost: one command, and one for each further batch.
func (s Side[L, LK, D, K, O]) Links(id K) *model.Find[L] {
	f := s.links.Find(nil)
	s.in.findLinks(&f.Query, id)
	return f
}

// Others returns a document's links, newest first, each with the document on the other
// side. As last, pass the previous page's last link, or nil for the first page. As n,
// pass the maximum number of links, or 0 for all:
//
//	for book, err := range authorships.Left.Others(author, nil, 0).Each(ctx, db) { … book.To … }
//
// Cost: one command, with a lookup by _id for each link.
func (s Side[L, LK, D, K, O]) Others(id K, last *L, n int64) *model.Aggregate[relate.Linked[L, O]] {
	f := s.Links(id)
	if last != nil && f.Err == nil {
		values, err := s.in.readPlace(*last)
		if f.Err = err; err == nil {
			f = f.After(values...)
		}
	}
	f = f.Limited(n)
	a := model.AggregateAs[relate.Linked[L, O]](s.links, s.in.joinOthers(&f.Query))
	commands.ServeAggregate(a, f.Index, f.Err)
	return a
}

// Counts returns the query that counts each given document's links. The results are
// sorted by id. A document without links has no result. Without ids, the query fails.
//
// Cost: one command, which reads one index key for each link.
func (s Side[L, LK, D, K, O]) Counts(ids ...K) *model.Aggregate[relate.Count[K]] {
	stages, err := s.in.IDs.CountHolders(core.Anys(ids))
	a := model.AggregateAs[relate.Count[K]](s.links, stages)
	commands.ServeAggregate(a, s.in.makeIndex().Name, err)
	return a
}

// Unlink returns the write that deletes all links of a document. The write is idempotent,
// but not atomic. If other techniques look at the links, delete each link by a
// [model.Store] instead.
//
// Cost: one command that deletes the document's links.
func (s Side[L, LK, D, K, O]) Unlink(id K) model.Write { return s.in.deleteLinks(id) }
