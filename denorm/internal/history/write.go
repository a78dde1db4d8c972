package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

const (
	leavesRow  = "a revision that equals the document; the next change uses it"
	leavesGone = "a document that is marked as deleted; the next operation on it, or the repair of a check, deletes it"
)

// changing is an operation on one document: what it reads, and its plan.
type changing struct {
	reading
	note   Note
	decide func(s state) (model.Plan, error)
}

func (h *History) change(id any, note Note, op bson.ObjectID, err error, prepare func(c *changing)) model.Change[any] {
	c := changing{note: note, reading: reading{op: op, wanted: -1}}
	if err == nil {
		err = h.check(note, op)
	}
	if err == nil {
		c.one, err = h.one(id)
	}
	if err != nil {
		return commands.RefusedChange[any](h.docs.Name(), err)
	}
	prepare(&c)
	return model.Change[state]{
		Name: "history " + h.docs.Name(), Attempts: 100,
		Read: func(ctx context.Context, db model.DB) (state, error) { return h.read(ctx, db, c.reading) },
		Decide: func(s state) (model.Plan, error) {
			at, last, gone := h.revisedOf(s.doc)
			if gone && last == op { // this deletion was cut
				return c.decide(s)
			}
			if s.applied || s.doc != nil && last == op {
				return model.Plan{Applied: true}, nil
			}
			if err := h.clock(note, at, s.last); err != nil {
				return model.Plan{}, err
			}
			return c.decide(s)
		},
	}.Change()
}

// clock refuses a change before the last one.
func (h *History) clock(note Note, at time.Time, last bson.Raw) error {
	if t, ok := last.Lookup("at").TimeOK(); ok && t.After(at) {
		at = t
	}
	if ms := note.At.Truncate(time.Millisecond); ms.Before(at) {
		return fmt.Errorf("%w: %w", stored.ErrEarlier, h.docs.Refuse(h.revised+".at", note.At, "is before the last change's time, "+at.UTC().Format(time.RFC3339Nano)))
	}
	return nil
}

// there is the document if it is stored, and nobody deletes it.
func (h *History) there(s state) (bson.Raw, int64, error) {
	if _, _, gone := h.revisedOf(s.doc); s.doc == nil || gone {
		return nil, 0, model.ErrNotFound
	}
	v, err := h.versionOf(s.doc)
	return s.doc, v, err
}

// Set is the change that sets fields.
func (h *History) Set(id any, fields bson.D, note Note, op bson.ObjectID) model.Change[any] {
	set, err := h.docs.Set(fields)
	for _, f := range fields {
		if err == nil && h.keeps(f.Key) {
			err = h.docs.Refuse(f.Key, nil, "can't be set: the technique writes it")
		}
	}
	return h.change(id, note, op, err, func(c *changing) {
		c.decide = func(s state) (model.Plan, error) {
			doc, v, err := h.there(s)
			if err != nil {
				return model.Plan{}, err
			}
			update := bson.D{mql.E("$set", append(slices.Clone(set), mql.E(h.version, v+1), mql.E(h.revised, note.stored(op, false))))}
			return h.superseding(c, doc, v, nil, func(filter bson.D) mongo.WriteModel {
				return &mongo.UpdateOneModel{Filter: filter, Update: update}
			})
		}
	})
}

// Change is the change that replaces a document by what decide makes of it.
func (h *History) Change(id any, note Note, op bson.ObjectID, decide func(doc bson.Raw) (any, error)) model.Change[any] {
	var err error
	if decide == nil {
		err = h.docs.Refuse("decide", nil, "is nil: give a function that computes the change")
	}
	if err == nil {
		err = h.wholly()
	}
	return h.change(id, note, op, err, func(c *changing) {
		c.decide = func(s state) (model.Plan, error) {
			doc, v, err := h.there(s)
			if err != nil {
				return model.Plan{}, err
			}
			next, err := decide(doc)
			if err != nil {
				return model.Plan{}, err
			}
			raw, id, err := h.docs.Checked(next)
			if err == nil && !id.Equal(c.id) {
				err = h.docs.Refuse("_id", id, "isn't the _id of the document that was read")
			}
			if err != nil {
				return model.Plan{}, err
			}
			return h.replacing(c, doc, v, raw)
		}
	})
}

// wholly refuses to replace documents of which others write fields without counting the version up.
func (h *History) wholly() error {
	if len(h.spared) == 0 {
		return nil
	}
	return h.docs.Refuse("Uncounted", h.spared, "are declared in Uncounted, and a whole document would undo their changes: use Set")
}

