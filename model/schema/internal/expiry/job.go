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

// Archive is the job that moves what has expired by a time into the cold collection.
func (x *Expiry) Archive(now time.Time) model.Job {
	j := model.Job{Name: "archive " + x.Name(), Stages: []model.Stage{{
		Collection: x.Name(), Filter: x.Expired(now), Pipeline: beside("doc", x.cold, "cold"), Plan: x.move,
	}}}
	if x.cold == "" {
		j.Err = x.NoArchive()
	}
	return j
}

// move is the plan for a batch: all copies first, then all deletions.
func (x *Expiry) move(batch []bson.Raw) (model.Plan, error) {
	var copies, replaced, deletions []model.Step
	for _, d := range batch {
		doc, ok := d.Lookup("doc").DocumentOK()
		if !ok {
			return model.Plan{}, x.Refuse("doc", nil, "the batch wasn't read by the job's stages")
		}
		doc = bson.Raw(bytes.Clone(doc)) // a plan outlives its batch
		w, err := x.copyOf(doc, coldOf(d))
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
			Collection: x.Name(), Index: model.IDIndex, Final: true, Model: &mongo.DeleteOneModel{Filter: x.unchanged(doc)},
		})
	}
	p := model.NewPlan(slices.Concat(replaced, copies, deletions)...)
	p.Leaves = "documents in both collections; the next run deletes those that haven't changed"
	return p, nil
}

// coldOf is the archived copy that was read with a document, or nil.
func coldOf(d bson.Raw) bson.Raw {
	if list, ok := d.Lookup("cold").ArrayOK(); ok {
		if first, err := list.IndexErr(0); err == nil {
			return bson.Raw(bytes.Clone(first.Document()))
		}
	}
	return nil
}

// copyOf is the write that archives a document, given what is archived of it; without a model where that is the same.
func (x *Expiry) copyOf(doc, cold bson.Raw) (model.Write, error) {
	w := model.Write{Collection: x.cold, Index: model.IDIndex, Final: true} // a copy keeps its updatedAt
	id := bson.D{{Key: "_id", Value: mql.Eq(doc.Lookup("_id"))}}
	if cold == nil {
		w.Model = &mongo.InsertOneModel{Document: doc}
		w.Reasons = []model.Reason{{If: id, Err: model.ErrStale}} // another run archived it in another state: look again
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
	if !x.recounted(old, doc) {
		earlier = append(earlier, old)
	}
	if len(earlier) > 0 {
		d = append(d, bson.E{Key: earlierField, Value: earlier})
	}
	next, err := bson.Marshal(d)
	if err != nil {
		return w, err
	}
	w.Model = &mongo.ReplaceOneModel{Filter: core.AsRead(cold), Replacement: bson.Raw(next)}
	w.Expect, w.Done, w.Idempotent = model.One, core.AsRead(next), true
	return w, nil
}

// recounted reports whether a document differs from its copy by nothing but a later version, and Discard's mark: it was
// restored, or marked as living, and is else what is archived already.
func (x *Expiry) recounted(old, doc bson.Raw) bool {
	if x.version == "" {
		return false
	}
	was, _ := core.ValueAt(old, x.version)
	now, _ := core.ValueAt(doc, x.version)
	a, known := above(was)
	b, counts := above(now)
	if !known || !counts || a > b {
		return false
	}
	bare, err := rawdoc.RemoveFields(old, x.version, touchedField)
	if err != nil {
		return false
	}
	same, err := rawdoc.RemoveFields(doc, x.version, touchedField)
	return err == nil && bytes.Equal(bare, same)
}

// splitEarlier takes the copies that were replaced off an archived document.
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
