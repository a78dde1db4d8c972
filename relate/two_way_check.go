package relate

import (
	"context"
	"slices"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ItemsOf returns the query of the items that name an owner: the truth of the relation. The order is that of _id.
//
// Cost: one command, served by [TwoWay.Indexes].
func (t *TwoWay[O, OK, I, IK]) ItemsOf(owner OK) model.Find[I] {
	id, err := encodeID(t.owners, t.in.items, t.in.ref, owner)
	f := t.items.Find(t.in.naming(id))
	f.Sort = byID()
	served(&f.Query, t.in.refIndex().Name, err)
	return f
}

// Listed returns the ids that an owner in hand lists, in stored order.
func (t *TwoWay[O, OK, I, IK]) Listed(owner *O) []IK {
	if owner == nil {
		return nil
	}
	if !t.in.versioned {
		return t.bareList.Append(nil, owner)
	}
	var out []IK
	for _, l := range t.listed.Append(nil, owner) {
		out = append(out, l.ID)
	}
	return out
}

// Items returns the query of the items that an owner in hand lists, in no stored order. With versioned links, an item that
// names another owner meanwhile is left out.
//
// Cost: one command, served by _id.
func (t *TwoWay[O, OK, I, IK]) Items(owner *O) model.Find[I] {
	f := findIDs(t.items, t.in.owners, t.in.list, t.Listed(owner))
	if owner == nil || t.in.versioned && f.Err == nil {
		id, err := t.owners.ID(owner)
		var v any
		if err == nil {
			v, err = encodeID(t.owners, t.in.owners, "_id", id)
		}
		narrowed(&f.Query, t.in.naming(v), err)
	}
	return f
}

// OwnersListing returns the query of the owners that list an item: one, or more where a list is stale.
//
// Cost: one command, served by [TwoWay.Indexes].
func (t *TwoWay[O, OK, I, IK]) OwnersListing(item IK) model.Find[O] {
	id, err := encodeID(t.items, t.in.owners, t.in.list, item)
	f := t.owners.Find(t.in.listing(id))
	served(&f.Query, t.in.listIndex().Name, err)
	return f
}

// CheckLists returns what owners list and items don't bear out: the item names another owner, or none, or is gone. With
// versioned links also a link of another version than the item's.
//
// Cost: one command; it reads every owner, and the server looks each listed item up by _id, and for each half-link of bare
// ids the owner that the item names.
func (t *TwoWay[O, OK, I, IK]) CheckLists() model.Aggregate[HalfLink[OK, IK]] {
	return model.AggregateAs[HalfLink[OK, IK]](t.owners, t.in.checkLists())
}

// CheckRefs returns what items name and owners don't list: the owner lists no such item, or is gone.
//
// Cost: one command; it reads every item that names an owner, and the server looks each owner up by _id.
func (t *TwoWay[O, OK, I, IK]) CheckRefs() model.Aggregate[HalfLink[OK, IK]] {
	return model.AggregateAs[HalfLink[OK, IK]](t.items, t.in.checkRefs())
}

// Repair returns the plan that mends half-links as the checks found them.
//
// TrustRefs believes the items: what only a list says is taken off the list, what only an item says is added to its
// owner's. TrustLists believes the lists: an item is given to the owner that lists it, and one that no list bears out is
// freed. Of several owners that list an item, the one that it names keeps it, else the first found; the others' lists lose
// it. Whichever side is trusted, what leads to a document that is gone is taken away. Bounds are not enforced here.
//
// Versioned links always trust the item, whose compare-and-set decided; TrustLists is
// refused for them. A list's link of the item's next version belongs to an operation that
// has not decided yet. Repair decides for it: the item names the list's owner, and older
// links go. When several operations have not decided, the first one found wins, and the
// next check finds the links of the others.
//
// Each write is guarded by what the check saw, as far as one document can show it: an item's side exactly; a list's side
// by the link itself. What a plan in flight is about to complete looks like a half-link too: give Repair what has stood
// for longer than any plan takes, as [TwoWay.Mend] does. A cut leaves the half-links that come later in the list; the plan
// can be run again, and so can a new check and its repair.
//
// Cost: one command for each run of half-links of one kind; one document each.
func (t *TwoWay[O, OK, I, IK]) Repair(found []HalfLink[OK, IK], trust Side) model.Plan {
	return t.in.repair(halves(found, t.owners, t.in.items, t.in.ref, t.items, t.in.owners, t.in.list), trust)
}

// Mend returns the change that checks, and repairs what has stood for an age: longer than any plan of the application takes.
// With bare ids it checks twice, that long apart, and repairs what both checks found. With versioned links the age is read
// off the operations' tokens. There Mend undoes no operation, whatever the age: an operation that is called again with an
// old token finds its own work done. The state that Mend returns is what the first check found, to be repaired.
//
// Cost: two commands, four for bare ids and an age above 0, and those of [TwoWay.Repair]. With versioned links, where an
// operation had not decided yet, two commands more to check again, and those of the repair of what is left.
func (t *TwoWay[O, OK, I, IK]) Mend(trust Side, age time.Duration) model.Change[[]HalfLink[OK, IK]] {
	check := func(ctx context.Context, db *mongo.Database) ([]HalfLink[OK, IK], error) {
		lists, err := t.CheckLists().All(ctx, db)
		if err != nil {
			return nil, err
		}
		refs, err := t.CheckRefs().All(ctx, db)
		return append(lists, refs...), err
	}
	return mending(check, t.in.versioned, age, func(found []HalfLink[OK, IK]) (model.Plan, error) { return t.Repair(found, trust), nil })
}

// mending is the change that repairs the half-links that have stood for an age.
func mending[A, B any](
	check func(context.Context, *mongo.Database) ([]HalfLink[A, B], error), versioned bool, age time.Duration,
	decide func([]HalfLink[A, B]) (model.Plan, error),
) model.Change[[]HalfLink[A, B]] {
	read := func(ctx context.Context, db *mongo.Database) ([]HalfLink[A, B], error) {
		start := time.Now()
		first, err := check(ctx, db)
		switch {
		case err != nil || len(first) == 0 || age <= 0:
			return first, err
		case versioned:
			return settled(first, start.Add(-age-time.Second)), nil // a token counts whole seconds
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(age):
		}
		second, err := check(ctx, db)
		return both(first, second), err
	}
	once := model.Change[[]HalfLink[A, B]]{Read: read, Decide: decide}
	twice := once
	twice.Then = func(found []HalfLink[A, B]) *model.Change[[]HalfLink[A, B]] {
		if slices.ContainsFunc(found, func(h HalfLink[A, B]) bool { return h.V > h.Now }) {
			return &once // of several operations that were yet to decide, one has; the links of the others are over
		}
		return nil
	}
	return twice
}

// Indexes returns the index on the items' reference, and the one on the owners' list.
func (t *TwoWay[O, OK, I, IK]) Indexes() []model.Index {
	return []model.Index{t.in.refIndex(), t.in.listIndex()}
}

// Relations returns the relation, for diagrams: one owner has many items.
func (t *TwoWay[O, OK, I, IK]) Relations() []model.Relation {
	return []model.Relation{{
		From: t.in.items, FromPath: t.in.ref, To: t.in.owners, ToPath: t.in.list,
		FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "two-way",
	}}
}
