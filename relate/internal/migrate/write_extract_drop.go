package migrate

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ownersOf reads the owners that marked documents are copies of.
func (x *Extraction) ownersOf(b *batchReader, docs []bson.Raw, projection bson.D) (map[string]bson.Raw, error) {
	return b.byID(x.owners, idsOf(docs, x.mark+".of"), projection)
}

// sweep plans to delete the copies whose element is gone.
func (x *Extraction) sweep(b *batchReader, docs []bson.Raw) ([]model.Step, error) {
	owners, err := x.ownersOf(b, docs, commands.Fields(x.path))
	if err != nil {
		return nil, err
	}
	embedded := map[string]bool{}
	for key, o := range owners {
		for i, element := range x.elements(o) {
			if id, err := x.IDOf(o.Lookup("_id"), i, element); err == nil {
				embedded[key+"\x00"+bsonval.Key(id)] = true
			}
		}
	}
	var steps []model.Step
	for _, d := range docs {
		owner, id := valueAt(d, x.mark+".of"), d.Lookup("_id")
		switch {
		case embedded[bsonval.Key(owner)+"\x00"+bsonval.Key(id)]:
		case x.isOwn(d, owner):
			steps = append(steps, guardedDelete(x.docs, d))
		default:
			b.report(mismatchExtra, id, owner)
		}
	}
	return steps, nil
}

// dropElements plans to unset the elements, of a batch of owners, that documents hold.
func (x *Extraction) dropElements(b *batchReader, owners []bson.Raw) ([]model.Step, error) {
	all := x.extractAll(b, owners)
	var ids []bson.RawValue
	for _, e := range all {
		ids = append(ids, e.ids...)
	}
	stored, err := b.byID(x.docs, ids, nil)
	if err != nil {
		return nil, err
	}
	mine := map[string][]bson.Raw{}
	if x.parent != "" {
		if mine, err = x.docsOf(b, owners); err != nil {
			return nil, err
		}
	}
	var steps []model.Step
	for _, e := range all {
		id := e.owner.Lookup("_id")
		before := len(b.found)
		var missing, differing []bson.RawValue
		for i, want := range e.docs {
			was, ok := stored[bsonval.Key(e.ids[i])]
			if !ok {
				missing = append(missing, e.ids[i])
			} else if !x.says(was, want) {
				differing = append(differing, e.ids[i])
			}
		}
		b.reportSome(mismatchMissing, id, missing)
		b.reportSome(mismatchDiffering, id, differing)
		_, extra := partBy(idsOf(mine[bsonval.Key(id)], "_id"), e.ids)
		b.reportSome(mismatchExtra, id, extra)
		guard := bson.D{{Key: x.path, Value: as(valueAt(e.owner, x.path))}}
		if x.refs != "" {
			x.compareRefs(b, e)
			guard = append(guard, bson.E{Key: x.refs, Value: as(valueAt(e.owner, x.refs))})
		}
		if len(b.found) == before {
			steps = append(steps, guardedUpdate(x.owners, id, guard, stmt.Unset(x.path)))
		}
	}
	return steps, nil
}

// compareRefs reports what an owner's references lack, and what they have beside.
func (x *Extraction) compareRefs(b *batchReader, e extracted) {
	id, refs := e.owner.Lookup("_id"), x.ids(e.owner)
	kept, missing := partBy(e.ids, refs)
	_, extra := partBy(refs, e.ids)
	b.reportSome(mismatchMissing, id, missing)
	b.reportSome(mismatchExtra, id, extra)
	if len(missing)+len(extra) == 0 && !sameValues(kept, refs) {
		b.reportSome(mismatchOrder, id, refs)
	}
}

// dropMarks plans to take the marks off the documents whose elements have been dropped.
func (x *Extraction) dropMarks(b *batchReader, docs []bson.Raw) ([]model.Step, error) {
	owners, err := x.ownersOf(b, docs, commands.Fields(x.path))
	if err != nil {
		return nil, err
	}
	var steps []model.Step
	for _, d := range docs {
		owner := valueAt(d, x.mark+".of")
		if o, ok := owners[bsonval.Key(owner)]; ok && valueAt(o, x.path).Type != 0 {
			continue // reported with the owner
		}
		steps = append(steps, guardedUpdate(x.docs, d.Lookup("_id"), bson.D{{Key: x.mark + ".of", Value: as(owner)}}, stmt.Unset(x.mark)))
	}
	return steps, nil
}
