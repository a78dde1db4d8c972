package history

// This file has the changes of stored documents, and the parts that all changes share.

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What a crash leaves after each kind of write, for model.Plan.Leaves. The package
// comment says how it is repaired.
const (
	leavesRow = "a revision that equals the document; the next change uses it"
	leavesNew = "a document in a version that no revision claims; if another revision has it, the next change or a " +
		"check's repair raises it"
	leavesGone = "a document that is marked as deleted; the next operation on it, or the repair of a check, deletes it"
)

// A changing is an operation on one document: what it reads, and how it decides. The
// methods that start an operation set decide.
type changing struct {
	reading
	note revisionNote
	// Returns the plan. It is called again for each attempt with a new state.
	decide func(s state) (model.Plan, error)
}

// makeChange returns the change of an operation. prepare completes it; it runs only if
// the arguments are valid.
func (h *untypedHistory) makeChange(
	id any, note revisionNote, op bson.ObjectID, err error, prepare func(c *changing),
) model.Change {
	c := changing{note: note, reading: reading{op: op, wanted: -1}}
	if err == nil {
		err = h.checkNote(note, op)
	}
	if err == nil {
		c.document, err = h.checkID(id)
	}
	if err != nil {
		return commands.RefuseChange(h.docs.Name(), err)
	}
	prepare(&c)
	return model.ChangeOf[state]{
		Name: "history " + h.docs.Name(), Attempts: 100,
		Read: func(ctx context.Context, db model.DB) (state, error) { return h.readState(ctx, db, c.reading) },
		Decide: func(s state) (model.Plan, error) {
			at, last, gone := h.readNote(s.doc)
			if gone && last == op { // this deletion was cut
				return c.decide(s)
			}
			if s.applied || s.doc != nil && last == op {
				return h.planSettling(&c, s, last)
			}
			if err := h.checkClock(note, at, s.last); err != nil {
				return model.Plan{}, err
			}
			return h.planWithRenumbering(&c, s)
		},
	}.Change()
}

// checkClock refuses a change with an earlier time than the last change. Times are
// compared in milliseconds, as they are stored.
func (h *untypedHistory) checkClock(note revisionNote, at time.Time, last bson.Raw) error {
	if t, ok := last.Lookup("at").TimeOK(); ok && t.After(at) {
		at = t
	}
	if ms := note.At.Truncate(time.Millisecond); ms.Before(at) {
		return fmt.Errorf("%w: %w", stored.ErrEarlier,
			h.docs.Refuse(h.revised+".at", note.At,
				"is before the last change's time, "+at.UTC().Format(time.RFC3339Nano)))
	}
	return nil
}

// readLiveDocument returns the document and its version. A document that is marked as
// gone counts as missing.
func (h *untypedHistory) readLiveDocument(s state) (bson.Raw, int64, error) {
	if _, _, gone := h.readNote(s.doc); s.doc == nil || gone {
		return nil, 0, model.ErrNotFound
	}
	v, err := h.readVersion(s.doc)
	return s.doc, v, err
}

// setFields is the change that sets fields. It refuses fields that the technique writes.
func (h *untypedHistory) setFields(id any, fields bson.D, note revisionNote, op bson.ObjectID) model.Change {
	set, err := h.docs.Set(fields)
	for _, f := range fields {
		if err == nil && h.isReserved(f.Key) {
			err = h.docs.Refuse(f.Key, nil, "can't be set: the technique writes it")
		}
	}
	prepare := func(c *changing) {
		c.decide = func(s state) (model.Plan, error) {
			doc, v, err := h.readLiveDocument(s)
			if err != nil {
				return model.Plan{}, err
			}
			update := bson.D{
				mql.E("$set",
					append(slices.Clone(set), mql.E(h.version, v+1), mql.E(h.revised, note.encodeNote(op, false)))),
			}
			return h.planNextVersion(c, doc, v, nil, func(filter bson.D) mongo.WriteModel {
				return &mongo.UpdateOneModel{Filter: filter, Update: update}
			})
		}
	}
	return h.makeChange(id, note, op, err, prepare)
}

// changeDocument is the change that replaces a document by the result of decide.
func (h *untypedHistory) changeDocument(
	id any, note revisionNote, op bson.ObjectID, decide func(doc bson.Raw) (any, error),
) model.Change {
	var err error
	if decide == nil {
		err = h.docs.Refuse("decide", nil, "is nil: give a function that computes the change")
	}
	if err == nil {
		err = h.refuseUncounted()
	}
	prepare := func(c *changing) {
		c.decide = func(s state) (model.Plan, error) {
			doc, v, err := h.readLiveDocument(s)
			if err != nil {
				return model.Plan{}, err
			}
			next, err := decide(doc)
			if err != nil {
				return model.Plan{}, err
			}
			raw, id, err := h.docs.EncodeChecked(next)
			if err == nil && !id.Equal(c.id) {
				err = h.docs.Refuse("_id", id, "isn't the _id of the document that was read")
			}
			if err != nil {
				return model.Plan{}, err
			}
			return h.planReplacement(c, doc, v, raw)
		}
	}
	return h.makeChange(id, note, op, err, prepare)
}

