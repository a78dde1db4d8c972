package expiry

import (
	"bytes"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/rawdoc"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// MakeArchiveJob returns the job that moves documents that have expired at now into the archive.
func (x *Expiry) MakeArchiveJob(now time.Time) model.Job {
	j := model.Job{Name: "archive " + x.Name(), Stages: []model.Stage{{
		Collection: x.Name(), Filter: x.MatchExpired(now), Pipeline: lookUpOther("doc", x.cold, "cold"),
		Plan: x.planArchive,
	}}}
	if x.cold == "" {
		j.Err = x.RefuseWithoutArchive()
	}
	return j
}

// planArchive is the job's plan for one batch of the stage's results {_id, doc, cold: […]}. Replacements come first,
// then inserts, then deletes. So all inserts are one command, all deletes are one command, and no document is deleted
// before its copy is stored.
func (x *Expiry) planArchive(batch []bson.Raw) (model.Plan, error) {
	var copies, replaced, deletions []model.Step
	for _, d := range batch {
		doc, ok := d.Lookup("doc").DocumentOK()
		if !ok {
			return model.Plan{}, x.Refuse("doc", nil, "the batch wasn't read by the job's stages")
		}
		doc = bson.Raw(bytes.Clone(doc)) // a plan outlives its batch
		w, err := x.planCopy(doc, readCopy(d))
		if err != nil {
			return model.Plan{}, err
		}
		switch w.Model.(type) {
		case *mongo.InsertOneModel:
			copies = append(copies, w)
		case *mongo.ReplaceOneModel:
			replaced = append(replaced, w)
		}
		deletions = append(deletions, model.Write{
			Collection: x.Name(), Index: model.IDIndex, Final: true,
			Model: &mongo.DeleteOneModel{Filter: x.matchUnchanged(doc)},
		})
	}
	p := model.NewPlan(slices.Concat(replaced, copies, deletions)...)
	p.Leaves = "documents in both collections; the next run deletes those that haven't changed"
	return p, nil
}

// readCopy returns the archived copy in a result of the stage, or nil.
func readCopy(d bson.Raw) bson.Raw {
	if list, ok := d.Lookup("cold").ArrayOK(); ok {
		if first, err := list.IndexErr(0); err == nil {
			return bson.Raw(bytes.Clone(first.Document()))
		}
	}
	return nil
}

// planCopy returns the write that archives a document. cold is the copy that the archive has, or nil. The write has no
// Model if the archive already has the same copy.
func (x *Expiry) planCopy(doc, cold bson.Raw) (model.Write, error) {
	// Final: a scope that sets fields in each write, such as updatedAt, leaves the copy as it is.
	w := model.Write{Collection: x.cold, Index: model.IDIndex, Final: true}
	id := bson.D{{Key: "_id", Value: mql.Eq(doc.Lookup("_id"))}}
	if cold == nil {
		w.Model = &mongo.InsertOneModel{Document: doc}
		// Another run of the job archived the document as it was at another time: look again.
		w.Reasons = []model.Reason{{If: id, Err: model.ErrStale}}
		return w, nil
	}
	old, earlier, err := splitEarlier(cold)
	if err != nil || bytes.Equal(old, doc) {
		return w, err
	}
	elems, err := doc.Elements()
	if err != nil {
		return w, err
	}
	d := make(bson.D, 0, len(elems)+1)
	for _, e := range elems {
		d = append(d, bson.E{Key: e.Key(), Value: e.Value()})
	}
	if !x.isRecounted(old, doc) {
		earlier = append(earlier, old)
	}
	if len(earlier) > 0 {
		d = append(d, bson.E{Key: earlierField, Value: earlier})
	}
	next, err := bson.Marshal(d)
	if err != nil {
		return w, err
	}
	// Only the copy that was read is replaced: another run may have added a copy to archivedEarlier.
	w.Model = &mongo.ReplaceOneModel{Filter: core.AsRead(cold), Replacement: bson.Raw(next)}
	w.Expect, w.Done, w.Idempotent = model.One, core.AsRead(next), true
	return w, nil
}

// isRecounted reports whether a document differs from its copy only by a later version and by the mark of Discard. It
// was restored, or marked, and expired again without another change. Then the copy needn't be kept in archivedEarlier.
func (x *Expiry) isRecounted(old, doc bson.Raw) bool {
	if x.version == "" {
		return false
	}
	was, _ := core.ValueAt(old, x.version)
	now, _ := core.ValueAt(doc, x.version)
	a, known := incrementVersion(was)
	b, counts := incrementVersion(now)
	if !known || !counts || a > b {
		return false
	}
	bare, err := rawdoc.RemoveFields(old, x.version, discardField)
	if err != nil {
		return false
	}
	same, err := rawdoc.RemoveFields(doc, x.version, discardField)
	return err == nil && bytes.Equal(bare, same)
}

// splitEarlier returns an archived copy without archivedEarlier, and the list of archivedEarlier.
func splitEarlier(cold bson.Raw) (doc bson.Raw, earlier bson.A, err error) {
	list := cold.Lookup(earlierField)
	if list.Type == 0 {
		return cold, nil, nil
	}
	elems, err := cold.Elements()
	if err != nil {
		return nil, nil, err
	}
	var d bson.D
	for _, e := range elems {
		if e.Key() != earlierField {
			d = append(d, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	if values, ok := list.ArrayOK(); ok {
		all, err := values.Values()
		if err != nil {
			return nil, nil, err
		}
		for _, v := range all {
			earlier = append(earlier, v)
		}
	}
	doc, err = bson.Marshal(d)
	return doc, earlier, err
}