func (h *History) replacing(c *changing, doc bson.Raw, v int64, next bson.Raw) (model.Plan, error) {
	next, err := h.stamped(next, v+1, c.note.stored(c.op, false))
	if err != nil {
		return model.Plan{}, err
	}
	return h.superseding(c, doc, v, nil, func(filter bson.D) mongo.WriteModel {
		return &mongo.ReplaceOneModel{Filter: filter, Replacement: next}
	})
}

// stamped is a document in a version, with the note of its change.
func (h *History) stamped(doc bson.Raw, version int64, note bson.D) (bson.Raw, error) {
	out, err := core.SetFields(doc, bson.D{mql.E(h.version, version), mql.E(h.revised, note)})
	if err != nil {
		return nil, h.docs.Refuse("document", nil, err.Error())
	}
	return out, h.checkSize(out)
}

// rowBytes is more than a revision takes beside the document and its _id.
const rowBytes = 256

func (h *History) checkSize(doc bson.Raw) error {
	if n := len(doc) + len(doc.Lookup("_id").Value) + rowBytes; n > model.MaxDocument {
		return h.docs.Refuse("document", nil, fmt.Sprintf("has %d bytes, which leaves no room for a revision in MongoDB's 16 MiB", len(doc)))
	}
	return nil
}

// row stores a version of a document, unless it is stored already. until is when it is superseded.
func (h *History) row(o one, version int64, doc bson.Raw, until time.Time) model.Write {
	at, op, gone := h.revisedOf(doc)
	fields := bson.D{mql.E("at", bson.NewDateTimeFromTime(at)), mql.E("doc", doc)}
	if !op.IsZero() {
		fields = append(fields, mql.E("token", op))
	}
	if gone {
		fields = append(fields, mql.E("gone", true))
	}
	return commands.UpsertOne(h.revisions.Name(), commands.ByID(o.rowID(version)), bson.D{
		mql.E("$setOnInsert", fields), mql.E("$max", bson.D{mql.E("until", bson.NewDateTimeFromTime(until))}),
	})
}

// at is the condition that a document has a version.
func (h *History) at(version int64) bson.D {
	if version == 0 {
		return bson.D{mql.E(h.version, mql.Op("$in", bson.A{int64(0), nil}))}
	}
	return bson.D{mql.E(h.version, version)}
}

// superseding stores the version that was read, and then writes the next one. kept is what is stored of the old version; nil is all.
func (h *History) superseding(c *changing, doc bson.Raw, version int64, kept bson.Raw, write func(filter bson.D) mongo.WriteModel) (model.Plan, error) {
	if kept == nil {
		kept = doc
	}
	if err := h.checkSize(kept); err != nil {
		return model.Plan{}, err
	}
	return commands.Leaving(leavesRow, h.row(c.one, version, kept, c.note.At), h.guarded(c.one, version, c.op, write)), nil
}

// guarded is a write to a document that still has a version.
func (h *History) guarded(o one, version int64, op bson.ObjectID, write func(filter bson.D) mongo.WriteModel) model.Write {
	return model.Write{
		Collection: h.docs.Name(), Expect: model.One, Once: true, Index: model.IDIndex,
		Model: write(model.And(o.byID, h.at(version))), Done: model.And(o.byID, bson.D{mql.E(h.revised+".op", op)}),
	}
}

// Insert is the change that stores a new document. checked is what model.Collection.Insert says of it.
func (h *History) Insert(ptr any, note Note, op bson.ObjectID) model.Change[any] {
	raw, id, err := h.docs.Checked(ptr)
	if err == nil {
		if v, bad := h.versionOf(raw); bad != nil || v != 0 {
			err = h.docs.Refuse(h.version, v, "must be 0 in a new document: the technique sets it")
		}
	}
	return h.change(id, note, op, err, func(c *changing) {
		c.last = true
		c.decide = func(s state) (model.Plan, error) {
			if _, _, gone := h.revisedOf(s.doc); s.doc != nil && !gone {
				return model.Plan{}, commands.Taken(h.docs.Name(), c.id, false)
			}
			return h.inserting(c, s, raw)
		}
	})
}

// inserting stores a document in the version after its last one.
func (h *History) inserting(c *changing, s state, raw bson.Raw) (model.Plan, error) {
	version := int64(1)
	var steps []model.Step
	if s.doc != nil { // somebody began to delete it
		v, err := h.versionOf(s.doc)
		if err != nil {
			return model.Plan{}, err
		}
		version, steps = v+1, h.buried(c.one, v, s.doc)
	} else if v, ok := s.last.Lookup("_id", "v").AsInt64OK(); ok {
		version = v + 1
	}
	doc, err := h.stamped(raw, version, c.note.stored(c.op, false))
	if err != nil {
		return model.Plan{}, err
	}
	w := model.Write{
		Collection: h.docs.Name(), Model: &mongo.InsertOneModel{Document: doc}, Index: model.IDIndex,
		Done:    model.And(c.byID, bson.D{mql.E(h.revised+".op", c.op)}),
		Reasons: []model.Reason{{If: c.byID, Err: commands.Taken(h.docs.Name(), c.id, false)}},
	}
	return commands.Leaving(leavesGone, append(steps, w)...), nil
}

