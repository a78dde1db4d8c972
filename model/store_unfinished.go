package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Outside transactions, an action writes several documents one after another. The first
// write stores in the document that the action is unfinished, with the action's token and
// the old values. The last write removes this. A document that is updated exactly once,
// such as a count, remembers the token. So a retry, or another client that meets the
// document, finishes the action.

// keptTokens is how many tokens a document remembers.
const keptTokens = 100

// unfinished is an action that wrote a document, and whose other writes may be missing.
type unfinished struct {
	Token bson.ObjectID   `bson:"id"`
	At    bson.DateTime   `bson:"at"`
	New   bool            `bson:"new,omitempty"`  // the action inserted the document
	Gone  bool            `bson:"gone,omitempty"` // the action deletes the document at its end
	Was   []oldField      `bson:"was,omitempty"`  // the changed fields, as they were before
	Now   []oldField      `bson:"now,omitempty"`  // fields that another action has changed since, as this action left them
	To    []bson.RawValue `bson:"to,omitempty"`   // the _ids of the documents that remember the token
}

// oldField is a field before an update. Value is missing if the field was.
type oldField struct {
	Path  string        `bson:"p"`
	Value bson.RawValue `bson:"v,omitempty"`
}

// readUnfinished returns the unfinished action of a stored document.
func readUnfinished(field core.StoreField, doc bson.Raw) (u unfinished, is bool, err error) {
	v, is := field.ActionIn(doc)
	if is {
		err = bson.Unmarshal(v, &u)
	}
	return u, is, err
}

// around returns the document, without the store's field, before and after the unfinished
// action.
func (u unfinished) around(doc bson.Raw) (before, after bson.Raw, err error) {
	after, err = withFields(doc, valuesOf(u.Now))
	if err != nil || u.New {
		return nil, after, err
	}
	before, err = withFields(after, valuesOf(u.Was))
	if u.Gone {
		after = nil
	}
	return before, after, err
}

func valuesOf(fields []oldField) bson.D {
	out := make(bson.D, len(fields))
	for i, f := range fields {
		out[i] = bson.E{Key: f.Path, Value: f.Value}
	}
	return out
}

func oldFields(d bson.D) (out []oldField) {
	for _, e := range d {
		out = append(out, oldField{e.Key, e.Value.(bson.RawValue)})
	}
	return out
}

// remembers reports whether an earlier run wrote the document with the token.
func remembers(field core.StoreField, doc bson.Raw, token bson.ObjectID) bool {
	return slices.ContainsFunc(core.Elements(field.TokensIn(doc)), func(v bson.RawValue) bool {
		id, ok := v.ObjectIDOK()
		return ok && id == token
	})
}

// tokenOf returns the token of an action's write of a document.
func tokenOf(action bson.ObjectID, collection string, id bson.RawValue) bson.ObjectID {
	return runctx.DeriveToken(action, collection+" "+bsonval.Key(id))
}

// unfinishedError says that an action must be finished before the document is written.
type unfinishedError struct {
	collection string
	doc        bson.Raw
	action     unfinished
}

func (e *unfinishedError) Error() string {
	return fmt.Sprintf("docmodel: %s %s: an action is unfinished", e.collection, shell(e.doc.Lookup("_id")))
}

func (e *unfinishedError) Unwrap() error { return ErrStale }

// unfinishedIn returns the action that an error says must be finished, or nil.
func unfinishedIn(err error) *unfinishedError {
	var e *unfinishedError
	errors.As(err, &e)
	return e
}

// otherAction returns the unfinished action of a stored document, or nil. If the action
// doesn't wait for this one, it must be finished first, and otherAction returns an error.
func (s *storeState) otherAction(in *store, collection string, doc bson.Raw) (*unfinished, error) {
	u, is, err := readUnfinished(in.fieldOf(collection), doc)
	if err != nil || !is {
		return nil, err
	}
	for _, e := range s.chain {
		if e.collection == collection && e.action.Token == u.Token {
			return &u, nil
		}
	}
	return nil, &unfinishedError{collection, doc, u}
}

