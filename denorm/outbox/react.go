package outbox

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An eventMaker returns the event of a change. before is nil for an insert, after for a
// deletion.
type eventMaker func(before, after bson.Raw) (body any, publish bool, err error)

// makeReactions returns what a store does with documents that have an outbox: it
// publishes the event of a change if makeEvent isn't nil, and refuses to delete a
// document with events.
func (o *untypedOutbox) makeReactions(makeEvent eventMaker) []model.Reaction {
	r := reaction{o, makeEvent}
	out := model.Reaction{Collection: o.docs.Name(), React: r.refuseLoss}
	if makeEvent != nil {
		out.Paths, out.Amend = []string{model.Whole}, r.appendEvent
	}
	return []model.Reaction{out}
}

// A reaction is an outbox in a store, with the function that makes events; nil for none.
type reaction struct {
	*untypedOutbox
	makeEvent eventMaker
}

// appendEvent returns the fields that add the event to the document. The event's id is
// the token, or the next free one after it. Its time is the time in the token, so that a
// second call makes the same event.
func (r reaction) appendEvent(w model.StoreWrite) (bson.D, error) {
	body, publish, err := r.makeEvent(w.Before, w.After)
	if err != nil || !publish {
		return nil, err
	}
	waiting, _ := core.ValueAt(w.Before, r.events) // a store calls publish again if other techniques amend the document
	parked, _ := core.ValueAt(w.Before, r.parked)
	list := core.Elements(waiting)
	if len(list) >= r.spec.Max {
		return nil, errFull
	}
	id := w.Token
	for hasEvent(list, id) || hasEvent(core.Elements(parked), id) {
		id = incrementToken(id)
	}
	event, err := r.encodeEvent(body, w.Token.Timestamp(), id)
	if err != nil {
		return nil, err
	}
	events := bson.A{}
	for _, e := range list {
		events = append(events, e)
	}
	return bson.D{mql.E(r.events, append(events, event)), mql.E(r.hash, hashID(w.After.Lookup("_id")))}, nil
}

// hasEvent reports whether a list of events has one with this id.
func hasEvent(list []bson.RawValue, id bson.ObjectID) bool {
	return slices.ContainsFunc(list, func(e bson.RawValue) bool {
		doc, ok := e.DocumentOK()
		held, _ := doc.Lookup("id").ObjectIDOK()
		return ok && held == id
	})
}

// incrementToken returns the next ObjectID, as a number of twelve bytes.
func incrementToken(id bson.ObjectID) bson.ObjectID {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i]++; id[i] != 0 {
			break
		}
	}
	return id
}

// refuseLoss refuses a deletion that would lose events.
func (r reaction) refuseLoss(w model.StoreWrite) (a model.Answer, _ error) {
	if w.After != nil {
		return a, nil
	}
	for _, path := range []string{r.events, r.parked} {
		if v, _ := core.ValueAt(w.Before, path); len(core.Elements(v)) > 0 {
			return a, core.Final(fmt.Errorf("%w (%s %s has events in %s: run the relay, or Outbox.Drop)",
				model.ErrStale, r.docs.Name(), model.Shell(w.Before.Lookup("_id")), path))
		}
	}
	if r.makeEvent == nil {
		return a, nil
	}
	_, publish, err := r.makeEvent(w.Before, nil)
	if err == nil && publish {
		err = r.docs.Refuse(r.path, nil,
			"can't hold the event of a deletion: publish it by an Outbox in a separate collection")
	}
	return a, err
}
