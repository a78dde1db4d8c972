package relate

import (
	"context"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ItemsOf returns the query of the items that name an owner: the truth of the relation. The order is that of _id.
//
// Cost: one command, served by [TwoWay.Indexes].
func (t *TwoWay[O, OK, I, IK]) ItemsOf(owner OK) model.Find[I] {
	id, err := encodeID(t.owners, t.items.Name(), t.ref, owner)
	f := t.items.Find(bson.D{{Key: t.refID(), Value: model.Eq(id)}}).Sorted(bson.D{{Key: "_id", Value: 1}})
	f.Index = t.Indexes()[0].Name
	if f.Err == nil {
		f.Err = err
	}
	return f
}

// Listed returns the ids that an owner in hand lists, in stored order.
func (t *TwoWay[O, OK, I, IK]) Listed(owner *O) []IK {
	if owner == nil {
		return nil
	}
	if !t.versioned {
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
	ids, err := encodeList(t.items, t.owners.Name(), t.list, t.Listed(owner))
	if owner == nil {
		_, err = t.owners.ID(owner)
	}
	f := t.items.Find(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}})
	if t.versioned && err == nil {
		var id OK
		if id, err = t.owners.ID(owner); err == nil {
			var v any
			v, err = encodeID(t.owners, t.owners.Name(), "_id", id)
			f = f.Where(bson.D{{Key: t.refID(), Value: model.Eq(v)}})
		}
	}
	f.Index = model.IDIndex
	if f.Err == nil {
		f.Err = err
	}
	return f
}

// OwnersListing returns the query of the owners that list an item: one, or more where a list is stale.
//
// Cost: one command, served by [TwoWay.Indexes].
func (t *TwoWay[O, OK, I, IK]) OwnersListing(item IK) model.Find[O] {
	id, err := encodeID(t.items, t.owners.Name(), t.list, item)
	f := t.owners.Find(bson.D{{Key: t.listID(), Value: model.Eq(id)}})
	f.Index = t.Indexes()[1].Name
	if f.Err == nil {
		f.Err = err
	}
	return f
}

func (t *TwoWay[O, OK, I, IK]) refID() string  { return t.idPath(t.ref) }
func (t *TwoWay[O, OK, I, IK]) listID() string { return t.idPath(t.list) }

func (t *TwoWay[O, OK, I, IK]) idPath(path string) string {
	if t.versioned {
		return path + ".id"
	}
	return path
}

// CheckLists returns what owners list and items don't bear out: the item names another owner, or none, or is gone. With
// versioned links also a link of another version than the item's.
//
// Cost: one command; it reads every owner, and the server looks each listed item up by _id.
func (t *TwoWay[O, OK, I, IK]) CheckLists() model.Aggregate[HalfLink[OK, IK]] {
	item := "$link"
	same := bson.D{{Key: "$in", Value: bson.A{"$_id", "$doc." + t.ref}}}
	fields := bson.D{{Key: "_id", Value: 0}, {Key: "list", Value: literal(true)}, {Key: "a", Value: "$_id"}}
	if t.versioned {
		item = "$link.id"
		same = bson.D{{Key: "$in", Value: bson.A{
			bson.D{{Key: "id", Value: "$_id"}, {Key: "v", Value: "$link.v"}, {Key: "op", Value: "$link.op"}}, "$doc." + t.ref,
		}}}
		fields = append(fields, bson.E{Key: "v", Value: "$link.v"}, bson.E{Key: "op", Value: "$link.op"})
	}
	return model.AggregateAs[HalfLink[OK, IK]](t.owners, mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "link", Value: "$" + t.list}}}},
		{{Key: "$unwind", Value: "$link"}},
		{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: t.items.Name()}, {Key: "localField", Value: item[1:]}, {Key: "foreignField", Value: "_id"}, {Key: "as", Value: "doc"},
		}}},
		{{Key: "$match", Value: bson.D{{Key: "$expr", Value: bson.D{{Key: "$not", Value: bson.A{same}}}}}}},
		{{Key: "$project", Value: append(fields, bson.E{Key: "b", Value: item})}},
		{{Key: "$sort", Value: bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 1}}}},
	})
}

// CheckRefs returns what items name and owners don't list: the owner lists no such item, or is gone.
//
// Cost: one command; it reads every item that names an owner, and the server looks each owner up by _id.
func (t *TwoWay[O, OK, I, IK]) CheckRefs() model.Aggregate[HalfLink[OK, IK]] {
	mine := any("$_id")
	fields := bson.D{{Key: "_id", Value: 0}, {Key: "list", Value: literal(false)}, {Key: "a", Value: "$" + t.refID()}, {Key: "b", Value: "$_id"}}
	if t.versioned {
		mine = bson.D{{Key: "id", Value: "$_id"}, {Key: "v", Value: "$" + t.ref + ".v"}, {Key: "op", Value: "$" + t.ref + ".op"}}
		fields = append(fields, bson.E{Key: "v", Value: "$" + t.ref + ".v"}, bson.E{Key: "op", Value: "$" + t.ref + ".op"})
	}
	filter := bson.D{{Key: t.refID(), Value: bson.D{{Key: "$nin", Value: t.emptyRefs()}}}}
	if t.versioned {
		filter = append(filter, bson.E{Key: t.ref + ".v", Value: bson.D{{Key: "$gt", Value: 0}}})
	}
	lists := bson.D{{Key: "$ifNull", Value: bson.A{bson.D{{Key: "$arrayElemAt", Value: bson.A{"$doc." + t.list, 0}}}, bson.A{}}}}
	return model.AggregateAs[HalfLink[OK, IK]](t.items, mongo.Pipeline{
		{{Key: "$match", Value: filter}},
		{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: t.owners.Name()}, {Key: "localField", Value: t.refID()}, {Key: "foreignField", Value: "_id"}, {Key: "as", Value: "doc"},
		}}},
		{{Key: "$match", Value: bson.D{{Key: "$expr", Value: bson.D{{Key: "$not", Value: bson.A{bson.D{{Key: "$in", Value: bson.A{mine, lists}}}}}}}}}},
		{{Key: "$project", Value: fields}},
		{{Key: "$sort", Value: bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 1}}}},
	})
}

