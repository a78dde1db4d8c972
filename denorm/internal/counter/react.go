package counter

import (
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reactions returns what a write of a child asks for. A store writes a child and its
// parents' numbers exactly once, so that the reactions store no tokens and no marks.
func (c *Counter) Reactions() []model.Reaction {
	return []model.Reaction{{
		Collection: c.docs.Name(), Paths: c.paths(), Fetch: c.fetch, React: c.react, Parents: c.parents.Name(), ParentPath: c.reference,
	}}
}

// written returns the transition that a store's write of a child is.
func (c *Counter) written(w model.StoreWrite) (t transition, err error) {
	var was, now bson.RawValue
	if w.Before != nil {
		if t.was, err = c.ofDocument(w.Before); err != nil {
			return t, err
		}
		if was, err = stored.At(c.docs, w.Before, c.reference); err != nil {
			return t, err
		}
	}
	if w.After != nil {
		if t.now, err = c.ofDocument(w.After); err != nil {
			return t, err
		}
		if now, err = stored.At(c.docs, w.After, c.reference); err != nil {
			return t, err
		}
	}
	named, err := c.parentNamed(now)
	if named && !bsonval.EqualRaw(was, now) {
		t.comes = bsonval.Clone(now)
	}
	return t, err
}

// leaving returns the slots of which a transition may take the smallest or greatest value
// from the old parent.
func (c *Counter) leaving(t transition) (out []slot) {
	for _, x := range c.slots {
		if x.extreme() && c.leaves(t, t.was.parent, x).Type != 0 {
			out = append(out, x)
		}
	}
	return out
}

// leavingNow returns the slots in leaving, or none if a transaction hopes that the parent's
// value is beyond the child's: the update of the parent requires it.
func (c *Counter) leavingNow(w model.StoreWrite, t transition) []slot {
	slots := c.leaving(t)
	if len(slots) > 0 && w.Tx && w.Hope() {
		return nil
	}
	return slots
}

// fetch asks for the old parent, then for the next value of each slot in leaving, and then
// for the new parent.
func (c *Counter) fetch(w model.StoreWrite) (out []model.Fetch, err error) {
	t, err := c.written(w)
	if err != nil {
		return nil, err
	}
	for i, x := range c.leavingNow(w, t) {
		if i == 0 {
			out = append(out, model.Fetch{Collection: c.parents.Name(), ID: t.was.parent, Deleted: true})
			if !w.Tx {
				out[0].Paths = []string{c.parents.StoreField().Tokens()}
			}
		}
		out[0].Paths = append(out[0].Paths, x.path)
		q := c.nextQuery(t.was.parent, w.Before.Lookup("_id"), x)
		q.Limit = 1
		out = append(out, model.Fetch{Query: &q})
	}
	if t.comes.Type != 0 {
		out = append(out, model.Fetch{Collection: c.parents.Name(), ID: t.comes, Hold: true, Missing: c.noParent(t.comes)})
	}
	return out, nil
}

// react returns the updates of the parents.
func (c *Counter) react(w model.StoreWrite) (a model.Answer, err error) {
	t, err := c.written(w)
	if err != nil {
		return a, err
	}
	var old *parentDoc
	slots := c.leavingNow(w, t)
	if len(slots) > 0 {
		old = &parentDoc{ID: t.was.parent, Doc: w.Found(0), Next: map[string]bson.RawValue{}}
	}
	for i, x := range slots {
		old.Next[x.path] = bson.RawValue{}
		if doc := w.Found(1 + i); doc != nil {
			if old.Next[x.path], err = stored.At(c.docs, doc, c.sources[x.source].path); err != nil {
				return a, err
			}
		}
	}
	a.Once = c.tellParents(t, old, w.Tx)
	return a, nil
}
