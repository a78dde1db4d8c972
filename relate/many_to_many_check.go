package relate

import (
	"context"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

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

// CheckLeft returns the links that left documents list and right ones don't, or that lead nowhere.
//
// Cost: one command; it reads every left document, and the server looks each link up by _id.
func (m *ManyToMany[L, LK, R, RK]) CheckLeft() model.Aggregate[HalfLink[LK, RK]] {
	return model.AggregateAs[HalfLink[LK, RK]](m.left, m.in.check(true))
}

// CheckRight returns the links that right documents list and left ones don't, or that lead nowhere. With versioned links
// also a link of another version than the left side's.
//
// Cost: one command; it reads every right document, and the server looks each link up by _id.
func (m *ManyToMany[L, LK, R, RK]) CheckRight() model.Aggregate[HalfLink[LK, RK]] {
	return model.AggregateAs[HalfLink[LK, RK]](m.right, m.in.check(false))
}

// Repair returns the plan that mends half-links as the checks found them. TrustRefs believes the left side: what only the
// right lists is taken off, what only the left lists is added to the right. TrustLists believes the right side, in the same
// way. Whichever side is trusted, what leads to a document that is gone is taken away.
//
// Versioned links always trust the left document, whose compare-and-set decided; TrustLists
// is refused for them. A right document's link of the left one's next version belongs to an
// operation that has not decided yet. Repair decides for it: the left document lists the
// right one, or, if its list is full, counts its version up, so that the next check finds
// the link to be taken off. When several operations have not decided, the first one found
// wins.
//
// What a plan in flight is about to complete looks like a half-link too: give Repair what has stood for longer than any
// plan takes, as [ManyToMany.Mend] does. Bounds are not enforced here, except
// that of the left list of versioned links. A cut leaves the half-links that come later in the
// list; the plan can be run again, and so can a new check and its repair.
//
// Cost: one command for each run of half-links of one kind; one document each.
func (m *ManyToMany[L, LK, R, RK]) Repair(found []HalfLink[LK, RK], trust Side) model.Plan {
	return m.in.repair(halves(found, m.left, m.in.right, m.in.rightPath, m.right, m.in.left, m.in.leftPath), trust)
}

// Mend returns the change that checks both sides, and repairs what has stood for an age, as [TwoWay.Mend] does.
//
// Cost: two commands, four for bare ids and an age above 0, and those of [ManyToMany.Repair]. With versioned links, where an
// operation had not decided yet, two commands more to check again, and those of the repair of what is left.
func (m *ManyToMany[L, LK, R, RK]) Mend(trust Side, age time.Duration) model.Change[[]HalfLink[LK, RK]] {
	check := func(ctx context.Context, db *mongo.Database) ([]HalfLink[LK, RK], error) {
		lefts, err := m.CheckLeft().All(ctx, db)
		if err != nil {
			return nil, err
		}
		rights, err := m.CheckRight().All(ctx, db)
		return append(lefts, rights...), err
	}
	return mending(check, m.in.version != "", age, func(found []HalfLink[LK, RK]) (model.Plan, error) { return m.Repair(found, trust), nil })
}
