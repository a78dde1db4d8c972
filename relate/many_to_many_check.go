package relate

import "github.com/docmodel/docmodel/model"

// RightsOf returns the query of the right documents that list a left one. With versioned links the left document decides:
// where it matters, use [ManyToMany.Rights] of a left document in hand.
//
// Cost: one command, served by [ManyToMany.Indexes].
func (m *ManyToMany[L, LK, R, RK]) RightsOf(left LK) model.Find[R] {
	id, err := encodeID(m.left, m.in.right, m.in.rightPath, left)
	f := m.right.Find(m.in.listingLeft(id))
	served(&f.Query, m.in.rightIndex().Name, err)
	return f
}

// LeftsOf returns the query of the left documents that list a right one.
//
// Cost: one command, served by [ManyToMany.Indexes].
func (m *ManyToMany[L, LK, R, RK]) LeftsOf(right RK) model.Find[L] {
	id, err := encodeID(m.right, m.in.left, m.in.leftPath, right)
	f := m.left.Find(m.in.listingRight(id))
	served(&f.Query, m.in.leftIndex().Name, err)
	return f
}

// Rights returns the query of the right documents that a left one in hand lists, in no stored order.
//
// Cost: one command, served by _id.
func (m *ManyToMany[L, LK, R, RK]) Rights(left *L) model.Find[R] {
	var list []RK
	switch {
	case left == nil:
	case m.in.version == "":
		list = m.bare.Append(nil, left)
	default:
		for _, l := range m.links.Append(nil, left) {
			list = append(list, l.ID)
		}
	}
	f := findIDs(m.right, m.in.left, m.in.leftPath, list)
	if left == nil {
		_, f.Err = m.left.ID(left)
	}
	return f
}

// Lefts returns the query of the left documents that a right one in hand lists, in no stored order. With versioned links,
// one that doesn't bear the link out is left out.
//
// Cost: one command, served by _id.
func (m *ManyToMany[L, LK, R, RK]) Lefts(right *R) model.Find[L] {
	var list []LK
	switch {
	case right == nil:
	case m.in.version == "":
		list = m.bareRight.Append(nil, right)
	default:
		for _, l := range m.linkRight.Append(nil, right) {
			list = append(list, l.ID)
		}
	}
	f := findIDs(m.left, m.in.right, m.in.rightPath, list)
	if right == nil || m.in.version != "" && f.Err == nil {
		id, err := m.right.ID(right)
		var v any
		if err == nil {
			v, err = encodeID(m.right, m.in.right, "_id", id)
		}
		narrowed(&f.Query, m.in.listingRight(v), err)
	}
	return f
}

// Checks returns the checks of the relation, of the left documents first: a document lists one on
// the other side that doesn't list it, or that is gone.
//
// Mending believes the side that [ManyToManySpec] trusts. TrustRefs takes a link off that only the
// right side lists, and adds to the right side a link that only the left side lists. TrustLists
// does the same the other way round. Whichever side is trusted, an id of a document that is gone is
// taken away. Bounds are not enforced, except that of the left list of versioned links.
//
// Versioned links trust the left document. A check before these two finds the links of operations
// that have not decided yet, and mending decides for them: the left document lists the right one
// or, if its list is full, counts its version up. Of several such operations the first found wins.
// The last check takes the links of the others off.
//
// A plan that is under way looks like a finding: the Age is one minute. Links tell by their tokens
// since when a finding stands.
//
// Cost: each check reads every document of its side that holds an id, and the server looks each id
// up by _id. Mending sends one command for each run of findings of one kind, and writes one
// document for each.
func (m *ManyToMany[L, LK, R, RK]) Checks() []model.Check { return m.in.checks() }
