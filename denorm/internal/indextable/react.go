package indextable

import (
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// MakeReactions returns the writes of entries that a store's write of a document asks
// for.
func (t *Table) MakeReactions() []model.Reaction {
	return []model.Reaction{{
		Collection: t.docs.Name(), Paths: append([]string{t.path}, t.copies...), React: t.updateEntries,
	}}
}

// updateEntries returns the writes of entries for a write of a document. The state of a
// missing document has no values.
func (t *Table) updateEntries(w model.StoreWrite) (a model.Answer, err error) {
	var was, now state
	if w.Before != nil {
		if was, err = t.readState(w.Before); err != nil {
			return a, err
		}
	}
	if w.After != nil {
		if now, err = t.readState(w.After); err != nil {
			return a, err
		}
	}
	if w.Before == nil {
		was.id = now.id
	}
	entered, left := stored.SubtractValues(now.values, was.values), stored.SubtractValues(was.values, now.values)
	c := t.claimEntries(w, was.id, now.copies, entered)
	var renewed []bson.RawValue // the kept values, if copied fields change
	if slices.ContainsFunc(t.copies, func(path string) bool { return !was.held[path].Equal(now.held[path]) }) {
		renewed = stored.SubtractValues(now.values, entered)
	}
	if w.Tx {
		return t.updateEntriesInTx(c, left, renewed, now), nil
	}
	for _, e := range c.entries {
		a.First, a.Then = append(a.First, c.addClaim(e)), append(a.Then, c.confirmEntry(e.key))
	}
	for _, v := range left {
		a.First = append(a.First, t.updateEntry(t.matchEntry(v, was.id), noClaims))
	}
	for _, v := range renewed {
		a.Then = append(a.Then, t.replaceCopies(v, was, now))
	}
	for _, v := range left {
		a.Then = append(a.Then, t.removeUnclaimed(v, was.id))
	}
	a.Undo = c.withdrawClaims()
	return a, nil
}

// updateEntriesInTx returns the writes of entries in a transaction: the claims of new
// values, the copied fields of kept values, and the deletions of the old values' entries.
func (t *Table) updateEntriesInTx(c *claim, left, renewed []bson.RawValue, now state) (a model.Answer) {
	for _, e := range c.entries {
		a.First = append(a.First, c.addSureClaim(e))
	}
	for _, v := range renewed {
		a.First = append(a.First, t.renewCopies(v, now))
	}
	for _, v := range left {
		a.Then = append(a.Then, t.deleteOne(t.matchEntry(v, c.id)))
	}
	return a
}
