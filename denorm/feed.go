package denorm

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Feed keeps what is copied from a collection by its changes: a function computes a plan from each change, and the feed's
// [model.Stream] runs them in order, from where it stopped last. The writers of the collection know nothing of it. Make it
// with [NewFeed].
//
// The stream first goes through all documents, then follows the collection's change stream; a server without one is polled
// by a field that grows with each write. Where it has come to is stored once the plans were run, so that a feed that was
// killed anywhere and runs again comes to the same end: the last changes come again, in order. So plans must be repeatable:
// a copy is set, replaced or deleted under an _id that the change gives, never added to. An insert meets its own document
// when it comes again, and another one when that was changed since: for copies that change, replace with upsert. A document
// may be gone when its plan is run: a write of it that expects one match would stop the feed with model.ErrStale.
//
// Changes of one document are applied in their order, one after the other; those of different documents at the same time, so
// that plans of different documents must not depend on each other's order.
//
// # Consistency
//
// Copies are late by what [model.StreamProgress] reports: events that are read and not applied, and the age of the oldest.
// The document of an update is looked up when the event is read, and may be newer than
// the change. Of two runs of one feed the later takes over, and waits until the plans
// that the earlier has in hand have ended: see [model.Stream.Run], which also says what
// can arrive late in spite of that. Where that matters, let plans compare a version of
// the document, or the change's Token ($max, or a filter that asks for a lower one).
//
// What polling and going through the documents can't see is what was deleted: compare the copies with their source now and
// then, with [Feed.Rebuild] for what is there.
//
// Source: "change feed" (seed 003), orders that are normalized into customers, orders and items; change streams,
// https://www.mongodb.com/docs/manual/changeStreams/.
type Feed[D, K any] struct {
	source *model.Collection[D, K]
	stream model.Stream
}

// FeedSpec says where a feed keeps its place, and how it sees changes. The zero value is valid.
type FeedSpec struct {
	// Places is the collection in which the place is stored, under the feed's name; "" means "docmodel.feeds".
	Places string

	// Bare spares the server looking up the document of each update: changes by updates have no Doc, but what was set and
	// removed. By default an update whose document is gone by now is passed over: its deletion follows.
	Bare bool

	// Mark is a field of the source, for the feed alone, in which plans that update the source leave their change's token: so
	// the feed passes over its own updates. "" refuses such plans. See [model.Stream].
	Mark string

	// Since is the path of a field of the source that each write sets to more than all before, a time or a version, by which
	// a server without change streams is polled; "" refuses such servers.
	Since string

	// Overlap is how far each poll goes back before the last document that was planned for, where Since is a time or an
	// ObjectID: for writers whose clocks differ, or whose writes take time. What lies there is planned for again in each poll:
	// as many commands more. 0 goes on after that document, in the order of Since and _id, so that what arrives later with
	// less is missed until it is written again, or [Feed.Rebuild] is run.
	Overlap time.Duration
}

// A FeedChange is one change of a document.
type FeedChange[D, K any] struct {
	Kind model.EventKind
	ID   K
	Doc  *D // nil when it was deleted, and when it was updated in a Bare feed

	Updated   bson.Raw  // of an update: the fields that were set, by dotted path
	Removed   []string  // of an update: the fields that were removed
	Truncated bson.Raw  // of an update: an array of {field, newSize}
	Token     string    // the same each time that the change comes; "" when the document was scanned
	Time      time.Time // of the change; zero when the document was scanned
}

// NewFeed declares a feed of a name. Its function must be pure. It is tried here on the sample, a document such as the feed
// will meet, for each kind of change.
//
// It panics with a [*model.DeclarationError] when a plan for the sample is not repeatable, has bad input, or writes to the
// source in a way that the feed could not tell from the writes of others; when all plans for it are empty, so that nothing
// was tried; when the sample has no _id; when Mark is not a name or names a field that is no string; when Since doesn't
// exist, lies in an array or doesn't grow. A plan that turns out otherwise when the feed runs stops it before anything of
// the plan is sent. At most one spec may be given.
func NewFeed[D, K any](
	source *model.Collection[D, K], name string, sample D, apply func(FeedChange[D, K]) model.Plan, spec ...FeedSpec,
) *Feed[D, K] {
	place := fmt.Sprintf("NewFeed of %s, %q", source.Name(), name)
	s := declareFeed(place, name, source.Name(), apply == nil, spec, source.Field)
	f := &Feed[D, K]{source, s}
	f.stream.Plan = func(e model.Event) (model.Plan, error) {
		c, err := f.change(e)
		if err != nil {
			return model.Plan{}, err
		}
		return apply(c), nil
	}
	_, err := source.ID(&sample)
	var raw bson.Raw
	if err == nil {
		raw, err = f.encode(sample)
	}
	tryFeed(place, f.stream, raw, err)
	return f
}

