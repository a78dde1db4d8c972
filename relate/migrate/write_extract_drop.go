package migrate

// The drop of Extract: elements and marks are removed, and copies whose element is gone.

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// readOwners reads the owners of marked documents.
func (x *extraction) readOwners(b *batchReader, docs []bson.Raw, projection bson.D) (map[string]bson.Raw, error) {
	return b.readByID(x.owners, readIDs(docs, x.mark+".of"), projection)
}

// deleteOrphanCopies plans to delete the copies whose element was deleted since the last
// copy.
func (x *extraction) deleteOrphanCopies(b *batchReader, docs []bson.Raw) ([]model.Step, error) {
	owners, err := x.readOwners(b, docs, commands.ProjectFields(x.path))
	if err != nil {
		return nil, err
	}
	// Keys of owner and document: an element can move to another owner with its id.
	embedded := map[string]bool{}
	for key, o := range owners {
		for i, element := range x.readElements(o) {
			if id, err := x.IDOf(o.Lookup("_id"), i, element); err == nil {
				embedded[key+"\x00"+bsonval.Key(id)] = true
			}
		}
	}
	var steps []model.Step
	for _, d := range docs {
		owner, id := readValue(d, x.mark+".of"), d.Lookup("_id")
		switch {
		case embedded[bsonval.Key(owner)+"\x00"+bsonval.Key(id)]:
		case x.isOwn(d, owner):
			steps = append(steps, deleteIfUnchanged(x.docs, d))
		default:
			b.report(mismatchExtra, id, owner)
		}
	}
	return steps, nil
}

// dropElements plans to remove the elements of a batch of owners that documents have.
func (x *extraction) dropElements(b *batchReader, owners []bson.Raw) ([]model.Step, error) {
	all := x.extractAll(b, owners)
	var ids []bson.RawValue
	for _, e := range all {
		ids = append(ids, e.ids...)
	}
	stored, err := b.readByID(x.docs, ids, nil)
	if err != nil {
		return nil, err
	}
	// Documents with the owner's _id that don't come from an element are extra.
	mine := map[string][]bson.Raw{}
	if x.parent != "" {
		if mine, err = x.readDocs(b, owners); err != nil {
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
			} else if !x.hasSameContent(was, want) {
				differing = append(differing, e.ids[i])
			}
		}
		b.reportSome(mismatchMissing, id, missing)
		b.reportSome(mismatchDiffering, id, differing)
		_, extra := partByValues(readIDs(mine[bsonval.Key(id)], "_id"), e.ids)
		b.reportSome(mismatchExtra, id, extra)
		// The elements must be as they were compared; the documents can't be in the
		// filter.
		guard := bson.D{{Key: x.path, Value: matchAsRead(readValue(e.owner, x.path))}}
		if x.refs != "" {
			x.compareRefs(b, e)
			guard = append(guard, bson.E{Key: x.refs, Value: matchAsRead(readValue(e.owner, x.refs))})
		}
		if len(b.found) == before {
			steps = append(steps, updateIfUnchanged(x.owners, id, guard, stmt.UnsetFields(x.path)))
		}
	}
	return steps, nil
}

// compareRefs reports where an owner's references and elements disagree.
func (x *extraction) compareRefs(b *batchReader, e extracted) {
	id, refs := e.owner.Lookup("_id"), x.readRefs(e.owner)
	kept, missing := partByValues(e.ids, refs)
	_, extra := partByValues(refs, e.ids)
	b.reportSome(mismatchMissing, id, missing)
	b.reportSome(mismatchExtra, id, extra)
	if len(missing)+len(extra) == 0 && !isSameList(kept, refs) {
		b.reportSome(mismatchOrder, id, refs)
	}
}

// dropMarks plans to remove the marks of documents whose elements have been dropped.
func (x *extraction) dropMarks(b *batchReader, docs []bson.Raw) ([]model.Step, error) {
	owners, err := x.readOwners(b, docs, commands.ProjectFields(x.path))
	if err != nil {
		return nil, err
	}
	var steps []model.Step
	for _, d := range docs {
		owner := readValue(d, x.mark+".of")
		if o, ok := owners[bsonval.Key(owner)]; ok && readValue(o, x.path).Type != 0 {
			// The owner's elements weren't dropped, and the owner was reported.
			continue
		}
		steps = append(
			steps,
			updateIfUnchanged(
				x.docs, d.Lookup("_id"), bson.D{{Key: x.mark + ".of", Value: matchAsRead(owner)}},
				stmt.UnsetFields(x.mark),
			),
		)
	}
	return steps, nil
}
