package model

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The deletion of a document can delete others that refer to it. In a transaction of its
// own, an action deletes them by one command without a read, if no reaction needs them. If
// there are more than the action may write, the transaction is aborted.

// leaveUnread notes the fetches of documents that are deleted without a read, and empties
// them in the list. If the action looks at the documents otherwise, the transaction runs
// again and reads.
func (s *store) leaveUnread(ctx context.Context, list []Fetch, state *storeState) ([]Fetch, error) {
	list = slices.Clone(list)
	tx := runctx.TxOf(ctx)
	may := tx != nil && tx.Alone && state.tx && state.most == 0 && state.others == nil && !state.resumed
	reads := map[string]bool{}
	for _, f := range list {
		if !may || !s.canLeaveUnread(f) {
			reads[f.collection()] = true
		}
	}
	for name := range reads {
		if state.deletesUnread(name) {
			return nil, s.readFirst(ctx, ErrStale)
		}
	}
	for i, f := range list {
		if reads[f.collection()] || state.looked[f.collection()] {
			continue
		}
		state.unread, list[i] = append(state.unread, f), Fetch{}
	}
	for name := range reads {
		if state.looked == nil {
			state.looked = map[string]bool{}
		}
		state.looked[name] = true
	}
	return list, nil
}

// canLeaveUnread reports whether no reaction needs the documents that a fetch deletes. A
// document that reactions write later can be unfinished, unless its reference can't change:
// then what is missing concerns only the deleted parent.
func (s *store) canLeaveUnread(f Fetch) bool {
	if !f.Deletes || f.By == "" || f.Query != nil {
		return false
	}
	writes, fixed := false, false
	for _, r := range s.reactions {
		if r.Collection != f.Collection {
			continue
		}
		if r.On.includes(OnDelete) && r.reachesOthers() && (r.Parents != f.parents || r.ParentPath != f.By) {
			return false
		}
		writes = writes || r.React != nil
		fixed = fixed || r.ID != nil && slices.Contains(r.Paths, f.By)
	}
	return !writes || fixed
}

// deletesUnread reports whether the action deletes documents of a collection without a read.
func (s *storeState) deletesUnread(collection string) bool {
	return slices.ContainsFunc(s.unread, func(f Fetch) bool { return f.Collection == collection })
}

// unreadDeletions returns the deletions of documents that weren't read: one step for each
// reference.
func (s *store) unreadDeletions(state storeState) (out []Step) {
	for i, f := range state.unread {
		same := func(g Fetch) bool { return g.Collection == f.Collection && g.By == f.By }
		if slices.IndexFunc(state.unread, same) < i {
			continue
		}
		var ids bson.A
		for _, g := range state.unread[i:] {
			if same(g) {
				ids = append(ids, g.ID)
			}
		}
		of := mql.Eq(ids[0])
		if len(ids) > 1 {
			of = bson.D{{Key: "$in", Value: ids}}
		}
		out = append(out, Write{
			Collection: f.Collection, Keyed: s.keyed[f.Collection], ofStore: true,
			Model: &mongo.DeleteManyModel{Filter: bson.D{{Key: f.By, Value: of}}},
		})
	}
	return out
}

// checkUnread returns an error if the plan deleted too many documents without a read.
func (s *storeState) checkUnread(plan Plan, r Result) error {
	n, counted := int64(len(s.docs)), map[int]bool{}
	for i, step := range plan.Steps {
		w, ok := step.(Write)
		if !ok || i >= len(r.Steps) {
			continue
		}
		if _, many := w.Model.(*mongo.DeleteManyModel); !many || !s.deletesUnread(w.Collection) || r.Steps[i].Batch < 0 ||
			counted[r.Steps[i].Batch] {
			continue
		}
		counted[r.Steps[i].Batch] = true
		b := r.Batches[r.Steps[i].Batch]
		if n += b.Deleted + b.Modified; n > mostFound {
			at := slices.IndexFunc(s.unread, func(f Fetch) bool { return f.Collection == w.Collection })
			return s.unread[at].tooMany()
		}
	}
	return nil
}
