package relate

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ToRefs returns the migration from the lists to the references.
//
// Copy goes through the children, finds the parents that list each, and stores the parent's id and the child's place; a
// child that nobody lists loses both. Drop goes through the parents and unsets a list that all its children bear out. A
// batch of n children costs their read, the read of the parents that list them (by the index on the list; each comes with
// its whole list), and one update command of as many documents as differ; a batch of n parents the read of their children
// (by the index on the reference), and one update command.
//
// A list is dropped only if it is still as it was read, so a child that is added to it meanwhile keeps it.
func (v *Invert[P, PK, C, CK]) ToRefs() Migration { return v.in.toRefs() }

func (v *inversion) toRefs() Migration {
	name := "to refs: " + v.parents + "." + v.list + " > " + v.children + "." + v.ref
	state := newState(v.spec.State, name).over(v.children, holdsID(v.ref), v.spec.Overwrite)
	return Migration{
		state: state,
		copy: func() Pass {
			return v.pass("copy "+name, state, false, passStage{
				collection: v.children, projection: fieldsProjection(v.ref, v.spec.Order), plan: v.copyRefs,
			})
		},
		drop: func() Pass {
			return v.pass("drop "+name, state, true, passStage{
				collection: v.parents, projection: fieldsProjection(v.list), filter: exists(v.list, true), plan: v.dropLists,
			})
		},
		verify: func() model.Aggregate[Mismatch] { return v.verifyRefs(state) },
	}
}

// claim is a parent that lists a child, and where.
type claim struct {
	parent bson.RawValue
	at     int
}

// copyRefs plans what the references of a batch of children shall be.
func (v *inversion) copyRefs(b *batchReader, children []bson.Raw) ([]model.Step, error) {
	parents, err := b.read(v.parents, v.list, idsOf(children, "_id"), fieldsProjection(v.list), bson.D{{Key: "_id", Value: 1}})
	if err != nil {
		return nil, err
	}
	claims := map[string][]claim{}
	seen := map[string]bool{} // a parent may come in several chunks
	for _, p := range parents {
		id := p.Lookup("_id")
		if seen[bsonval.Key(id)] {
			continue
		}
		seen[bsonval.Key(id)] = true
		first := uniqueValues(valuesOf(valueAt(p, v.list)))
		for i, child := range first {
			k := bsonval.Key(child)
			claims[k] = append(claims[k], claim{id, i})
		}
	}
	var steps []model.Step
	for _, c := range children {
		id := c.Lookup("_id")
		by := claims[bsonval.Key(id)]
		if len(by) > 1 && v.spec.Shared == RefuseShared {
			rivals := make([]bson.RawValue, len(by))
			for i := range by {
				rivals[i] = by[i].parent
			}
			b.report(MismatchShared, id, rivals...)
			continue
		}
		if update := v.refUpdate(c, by); update != nil {
			steps = append(steps, guardedUpdate(v.children, id, v.refGuard(c), update))
		}
	}
	return steps, nil
}

// refUpdate is what makes a child hold the first of its claims, or nil when it does.
func (v *inversion) refUpdate(child bson.Raw, by []claim) bson.D {
	ref, place := valueAt(child, v.ref), v.place(child)
	if len(by) == 0 {
		if !isID(ref) {
			return nil
		}
		return unsetOf(v.ref, v.spec.Order)
	}
	want := bson.D{{Key: v.ref, Value: by[0].parent}}
	same := bsonval.Key(ref) == bsonval.Key(by[0].parent)
	if v.spec.Order != "" {
		at := rawOf(int32(by[0].at))
		want = append(want, bson.E{Key: v.spec.Order, Value: at})
		same = same && bsonval.Key(place) == bsonval.Key(at)
	}
	if same {
		return nil
	}
	return bson.D{{Key: "$set", Value: want}}
}

func (v *inversion) place(child bson.Raw) bson.RawValue {
	if v.spec.Order == "" {
		return bson.RawValue{}
	}
	return valueAt(child, v.spec.Order)
}

// refGuard is the condition that a child's reference and place are as they were read.
func (v *inversion) refGuard(child bson.Raw) bson.D {
	d := bson.D{{Key: v.ref, Value: as(valueAt(child, v.ref))}}
	if v.spec.Order != "" {
		d = append(d, bson.E{Key: v.spec.Order, Value: as(v.place(child))})
	}
	return d
}

