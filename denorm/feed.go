package denorm

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/feed"
	"github.com/docmodel/docmodel/denorm/internal/stored"
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
// may be gone when its plan is run: a write of it that expects one match would stop the feed with model.ErrNotFound.
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
//
// Indexes returns the index that polling reads by; none without Since.
type Feed[D, K any] struct {
	model.Parts

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
// the plan is sent.
func NewFeed[D, K any](
	source *model.Collection[D, K], name string, sample D, apply func(FeedChange[D, K]) model.Plan, spec FeedSpec,
) *Feed[D, K] {
	f := &Feed[D, K]{model.Parts{}, source, feed.Declare(source.Docs(), name, apply == nil, feed.Spec(spec))}
	f.stream.Plan = func(e model.Event) (model.Plan, error) {
		c, err := f.change(e)
		if err != nil {
			return model.Plan{}, err
		}
		return apply(c), nil
	}
	raw, err := stored.ReadDocument(source.Docs(), &sample)
	feed.Try(f.stream, raw, err)
	footprints := func() []model.Footprint { return feed.Footprints(source.Name(), f.stream, feed.Spec(spec)) }
	var needs []model.Need
	if spec.Since == "" {
		needs = []model.Need{{Feature: "change streams", Why: "Stream follows " + source.Name() + " without Since"}}
	}
	f.Parts = model.NewParts(f.indexes, nil, nil, footprints, needs...)
	return f
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
	err := f.source.Docs().Decode(bytes.Clone(raw), doc)
	if err == nil {
		c.ID, err = f.source.ID(doc)
	}
	var value *model.ValueError
	if err != nil && !errors.As(err, &value) {
		err = f.source.Docs().Refuse("_id", e.ID, err.Error())
	}
	if err != nil {
		return c, err
	}
	if e.Document != nil {
		c.Doc = doc
	}
	return c, nil
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
	id, err := f.source.Docs().Raw(c.ID)
	e := model.Event{
		Kind: c.Kind, Updated: bytes.Clone(c.Updated), Removed: slices.Clone(c.Removed), Truncated: bytes.Clone(c.Truncated),
		Token: c.Token, Time: c.Time, ID: id,
	}
	if err == nil && c.Doc != nil {
		e.Document, err = f.source.Docs().Document(*c.Doc)
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
	return feed.Rebuild(f.stream)
}

func (f *Feed[D, K]) indexes() []model.Index {
	if f.stream.Since == "" {
		return nil
	}
	return []model.Index{feed.Index(f.stream)}
}
