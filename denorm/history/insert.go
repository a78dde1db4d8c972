package history

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An insert reads the newest revision's number, stores the document under the next
// number, and then claims this number in the revisions. Between the read and the insert,
// others can insert, change and delete the document. Then its number is old:
//
//	read       the newest revision is 3
//	insert     {_id: "a", version: 4}
//	claim      {_id: {id: "a", v: 4}, token}
//
// A stored document keeps others from inserting one, and its changes store a revision of
// its number first. So no revision is added between the insert and the claim, and the
// claim meets a duplicate key if the number is old. The insert then deletes the document
// and reads again. If it can't, the document is misnumbered: the next change stores no
// revision of it, because the revision under its number has another token, and gives it
// the number after the newest revision. In a transaction, the insert itself conflicts
// with others' inserts since the read, and needs no claim.

// insertDocument is the change that stores a new document. ptr points to it.
func (h *untypedHistory) insertDocument(ptr any, note revisionNote, op bson.ObjectID) model.Change {
	raw, id, err := h.docs.EncodeChecked(ptr)
	if err == nil {
		if v, bad := h.readVersion(raw); bad != nil || v != 0 {
			err = h.docs.Refuse(h.version, v, "must be 0 in a new document: the technique sets it")
		}
	}
	prepare := func(c *changing) {
		c.last = true
		c.decide = func(s state) (model.Plan, error) {
			if _, _, gone := h.readNote(s.doc); s.doc != nil && !gone {
				return model.Plan{}, commands.NewTakenError(h.docs.Name(), c.id, false)
			}
			return h.planInsert(c, s, raw)
		}
	}
	return h.makeChange(id, note, op, err, prepare)
}

// planInsert stores a document in the version after its last one. If the insert is stale,
// IfStale deletes the document again, because its number belongs to another version.
func (h *untypedHistory) planInsert(c *changing, s state, raw bson.Raw) (model.Plan, error) {
	version := int64(1)
	var steps []model.Step
	if s.doc != nil { // somebody began to delete it
		v, err := h.readVersion(s.doc)
		if err != nil {
			return model.Plan{}, err
		}
		version, steps = v+1, h.finishDeletion(c.document, v, s.doc)
	} else if v, ok := s.last.Lookup("_id", "v").AsInt64OK(); ok {
		version = v + 1
	}
	doc, err := h.stampDocument(raw, version, c.note.encodeNote(c.op, false))
	if err != nil {
		return model.Plan{}, err
	}
	w := model.Write{
		Collection: h.docs.Name(), Model: &mongo.InsertOneModel{Document: doc}, Index: model.IDIndex,
		Done:    bsondoc.JoinFilters(c.byID, bson.D{mql.E(h.revised+".op", c.op)}),
		Reasons: []model.Reason{{If: c.byID, Err: commands.NewTakenError(h.docs.Name(), c.id, false)}},
	}
	p := commands.PlanLeaving(leavesNew, append(slices.Clone(steps), w, h.claimVersion(c, version))...)
	if len(steps) > 0 {
		p.Leaves = leavesGone + "; then " + leavesNew
	}
	p.InTx = append(slices.Clone(steps), w)
	asRead := bsondoc.JoinFilters(c.byID, h.matchAsRead(doc, version))
	p.IfStale = []model.Step{commands.DeleteOne(h.docs.Name(), asRead)}
	return p, nil
}

// restoreVersion is the change that makes an earlier version the newest.
func (h *untypedHistory) restoreVersion(id any, version int64, note revisionNote, op bson.ObjectID) model.Change {
	err := h.checkVersion(version)
	if err == nil {
		err = h.refuseUncounted()
	}
	prepare := func(c *changing) {
		c.last, c.wanted = true, version
		c.decide = func(s state) (model.Plan, error) {
			old, ok := s.wanted.Lookup("doc").DocumentOK()
			if gone, _ := s.wanted.Lookup("gone").BooleanOK(); gone || !ok {
				return model.Plan{},
					fmt.Errorf("docmodel: %s: version %d of %s: %w", h.docs.Name(), version,
						model.Shell(c.id), ErrNoRevision)
			}
			doc, v, err := h.readLiveDocument(s)
			switch {
			case err == model.ErrNotFound: // it was deleted
				return h.planInsert(c, s, old)
			case err != nil:
				return model.Plan{}, err
			case v == version: // a change was cut, and left its revision
				return model.Plan{},
					fmt.Errorf("docmodel: %s: version %d of %s is the newest: %w", h.docs.Name(), version,
						model.Shell(c.id), ErrNoRevision)
			}
			return h.planReplacement(c, doc, v, old)
		}
	}
	return h.makeChange(id, note, op, err, prepare)
}

