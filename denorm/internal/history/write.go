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
	leavesNew  = "a document in a version that no revision claims; if another revision has it, the next change or a check's repair raises it"
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
				return h.settling(&c, s, last)
			}
			if err := h.clock(note, at, s.last); err != nil {
				return model.Plan{}, err
			}
			return h.renumbering(&c, s)
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

// row stores a version of a document, unless it is stored already. until is when it is superseded. A revision under the same number with
// another token is another version: then the document has a number that isn't its own, and the change reads again.
func (h *History) row(o one, version int64, doc bson.Raw, until time.Time) model.Write {
	at, op, gone := h.revisedOf(doc)
	ended := bson.NewDateTimeFromTime(until)
	set := bson.D{
		mql.E("at", mql.IfNull("$at", bson.NewDateTimeFromTime(at))), mql.E("doc", mql.IfNull("$doc", mql.Literal(doc))),
		mql.E("until", mql.Op("$max", "$until", ended)),
	}
	if gone {
		set = append(set, mql.E("gone", true))
	}
	id := commands.ByID(o.rowID(version))
	w := commands.UpsertOne(h.revisions.Name(), append(bson.D{id[0]}, tokenIs("token", op)), mongo.Pipeline{mql.Set(set...)})
	w.Reasons = []model.Reason{{If: id, Err: model.ErrStale}}
	return w
}

// tokenIs is the condition that a path has a token. The zero token stands for a missing one.
func tokenIs(path string, op bson.ObjectID) bson.E {
	if op.IsZero() {
		return mql.E(path, mql.Exists(false))
	}
	return mql.E(path, op)
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
	return commands.Leaving(leavesRow, h.row(c.one, version, kept, c.note.At), h.guarded(c, doc, version, write)), nil
}

// asRead is the condition that a document is in the version that was read. Its token says that no other document has taken its place.
func (h *History) asRead(doc bson.Raw, version int64) bson.D {
	_, op, _ := h.revisedOf(doc)
	return append(h.at(version), tokenIs(h.revised+".op", op))
}

// guarded is a write to a document that is still in the version that was read.
func (h *History) guarded(c *changing, doc bson.Raw, version int64, write func(filter bson.D) mongo.WriteModel) model.Write {
	return model.Write{
		Collection: h.docs.Name(), Expect: model.One, Once: true, Index: model.IDIndex,
		Model: write(model.And(c.byID, h.asRead(doc, version))), Done: model.And(c.byID, bson.D{mql.E(h.revised+".op", c.op)}),
	}
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
	plan.InTx = []model.Step{plan.Steps[0], tomb, h.guarded(c, doc, v, func(filter bson.D) mongo.WriteModel { return &mongo.DeleteOneModel{Filter: filter} })}
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
