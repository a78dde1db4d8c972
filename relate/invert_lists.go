package relate

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ToLists returns the migration from the references to the lists.
//
// Copy goes through the parents, reads the children of each in order, and stores their ids. Drop goes through the parents
// and unsets the reference, and the place, of each child that its parent lists. A batch of n parents costs their read, the
// read of their children (by the index on the reference), and one update command of as many documents as differ. A list
// that is 16 MiB by itself is reported; one that its document has no room for fails in the server, and ends the pass.
//
// A reference is dropped only if it, and the place, are still as they were read. A child of a parent that doesn't exist,
// and a listed id without a child, are reported and left alone.
func (v *Invert[P, PK, C, CK]) ToLists() Migration { return v.in.toLists() }

func (v *inversion) toLists() Migration {
	name := "to lists: " + v.children + "." + v.ref + " > " + v.parents + "." + v.list
	state := newState(v.spec.State, name).over(v.parents, exists(v.list+".0", true), v.spec.Overwrite)
	return Migration{
		state: state,
		copy: func() Pass {
			return v.pass("copy "+name, state, false, passStage{
				collection: v.parents, projection: fieldsProjection(v.list), plan: v.copyLists,
			})
		},
		drop: func() Pass {
			return v.pass("drop "+name, state, true, passStage{
				collection: v.parents, projection: fieldsProjection(v.list), filter: exists(v.list, true), plan: v.dropRefs,
			})
		},
		verify: func() model.Aggregate[Mismatch] { return v.verifyLists(state) },
	}
}

// copyLists plans what the lists of a batch of parents shall be.
func (v *inversion) copyLists(b *batchReader, parents []bson.Raw) ([]model.Step, error) {
	mine, err := v.childrenOf(b, parents)
	if err != nil {
		return nil, err
	}
	var steps []model.Step
	for _, p := range parents {
		id, list := p.Lookup("_id"), valueAt(p, v.list)
		ids := idsOf(mine[bsonval.Key(id)], "_id")
		if list.Type == bson.TypeArray && sameValues(valuesOf(list), ids) || !holdsValue(list) && len(ids) == 0 {
			continue
		}
		next := arrayOf(ids)
		if len(next.Value) > model.MaxDocument-len(p)-1024 {
			b.report(MismatchTooLarge, id)
			continue
		}
		steps = append(steps, guardedUpdate(v.parents, id, bson.D{{Key: v.list, Value: as(list)}}, set(v.list, next)))
	}
	return steps, nil
}

// dropRefs plans to unset the references that the lists of a batch of parents bear out.
func (v *inversion) dropRefs(b *batchReader, parents []bson.Raw) ([]model.Step, error) {
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
		id := p.Lookup("_id")
		before := len(b.found)
		ids, again := splitDuplicates(valuesOf(valueAt(p, v.list)))
		b.reportSome(MismatchDuplicate, id, again)
		children := mine[bsonval.Key(id)]
		held := idsOf(children, "_id")
		listed, _ := partBy(ids, held)
		kept, missing := partBy(held, ids)
		b.reportSome(MismatchMissing, id, missing)
		if v.spec.Order != "" && !sameValues(listed, kept) {
			b.reportSome(MismatchOrder, id, listed)
		}
		b.reportSome(MismatchDangling, id, others[i].dangling)
		b.reportSome(MismatchExtra, id, others[i].held)
		if len(b.found) > before {
			continue
		}
		for _, c := range children {
			steps = append(steps, guardedUpdate(v.children, c.Lookup("_id"), v.refGuard(c), unsetOf(v.ref, v.spec.Order)))
		}
	}
	return steps, nil
}

// verifyLists compares from the parents' side, and adds the children whose reference leads nowhere. A child without a
// reference may be listed once the drop has begun.
func (v *inversion) verifyLists(state migrationState) model.Aggregate[Mismatch] {
	free := mql.Op("$in", mql.Op("$ifNull", "$$c.ref", nil), noID())
	other := mql.Op("$and", mql.Op("$not", bson.A{free}), mql.Op("$ne", "$$c.ref", "$_id"))
	detached := mql.Op("$and", free, mql.Op("$eq", "$dropping", bson.A{}))
	stages := append(v.compared(state), rows(v.parents, v.common(
		foundList{MismatchMissing, notAmong("$mine._id", "$ids")},
		foundList{MismatchExtra, mql.Map(filterThe("$there", "c", mql.Op("$or", other, detached)), "c", "$$c._id")},
	)...)...)
	stages = append(stages, danglingRefs(v.children, v.ref, v.parents, MismatchMissing))
	return model.AggregateAs[Mismatch](model.NewCollection[bson.D, any](v.parents), stages)
}
