package engine

// This file runs one update: a statement of an update or bulkWrite command, or a findAndModify. Package update computes
// the new document. The result is a session.Outcome, which the session remembers: N is the number of matched or
// inserted documents, Modified of changed ones.

import (
	"maps"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
	"github.com/docmodel/docmodel/mongotest/internal/engine/update"
)

// updater is an update that has been read: of a statement, or of findAndModify.
type updater struct {
	target
	update *update.Update
	upsert bool

	// The document of the latest update as it was and as it is, for findAndModify. before is nil after an insert.
	before, after bson.D
}

// parse parses the filter and the update. a reads the statement, spec is its update. The variables are from the
// command's let. A pipeline also has the statement's constants, the field c, which hide variables of the same names.
func (u *updater) parse(r *request, a *args.Reader, spec any, constants bson.D) error {
	let := &args.Reader{Place: r.name, Doc: readLet(r), Watch: r.watch}
	by := a.Collation(r.state().Collection(u.ns))
	vars := let.Variables("let", u.now, by)
	a.Fail(let.Err)
	filters := a.Array("arrayFilters")
	if stages, ok := spec.(bson.A); ok {
		a.Fail(pipeline.CheckUpdate(stages))
	}
	if a.Err != nil {
		return a.Err
	}
	var err error
	// Upsert makes the matcher keep the equalities of the filter, which a new document gets.
	u.query.Matcher, err = query.Parse(u.query.Filter, query.Options{
		Now: u.now, Vars: vars, Upsert: u.upsert, Watch: r.watch, Special: r.findSpecial(u.ns), Collation: by,
	})
	if err != nil {
		return err
	}
	if constants != nil {
		if _, ok := spec.(bson.A); !ok {
			return mongoerr.New(51198, "Constant values may only be specified for pipeline updates")
		}
		vars = maps.Clone(vars)
		if vars == nil {
			vars = map[string]any{}
		}
		for _, e := range constants {
			vars[e.Key] = e.Value
		}
	}
	u.update, err = update.Parse(spec, filters, update.Options{Vars: vars, Watch: r.watch, Collation: by})
	return err
}

// run updates the documents of the target, or inserts one if the target has none and upsert is set. An upsert looks for
// a document again in the write that inserts: another client may have inserted it since.
func (u *updater) run(r *request) (o session.Outcome, err error) {
	if u.multi {
		err = u.changeEach(r, func(w *store.Writer, old *store.Record) error { return u.apply(w, old, &o) })
		if err != nil || o.N > 0 || !u.upsert {
			return o, err
		}
	}
	updateOrInsert := func(w *store.Writer, old *store.Record) error {
		o, u.before, u.after = session.Outcome{}, nil, nil // the write may run again
		switch {
		case old != nil:
			return u.apply(w, old, &o)
		case u.upsert:
			return u.insert(w, &o)
		}
		return nil
	}
	err = u.changeFirst(r, updateOrInsert)
	return o, err
}

// apply updates one document, and adds it to the outcome. A document that stays equal is matched and not modified:
// nothing is stored, and change streams show nothing.
func (u *updater) apply(w *store.Writer, old *store.Record, o *session.Outcome) error {
	// The positional operator $ stands for the array position by which the filter matched.
	in := update.Input{Position: -1, Now: u.now}
	if u.update.NeedsPosition() {
		_, position, err := u.query.Matcher.MatchArrayIndex(old.Doc)
		if err != nil {
			return err
		}
		in.Position = position
	}
	next, err := u.update.Apply(old.Doc, in)
	if err != nil {
		return err
	}
	if bsonval.Equal(old.Doc, next) {
		next = old.Doc
	} else {
		// Empty timestamps of a replacement are filled in by the server. An operator can store an empty timestamp.
		if u.update.IsReplacement() {
			next = setTimestamps(w, next)
			_, err = w.Replace(u.ns, old, next)
		} else {
			_, err = w.Update(u.ns, old, next, update.Applied{Update: u.update, Input: in})
		}
		if err != nil {
			return err
		}
		o.Modified++
	}
	u.before, u.after = old.Doc, next
	o.N++
	return nil
}

// insert inserts the document that an upsert makes of the filter's equalities and the update. A replacement takes only
// the _id of the filter.
func (u *updater) insert(w *store.Writer, o *session.Outcome) error {
	taken := u.query.Matcher.EqualityFields
	if u.update.IsReplacement() {
		taken = u.query.Matcher.EqualityID
	}
	equalities, err := taken()
	if err != nil {
		return err
	}
	in := update.Input{Position: -1, IsInsert: true, Now: u.now}
	doc, err := u.update.Insert(equalities, in, func() any { return bson.NewObjectIDFromTimestamp(u.now) })
	if err != nil {
		return err
	}
	if err := checkID(doc[0].Value); err != nil {
		return err
	}
	if u.update.IsReplacement() {
		doc = setTimestamps(w, doc)
	}
	if bsonval.Size(doc) > store.MaxDocument {
		return mongoerr.New(17420, "Document to upsert is larger than %d", store.MaxDocument)
	}
	if _, err := w.Insert(u.ns, doc); err != nil {
		return err
	}
	u.before, u.after = nil, doc
	o.N, o.Upserted, o.IsUpsert = 1, doc[0].Value, true
	return nil
}
