package counter

import (
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// makeReactions returns what a write of a child asks for. A store writes a child and its
// parents' numbers exactly once, so the reactions store no tokens and no marks.
func (c *untypedCounter) makeReactions() []model.Reaction {
	return []model.Reaction{{
		Collection: c.docs.Name(), Paths: c.listChildPaths(), Fetch: c.fetchParents, React: c.updateParents,
		Parents: c.parents.Name(), ParentPath: c.reference,
	}}
}

// readTransition computes what a store's write of a child changes. Before is nil for an
// insert, After for a deletion.
func (c *untypedCounter) readTransition(w model.StoreWrite) (t transition, err error) {
	var was, now bson.RawValue
	if w.Before != nil {
		if t.was, err = c.readChild(w.Before); err != nil {
			return t, err
		}
		if was, err = stored.ValueAt(c.docs, w.Before, c.reference); err != nil {
			return t, err
		}
	}
	if w.After != nil {
		if t.now, err = c.readChild(w.After); err != nil {
			return t, err
		}
		if now, err = stored.ValueAt(c.docs, w.After, c.reference); err != nil {
			return t, err
		}
	}
	named, err := c.namesParent(now)
	if named && !bsonval.EqualRaw(was, now) {
		t.comes = bsonval.Clone(now)
	}
	return t, err
}

// listLeavingSlots returns the slots whose smallest or greatest value the transition may
// take from the old parent.
func (c *untypedCounter) listLeavingSlots(t transition) (out []slot) {
	for _, x := range c.slots {
		if x.isExtreme() && c.findLeavingValue(t, t.was.parent, x).Type != 0 {
			out = append(out, x)
		}
	}
	return out
}

// listSlotsToRead returns listLeavingSlots, or nil if a transaction hopes that the
// parent's value is beyond the child's. The update of the parent then requires it. If it
// matches nothing, the store runs the transaction again and reads.
func (c *untypedCounter) listSlotsToRead(w model.StoreWrite, t transition) []slot {
	slots := c.listLeavingSlots(t)
	if len(slots) > 0 && w.Tx && w.Hope() {
		return nil
	}
	return slots
}

// fetchParents asks for the old parent, then for the next value of each slot in
// listSlotsToRead, and then for the new parent. updateParents finds the documents by this
// order. Outside transactions, the parent's tokens are read too: they are the guard of
// the update.
func (c *untypedCounter) fetchParents(w model.StoreWrite) (out []model.Fetch, err error) {
	t, err := c.readTransition(w)
	if err != nil {
		return nil, err
	}
	for i, x := range c.listSlotsToRead(w, t) {
		if i == 0 {
			out = append(out, model.Fetch{Collection: c.parents.Name(), ID: t.was.parent, Deleted: true})
			if !w.Tx {
				out[0].Paths = []string{c.parents.StoreField().Tokens()}
			}
		}
		out[0].Paths = append(out[0].Paths, x.path)
		q := c.queryNextExtreme(t.was.parent, w.Before.Lookup("_id"), x)
		q.Limit = 1
		out = append(out, model.Fetch{Query: &q})
	}
	if t.comes.Type != 0 {
		out = append(out, model.Fetch{
			Collection: c.parents.Name(), ID: t.comes, Hold: true, Missing: c.newReferenceError(t.comes),
		})
	}
	return out, nil
}

// updateParents returns the updates of the parents, from the documents that fetchParents
// asked for.
func (c *untypedCounter) updateParents(w model.StoreWrite) (a model.Answer, err error) {
	t, err := c.readTransition(w)
	if err != nil {
		return a, err
	}
	var old *parentDoc
	slots := c.listSlotsToRead(w, t)
	if len(slots) > 0 {
		old = &parentDoc{ID: t.was.parent, Doc: w.Found(0), Next: map[string]bson.RawValue{}}
	}
	for i, x := range slots {
		old.Next[x.path] = bson.RawValue{}
		if doc := w.Found(1 + i); doc != nil {
			if old.Next[x.path], err = stored.ValueAt(c.docs, doc, c.sources[x.source].path); err != nil {
				return a, err
			}
		}
	}
	a.Once = c.planParentUpdates(t, old, w.Tx)
	return a, nil
}