// follows reports whether other writes must follow the write of a document, so that the
// action can be unfinished. A deletion needn't, if it only deletes other documents before.
func (s *storeState) follows() bool {
	if s.resumed || slices.ContainsFunc(s.answers, func(a answered) bool { return len(a.Then)+len(a.Once) > 0 }) {
		return true
	}
	others := s.docs[s.own:]
	return len(others) > 0 &&
		(s.docs[0].after != nil || slices.ContainsFunc(others, func(d storedDoc) bool { return d.after != nil }))
}

// stepsInTurn returns the writes of an action that can be unfinished. The store's document
// comes first, so that it tells of the action until all other writes are there.
func (s *store) stepsInTurn(state storeState) Plan {
	first, back, then := s.follow(state, 0)
	if then.Err() != nil {
		return then
	}
	var plan Plan
	if !state.resumed {
		plan.Steps, plan.IfStale = first, back
		plan.Steps = append(plan.Steps, s.begin(state.docs[0], then, state))
	}
	for i := len(state.docs) - 1; i > 0; i-- {
		part := s.inTurn(state, i)
		if part.Err() != nil {
			return part
		}
		plan.Steps = append(plan.Steps, part.Steps...)
	}
	plan.Steps = append(append(plan.Steps, then.Steps...), s.finish(state.docs[0]))
	plan.Leaves = "a document whose " + s.docs.StoreField().Action() +
		" tells of the action; the next write of the document, or the check, finishes it"
	return plan
}

// inTurn returns the writes of another document of the action, with those that follow it.
func (s *store) inTurn(state storeState, i int) Plan {
	d := state.docs[i]
	first, back, then := s.follow(state, i)
	switch {
	case then.Err() != nil:
		return then
	case d.other != nil: // it tells of another action, and can't tell of this one
		if w, changed := s.write(d, false); changed {
			return NewPlan(append(append(first, then.Steps...), s.besideOther(s.rememberedWrite(w, d), d))...)
		}
	case len(then.Steps) > 0:
		w := s.begin(d, then, state)
		w.Reasons = append(w.Reasons, Reason{Err: ErrStale, Instead: back})
		return NewPlan(append(append(append(first, w), then.Steps...), s.finish(d))...)
	}
	if w, changed := s.write(d, false); changed || d.holds && !remembers(s.fieldOf(d.collection), d.read, d.token) {
		first = append(first, s.rememberedWrite(w, d))
	}
	return NewPlan(first...)
}

// follow returns the writes that the reactions to one document add.
func (s *store) follow(state storeState, doc int) (first, back []Step, then Plan) {
	var once []Write
	back = []Step{}
	for _, a := range state.answers {
		if a.doc == doc {
			first, back = append(first, a.First...), append(back, a.Undo...)
			then.Steps = append(then.Steps, a.Then...)
			once = append(once, a.Once...)
		}
	}
	all, err := s.writesOnce(once, state.docs[doc].token)
	if err != nil {
		return nil, nil, NewPlan(Refused(s.docs.Name(), err))
	}
	for _, w := range all {
		then.Steps = append(then.Steps, w)
	}
	return first, back, then
}

// begin returns the first write of an action: of a document that tells of it.
func (s *store) begin(d storedDoc, then Plan, state storeState) Write {
	u := unfinished{Token: d.token, At: bson.NewDateTimeFromTime(state.time), New: d.before == nil, Gone: d.after == nil}
	if d.before != nil && d.after != nil {
		u.Was = oldFields(difference(d.after, d.before))
	}
	for _, step := range then.Steps {
		if w, ok := step.(Write); ok && w.Token == d.token {
			u.To = append(u.To, core.MustRawValue(idFilter(w.filter())))
		}
	}
	field := s.fieldOf(d.collection)
	w, _ := s.write(d, false)
	w.Idempotent, w.Token, w.begins = true, d.token, d.result()
	byID := bson.D{{Key: "_id", Value: mql.Eq(d.id)}}
	w.Done = append(byID[:1:1], bson.E{Key: field.Action() + ".id", Value: d.token})
	if d.inserts() {
		marks := bson.D{{Key: "op", Value: u}, {Key: "ops", Value: bson.A{d.token}}}
		stored, err := withFields(d.after, bson.D{{Key: string(field), Value: marks}})
		if err != nil {
			return Refused(d.collection, err)
		}
		w.Model = &mongo.InsertOneModel{Document: stored}
		finished := append(byID[:1:1], bson.E{Key: field.Tokens(), Value: d.token})
		w.Reasons = []Reason{{If: finished, Err: ErrStale, Instead: []Step{}}, state.taken(d)}
		return w
	}
	set := bson.D{{Key: field.Action(), Value: u}}
	var update bson.D
	if d.after != nil {
		set = append(difference(d.was(), d.after), set...)
	}
	update = append(setOperators(set), bson.E{Key: "$push", Value: pushedToken(field, d.token)})
	w.Expect, w.Model = One, updateOne(core.AsRead(d.read), update)
	return w
}

