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
	renew := slices.ContainsFunc(t.copies, func(path string) bool { return !was.held[path].Equal(now.held[path]) })
	if w.Tx {
		a.First, a.Then = t.inTx(was, now, renew, w.Token)
		return a, nil
	}
	moves := w.Before != nil && !was.at.Equal(now.at)
	if w.Before == nil {
		was.id = now.id
	}
	var parts setSteps
	parts.add(t, was, now, renew, moves, w.Token)
	a.First, a.Then, a.Undo = parts.before, parts.after, parts.back
	return a, nil
}

// inTx returns the writes of entries in a transaction: the claims of new values, the
// copied fields if renew is set, and the writes that free the old values. The state of a
// missing document has no values. A claim has a token because the repair of surplus entries
// deletes an entry only if its tokens are those that the check found.
func (t *Table) inTx(was, now state, renew bool, op bson.ObjectID) (claims, frees []model.Step) {
	entered := stored.Without(now.values, was.values)
	c := t.claim(now.id, now.copies, entered, op)
	for _, e := range c.entries {
		claims = append(claims, c.enterSure(e))
	}
	for _, v := range stored.Without(was.values, now.values) {
		frees = append(frees, t.deleteOne(t.key(v, was.id)))
	}
	if renew {
		for _, v := range stored.Without(now.values, entered) {
			claims = append(claims, t.renewCopies(v, now))
		}
	}
	return claims, frees
}
