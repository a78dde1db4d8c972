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

// A claim is a parent that lists a child, and the index in its list.
type claim struct {
	parent bson.RawValue
	at     int
}

// copyRefs plans the references of a batch of children.
func (v *inversion) copyRefs(b *batchReader, children []bson.Raw) ([]model.Step, error) {
	parents, err := b.readBy(
		v.Parents, v.List, readIDs(children, "_id"), commands.ProjectFields(v.List), stmt.SortAscending(""),
	)
	if err != nil {
		return nil, err
	}
	claims := map[string][]claim{}
	// A parent that lists children of several chunks is read several times.
	seen := map[string]bool{}
	for _, p := range parents {
		id := p.Lookup("_id")
		if seen[bsonval.Key(id)] {
			continue
		}
		seen[bsonval.Key(id)] = true
		first := removeDuplicates(core.Elements(readValue(p, v.List)))
		for i, child := range first {
			k := bsonval.Key(child)
			claims[k] = append(claims[k], claim{id, i})
		}
	}
	var steps []model.Step
	for _, c := range children {
		id := c.Lookup("_id")
		by := claims[bsonval.Key(id)]
		// A child can have only one parent. Parents are read in the order of _id, so the
		// first one is the same in each run.
		if len(by) > 1 && !v.FirstWins {
			rivals := make([]bson.RawValue, len(by))
			for i := range by {
				rivals[i] = by[i].parent
			}
			b.report(mismatchShared, id, rivals...)
			continue
		}
		if update := v.updateRef(c, by); update != nil {
			steps = append(steps, updateIfUnchanged(v.Children, id, v.guardRef(c), update))
		}
	}
	return steps, nil
}

// updateRef is the update that makes a child refer to the first parent that claims it, or
// nil.
func (v *inversion) updateRef(child bson.Raw, by []claim) bson.D {
	ref, place := readValue(child, v.Ref), v.readPlace(child)
	if len(by) == 0 {
		// No parent lists the child: its reference is removed, if it has one.
		if !isID(ref) {
			return nil
		}
		return stmt.UnsetFields(v.Ref, v.Position)
	}
	// by has one claim, or the earliest parent's claim comes first (FirstWins).
	want := bson.D{{Key: v.Ref, Value: by[0].parent}}
	same := bsonval.Key(ref) == bsonval.Key(by[0].parent)
	if v.Position != "" {
		at := encodeRaw(int32(by[0].at))
		want = append(want, bson.E{Key: v.Position, Value: at})
		same = same && bsonval.Key(place) == bsonval.Key(at)
	}
	if same {
		return nil
	}
	return bson.D{{Key: "$set", Value: want}}
}

// readPlace returns a child's stored index in the list.
func (v *inversion) readPlace(child bson.Raw) bson.RawValue {
	if v.Position == "" {
		return bson.RawValue{}
	}
	return readValue(child, v.Position)
}

// guardRef is the condition that a child's reference and index are as they were read.
func (v *inversion) guardRef(child bson.Raw) bson.D {
	d := bson.D{{Key: v.Ref, Value: matchAsRead(readValue(child, v.Ref))}}
	if v.Position != "" {
		d = append(d, bson.E{Key: v.Position, Value: matchAsRead(v.readPlace(child))})
	}
	return d
}

// dropLists plans to remove the lists of a batch of parents that their children repeat.
func (v *inversion) dropLists(b *batchReader, parents []bson.Raw) ([]model.Step, error) {
	mine, err := v.readChildren(b, parents)
	if err != nil {
		return nil, err
	}
	others, err := v.readUnheld(b, parents, mine)
	if err != nil {
		return nil, err
	}
	var steps []model.Step
	for i, p := range parents {
		id, list := p.Lookup("_id"), readValue(p, v.List)
		// Something else is stored in the list's place. It isn't removed unread.
		if list.Type != bson.TypeArray && idref.IsValue(list) {
			b.refuse(id, "isn't an array")
			continue
		}
		before := len(b.found)
		ids, again := splitDuplicates(core.Elements(list))
		b.reportSome(mismatchDuplicate, id, again)
		held := readIDs(mine[bsonval.Key(id)], "_id")
		listed, _ := partByValues(ids, held)
		kept, extra := partByValues(held, ids)
		b.reportSome(mismatchExtra, id, extra)
		if v.Position != "" && !isSameList(listed, kept) {
			b.reportSome(mismatchOrder, id, listed)
		}
		b.reportSome(mismatchDangling, id, others[i].dangling)
		b.reportSome(mismatchMissing, id, append(others[i].held, others[i].free...))
		if len(b.found) == before {
			steps = append(
				steps,
				updateIfUnchanged(
					v.Parents, id, bson.D{{Key: v.List, Value: matchAsRead(list)}}, stmt.UnsetFields(v.List),
				),
			)
		}
	}
	return steps, nil
}