// claimVersion stores the number of an inserted document without the document. While the
// document exists, nobody else adds a revision: so a claimed number is higher than the
// number of each revision.
func (h *untypedHistory) claimVersion(c *changing, version int64) model.Write {
	id := commands.MatchID(c.makeRevisionID(version))
	token := mql.E("token", c.op)
	return model.Write{
		Collection: h.revisions.Name(), Index: model.IDIndex, Idempotent: true,
		Model: &mongo.InsertOneModel{Document: bson.D{
			mql.E("_id", c.makeRevisionID(version)), token, mql.E("at", bson.NewDateTimeFromTime(c.note.At)),
		}},
		Done: bson.D{id[0], token, mql.E("doc", mql.Exists(false))},
		Reasons: []model.Reason{
			// another run inserted the document, and it was changed
			{If: bson.D{id[0], token}, Err: model.ErrStale, Instead: []model.Step{}},
			{If: id, Err: model.ErrStale},
		},
	}
}

// findNewerRevision reports whether a document is misnumbered: there is a later revision,
// or another version's revision of its number.
func (h *untypedHistory) findNewerRevision(s state) (newest int64, old bool) {
	v, err := h.readVersion(s.doc)
	newest, ok := s.last.Lookup("_id", "v").AsInt64OK()
	_, op, gone := h.readNote(s.doc)
	if err != nil || !ok || s.doc == nil || gone {
		return 0, false
	}
	token, _ := s.last.Lookup("token").ObjectIDOK()
	return newest, newest > v || newest == v && token != op
}

// planWithRenumbering gives a misnumbered document the number after the newest revision,
// before the operation.
func (h *untypedHistory) planWithRenumbering(c *changing, s state) (model.Plan, error) {
	newest, old := h.findNewerRevision(s)
	if !old {
		return c.decide(s)
	}
	raise, next, err := h.raiseVersion(c.document, s, newest+1)
	if err != nil {
		return model.Plan{}, err
	}
	s.doc = next
	p, err := c.decide(s)
	if err != nil || len(p.Steps) == 0 {
		return p, err
	}
	if p.InTx != nil {
		p.InTx = append([]model.Step{raise}, p.InTx...)
	}
	p.Steps = append([]model.Step{raise}, p.Steps...)
	return p, nil
}

// raiseVersion returns the write that gives a document a higher number, and the document
// after it. The version then begins after the newest revision, because findAsOf chooses
// by time.
func (h *untypedHistory) raiseVersion(o document, s state, version int64) (model.Write, bson.Raw, error) {
	v, err := h.readVersion(s.doc)
	if err == nil {
		err = h.checkVersion(version)
	}
	if err != nil {
		return model.Write{}, nil, err
	}
	set := bson.D{mql.E(h.version, version)}
	at, op, _ := h.readNote(s.doc)
	if last, ok := s.last.Lookup("at").TimeOK(); ok && last.After(at) && !op.IsZero() {
		set = append(set, mql.E(h.revised+".at", bson.NewDateTimeFromTime(last)))
	}
	next, err := core.SetFields(s.doc, set)
	if err != nil {
		return model.Write{}, nil, h.docs.Refuse("document", nil, err.Error())
	}
	w := commands.UpdateIf(h.docs.Name(), bsondoc.JoinFilters(o.byID, h.matchAsRead(s.doc, v)), mql.Op("$set", set))
	w.Expect, w.Done = model.One, bsondoc.JoinFilters(o.byID, h.matchAsRead(next, version))
	return w, next, nil
}

// planSettling returns the plan of an operation that was applied before. A misnumbered
// document that it inserted gets another number. If a revision shows that the document
// was inserted, changed and deleted, a late insert of the same operation has brought it
// back: it is deleted.
func (h *untypedHistory) planSettling(c *changing, s state, op bson.ObjectID) (model.Plan, error) {
	newest, old := h.findNewerRevision(s)
	if !old || op != c.op {
		return model.Plan{Applied: true}, nil
	}
	if s.applied {
		v, err := h.readVersion(s.doc)
		late := commands.DeleteOne(h.docs.Name(), bsondoc.JoinFilters(c.byID, h.matchAsRead(s.doc, v)))
		return model.NewPlan(late), err
	}
	raise, _, err := h.raiseVersion(c.document, s, newest+1)
	return model.NewPlan(raise), err
}