// finish returns the last write of an action.
func (s *store) finish(d storedDoc) Write {
	field := s.fieldOf(d.collection)
	filter := bson.D{{Key: "_id", Value: mql.Eq(d.id)}, {Key: field.Action() + ".id", Value: d.token}}
	over := bson.D{{Key: "$unset", Value: bson.D{{Key: field.Action(), Value: ""}}}}
	w := Write{Collection: d.collection, Index: IDIndex, Keyed: s.keyed[d.collection], Idempotent: true}
	if d.after == nil {
		w.Model, w.IfMarked = &mongo.DeleteOneModel{Filter: filter}, over
	} else {
		w.Model = updateOne(filter, over)
	}
	return w
}

// rememberedWrite returns the write of a document that stores the token too, so that it is
// known if another client has finished the action.
func (s *store) rememberedWrite(w Write, d storedDoc) Write {
	field := s.fieldOf(d.collection)
	w.Idempotent, w.Token = true, d.token
	done := bson.D{{Key: "_id", Value: mql.Eq(d.id)}, {Key: field.Tokens(), Value: d.token}}
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		stored, err := withFields(d.after, bson.D{{Key: field.Tokens(), Value: bson.A{d.token}}})
		if err != nil {
			return Refused(d.collection, err)
		}
		w.Model, w.Done = &mongo.InsertOneModel{Document: stored}, done
	case *mongo.UpdateOneModel:
		w.Model = updateOne(m.Filter.(bson.D),
			append(m.Update.(bson.D), bson.E{Key: "$push", Value: pushedToken(field, d.token)}))
		w.Done = done
	}
	if w.Expect == One {
		w.Reasons = append(w.Reasons, staleAlone)
	}
	return w
}

// besideOther returns the write of a document whose other action is unfinished. The other
// action goes on with the fields as it left them.
func (s *store) besideOther(w Write, d storedDoc) Write {
	m, ok := w.Model.(*mongo.UpdateOneModel)
	if !ok {
		return w
	}
	now := d.other.Now
	for _, f := range oldFields(difference(d.after, d.before)) {
		if !slices.ContainsFunc(now, func(x oldField) bool { return core.Overlap(x.Path, f.Path) }) {
			now = append(slices.Clip(now), f)
		}
	}
	update := slices.Clone(m.Update.(bson.D))
	set := bson.E{Key: s.fieldOf(d.collection).Action() + ".now", Value: now}
	if i := bsonval.Index(update, "$set"); i >= 0 {
		update[i].Value = append(slices.Clip(update[i].Value.(bson.D)), set)
	} else {
		update = append(bson.D{{Key: "$set", Value: bson.D{set}}}, update...)
	}
	w.Model = updateOne(m.Filter.(bson.D), update)
	return w
}

// staleAlone keeps a plan from undoing its steps, because the action's next attempt
// continues with them.
var staleAlone = Reason{Err: ErrStale, Instead: []Step{}}

func pushedToken(field core.StoreField, token bson.ObjectID) bson.D {
	return bson.D{{
		Key:   field.Tokens(),
		Value: bson.D{{Key: "$each", Value: bson.A{token}}, {Key: "$slice", Value: -keptTokens}},
	}}
}
