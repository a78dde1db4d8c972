package engine

// This file has the command findAndModify: {findAndModify: "things", query: {n: 1}, update: {$inc: {n: 1}}, new: true}.
// It changes one document, and its reply has the document before or after the change:
//
//	{lastErrorObject: {n: 1, updatedExisting: true}, value: {_id: 7, n: 2}}

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/projection"
	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var findAndModifyCommands = []*command{
	{
		name: "findAndModify", aliases: []string{"findandmodify"}, txn: true, writes: true, run: findAndModify,
		fields: []string{
			"findAndModify", "findandmodify", "query", "sort", "remove", "update", "new", "fields", "upsert",
			"bypassDocumentValidation", "arrayFilters", "hint", "let", "collation", "stmtId",
		},
	},
}

// modifier is a findAndModify command that has been read.
type modifier struct {
	updater
	remove    bool                   // delete the document
	returnNew bool                   // new: the reply has the document after the change
	fields    *projection.Projection // of the document in the reply; nil means whole documents
}

// findAndModify changes one document and returns it. The session remembers the whole reply, because a retried command
// must return the same document.
func findAndModify(r *request) (reply, error) {
	m, stmt, err := readModify(r)
	if err != nil {
		return nil, err
	}
	if o, again := r.recall(stmt); again {
		return append(o.Reply, bson.E{Key: "retriedStmtId", Value: stmt}), nil
	}
	var rep reply // of the command; its capacity is cut below, because execute appends to it
	err = r.routeStatement(&m.target, m.describeChange("findAndModify", r.body), func() (err error) {
		rep, err = m.run(r)
		return err
	})
	if err == nil {
		r.remember(stmt, session.Outcome{Reply: rep[:len(rep):len(rep)]})
	}
	return rep, err
}

// readModify reads a findAndModify command. The number is the id of its statement.
func readModify(r *request) (*modifier, int32, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, 0, err
	}
	a := r.args()
	m := &modifier{remove: a.Boolean("remove", false), returnNew: a.Boolean("new", false)}
	m.upsert = a.Boolean("upsert", false)
	m.target = target{ns: ns, now: r.engine.now()}
	m.query = plan.Query{Watch: r.watch, Filter: a.Document("query"), Sort: a.Document("sort"), Hint: a.Hint()}
	r.bypass = a.Boolean("bypassDocumentValidation", false)
	stmt := int32(a.Natural("stmtId", 0))
	// Exactly one of update and remove must be given.
	spec := a.Document("fields")
	change, has := a.Get("update")
	switch {
	case m.remove && has:
		a.Fail(mongoerr.New(mongoerr.FailedToParse, "Cannot specify both an update and remove=true"))
	case m.remove && m.upsert:
		a.Fail(mongoerr.New(mongoerr.FailedToParse, "Cannot specify both upsert=true and remove=true"))
	case m.remove && m.returnNew:
		a.Fail(mongoerr.New(mongoerr.FailedToParse,
			"Cannot specify both new=true and remove=true; 'remove' always returns the deleted document"))
	case !m.remove && !has:
		a.Fail(mongoerr.New(mongoerr.FailedToParse, "Either an update or remove=true must be specified"))
	case m.remove:
		change = bson.D{} // parse needs an update
	}
	if err := m.parse(r, a, change, nil); err != nil {
		return nil, 0, err
	}
	if c := r.state().Collection(ns); c != nil && c.Series != nil && !m.remove {
		return nil, 0, forms.RefuseOnSeries(ns, "findAndModify with an update")
	}
	if len(spec) > 0 {
		m.fields, err = projection.ParseAt(spec, m.query.Matcher, m.now)
	}
	return m, stmt, err
}

// run changes or removes the document.
func (m *modifier) run(r *request) (reply, error) {
	if m.remove {
		return m.removeFirst(r)
	}
	o, err := m.updater.run(r)
	if err != nil {
		return nil, err
	}
	// Of an upsert, N counts the inserted document.
	last := bson.D{{Key: "n", Value: o.N}, {Key: "updatedExisting", Value: o.N > 0 && !o.IsUpsert}}
	if o.IsUpsert {
		last = append(last, bson.E{Key: "upserted", Value: o.Upserted})
	}
	doc := m.before
	if m.returnNew {
		doc = m.after
	}
	return m.makeReply(last, doc)
}

// removeFirst removes the first document that the query finds.
func (m *modifier) removeFirst(r *request) (reply, error) {
	var deleted bson.D
	n := int32(0)
	remove := func(w *store.Writer, old *store.Record) error {
		deleted, n = nil, 0
		if old == nil {
			return nil
		}
		deleted, n = old.Doc, 1
		return w.Delete(m.ns, old)
	}
	if err := m.changeFirst(r, remove); err != nil {
		return nil, err
	}
	return m.makeReply(bson.D{{Key: "n", Value: n}}, deleted)
}

// makeReply makes the reply. last is its lastErrorObject. doc is the document, nil if there is none. The reply has it
// in the form of the command's projection.
func (m *modifier) makeReply(last, doc bson.D) (reply, error) {
	rep := reply{{Key: "lastErrorObject", Value: last}}
	if doc == nil {
		return append(rep, bson.E{Key: "value", Value: nil}), nil
	}
	if m.fields != nil {
		projected, err := m.fields.Apply(doc)
		if err != nil {
			return nil, err
		}
		doc = projected
	}
	return append(rep, bson.E{Key: "value", Value: doc}), nil
}
