package relate

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/joincollection"
)

// A JoinSide is one side of a [JoinCollection]: its documents are tied by links (L) to documents on the other side (O).
// [JoinCollection.Left] and [JoinCollection.Right] return it.
type JoinSide[L, LK, D, K, O any] struct {
	links *model.Collection[L, LK]
	in    joincollection.Side
}

func (s JoinSide[L, LK, D, K, O]) reference() idref.Ref { return s.in.Reference() }

// Links returns the query of a document's links, newest first. Its Count tells how many there are.
//
// Cost: one command, and one per further batch; filter and order are served by [JoinCollection.Indexes].
func (s JoinSide[L, LK, D, K, O]) Links(id K) *model.Find[L] {
	f := s.links.Find(nil)
	s.in.Of(&f.Query, id)
	return f
}

// Others returns a document's links, newest first, each with the other side's document. after is the last link of the page before,
// or nil for the newest; n is how many links, 0 for all.
//
// Cost: one command; as many index keys and links as are returned, served by [JoinCollection.Indexes], and a lookup by
// _id for each.
func (s JoinSide[L, LK, D, K, O]) Others(id K, after *L, n int64) *model.Aggregate[Linked[L, O]] {
	f := s.Links(id)
	if after != nil && f.Err == nil {
		values, err := s.in.Place(*after)
		if f.Err = err; err == nil {
			f = f.After(values...)
		}
	}
	f = f.Limited(n)
	a := model.AggregateAs[Linked[L, O]](s.links, s.in.Joined(&f.Query))
	commands.Indexed(a, f.Index, f.Err)
	return a
}

// Counts returns how many links each of some documents has, in the order of their ids. A document without links has no
// entry. At least one id must be given.
//
// Cost: one command; one index key per link, served by [JoinCollection.Indexes].
func (s JoinSide[L, LK, D, K, O]) Counts(ids ...K) *model.Aggregate[Count[K]] {
	stages, err := s.in.IDs.Counts(core.Anys(ids))
	a := model.AggregateAs[Count[K]](s.links, stages)
	commands.Indexed(a, s.in.Index().Name, err)
	return a
}

// Unlink returns the write that deletes all links of a document.
//
// Cost: one command, as many documents as it has links, served by [JoinCollection.Indexes]. The command is not atomic over
// documents; it is idempotent.
func (s JoinSide[L, LK, D, K, O]) Unlink(id K) model.Write { return s.in.UnlinkAll(id) }