// dropLists plans to unset the lists, of a batch of parents, that their children bear out.
func (v *inversion) dropLists(b *batchReader, parents []bson.Raw) ([]model.Step, error) {
	mine, err := v.childrenOf(b, parents)
	if err != nil {
		return nil, err
	}
	others, err := v.unheld(b, parents, mine)
	if err != nil {
		return nil, err
	}
	var steps []model.Step
	for i, p := range parents {
		id, list := p.Lookup("_id"), valueAt(p, v.list)
		if list.Type != bson.TypeArray && holdsValue(list) {
			b.refuse(id, "the list is no array")
			continue
		}
		before := len(b.found)
		ids, again := splitDuplicates(valuesOf(list))
		b.reportSome(MismatchDuplicate, id, again)
		held := idsOf(mine[bsonval.Key(id)], "_id")
		listed, _ := partBy(ids, held)
		kept, extra := partBy(held, ids)
		b.reportSome(MismatchExtra, id, extra)
		if v.spec.Order != "" && !sameValues(listed, kept) {
			b.reportSome(MismatchOrder, id, listed)
		}
		b.reportSome(MismatchDangling, id, others[i].dangling)
		b.reportSome(MismatchMissing, id, append(others[i].held, others[i].free...))
		if len(b.found) == before {
			steps = append(steps, guardedUpdate(v.parents, id, bson.D{{Key: v.list, Value: as(list)}}, unsetOf(v.list)))
		}
	}
	return steps, nil
}

// unheldIDs are the ids in a list whose children don't hold the parent: they hold another or none, or don't exist.
type unheldIDs struct{ held, free, dangling []bson.RawValue }

// unheld looks them up, for a batch of parents. Under FirstWins a child that holds an earlier parent is left out.
func (v *inversion) unheld(b *batchReader, parents []bson.Raw, mine map[string][]bson.Raw) ([]unheldIDs, error) {
	rest := make([][]bson.RawValue, len(parents))
	var all []bson.RawValue
	for i, p := range parents {
		id := p.Lookup("_id")
		_, rest[i] = partBy(uniqueValues(valuesOf(valueAt(p, v.list))), idsOf(mine[bsonval.Key(id)], "_id"))
		all = append(all, rest[i]...)
	}
	docs, err := b.byID(v.children, all, fieldsProjection(v.ref))
	if err != nil {
		return nil, err
	}
	out := make([]unheldIDs, len(parents))
	for i, p := range parents {
		for _, child := range rest[i] {
			doc, ok := docs[bsonval.Key(child)]
			ref := valueAt(doc, v.ref)
			switch {
			case !ok:
				out[i].dangling = append(out[i].dangling, child)
			case !isID(ref):
				out[i].free = append(out[i].free, child)
			case v.spec.Shared == FirstWins && sortsBefore(ref, p.Lookup("_id")):
			default:
				out[i].held = append(out[i].held, child)
			}
		}
	}
	return out, nil
}

// verifyRefs compares from the parents' side, and adds the children whose reference leads nowhere.
func (v *inversion) verifyRefs(state migrationState) model.Aggregate[Mismatch] {
	unheld := mql.Op("$in", mql.Op("$ifNull", "$$c.ref", nil), noID())
	if v.spec.Shared == FirstWins {
		unheld = mql.Op("$or", unheld, mql.Op("$gt", "$$c.ref", "$_id"))
	} else {
		unheld = mql.Op("$or", unheld, mql.Op("$ne", "$$c.ref", "$_id"))
	}
	stages := v.compared(state)
	stages = append(stages, bson.D{{Key: "$match", Value: bson.D{{Key: "$or", Value: bson.A{
		bson.D{{Key: "has", Value: true}}, bson.D{{Key: "dropping", Value: bson.D{{Key: "$size", Value: 0}}}},
	}}}}})
	stages = append(stages, rows(v.parents, v.common(
		foundList{MismatchMissing, mql.Map(filterThe("$there", "c", unheld), "c", "$$c._id")},
		foundList{MismatchExtra, notAmong("$mine._id", "$ids")},
	)...)...)
	stages = append(stages, danglingRefs(v.children, v.ref, v.parents, MismatchExtra))
	return model.AggregateAs[Mismatch](model.NewCollection[bson.D, any](v.parents), stages)
}

// compared are the stages that put both forms of a parent side by side: ids, mine, there.
func (v *inversion) compared(state migrationState) mongo.Pipeline {
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "ids", Value: mql.List(v.list)}, {Key: "has", Value: mql.Op("$ne", mql.Op("$type", "$"+v.list), "missing")}}}},
		state.lookup(),
		lookupDocs(v.children, "_id", v.ref, "mine", v.order(), "_id"),
		{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: v.children}, {Key: "localField", Value: "ids"}, {Key: "foreignField", Value: "_id"},
			{Key: "pipeline", Value: mongo.Pipeline{{{Key: "$project", Value: bson.D{{Key: "ref", Value: "$" + v.ref}}}}}},
			{Key: "as", Value: "there"},
		}}},
	}
}

// common adds the mismatches that both directions have.
func (v *inversion) common(lists ...foundList) []foundList {
	lists = append(lists,
		foundList{MismatchDangling, notAmong("$ids", "$there._id")},
		foundList{MismatchDuplicate, repeated("$ids")},
	)
	if v.spec.Order != "" {
		lists = append(lists, foundList{MismatchOrder, orderOf(among(distinct("$ids"), "$mine._id"), among("$mine._id", "$ids"))})
	}
	return lists
}
