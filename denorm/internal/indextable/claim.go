package indextable

import (
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Parts of filters and updates that are the same for every entry.
var (
	sure, notSure = mql.E("sure", true), mql.E("sure", false)
	unclaimed     = mql.E("ops", mql.Op("$eq", bson.A{}))

	// noClaims is the update that removes all claims of an entry, before the document is
	// written. An action that claims the entry later keeps it.
	noClaims = core.MustMarshal(mql.Set(mql.E("ops", bson.A{}), notSure))

	// notNew removes the time of an entry's first claim.
	notNew = mql.E("$unset", bson.D{{Key: "at", Value: ""}})

	// confirmed is the update that confirms an entry without copied fields.
	confirmed = core.MustMarshal(append(mql.Set(sure), notNew))
)

// A claim is what one action does to the entries of one document. The entries share the
// parts of its writes.
type claim struct {
	t  *Table
	id bson.RawValue
	// The beginning of the action.
	at      time.Time
	copies  bson.D
	entries []entry

	// Condition that an entry has this claim.
	ops bson.E
	// The operators that add and remove the claim.
	add, pull bson.E
}

// An entry is one of the entries of a claim, with its filter.
type entry struct {
	value bson.RawValue
	key   bson.D // its filter
}

// claimEntries returns the claim of an action on the entries of a document's values. The
// operators are built once, because an array can have many entries.
func (t *Table) claimEntries(w model.StoreWrite, id bson.RawValue, copies bson.D, values []bson.RawValue) *claim {
	ops := mql.E("ops", w.Token)
	var field any = bson.D{ops}
	c := &claim{
		t: t, id: id, at: w.Time, copies: copies, ops: ops, add: mql.E("$addToSet", field), pull: mql.E("$pull", field),
	}
	c.entries = make([]entry, len(values))
	for i, v := range values {
		c.entries[i] = entry{v, t.matchEntry(v, id)}
	}
	return c
}

// addClaim claims a value for a document: by a new entry, or by one more claim of the
// stored entry. The copied fields of a stored entry are set when the claim is confirmed.
func (c *claim) addClaim(e entry) model.Write {
	return c.upsertEntry(e, "$setOnInsert", notSure, mql.E("at", c.at))
}

// addSureClaim is addClaim and confirmEntry in one write, for a transaction. It adds the
// claim too, because the repair deletes an entry only if its claims are the same as
// before.
func (c *claim) addSureClaim(e entry) model.Write { return c.upsertEntry(e, "$set", sure) }

// upsertEntry upserts an entry with the claim. In a unique table, an upsert of another
// document's value meets a duplicate key. Reasons then tell a value that is taken for
// good from one that is only claimed.
func (c *claim) upsertEntry(e entry, op string, fields ...bson.E) model.Write {
	t := c.t
	w := t.upsertOne(e.key, bson.D{{Key: op, Value: t.makeFields(c.copies, fields...)}, c.add})
	if t.unique {
		w.Done = append(e.key, c.ops)
		held := bson.D{{Key: "_id", Value: mql.Eq(e.value)}, sure}
		w.Reasons = []model.Reason{
			{If: held, Err: commands.NewTakenError(t.entries, e.value, false)},
			{If: held[:1:1], Err: commands.NewTakenError(t.entries, e.value, true)},
		}
	}
	return w
}

// confirmEntry says that the document has the value of an entry, unless the claim is
// gone. The copied fields of an entry that is sure already may be newer.
func (c *claim) confirmEntry(key bson.D) model.Write {
	if len(c.t.copies) == 0 {
		return c.t.updateEntry(append(key, c.ops), confirmed)
	}
	return c.t.updateEntry(append(key, notSure, c.ops), append(mql.Set(c.t.makeFields(c.copies, sure)...), notNew))
}

// withdrawClaims removes the claims. An entry without other claims, which isn't sure, is
// deleted. The order matters: an entry that another action claims between the two writes
// stays.
func (c *claim) withdrawClaims() (steps []model.Step) {
	if len(c.entries) == 0 {
		return nil
	}
	var pull any = bson.D{c.pull}
	steps = make([]model.Step, 0, 2*len(c.entries))
	for _, e := range c.entries {
		steps = append(steps, c.t.updateEntry(e.key, pull))
	}
	for _, e := range c.entries {
		steps = append(steps, c.t.deleteOne(append(e.key, notSure, unclaimed)))
	}
	return steps
}

// renewCopies sets the copied fields of the entry of a value that the document keeps, in
// a transaction.
func (t *Table) renewCopies(v bson.RawValue, now state) model.Write {
	return t.updateEntry(t.matchEntry(v, now.id), mql.Set(mql.E("doc", now.copies)))
}

// replaceCopies is renewCopies outside transactions: it changes no fields that another
// client has set since.
func (t *Table) replaceCopies(v bson.RawValue, was, now state) model.Write {
	return t.updateEntry(append(t.matchEntry(v, now.id), mql.E("doc", was.copies)), mql.Set(mql.E("doc", now.copies)))
}
