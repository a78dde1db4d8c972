package history

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An insert reads the newest revision's number, stores the document under the next number, and then claims this number in the revisions.
// Between the read and the insert, others can insert, change and delete the document. Then its number is old:
//
//	read       the newest revision is 3
//	insert     {_id: "a", version: 4}
//	claim      {_id: {id: "a", v: 4}, token}
//
// A stored document keeps others from inserting one, and its changes store a revision of its number first. So no revision is added
// between the insert and the claim, and the claim meets a duplicate key if the number is old. The insert then deletes the document and
// reads again. If it can't, the document is misnumbered: the next change stores no revision of it, because the revision under its number
// has another token, and gives it the number after the newest revision. In a transaction, the insert itself conflicts with others' inserts
// since the read, and needs no claim.

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
	p := commands.Leaving(leavesNew, append(slices.Clone(steps), w, h.claim(c, version))...)
	if len(steps) > 0 {
		p.Leaves = leavesGone + "; then " + leavesNew
	}
	p.InTx = append(slices.Clone(steps), w)
	p.IfStale = []model.Step{commands.DeleteOne(h.docs.Name(), model.And(c.byID, h.asRead(doc, version)))}
	return p, nil
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

// claim stores the number of an inserted document without the document. While the document is there, nobody else adds a revision: so
// a claimed number is higher than that of each revision.
func (h *History) claim(c *changing, version int64) model.Write {
	id := commands.ByID(c.rowID(version))
	token := mql.E("token", c.op)
	return model.Write{
		Collection: h.revisions.Name(), Index: model.IDIndex, Once: true, Model: &mongo.InsertOneModel{Document: bson.D{
			mql.E("_id", c.rowID(version)), token, mql.E("at", bson.NewDateTimeFromTime(c.note.At)),
		}},
		Done: bson.D{id[0], token, mql.E("doc", mql.Exists(false))},
		Reasons: []model.Reason{
			{If: bson.D{id[0], token}, Err: model.ErrStale, Instead: []model.Step{}}, // another run inserted the document, and it was changed
			{If: id, Err: model.ErrStale},
		},
	}
}

// misnumbered reports whether the revisions say that a document's number is old: there is a later one, or another one of its number.
func (h *History) misnumbered(s state) (newest int64, old bool) {
	v, err := h.versionOf(s.doc)
	newest, ok := s.last.Lookup("_id", "v").AsInt64OK()
	_, op, gone := h.revisedOf(s.doc)
	if err != nil || !ok || s.doc == nil || gone {
		return 0, false
	}
	token, _ := s.last.Lookup("token").ObjectIDOK()
	return newest, newest > v || newest == v && token != op
}

// renumbering gives a misnumbered document the number after the newest revision, before the operation.
func (h *History) renumbering(c *changing, s state) (model.Plan, error) {
	newest, old := h.misnumbered(s)
	if !old {
		return c.decide(s)
	}
	raise, next, err := h.raise(c.one, s, newest+1)
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

// raise is the write that gives a document a higher number, and what the document is then. It began after the newest revision.
func (h *History) raise(o one, s state, version int64) (model.Write, bson.Raw, error) {
	v, err := h.versionOf(s.doc)
	if err == nil {
		err = h.checkVersion(version)
	}
	if err != nil {
		return model.Write{}, nil, err
	}
	set := bson.D{mql.E(h.version, version)}
	at, op, _ := h.revisedOf(s.doc)
	if last, ok := s.last.Lookup("at").TimeOK(); ok && last.After(at) && !op.IsZero() {
		set = append(set, mql.E(h.revised+".at", bson.NewDateTimeFromTime(last)))
	}
	next, err := core.SetFields(s.doc, set)
	if err != nil {
		return model.Write{}, nil, h.docs.Refuse("document", nil, err.Error())
	}
	w := commands.UpdateIf(h.docs.Name(), model.And(o.byID, h.asRead(s.doc, v)), mql.Op("$set", set))
	w.Expect, w.Done = model.One, model.And(o.byID, h.asRead(next, version))
	return w, next, nil
}

// settling is what an operation does that was applied before. A misnumbered document that it inserted gets another number. If a
// revision says that the document was inserted, changed and deleted, a late insert of the same operation brought it back.
func (h *History) settling(c *changing, s state, op bson.ObjectID) (model.Plan, error) {
	newest, old := h.misnumbered(s)
	if !old || op != c.op {
		return model.Plan{Applied: true}, nil
	}
	if s.applied {
		v, err := h.versionOf(s.doc)
		late := commands.DeleteOne(h.docs.Name(), model.And(c.byID, h.asRead(s.doc, v)))
		return model.NewPlan(late), err
	}
	raise, _, err := h.raise(c.one, s, newest+1)
	return model.NewPlan(raise), err
}
