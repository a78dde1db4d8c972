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
	f := findIDs(t.items, t.owners.Name(), t.list, t.Listed(owner))
	if owner == nil || t.versioned && f.Err == nil {
		id, err := t.owners.ID(owner)
		if err != nil {
			f.Err = err
			return f
		}
		v, err := encodeID(t.owners, t.owners.Name(), "_id", id)
		f = f.Where(bson.D{{Key: t.refID(), Value: model.Eq(v)}})
		if f.Err == nil {
			f.Err = err
		}
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
// Cost: one command; it reads every owner, and the server looks each listed item up by _id, and for each half-link of bare
// ids the owner that the item names.
func (t *TwoWay[O, OK, I, IK]) CheckLists() model.Aggregate[HalfLink[OK, IK]] {
	item := "$link"
	same := bson.D{{Key: "$in", Value: bson.A{"$_id", "$doc." + t.ref}}}
	fields := bson.D{{Key: "_id", Value: 0}, {Key: "list", Value: literal(true)}, {Key: "a", Value: "$_id"}, {Key: "gone", Value: isGone}}
	if t.versioned {
		item = "$link.id"
		same = bson.D{{Key: "$in", Value: bson.A{
			bson.D{{Key: "id", Value: "$_id"}, {Key: "v", Value: "$link.v"}, {Key: "op", Value: "$link.op"}}, "$doc." + t.ref,
		}}}
		fields = append(fields, bson.E{Key: "v", Value: "$link.v"}, bson.E{Key: "op", Value: "$link.op"})
	} else {
		fields = append(fields, bson.E{Key: "names", Value: bson.D{{Key: "$setDifference", Value: bson.A{"$doc." + t.ref, literal(t.emptyRefs())}}}})
	}
	stages := mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "link", Value: "$" + t.list}}}},
		{{Key: "$unwind", Value: "$link"}},
		lookupID(t.items.Name(), item[1:], "doc"),
		{{Key: "$match", Value: bson.D{{Key: "$expr", Value: bson.D{{Key: "$not", Value: bson.A{same}}}}}}},
		{{Key: "$project", Value: append(fields, bson.E{Key: "b", Value: item})}},
	}
	if !t.versioned {
		stages = append(stages, lookupID(t.owners.Name(), "names", "other"), bson.D{{Key: "$set", Value: bson.D{
			{Key: "kept", Value: bson.D{{Key: "$in", Value: bson.A{"$b", firstList("other." + t.list)}}}},
		}}}, bson.D{{Key: "$unset", Value: "other"}})
	}
	return model.AggregateAs[HalfLink[OK, IK]](t.owners, append(stages, halfLinkOrder))
}

var (
	isGone        = bson.D{{Key: "$eq", Value: bson.A{"$doc", bson.A{}}}}
	halfLinkOrder = bson.D{{Key: "$sort", Value: bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 1}}}}
)

// lookupID looks documents up by _id.
func lookupID(from, path, as string) bson.D {
	return bson.D{{Key: "$lookup", Value: bson.D{
		{Key: "from", Value: from}, {Key: "localField", Value: path}, {Key: "foreignField", Value: "_id"}, {Key: "as", Value: as},
	}}}
}

// firstList is the list that a document looked up holds, or an empty one.
func firstList(path string) bson.D {
	return bson.D{{Key: "$ifNull", Value: bson.A{bson.D{{Key: "$arrayElemAt", Value: bson.A{"$" + path, 0}}}, bson.A{}}}}
}

// CheckRefs returns what items name and owners don't list: the owner lists no such item, or is gone.
//
// Cost: one command; it reads every item that names an owner, and the server looks each owner up by _id.
func (t *TwoWay[O, OK, I, IK]) CheckRefs() model.Aggregate[HalfLink[OK, IK]] {
	mine := any("$_id")
	fields := bson.D{{Key: "_id", Value: 0}, {Key: "list", Value: literal(false)}, {Key: "a", Value: "$" + t.refID()}, {Key: "b", Value: "$_id"}, {Key: "gone", Value: isGone}}
	if t.versioned {
		mine = bson.D{{Key: "id", Value: "$_id"}, {Key: "v", Value: "$" + t.ref + ".v"}, {Key: "op", Value: "$" + t.ref + ".op"}}
		fields = append(fields, bson.E{Key: "v", Value: "$" + t.ref + ".v"}, bson.E{Key: "op", Value: "$" + t.ref + ".op"})
	}
	filter := bson.D{{Key: t.refID(), Value: bson.D{{Key: "$nin", Value: t.emptyRefs()}}}}
	if t.versioned {
		filter = append(filter, bson.E{Key: t.ref + ".v", Value: bson.D{{Key: "$gt", Value: 0}}})
	}
	return model.AggregateAs[HalfLink[OK, IK]](t.items, mongo.Pipeline{
		{{Key: "$match", Value: filter}},
		lookupID(t.owners.Name(), t.refID(), "doc"),
		{{Key: "$match", Value: bson.D{{Key: "$expr", Value: bson.D{{Key: "$not", Value: bson.A{bson.D{{Key: "$in", Value: bson.A{mine, firstList("doc." + t.list)}}}}}}}}}},
		{{Key: "$project", Value: fields}},
		halfLinkOrder,
	})
}

