package relate

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (t *twoWay) refID() string  { return t.idPath(t.ref) }
func (t *twoWay) listID() string { return t.idPath(t.list) }

func (t *twoWay) idPath(path string) string {
	if t.versioned {
		return path + ".id"
	}
	return path
}

// naming is the filter of the items that name an owner, listing that of the owners that list an item.
//
//go:noinline
func (t *twoWay) naming(owner any) bson.D { return bson.D{{Key: t.refID(), Value: model.Eq(owner)}} }

//go:noinline
func (t *twoWay) listing(item any) bson.D { return bson.D{{Key: t.listID(), Value: model.Eq(item)}} }

//go:noinline
func (t *twoWay) refIndex() model.Index {
	x := model.NewIndex(t.items, bson.D{{Key: t.refID(), Value: 1}, {Key: "_id", Value: 1}})
	x.Why = "the " + t.items + " of a document of " + t.owners
	return x
}

//go:noinline
func (t *twoWay) listIndex() model.Index {
	x := model.NewIndex(t.owners, bson.D{{Key: t.listID(), Value: 1}})
	x.Why = "the documents of " + t.owners + " that list a document of " + t.items
	return x
}

func (t *twoWay) checkLists() mongo.Pipeline {
	item := "$link"
	same := bson.D{{Key: "$in", Value: bson.A{"$_id", "$doc." + t.ref}}}
	fields := bson.D{{Key: "_id", Value: 0}, {Key: "list", Value: literal(true)}, {Key: "a", Value: "$_id"}, {Key: "gone", Value: isGone}}
	if t.versioned {
		item = "$link.id"
		same = bson.D{{Key: "$in", Value: bson.A{
			bson.D{{Key: "id", Value: "$_id"}, {Key: "v", Value: "$link.v"}, {Key: "op", Value: "$link.op"}}, "$doc." + t.ref,
		}}}
		fields = append(fields, bson.E{Key: "v", Value: "$link.v"}, bson.E{Key: "op", Value: "$link.op"}, bson.E{Key: "now", Value: firstNumber("doc." + t.ref + ".v")})
	} else {
		fields = append(fields, bson.E{Key: "names", Value: bson.D{{Key: "$setDifference", Value: bson.A{"$doc." + t.ref, literal(t.emptyRefs())}}}})
	}
	stages := mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "link", Value: "$" + t.list}}}},
		{{Key: "$unwind", Value: "$link"}},
		lookupID(t.items, item[1:], "doc"),
		{{Key: "$match", Value: bson.D{{Key: "$expr", Value: bson.D{{Key: "$not", Value: bson.A{same}}}}}}},
		{{Key: "$project", Value: append(fields, bson.E{Key: "b", Value: item})}},
	}
	if !t.versioned {
		stages = append(stages, lookupID(t.owners, "names", "other"), bson.D{{Key: "$set", Value: bson.D{
			{Key: "kept", Value: bson.D{{Key: "$in", Value: bson.A{"$b", firstList("other." + t.list)}}}},
		}}}, bson.D{{Key: "$unset", Value: "other"}})
	}
	return append(stages, halfLinkOrder)
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

// firstNumber is the number that a document looked up holds, or 0.
func firstNumber(path string) bson.D {
	return bson.D{{Key: "$ifNull", Value: bson.A{bson.D{{Key: "$arrayElemAt", Value: bson.A{"$" + path, 0}}}, int64(0)}}}
}

