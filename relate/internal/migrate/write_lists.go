package migrate

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// copyLists plans what the lists of a batch of parents shall be.
func (v *Inversion) copyLists(b *batchReader, parents []bson.Raw) ([]model.Step, error) {
	mine, err := v.childrenOf(b, parents)
	if err != nil {
		return nil, err
	}
	var steps []model.Step
	for _, p := range parents {
		id, list := p.Lookup("_id"), valueAt(p, v.List)
		ids := idsOf(mine[bsonval.Key(id)], "_id")
		if list.Type == bson.TypeArray && sameValues(core.Elements(list), ids) || !idref.HoldsValue(list) && len(ids) == 0 {
			continue
		}
		next := arrayOf(ids)
		if len(next.Value) > core.MaxDocument-len(p)-1024 {
			b.report(mismatchTooLarge, id)
			continue
		}
		steps = append(steps, guardedUpdate(v.Parents, id, bson.D{{Key: v.List, Value: as(list)}}, stmt.Set(v.List, next)))
	}
	return steps, nil
}

// dropRefs plans to unset the references that the lists of a batch of parents bear out.
func (v *Inversion) dropRefs(b *batchReader, parents []bson.Raw) ([]model.Step, error) {
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
		ids, again := splitDuplicates(core.Elements(valueAt(p, v.List)))
		b.reportSome(mismatchDuplicate, id, again)
		children := mine[bsonval.Key(id)]
		held := idsOf(children, "_id")
		listed, _ := partBy(ids, held)
		kept, missing := partBy(held, ids)
		b.reportSome(mismatchMissing, id, missing)
		if v.Position != "" && !sameValues(listed, kept) {
			b.reportSome(mismatchOrder, id, listed)
		}
		b.reportSome(mismatchDangling, id, others[i].dangling)
		b.reportSome(mismatchExtra, id, others[i].held)
		if len(b.found) > before {
			continue
		}
		for _, c := range children {
			steps = append(steps, guardedUpdate(v.Children, c.Lookup("_id"), v.refGuard(c), stmt.Unset(v.Ref, v.Position)))
		}
	}
	return steps, nil
}