func literal(v any) bson.D { return bson.D{{Key: "$literal", Value: v}} }

// Repair returns the plan that mends half-links as the checks found them.
//
// TrustRefs believes the items: what only a list says is taken off the list, what only an item says is added to its
// owner's. TrustLists believes the lists: an item is given to the owner that lists it, and one that no list bears out is
// freed. Of several owners that list an item, the one that it names keeps it, else the first found; the others' lists lose
// it. Versioned links always trust the item, whose compare-and-set decided; TrustLists is refused for them. Whichever side
// is trusted, what leads to a document that is gone is taken away. Bounds are not enforced here.
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
	given := map[string]bool{} // items that TrustLists has given to an owner
	for _, h := range found {
		owner, err := encodeID(t.owners, t.items.Name(), t.ref, h.A)
		if err != nil {
			return model.RefusedPlan(t.owners.Name(), err)
		}
		item, err := encodeID(t.items, t.owners.Name(), t.list, h.B)
		if err != nil {
			return model.RefusedPlan(t.owners.Name(), err)
		}
		var w model.Write
		switch key := model.Shell(item); {
		case t.versioned:
			w = t.mendVersioned(h, owner, item)
		case !h.List && (h.Gone || trust == TrustLists):
			w = updateOne(t.items.Name(), bson.D{{Key: "_id", Value: model.Eq(item)}, {Key: t.ref, Value: model.Eq(owner)}},
				bson.D{{Key: "$unset", Value: bson.D{{Key: t.ref, Value: ""}}}})
		case !h.List:
			w = addToSet(t.owners.Name(), t.list, owner, item, 0)
		case h.Gone || h.Kept || trust == TrustRefs || given[key]:
			w = t.pull(owner, model.Eq(item))
		default:
			given[key] = true
			if w, err = t.give(h, owner, item); err != nil {
				return model.RefusedPlan(t.owners.Name(), err)
			}
		}
		w.Expect = model.Any // somebody may have mended it; the next check tells
		p.Steps = append(p.Steps, w)
	}
	return p
}

// give makes an item name an owner that lists it, if it still names whom the check saw, or nobody.
func (t *TwoWay[O, OK, I, IK]) give(h HalfLink[OK, IK], owner, item any) (model.Write, error) {
	names := t.emptyRefs()
	for _, id := range h.Names {
		v, err := encodeID(t.owners, t.items.Name(), t.ref, id)
		if err != nil {
			return model.Write{}, err
		}
		names = append(names, v)
	}
	return updateOne(t.items.Name(), bson.D{{Key: "_id", Value: model.Eq(item)}, {Key: t.ref, Value: bson.D{{Key: "$in", Value: names}}}}, set(t.ref, owner)), nil
}

// mendVersioned believes the item: a list's link is taken off or added, and one to an owner that is gone is ended, under
// the version and the token that the check saw.
func (t *TwoWay[O, OK, I, IK]) mendVersioned(h HalfLink[OK, IK], owner, item any) model.Write {
	switch {
	case h.List:
		return t.pull(owner, bson.D{{Key: "id", Value: model.Eq(item)}, {Key: "v", Value: h.V}, {Key: "op", Value: h.Op}})
	case h.Gone:
		w := updateOne(t.items.Name(), bson.D{{Key: "_id", Value: model.Eq(item)}, {Key: t.ref + ".v", Value: h.V}, {Key: t.ref + ".op", Value: h.Op}}, set(t.ref, ended(h.V+1, h.Op)))
		w.Once = true
		return w
	}
	w := updateOne(t.owners.Name(), bson.D{{Key: "_id", Value: model.Eq(owner)}, {Key: t.list + ".op", Value: bson.D{{Key: "$ne", Value: h.Op}}}},
		bson.D{{Key: "$push", Value: bson.D{{Key: t.list, Value: link(item, h.V, h.Op)}}}})
	w.Once = true
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
