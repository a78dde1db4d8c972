package relate

import "github.com/docmodel/docmodel/model"

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

// Checks returns the checks of the relation. The first examines the owners' lists: an item that an
// owner lists names another owner, or no owner, or is gone. The last examines the items: the owner
// that an item names doesn't list it, or is gone.
//
// Mending believes the side that [TwoWaySpec] trusts. TrustRefs takes an item off a list that it
// doesn't bear out, and adds it to the list of the owner that it names. TrustLists gives an item to
// the owner that lists it, and frees an item that no list bears out. Of several owners that list an
// item, the one that it names keeps it, else the first found; the other lists lose it. Whichever
// side is trusted, an id of a document that is gone is taken away. Bounds are not enforced.
//
// Versioned links trust the item. A check before these two finds the links of operations that have
// not decided yet, and mending decides for them: the item names the list's owner. Of several such
// operations the first found wins, and the next check takes the links of the others off. Mending
// undoes no operation, whatever the age: an operation that is called again with an old token finds
// its own work done.
//
// Each write asks for what the check saw, as far as one document can show it. A plan that is under
// way looks like a finding: the Age is one minute. Links tell by their tokens since when a finding
// stands.
//
// Cost: each check reads every document of its side that holds an id, and the server looks each id
// up by _id; of bare ids that an item doesn't bear out, also the owner that the item names. Mending
// sends one command for each run of findings of one kind, and writes one document for each.
func (t *TwoWay[O, OK, I, IK]) Checks() []model.Check { return t.in.checks() }

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