func declareFeed(place, name, source string, none bool, specs []FeedSpec, field func(string) (model.Field, error)) model.Stream {
	bad := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: place, Remedy: remedy})
	}
	var spec FeedSpec
	if len(specs) > 1 {
		bad("more than one FeedSpec", "give one")
	} else if len(specs) == 1 {
		spec = specs[0]
	}
	if spec.Places == "" {
		spec.Places = "docmodel.feeds"
	}
	switch {
	case name == "":
		bad("the feed has no name", "give one, under which its place is stored")
	case none:
		bad("there is no function", "give one that computes a plan from a change")
	case spec.Places == source:
		bad("Places is the collection that is watched", "name another collection")
	case spec.Overlap < 0:
		bad(fmt.Sprintf("Overlap is %v", spec.Overlap), "give how far a poll goes back, or 0")
	}
	if spec.Mark != "" {
		if err := model.CheckKey(spec.Mark); err != nil || spec.Mark == "_id" {
			bad(fmt.Sprintf("Mark is %q", spec.Mark), "name a field of the source, without dots, that is the feed's own")
		}
		if f, err := field(spec.Mark); err == nil && !f.Open && f.Type.Kind() != reflect.String {
			bad(fmt.Sprintf("Mark %q is a %s in the documents", spec.Mark, f.Type), "name a field that the documents don't have, or a string")
		}
	}
	if spec.Since == "" && spec.Overlap > 0 {
		bad("an Overlap without Since", "name the field that is polled by")
	}
	if spec.Since != "" {
		f, err := field(spec.Since)
		clock := f.Open || f.Type == reflect.TypeFor[time.Time]() || f.Type == reflect.TypeFor[bson.DateTime]() ||
			f.Type == reflect.TypeFor[bson.ObjectID]()
		switch {
		case err != nil:
			bad(err.Error(), "name a field that grows with each write")
		case f.Arrays > 0 || !clock && !growing(f.Type):
			bad(fmt.Sprintf("Since %q is a %s", spec.Since, f.Type),
				"name a time, an ObjectID, an integer or a string that grows with each write")
		case !clock && spec.Overlap > 0:
			bad(fmt.Sprintf("an Overlap, though Since %q is a %s", spec.Since, f.Type),
				"leave it out: only times and ObjectIDs overlap by a time")
		case model.Overlap(spec.Since, spec.Mark):
			bad("Since and Mark are one field", "name two")
		}
	}
	return model.Stream{
		Name: name, Collection: source, Places: spec.Places, Bare: spec.Bare, Mark: spec.Mark,
		Since: spec.Since, Overlap: spec.Overlap,
	}
}

func growing(t reflect.Type) bool {
	return t == reflect.TypeFor[bson.Timestamp]() || t.Kind() == reflect.String || t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64
}

// tryFeed computes the plans for a sample.
func tryFeed(place string, s model.Stream, sample bson.Raw, err error) {
	if err != nil {
		panic(&model.DeclarationError{
			Problem: "the sample: " + err.Error(), Place: place, Remedy: "give a document such as the feed will meet",
		})
	}
	steps := 0
	for _, kind := range []model.EventKind{model.Inserted, model.Updated, model.Replaced, model.Deleted, model.Scanned} {
		e := model.Event{Kind: kind, ID: sample.Lookup("_id"), Document: sample, Token: "sample", Time: time.Unix(0, 0).UTC()}
		if kind == model.Deleted || kind == model.Updated && s.Bare {
			e.Document = nil
		}
		if kind == model.Scanned {
			e.Token, e.Time = "", time.Time{}
		}
		plan, err := s.PlanFor(e)
		if err != nil {
			panic(&model.DeclarationError{
				Problem: fmt.Sprintf("the plan for the sample, %s: %v", kind, err), Place: place,
				Remedy: "write what may be written twice: set, replace or delete under an _id that the change gives; or give another sample",
			})
		}
		steps += len(plan.Steps)
	}
	if steps == 0 {
		panic(&model.DeclarationError{
			Problem: "the plans for the sample have nothing to do, so that nothing is known of them", Place: place,
			Remedy: "give a sample that the function copies",
		})
	}
}