func literal(v any) bson.D { return bson.D{{Key: "$literal", Value: v}} }

// Repair returns the plan that mends half-links as a check found them.
//
// TrustRefs believes the items: what only a list says is taken off the list, what only an item says is added to its
// owner's. TrustLists believes the lists: an item that names no owner is given to the one that lists it, one that names an
// owner that doesn't list it is freed. Versioned links always trust the item, whose compare-and-set decided; TrustLists is
// refused for them. An item that two owners list is given to the first found, and is found again by the next check.
//
// Each write is guarded by what the check saw, as far as one document can show it: an item's side exactly; a list's side
// by the link itself. What a plan in flight is about to complete looks like a half-link too: give Repair what has stood
// for longer than any plan takes, as [TwoWay.Mend] does.
//
// Cost: one command for each run of half-links of one kind; one document each.
func (t *TwoWay[O, OK, I, IK]) Repair(found []HalfLink[OK, IK], trust Side) model.Plan {
	if t.versioned && trust == TrustLists {
		return model.RefusedPlan(t.owners.Name(), &model.ValueError{
			Collection: t.owners.Name(), Field: "trust", Reason: "versioned links are decided by the item: use TrustRefs",
		})
	}
	var p model.Plan
	for _, h := range found {
		owner, err := encodeID(t.owners, t.items.Name(), t.ref, h.A)
		if err != nil {
			return model.RefusedPlan(t.owners.Name(), err)
		}
		item, err := encodeID(t.items, t.owners.Name(), t.list, h.B)
		if err != nil {
			return model.RefusedPlan(t.owners.Name(), err)
		}
		p.Steps = append(p.Steps, t.mend(h, owner, item, trust))
	}
	return p
}

func (t *TwoWay[O, OK, I, IK]) mend(h HalfLink[OK, IK], owner, item any, trust Side) model.Step {
	var w model.Write
	switch {
	case h.List && t.versioned:
		return t.pull(owner, bson.D{{Key: "id", Value: model.Eq(item)}, {Key: "v", Value: h.V}, {Key: "op", Value: h.Op}})
	case h.List && trust == TrustRefs:
		return t.pull(owner, model.Eq(item))
	case h.List:
		w = updateOne(t.items.Name(), bson.D{{Key: "_id", Value: model.Eq(item)}, {Key: t.ref, Value: t.nobody()}}, set(t.ref, owner))
	case t.versioned:
		w = updateOne(t.owners.Name(), bson.D{{Key: "_id", Value: model.Eq(owner)}, {Key: t.list + ".op", Value: bson.D{{Key: "$ne", Value: h.Op}}}},
			bson.D{{Key: "$push", Value: bson.D{{Key: t.list, Value: link(item, h.V, h.Op)}}}})
		w.Once = true
	case trust == TrustRefs:
		w = addToSet(t.owners.Name(), t.list, owner, item, 0)
	default:
		w = updateOne(t.items.Name(), bson.D{{Key: "_id", Value: model.Eq(item)}, {Key: t.ref, Value: model.Eq(owner)}},
			bson.D{{Key: "$unset", Value: bson.D{{Key: t.ref, Value: ""}}}})
	}
	w.Expect = model.Any // somebody may have mended it; the next check tells
	return w
}

// Mend returns the change that checks, and repairs what has stood for an age: longer than any plan of the application takes.
// With versioned links the age is read off the operations' tokens; with bare ids it checks twice, that long apart, and
// repairs what both checks found. The state that it returns is what it repaired.
//
// Cost: two commands, four for bare ids, and those of [TwoWay.Repair].
func (t *TwoWay[O, OK, I, IK]) Mend(trust Side, age time.Duration) model.Change[[]HalfLink[OK, IK]] {
	check := func(ctx context.Context, db *mongo.Database) ([]HalfLink[OK, IK], error) {
		lists, err := t.CheckLists().All(ctx, db)
		if err != nil {
			return nil, err
		}
		refs, err := t.CheckRefs().All(ctx, db)
		return append(lists, refs...), err
	}
	return mending(check, t.versioned, age, func(found []HalfLink[OK, IK]) (model.Plan, error) { return t.Repair(found, trust), nil })
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
	return model.Change[[]HalfLink[A, B]]{Read: read, Decide: decide}
}

// Indexes returns the index on the items' reference, and the one on the owners' list.
func (t *TwoWay[O, OK, I, IK]) Indexes() []model.Index {
	refs := model.NewIndex(t.items.Name(), bson.D{{Key: t.refID(), Value: 1}, {Key: "_id", Value: 1}})
	refs.Why = "the " + t.items.Name() + " of a document of " + t.owners.Name()
	lists := model.NewIndex(t.owners.Name(), bson.D{{Key: t.listID(), Value: 1}})
	lists.Why = "the documents of " + t.owners.Name() + " that list a document of " + t.items.Name()
	return []model.Index{refs, lists}
}

// Relations returns the relation, for diagrams: one owner has many items.
func (t *TwoWay[O, OK, I, IK]) Relations() []model.Relation {
	return []model.Relation{{
		From: t.items.Name(), FromPath: t.ref, To: t.owners.Name(), ToPath: t.list,
		FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "two-way",
	}}
}
