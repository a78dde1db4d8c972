package indextable

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reactions returns the writes of entries that a store's write of a document asks for.
func (t *Table) Reactions() []model.Reaction { return t.ReactionsOf("IndexTable") }

// ReactionsOf returns the reactions of the table as a part of a technique, for errors.
func (t *Table) ReactionsOf(technique string) []model.Reaction {
	react := func(w model.StoreWrite) (model.Answer, error) {
		a, err := t.react(w)
		if err == nil && len(a.First)+len(a.Then) > 0 && !w.Tx {
			instead := fmt.Sprintf("%[1]s.Insert, %[1]s.Set and %[1]s.Delete", technique)
			return model.Answer{}, commands.NeedsTransaction("denorm."+technique, t.docs.Name(), instead)
		}
		return a, err
	}
	return []model.Reaction{{Collection: t.docs.Name(), Paths: append([]string{t.path}, t.copies...), React: react}}
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
	a.First, a.Then = t.inTx(was, now, renew, w.Token)
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
