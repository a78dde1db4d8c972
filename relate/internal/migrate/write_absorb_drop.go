package migrate

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// dropRefs plans to unset the references, of a batch of owners, whose documents are embedded.
func (e Embedding) dropRefs(b *batchReader, owners []bson.Raw) ([]model.Step, error) {
	docs, err := e.belonging(b, owners)
	if err != nil {
		return nil, err
	}
	bad := map[string]bool{} // owners that are reported already
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
		guard := bson.D{{Key: e.refs, Value: as(valueAt(o, e.refs))}}
		if v := valueAt(o, e.path); len(v.Value) < core.MaxDocument-maxGuard {
			guard = append(guard, bson.E{Key: e.path, Value: as(v)})
		}
		steps = append(steps, guardedUpdate(e.owners, id, guard, stmt.Unset(e.refs)))
	}
	return steps, nil
}

// dropUnreferred plans to delete the documents of a batch that an owner embeds and none refers to. Others that are
// embedded, with other content, are reported; those that nobody embeds are none of the migration's.
func (e Embedding) dropUnreferred(b *batchReader, docs []bson.Raw) ([]model.Step, error) {
	ids := idsOf(docs, "_id")
	referring, err := b.read(e.owners, e.refs, ids, commands.Fields(e.refs), nil)
	if err != nil {
		return nil, err
	}
	referred := map[string]bool{}
	for _, o := range referring {
		for _, id := range e.ids(o) {
			referred[bsonval.Key(id)] = true
		}
	}
	embedding, err := b.read(e.owners, e.path+"."+e.Key, ids, commands.Fields(e.path), nil)
	if err != nil {
		return nil, err
	}
	bodies := map[string][]map[string]bson.RawValue{}
	for _, o := range embedding {
		for k, body := range e.embeds(o) {
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
		if e.oneOf(found, d) {
			steps = append(steps, guardedDelete(e.docs, d))
		} else {
			b.report(mismatchDiffering, id)
		}
	}
	return steps, nil
}

func (e Embedding) oneOf(bodies []map[string]bson.RawValue, doc bson.Raw) bool {
	want := e.body(doc)
	for _, b := range bodies {
		if sameBody(b, want) {
			return true
		}
	}
	return false
}

// dropDocs plans to delete the documents that hold an owner of a batch, which embeds them.
func (e Embedding) dropDocs(b *batchReader, owners []bson.Raw) ([]model.Step, error) {
	docs, err := e.belonging(b, owners)
	if err != nil {
		return nil, err
	}
	var steps []model.Step
	for _, o := range owners {
		mine := docs[bsonval.Key(o.Lookup("_id"))]
		before := len(b.found)
		e.compareDocs(b, o, mine)
		if len(b.found) > before {
			continue
		}
		for _, d := range mine {
			steps = append(steps, guardedDelete(e.docs, d))
		}
	}
	return steps, nil
}
