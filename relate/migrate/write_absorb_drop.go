package migrate

// The drop of Absorb: references and documents are removed where elements have their
// content.

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// dropRefs plans to remove the references of a batch of owners that embed all documents.
func (e embedding) dropRefs(b *batchReader, owners []bson.Raw) ([]model.Step, error) {
	docs, err := e.readBelonging(b, owners)
	if err != nil {
		return nil, err
	}
	// Owners that readBelonging has reported.
	bad := map[string]bool{}
	for _, m := range b.found {
		bad[bsonval.Key(m.ID)] = true
	}
	var steps []model.Step
	for _, o := range owners {
		id := o.Lookup("_id")
		before := len(b.found)
		e.compareDocs(b, o, docs[bsonval.Key(id)])
		if bad[bsonval.Key(id)] || len(b.found) > before {
			continue
		}
		// Both forms are in the filter, if they fit: whatever changes since the
		// comparison, the owner keeps its references.
		guard := bson.D{{Key: e.refs, Value: matchAsRead(readValue(o, e.refs))}}
		if v := readValue(o, e.path); len(v.Value) < core.MaxDocument-maxGuard {
			guard = append(guard, bson.E{Key: e.path, Value: matchAsRead(v)})
		}
		steps = append(steps, updateIfUnchanged(e.owners, id, guard, stmt.UnsetFields(e.refs)))
	}
	return steps, nil
}

// dropUnreferred plans to delete documents of a batch that an owner embeds and to which
// no owner refers. Embedded documents with other content are reported. Documents that
// nobody embeds don't belong to the migration.
func (e embedding) dropUnreferred(b *batchReader, docs []bson.Raw) ([]model.Step, error) {
	ids := readIDs(docs, "_id")
	// A document is kept as long as one owner refers to it, even if others embed it.
	referring, err := b.readBy(e.owners, e.refs, ids, commands.ProjectFields(e.refs), nil)
	if err != nil {
		return nil, err
	}
	referred := map[string]bool{}
	for _, o := range referring {
		for _, id := range e.readRefs(o) {
			referred[bsonval.Key(id)] = true
		}
	}
	embedding, err := b.readBy(e.owners, e.path+"."+e.Key, ids, commands.ProjectFields(e.path), nil)
	if err != nil {
		return nil, err
	}
	// Several owners can embed one document, each with its own content.
	bodies := map[string][]map[string]bson.RawValue{}
	for _, o := range embedding {
		for k, body := range e.mapBodies(o) {
			bodies[k] = append(bodies[k], body)
		}
	}
	var steps []model.Step
	for _, d := range docs {
		id := d.Lookup("_id")
		found := bodies[bsonval.Key(id)]
		if referred[bsonval.Key(id)] || len(found) == 0 {
			continue
		}
		if e.isOneOf(found, d) {
			steps = append(steps, deleteIfUnchanged(e.docs, d))
		} else {
			b.report(mismatchDiffering, id)
		}
	}
	return steps, nil
}

// isOneOf reports whether a document has one of some contents.
func (e embedding) isOneOf(bodies []map[string]bson.RawValue, doc bson.Raw) bool {
	want := e.readBody(doc)
	for _, b := range bodies {
		if isSameBody(b, want) {
			return true
		}
	}
	return false
}

// dropDocs plans to delete the documents of a batch of owners that embed them.
func (e embedding) dropDocs(b *batchReader, owners []bson.Raw) ([]model.Step, error) {
	docs, err := e.readBelonging(b, owners)
	if err != nil {
		return nil, err
	}
	var steps []model.Step
	for _, o := range owners {
		mine := docs[bsonval.Key(o.Lookup("_id"))]
		before := len(b.found)
		e.compareDocs(b, o, mine)
		// A disagreement was reported: nothing of this owner is dropped.
		if len(b.found) > before {
			continue
		}
		for _, d := range mine {
			steps = append(steps, deleteIfUnchanged(e.docs, d))
		}
	}
	return steps, nil
}