func (t *twoWay) checkRefs() mongo.Pipeline {
	mine := any("$_id")
	fields := bson.D{{Key: "_id", Value: 0}, {Key: "list", Value: literal(false)}, {Key: "a", Value: "$" + t.refID()}, {Key: "b", Value: "$_id"}, {Key: "gone", Value: isGone}}
	if t.versioned {
		mine = bson.D{{Key: "id", Value: "$_id"}, {Key: "v", Value: "$" + t.ref + ".v"}, {Key: "op", Value: "$" + t.ref + ".op"}}
		fields = append(fields, bson.E{Key: "v", Value: "$" + t.ref + ".v"}, bson.E{Key: "op", Value: "$" + t.ref + ".op"}, bson.E{Key: "now", Value: "$" + t.ref + ".v"})
	}
	filter := bson.D{{Key: t.refID(), Value: bson.D{{Key: "$nin", Value: t.emptyRefs()}}}}
	if t.versioned {
		filter = append(filter, bson.E{Key: t.ref + ".v", Value: bson.D{{Key: "$gt", Value: 0}}})
	}
	return mongo.Pipeline{
		{{Key: "$match", Value: filter}},
		lookupID(t.owners, t.refID(), "doc"),
		{{Key: "$match", Value: bson.D{{Key: "$expr", Value: bson.D{{Key: "$not", Value: bson.A{bson.D{{Key: "$in", Value: bson.A{mine, firstList("doc." + t.list)}}}}}}}}}},
		{{Key: "$project", Value: fields}},
		halfLinkOrder,
	}
}

func literal(v any) bson.D { return bson.D{{Key: "$literal", Value: v}} }

// repair is the plan that mends half-links.
func (t *twoWay) repair(found []half, trust Side) model.Plan {
	if t.versioned && trust == TrustLists {
		return model.RefusedPlan(t.owners, &model.ValueError{
			Collection: t.owners, Field: "trust", Reason: "versioned links are decided by the item: use TrustRefs",
		})
	}
	var p model.Plan
	given := map[string]bool{} // items that TrustLists has given to an owner
	for _, h := range found {
		if h.err != nil {
			return model.RefusedPlan(t.owners, h.err)
		}
		owner, item := h.a, h.b
		if t.versioned {
			p.Steps = append(p.Steps, t.mendVersioned(h)...)
			continue
		}
		var w model.Write
		switch key := model.Shell(item); {
		case !h.list && (h.gone || trust == TrustLists):
			w = updateOne(t.items, bson.D{{Key: "_id", Value: model.Eq(item)}, {Key: t.ref, Value: model.Eq(owner)}},
				bson.D{{Key: "$unset", Value: bson.D{{Key: t.ref, Value: ""}}}})
		case !h.list:
			w = addToSet(t.owners, t.list, owner, item, 0)
		case h.gone || h.kept || trust == TrustRefs || given[key]:
			w = t.pull(owner, model.Eq(item))
		default:
			given[key] = true
			if h.namesErr != nil {
				return model.RefusedPlan(t.owners, h.namesErr)
			}
			w = t.give(h, owner, item)
		}
		w.Expect = model.Any // somebody may have mended it; the next check tells
		p.Steps = append(p.Steps, w)
	}
	return p
}

// give makes an item name an owner that lists it, if it still names whom the check saw, or nobody.
func (t *twoWay) give(h half, owner, item any) model.Write {
	names := append(t.emptyRefs(), h.names...)
	return updateOne(t.items, bson.D{{Key: "_id", Value: model.Eq(item)}, {Key: t.ref, Value: bson.D{{Key: "$in", Value: names}}}}, set(t.ref, owner))
}

// mendVersioned believes the item: a list's link is taken off or added, and one to an owner that is gone is ended, under the version
// and the token that the check saw. What an operation has yet to decide is decided for it.
func (t *twoWay) mendVersioned(h half) []model.Step {
	var w model.Write
	switch {
	case h.list && !h.gone && h.v == h.now+1:
		w = updateOne(t.items, atVersion(h.b, t.ref+".v", h.now), set(t.ref, link(h.a, h.v, h.op)))
		w.Expect, w.Once = model.Any, true
		return []model.Step{w, t.sweep(h.b, h.v)}
	case h.list:
		w = t.pull(h.a, exactly(h.b, h.v, h.op))
	case h.gone:
		w = updateOne(t.items, append(atVersion(h.b, t.ref+".v", h.v), bson.E{Key: t.ref + ".op", Value: h.op}), set(t.ref, ended(h.v+1, h.op)))
	default:
		w = reserve(t.owners, t.list, h.a, h.b, h.v, h.op, 0)
	}
	w.Expect, w.Once = model.Any, true
	return []model.Step{w}
}