// refuseUncounted refuses to replace whole documents if other techniques write fields
// without counting the version up: the replacement would undo their writes.
func (h *untypedHistory) refuseUncounted() error {
	if len(h.spared) == 0 {
		return nil
	}
	return h.docs.Refuse("Uncounted", h.spared,
		"are declared in Uncounted, and a whole document would undo their changes: use Set")
}

// planReplacement writes next as the next version.
func (h *untypedHistory) planReplacement(c *changing, doc bson.Raw, v int64, next bson.Raw) (model.Plan, error) {
	next, err := h.stampDocument(next, v+1, c.note.encodeNote(c.op, false))
	if err != nil {
		return model.Plan{}, err
	}
	return h.planNextVersion(c, doc, v, nil, func(filter bson.D) mongo.WriteModel {
		return &mongo.ReplaceOneModel{Filter: filter, Replacement: next}
	})
}

// stampDocument returns a document with a version and the note of its change.
func (h *untypedHistory) stampDocument(doc bson.Raw, version int64, note bson.D) (bson.Raw, error) {
	out, err := core.SetFields(doc, bson.D{mql.E(h.version, version), mql.E(h.revised, note)})
	if err != nil {
		return nil, h.docs.Refuse("document", nil, err.Error())
	}
	return out, h.checkSize(out)
}

// rowBytes is more than the bytes of a revision beside the document and its _id.
const rowBytes = 256

// checkSize refuses a document that leaves no room for its revision within MongoDB's
// limit of 16 MiB
// (https://www.mongodb.com/docs/manual/reference/limits/#mongodb-limit-BSON-Document-Size).
func (h *untypedHistory) checkSize(doc bson.Raw) error {
	if n := len(doc) + len(doc.Lookup("_id").Value) + rowBytes; n > model.MaxDocument {
		return h.docs.Refuse("document", nil,
			fmt.Sprintf("has %d bytes, which leaves no room for a revision in MongoDB's 16 MiB", len(doc)))
	}
	return nil
}

// storeRevision stores a version of a document, unless it is stored already. until is the
// time of the next version. A revision of the same number with another token is another
// version: then the document has a number that isn't its own, and the change reads again.
func (h *untypedHistory) storeRevision(o document, version int64, doc bson.Raw, until time.Time) model.Write {
	at, op, gone := h.readNote(doc)
	ended := bson.NewDateTimeFromTime(until)
	set := bson.D{
		mql.E("at", mql.IfNull("$at", bson.NewDateTimeFromTime(at))),
		mql.E("doc", mql.IfNull("$doc", mql.Literal(doc))),
		mql.E("until", mql.Op("$max", "$until", ended)),
	}
	if gone {
		set = append(set, mql.E("gone", true))
	}
	id := commands.MatchID(o.makeRevisionID(version))
	w := commands.UpsertOne(h.revisions.Name(), append(bson.D{id[0]}, matchToken("token", op)),
		mongo.Pipeline{mql.Set(set...)})
	w.Reasons = []model.Reason{{If: id, Err: model.ErrStale}}
	return w
}

// matchToken is the condition that a path has a token. The zero token stands for a
// missing one.
func matchToken(path string, op bson.ObjectID) bson.E {
	if op.IsZero() {
		return mql.E(path, mql.Exists(false))
	}
	return mql.E(path, op)
}

// matchVersion is the condition that a document has a version. Version 0 can also be
// missing.
func (h *untypedHistory) matchVersion(version int64) bson.D {
	if version == 0 {
		return bson.D{mql.E(h.version, mql.Op("$in", bson.A{int64(0), nil}))}
	}
	return bson.D{mql.E(h.version, version)}
}

// planNextVersion stores the version that was read, and then writes the next one. kept is
// the part of the old version that is stored; nil stores all of it.
func (h *untypedHistory) planNextVersion(
	c *changing, doc bson.Raw, version int64, kept bson.Raw, write func(filter bson.D) mongo.WriteModel,
) (model.Plan, error) {
	if kept == nil {
		kept = doc
	}
	if err := h.checkSize(kept); err != nil {
		return model.Plan{}, err
	}
	return commands.PlanLeaving(leavesRow, h.storeRevision(c.document, version, kept, c.note.At),
		h.writeGuarded(c, doc, version, write)), nil
}

