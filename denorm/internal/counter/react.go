package counter

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// tokensField is where a store outside transactions keeps the tokens of the last actions that
// changed a document.
const tokensField = "_m.ops"

// Reactions returns what a write of a child asks for. A store writes a child and its
// parents' numbers exactly once, so that the reactions store no tokens and no marks.
func (c *Counter) Reactions() []model.Reaction {
	plain := *c
	plain.tokens, plain.pending, plain.guard = "", "", tokensField
	return []model.Reaction{{Collection: c.docs.Name(), Paths: c.paths(), Fetch: plain.fetch, React: func(w model.StoreWrite) (model.Answer, error) {
		if w.Before != nil && c.isUnderWay(w.Before) {
			return model.Answer{}, fmt.Errorf("%w (%s %s: an operation of the counter is unfinished: run Settle)",
				model.ErrStale, c.docs.Name(), model.Shell(w.Before.Lookup("_id")))
		}
		return plain.react(w)
	}}}
}

func (c *Counter) isUnderWay(child bson.Raw) bool {
	_, is := c.marked(child, contribution{})
	return is
}

// written returns the transition that a store's write of a child is.
func (c *Counter) written(w model.StoreWrite) (t transition, err error) {
	t.inserted, t.gone = w.Before == nil, w.After == nil
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

// fetch asks for the old parent, then for the next value of each slot in leaving, and
// outside transactions for the new parent.
func (c *Counter) fetch(w model.StoreWrite) (out []model.Fetch, err error) {
	t, err := c.written(w)
	if err != nil {
		return nil, err
	}
	for i, x := range c.leaving(t) {
		if i == 0 {
			out = append(out, model.Fetch{Collection: c.parents.Name(), ID: t.was.parent})
			if !w.Tx {
				out[0].Paths = []string{tokensField}
			}
		}
		out[0].Paths = append(out[0].Paths, x.path)
		q := c.nextQuery(t.was.parent, w.Before.Lookup("_id"), x)
		q.Limit = 1
		out = append(out, model.Fetch{Query: &q})
	}
	if t.comes.Type != 0 && !w.Tx { // a transaction finds out by its write
		out = append(out, model.Fetch{Collection: c.parents.Name(), ID: t.comes})
	}
	return out, nil
}

// react returns the updates of the parents. A new parent must exist.
func (c *Counter) react(w model.StoreWrite) (a model.Answer, err error) {
	t, err := c.written(w)
	if err != nil {
		return a, err
	}
	s, next := state{Tx: w.Tx}, 0
	if slots := c.leaving(t); len(slots) > 0 {
		p := parentDoc{ID: t.was.parent, Doc: w.Found(0), Next: map[string]bson.RawValue{}}
		for i, x := range slots {
			p.Next[x.path] = bson.RawValue{}
			if doc := w.Found(1 + i); doc != nil {
				if p.Next[x.path], err = stored.At(c.docs, doc, c.sources[x.source].path); err != nil {
					return a, err
				}
			}
		}
		s.Parents, next = append(s.Parents, p), 1+len(slots)
	}
	for _, step := range c.apply(t, s) {
		update := step.(model.Write)
		if m, ok := update.Model.(*mongo.UpdateOneModel); ok && !w.Tx && len(m.Filter.(bson.D)) == 1 {
			update.Expect, update.Reasons = model.Any, nil // the parent may have been deleted since it was read
		}
		a.Once = append(a.Once, update)
	}
	switch {
	case t.comes.Type == 0:
	case !w.Tx:
		a.Check = func(func(string, bson.RawValue) bool) error {
			if w.Found(next) == nil {
				return c.noParent(t.comes)
			}
			return nil
		}
	case !slices.ContainsFunc(a.Once, func(w model.Write) bool { return w.Expect == model.One }):
		a.Hold = append(a.Hold, model.Fetch{Collection: c.parents.Name(), ID: t.comes})
	}
	return a, nil
}