// Delete is the change that deletes a document and keeps its versions.
func (h *History) Delete(id any, note Note, op bson.ObjectID) model.Change[any] {
	return h.change(id, note, op, nil, func(c *changing) {
		c.decide = func(s state) (model.Plan, error) {
			_, begun, gone := h.revisedOf(s.doc)
			if s.doc == nil || gone && begun != op {
				return model.Plan{}, model.ErrNotFound
			}
			v, err := h.versionOf(s.doc)
			if err != nil {
				return model.Plan{}, err
			}
			if gone {
				return commands.Leaving(leavesGone, h.buried(c.one, v, s.doc)...), nil
			}
			return h.deleting(c, s.doc, v)
		}
	})
}

func (h *History) deleting(c *changing, doc bson.Raw, v int64) (model.Plan, error) {
	mark := c.note.stored(c.op, true)
	plan, err := h.superseding(c, doc, v, nil, func(filter bson.D) mongo.WriteModel {
		return &mongo.UpdateOneModel{Filter: filter, Update: bson.D{mql.E("$set", bson.D{mql.E(h.version, v+1), mql.E(h.revised, mark)})}}
	})
	if err != nil {
		return plan, err
	}
	last, err := h.tombstone(c.id, v+1, mark)
	if err != nil {
		return plan, err
	}
	tomb := h.row(c.one, v+1, last, c.note.At)
	plan.InTx = []model.Step{plan.Steps[0], tomb, h.guarded(c.one, v, c.op, func(filter bson.D) mongo.WriteModel { return &mongo.DeleteOneModel{Filter: filter} })}
	final := plan.InTx[2].(model.Write)
	final.Final, final.Done = true, nil
	plan.InTx[2] = final
	plan.Steps = append(plan.Steps, tomb, h.bury(c.one, v+1))
	plan.Leaves = leavesRow + "; then " + leavesGone
	return plan, nil
}

// tombstone is what is kept of a document in the version in which it is gone.
func (h *History) tombstone(id bson.RawValue, version int64, mark any) (bson.Raw, error) {
	raw, err := bson.Marshal(bson.D{mql.E("_id", id)})
	if err == nil {
		raw, err = core.SetFields(raw, bson.D{mql.E(h.version, version), mql.E(h.revised, mark)})
	}
	return raw, err
}

// buried finishes a deletion that was begun.
func (h *History) buried(o one, version int64, doc bson.Raw) []model.Step {
	mark, _ := core.ValueAt(doc, h.revised)
	at, _, _ := h.revisedOf(doc)
	last, err := h.tombstone(o.id, version, mark)
	if err != nil {
		return []model.Step{model.Refused(h.docs.Name(), h.docs.Refuse("document", nil, err.Error()))}
	}
	return []model.Step{h.row(o, version, last, at), h.bury(o, version)}
}

func (h *History) bury(o one, version int64) model.Write {
	return commands.DeleteOne(h.docs.Name(), model.And(o.byID, h.at(version), bson.D{mql.E(h.revised+".gone", true)}))
}

// Restore is the change that makes an earlier version the newest.
func (h *History) Restore(id any, version int64, note Note, op bson.ObjectID) model.Change[any] {
	err := h.checkVersion(version)
	if err == nil {
		err = h.wholly()
	}
	return h.change(id, note, op, err, func(c *changing) {
		c.last, c.wanted = true, version
		c.decide = func(s state) (model.Plan, error) {
			old, ok := s.wanted.Lookup("doc").DocumentOK()
			if gone, _ := s.wanted.Lookup("gone").BooleanOK(); gone || !ok {
				return model.Plan{}, fmt.Errorf("docmodel: %s: version %d of %s: %w", h.docs.Name(), version, model.Shell(c.id), ErrNoRevision)
			}
			doc, v, err := h.there(s)
			switch {
			case err == model.ErrNotFound: // it was deleted
				return h.inserting(c, s, old)
			case err != nil:
				return model.Plan{}, err
			case v == version: // a change was cut, and left its revision
				return model.Plan{}, fmt.Errorf("docmodel: %s: version %d of %s is the newest: %w", h.docs.Name(), version, model.Shell(c.id), ErrNoRevision)
			}
			return h.replacing(c, doc, v, old)
		}
	})
}