// matchAsRead is the condition that a document is in the version that was read. Its token
// shows that no other document with the same number has taken its place.
func (h *untypedHistory) matchAsRead(doc bson.Raw, version int64) bson.D {
	_, op, _ := h.readNote(doc)
	return append(h.matchVersion(version), matchToken(h.revised+".op", op))
}

// writeGuarded is a write of a document that is still in the version that was read.
func (h *untypedHistory) writeGuarded(
	c *changing, doc bson.Raw, version int64, write func(filter bson.D) mongo.WriteModel,
) model.Write {
	return model.Write{
		Collection: h.docs.Name(), Expect: model.One, Idempotent: true, Index: model.IDIndex,
		Model: write(bsondoc.JoinFilters(c.byID, h.matchAsRead(doc, version))),
		Done:  bsondoc.JoinFilters(c.byID, bson.D{mql.E(h.revised+".op", c.op)}),
	}
}

// deleteDocument is the change that deletes a document and keeps its versions. It also
// finishes its own earlier attempt.
func (h *untypedHistory) deleteDocument(id any, note revisionNote, op bson.ObjectID) model.Change {
	prepare := func(c *changing) {
		c.decide = func(s state) (model.Plan, error) {
			_, begun, gone := h.readNote(s.doc)
			if s.doc == nil || gone && begun != op {
				return model.Plan{}, model.ErrNotFound
			}
			v, err := h.readVersion(s.doc)
			if err != nil {
				return model.Plan{}, err
			}
			if gone {
				return commands.PlanLeaving(leavesGone, h.finishDeletion(c.document, v, s.doc)...), nil
			}
			return h.planDeletion(c, s.doc, v)
		}
	}
	return h.makeChange(id, note, op, nil, prepare)
}

// planDeletion marks the document, stores the tombstone, and deletes the document. In a
// transaction the mark isn't needed.
func (h *untypedHistory) planDeletion(c *changing, doc bson.Raw, v int64) (model.Plan, error) {
	mark := c.note.encodeNote(c.op, true)
	plan, err := h.planNextVersion(c, doc, v, nil, func(filter bson.D) mongo.WriteModel {
		return &mongo.UpdateOneModel{
			Filter: filter,
			Update: bson.D{mql.E("$set", bson.D{mql.E(h.version, v+1), mql.E(h.revised, mark)})},
		}
	})
	if err != nil {
		return plan, err
	}
	last, err := h.makeTombstone(c.id, v+1, mark)
	if err != nil {
		return plan, err
	}
	tomb := h.storeRevision(c.document, v+1, last, c.note.At)
	plan.InTx = []model.Step{
		plan.Steps[0], tomb,
		h.writeGuarded(c, doc, v, func(filter bson.D) mongo.WriteModel {
			return &mongo.DeleteOneModel{Filter: filter}
		}),
	}
	final := plan.InTx[2].(model.Write)
	final.Final, final.Done = true, nil
	plan.InTx[2] = final
	plan.Steps = append(plan.Steps, tomb, h.deleteMarked(c.document, v+1))
	plan.Leaves = leavesRow + "; then " + leavesGone
	return plan, nil
}

// makeTombstone returns the document of a deletion's revision: the _id, the version and
// the note.
func (h *untypedHistory) makeTombstone(id bson.RawValue, version int64, mark any) (bson.Raw, error) {
	raw, err := bson.Marshal(bson.D{mql.E("_id", id)})
	if err == nil {
		raw, err = core.SetFields(raw, bson.D{mql.E(h.version, version), mql.E(h.revised, mark)})
	}
	return raw, err
}

// finishDeletion returns the rest of a deletion that was begun: the tombstone, then the
// deletion.
func (h *untypedHistory) finishDeletion(o document, version int64, doc bson.Raw) []model.Step {
	mark, _ := core.ValueAt(doc, h.revised)
	at, _, _ := h.readNote(doc)
	last, err := h.makeTombstone(o.id, version, mark)
	if err != nil {
		return []model.Step{model.Refused(h.docs.Name(), h.docs.Refuse("document", nil, err.Error()))}
	}
	return []model.Step{h.storeRevision(o, version, last, at), h.deleteMarked(o, version)}
}

// deleteMarked deletes a document that is marked as gone in this version.
func (h *untypedHistory) deleteMarked(o document, version int64) model.Write {
	return commands.DeleteOne(h.docs.Name(),
		bsondoc.JoinFilters(o.byID, h.matchVersion(version), bson.D{mql.E(h.revised+".gone", true)}))
}
