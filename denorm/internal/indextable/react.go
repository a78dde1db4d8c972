package indextable

import (
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reactions returns the writes of entries that a store's write of a document asks for.
func (t *Table) Reactions() []model.Reaction {
	return []model.Reaction{{Collection: t.docs.Name(), Paths: append([]string{t.path}, t.copies...), React: t.react}}
}

// react returns the writes of entries for a write of a document. The state of a missing
// document has no values.
func (t *Table) react(w model.StoreWrite) (a model.Answer, err error) {
	var was, now state
	if w.Before != nil {
		if was, err = t.state(w.Before); err != nil {
			return a, err
		}
	}
	if w.After != nil {
		if now, err = t.state(w.After); err != nil {
			return a, err
		}
	}
	if w.Before == nil {
		was.id = now.id
	}
	entered, left := stored.Without(now.values, was.values), stored.Without(was.values, now.values)
	c := t.claimEntries(w, was.id, now.copies, entered)
	var renewed []bson.RawValue // the kept values, if copied fields change
	if slices.ContainsFunc(t.copies, func(path string) bool { return !was.held[path].Equal(now.held[path]) }) {
		renewed = stored.Without(now.values, entered)
	}
	if w.Tx {
		return t.reactInTx(c, left, renewed, now), nil
	}
	for _, e := range c.entries {
		a.First, a.Then = append(a.First, c.enter(e)), append(a.Then, c.confirm(e.key))
	}
	for _, v := range left {
		a.First = append(a.First, t.update(t.key(v, was.id), noClaims))
	}
	for _, v := range renewed {
		a.Then = append(a.Then, t.replaceCopies(v, was, now))
	}
	for _, v := range left {
		a.Then = append(a.Then, t.removeLeft(v, was.id))
	}
	a.Undo = c.takeBack()
	return a, nil
}

// reactInTx returns the writes of entries in a transaction: the claims of new values, the
// copied fields of kept values, and the deletions of the old values' entries.
func (t *Table) reactInTx(c *claim, left, renewed []bson.RawValue, now state) (a model.Answer) {
	for _, e := range c.entries {
		a.First = append(a.First, c.enterSure(e))
	}
	for _, v := range renewed {
		a.First = append(a.First, t.renewCopies(v, now))
	}
	for _, v := range left {
		a.Then = append(a.Then, t.deleteOne(t.key(v, c.id)))
	}
	return a
}
