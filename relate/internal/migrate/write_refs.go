package migrate

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// claim is a parent that lists a child, and where.
type claim struct {
	parent bson.RawValue
	at     int
}

// copyRefs plans what the references of a batch of children shall be.
func (v *Inversion) copyRefs(b *batchReader, children []bson.Raw) ([]model.Step, error) {
	parents, err := b.read(v.Parents, v.List, idsOf(children, "_id"), commands.Fields(v.List), stmt.Ascending(""))
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
		first := uniqueValues(core.Elements(valueAt(p, v.List)))
		for i, child := range first {
			k := bsonval.Key(child)
			claims[k] = append(claims[k], claim{id, i})
		}
	}
	var steps []model.Step
	for _, c := range children {
		id := c.Lookup("_id")
		by := claims[bsonval.Key(id)]
		if len(by) > 1 && !v.FirstWins {
			rivals := make([]bson.RawValue, len(by))
			for i := range by {
				rivals[i] = by[i].parent
			}
			b.report(mismatchShared, id, rivals...)
			continue
		}
		if update := v.refUpdate(c, by); update != nil {
			steps = append(steps, guardedUpdate(v.Children, id, v.refGuard(c), update))
		}
	}
	return steps, nil
}

// refUpdate is what makes a child hold the first of its claims, or nil when it does.
func (v *Inversion) refUpdate(child bson.Raw, by []claim) bson.D {
	ref, place := valueAt(child, v.Ref), v.place(child)
	if len(by) == 0 {
		if !isID(ref) {
			return nil
		}
		return stmt.Unset(v.Ref, v.Position)
	}
	want := bson.D{{Key: v.Ref, Value: by[0].parent}}
	same := bsonval.Key(ref) == bsonval.Key(by[0].parent)
	if v.Position != "" {
		at := rawOf(int32(by[0].at))
		want = append(want, bson.E{Key: v.Position, Value: at})
		same = same && bsonval.Key(place) == bsonval.Key(at)
	}
	if same {
		return nil
	}
	return bson.D{{Key: "$set", Value: want}}
}

func (v *Inversion) place(child bson.Raw) bson.RawValue {
	if v.Position == "" {
		return bson.RawValue{}
	}
	return valueAt(child, v.Position)
}

// refGuard is the condition that a child's reference and place are as they were read.
func (v *Inversion) refGuard(child bson.Raw) bson.D {
	d := bson.D{{Key: v.Ref, Value: as(valueAt(child, v.Ref))}}
	if v.Position != "" {
		d = append(d, bson.E{Key: v.Position, Value: as(v.place(child))})
	}
	return d
}

// dropLists plans to unset the lists, of a batch of parents, that their children bear out.
func (v *Inversion) dropLists(b *batchReader, parents []bson.Raw) ([]model.Step, error) {
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
		id, list := p.Lookup("_id"), valueAt(p, v.List)
		if list.Type != bson.TypeArray && idref.HoldsValue(list) {
			b.refuse(id, "isn't an array")
			continue
		}
		before := len(b.found)
		ids, again := splitDuplicates(core.Elements(list))
		b.reportSome(mismatchDuplicate, id, again)
		held := idsOf(mine[bsonval.Key(id)], "_id")
		listed, _ := partBy(ids, held)
		kept, extra := partBy(held, ids)
		b.reportSome(mismatchExtra, id, extra)
		if v.Position != "" && !sameValues(listed, kept) {
			b.reportSome(mismatchOrder, id, listed)
		}
		b.reportSome(mismatchDangling, id, others[i].dangling)
		b.reportSome(mismatchMissing, id, append(others[i].held, others[i].free...))
		if len(b.found) == before {
			steps = append(steps, guardedUpdate(v.Parents, id, bson.D{{Key: v.List, Value: as(list)}}, stmt.Unset(v.List)))
		}
	}
	return steps, nil
}
