package relate

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
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

func (t *twoWay) checks() []model.Check {
	lists, refs := t.owners+"."+t.list, t.items+"."+t.ref
	var out []model.Check
	if t.versioned {
		rule := "no link of " + lists + " waits for its operation to decide"
		out = append(out, halfLinks(lists+": links that are not decided", t.owners, rule, append(t.checkLists(), waiting(true)), t.repair))
	}
	find := t.checkLists()
	if t.versioned {
		find = append(find, waiting(false))
	}
	return append(out,
		halfLinks(lists+": links that "+refs+" lacks", t.owners, leadsBack(lists, refs), find, t.repair),
		halfLinks(refs+": links that "+lists+" lacks", t.items, leadsBack(refs, lists), t.checkRefs(), t.repair),
	)
}

func (t *twoWay) checkLists() mongo.Pipeline {
	item := "$link"
	same := bson.D{{Key: "$in", Value: bson.A{"$_id", "$doc." + t.ref}}}
	fields := bson.D{{Key: "_id", Value: 0}, {Key: "list", Value: mql.Literal(true)}, {Key: "a", Value: "$_id"}, {Key: "gone", Value: isGone}}
	if t.versioned {
		item = "$link.id"
		same = bson.D{{Key: "$in", Value: bson.A{
			bson.D{{Key: "id", Value: "$_id"}, {Key: "v", Value: "$link.v"}, {Key: "op", Value: "$link.op"}}, "$doc." + t.ref,
		}}}
		fields = append(fields, bson.E{Key: "v", Value: "$link.v"}, bson.E{Key: "op", Value: "$link.op"}, bson.E{Key: "now", Value: firstNumber("doc." + t.ref + ".v")})
	} else {
		fields = append(fields, bson.E{Key: "names", Value: bson.D{{Key: "$setDifference", Value: bson.A{"$doc." + t.ref, mql.Literal(t.emptyRefs())}}}})
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
	fields := bson.D{{Key: "_id", Value: 0}, {Key: "list", Value: mql.Literal(false)}, {Key: "a", Value: "$" + t.refID()}, {Key: "b", Value: "$_id"}, {Key: "gone", Value: isGone}}
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

// repair is the plan that mends half-links.
func (t *twoWay) repair(found []halfLink) model.Plan {
	var p model.Plan
	given := map[string]bool{} // items that this plan gives to an owner
	for _, h := range found {
		key := bsonval.Key(h.B)
		if t.versioned {
			if h.undecided() && given[key] {
				continue // the next check takes the link off
			}
			given[key] = given[key] || h.undecided()
			p.Steps = append(p.Steps, t.mendVersioned(h)...)
			continue
		}
		var w model.Write
		switch {
		case !h.List && (h.Gone || t.trust == TrustLists):
			w = updateOne(t.items, bson.D{{Key: "_id", Value: model.Eq(h.B)}, {Key: t.ref, Value: model.Eq(h.A)}},
				bson.D{{Key: "$unset", Value: bson.D{{Key: t.ref, Value: ""}}}})
		case !h.List:
			w = addToSet(t.owners, t.list, h.A, h.B, 0)
		case h.Gone || h.Kept || t.trust == TrustRefs || given[key]:
			w = t.pull(h.A, model.Eq(h.B))
		default:
			given[key] = true
			w = t.give(h)
		}
		w.Expect = model.Any // somebody may have mended it; the next check tells
		p.Steps = append(p.Steps, w)
	}
	return p
}

// give makes an item name an owner that lists it, if the item still names whom the check saw, or nobody.
func (t *twoWay) give(h halfLink) model.Write {
	names := append(t.emptyRefs(), asArray(h.Names)...)
	return updateOne(t.items, bson.D{{Key: "_id", Value: model.Eq(h.B)}, {Key: t.ref, Value: bson.D{{Key: "$in", Value: names}}}}, set(t.ref, h.A))
}

// mendVersioned believes the item: a list's link is taken off or added, and one to an owner that is gone is ended, under the version
// and the token that the check saw. What an operation has yet to decide is decided for it.
func (t *twoWay) mendVersioned(h halfLink) []model.Step {
	var w model.Write
	switch {
	case h.List && h.undecided():
		w = updateOne(t.items, atVersion(h.B, t.ref+".v", h.Now), set(t.ref, link(h.A, h.V, h.Op)))
		w.Expect, w.Once = model.Any, true
		return []model.Step{w, t.sweep(h.B, h.V)}
	case h.List:
		w = t.pull(h.A, exactly(h.B, h.V, h.Op))
	case h.Gone:
		w = updateOne(t.items, append(atVersion(h.B, t.ref+".v", h.V), bson.E{Key: t.ref + ".op", Value: h.Op}), set(t.ref, ended(h.V+1, h.Op)))
	default:
		w = reserve(t.owners, t.list, h.A, h.B, h.V, h.Op, 0)
	}
	w.Expect, w.Once = model.Any, true
	return []model.Step{w}
}