// change is the typed change of an event.
func (f *Feed[D, K]) change(e model.Event) (FeedChange[D, K], error) {
	c := FeedChange[D, K]{
		Kind: e.Kind, Updated: e.Updated, Removed: e.Removed, Truncated: e.Truncated, Token: e.Token, Time: e.Time,
	}
	raw := e.Document
	if raw == nil {
		b, err := bson.Marshal(bson.D{{Key: "_id", Value: e.ID}})
		if err != nil {
			return c, err
		}
		raw = b
	}
	doc := new(D)
	err := f.source.Decode(bytes.Clone(raw), doc)
	if err == nil {
		c.ID, err = f.source.ID(doc)
	}
	var value *model.ValueError
	if err != nil && !errors.As(err, &value) {
		err = &model.ValueError{Collection: f.source.Name(), Field: "_id", Value: e.ID, Reason: err.Error()}
	}
	if err != nil {
		return c, err
	}
	if e.Document != nil {
		c.Doc = doc
	}
	return c, nil
}

func (f *Feed[D, K]) encode(doc D) (bson.Raw, error) {
	v, err := f.source.Encode(doc)
	if err != nil {
		return nil, err
	}
	return rawDocument(v)
}

// Stream returns the stream that runs the feed: see [model.Stream.Run] for how it starts, stops and fails.
//
// Cost: the commands of each change's plan, and one in a hundred changes to store the place; the server looks up the
// document of each update by its _id.
func (f *Feed[D, K]) Stream() model.Stream { return f.stream }

// Plan returns the plan of a change, as running the feed sends it: checked, and marked where it updates the source. A plan
// that the feed would stop at is returned as a refused one.
//
// Cost: nothing is sent.
func (f *Feed[D, K]) Plan(c FeedChange[D, K]) model.Plan {
	id, err := f.source.Encode(c.ID)
	e := model.Event{
		Kind: c.Kind, Updated: bytes.Clone(c.Updated), Removed: slices.Clone(c.Removed), Truncated: bytes.Clone(c.Truncated),
		Token: c.Token, Time: c.Time,
	}
	if err == nil {
		e.ID, err = raw(id)
	}
	if err == nil && c.Doc != nil {
		e.Document, err = f.encode(*c.Doc)
	}
	var plan model.Plan
	if err == nil {
		plan, err = f.stream.PlanFor(e)
	}
	if err != nil {
		return model.RefusedPlan(f.source.Name(), err)
	}
	return plan
}

// Rebuild returns the job that goes through all documents and runs their plans as Scanned ones, in batches: to fill copies
// before a feed runs, or to make them good at any time. What it does is what the stream
// does by itself when it begins; deleted documents are not seen. Beside a running feed it
// can write what it read before a change after the feed has applied that change: then
// plans must compare versions, or the feed must be stopped meanwhile.
//
// Cost: a query per batch of 500 documents, and two to find the end; the plans' writes, consecutive ones of one kind in one command.
// Cut, it leaves some copies as they were, and of one document's plan perhaps the first writes alone; it can be run again.
func (f *Feed[D, K]) Rebuild() model.Job {
	s := f.stream
	return model.Job{Name: s.Name, Collection: s.Collection, Plan: func(docs []bson.Raw) (model.Plan, error) {
		plans := make([]model.Plan, len(docs))
		for i, doc := range docs {
			var err error
			if plans[i], err = s.PlanFor(model.Event{Kind: model.Scanned, ID: doc.Lookup("_id"), Document: doc}); err != nil {
				return model.Plan{}, err
			}
		}
		all := model.Concat(plans...)
		all.Options.AllowPartial = true // each is repeatable, and so they are one after the other
		return all, nil
	}}
}

// Indexes returns the index that polling reads by; none without Since.
func (f *Feed[D, K]) Indexes() []model.Index {
	if f.stream.Since == "" {
		return nil
	}
	x := model.NewIndex(f.stream.Collection, bson.D{{Key: f.stream.Since, Value: 1}, {Key: "_id", Value: 1}})
	x.Why = "what was written since the last poll of feed " + f.stream.Name
	return []model.Index{x}
}
