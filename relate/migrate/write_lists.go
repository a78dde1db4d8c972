package migrate

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// copyLists plans the lists of a batch of parents.
func (v *inversion) copyLists(b *batchReader, parents []bson.Raw) ([]model.Step, error) {
	mine, err := v.readChildren(b, parents)
	if err != nil {
		return nil, err
	}
	var steps []model.Step
	for _, p := range parents {
		id, list := p.Lookup("_id"), readValue(p, v.List)
		ids := readIDs(mine[bsonval.Key(id)], "_id")
		// The list is right already, or neither form has a child.
		if list.Type == bson.TypeArray && isSameList(core.Elements(list), ids) || !idref.IsValue(list) &&
			len(ids) == 0 {
			continue
		}
		next := encodeArray(ids)
		// The parent and its new list must fit in one document, with some room.
		if len(next.Value) > core.MaxDocument-len(p)-1024 {
			b.report(mismatchTooLarge, id)
			continue
		}
		steps = append(
			steps,
			updateIfUnchanged(
				v.Parents, id, bson.D{{Key: v.List, Value: matchAsRead(list)}}, stmt.SetField(v.List, next),
			),
		)
	}
	return steps, nil
}

// dropRefs plans to remove the references that the lists of a batch of parents repeat.
func (v *inversion) dropRefs(b *batchReader, parents []bson.Raw) ([]model.Step, error) {
	mine, err := v.readChildren(b, parents)
	if err != nil {
		return nil, err
	}
	// The listed children that don't refer to the parent: those who refer to another
	// parent are extra in this list.
	others, err := v.readUnheld(b, parents, mine)
	if err != nil {
		return nil, err
	}
	var steps []model.Step
	// A parent with any disagreement keeps the references of all its children.
	for i, p := range parents {
		id := p.Lookup("_id")
		before := len(b.found)
		ids, again := splitDuplicates(core.Elements(readValue(p, v.List)))
		b.reportSome(mismatchDuplicate, id, again)
		children := mine[bsonval.Key(id)]
		held := readIDs(children, "_id")
		listed, _ := partByValues(ids, held)
		kept, missing := partByValues(held, ids)
		b.reportSome(mismatchMissing, id, missing)
		if v.Position != "" && !isSameList(listed, kept) {
			b.reportSome(mismatchOrder, id, listed)
		}
		b.reportSome(mismatchDangling, id, others[i].dangling)
		b.reportSome(mismatchExtra, id, others[i].held)
		if len(b.found) > before {
			continue
		}
		// The reference and the place must be as they were read.
		for _, c := range children {
			steps = append(
				steps,
				updateIfUnchanged(v.Children, c.Lookup("_id"), v.guardRef(c), stmt.UnsetFields(v.Ref, v.Position)),
			)
		}
	}
	return steps, nil
}
