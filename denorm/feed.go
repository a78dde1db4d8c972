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

// Feed keeps copies of a collection's data up to date: a function computes a plan from
// each change of a document, and the feed's [model.Stream] runs the plan.
//
// The stream first runs a plan for every stored document. Then it follows the
// collection's change stream, or polls by FeedSpec.Since on a server without change
// streams. It stores its position after the plans ran. A feed that was killed and runs
// again repeats the last changes, in order. So plans must be repeatable:
//   - A plan sets, replaces or deletes a copy under an _id that the change gives. It
//     never adds to a value.
//   - A repeated insert fails if the copy has changed since. If copies change, use a
//     replace with upsert.
//   - The changed document may be gone when its plan runs. A write that must match it
//     then stops the feed with model.ErrNotFound.
//
// Plans of one document run in the order of its changes, plans of different documents at
// the same time.
//
// # Consistency
//
// [model.StreamProgress] reports how late the copies are. An update's document is read
// after the change and may be newer. Polls, and the first plans for stored documents,
// don't see deletions. If two programs run a feed, the later takes over. In rare cases
// ([model.Stream.Run]) an old write still arrives late. To exclude this, let plans
// compare a version of the document, or FeedChange.Token.
//
// Source: change streams, https://www.mongodb.com/docs/manual/changeStreams/.
//
// Indexes returns the index for polling, if FeedSpec.Since is set.
type Feed[D, K any] struct {
	model.Parts

	source *model.Collection[D, K]
	stream model.Stream
}

// FeedSpec says how a feed sees changes. The zero value is valid.
type FeedSpec struct {
	// Places is the collection that stores how far the feed has read the changes, in a
	// document with the feed's name as _id. "" means "docmodel.feeds".
	Places string

	// Bare leaves out the look-up of updated documents: changes by updates have no Doc.
	// Without Bare, the feed skips an update of a document that was deleted since.
	Bare bool

	// Mark is a field of the source that no other code writes. Give it if the feed's
	// plans update the source. The feed then makes each such update store the change's
	// token in this field, and skips the change that the update causes. With "", the feed
	// stops at such a plan.
	Mark string

	// Since is the path of a field that each write of the source sets to a greater value,
	// such as a time. With Since, the feed polls a server that has no change streams.
	// With "", running the feed there gives model.ErrNoChangeStreams.
	Since string

	// Overlap is how far each poll goes back, if Since is a time or an ObjectID. The feed
	// runs the plans of documents in this time again. With 0, the feed misses a document
	// that becomes visible after a document with a greater Since. Then write the missed
	// document again, or run [Feed.Rebuild].
	Overlap time.Duration
}

// A FeedChange is one change of a document.
type FeedChange[D, K any] struct {
	Kind model.EventKind
	ID   K
	Doc  *D // nil for a deletion, and for an update in a Bare feed

	Updated   bson.Raw  // of an update: set fields, by dotted path
	Removed   []string  // of an update: removed fields
	Truncated bson.Raw  // of an update: an array of {field, newSize}
	Token     string    // the same whenever the change comes again; "" if Scanned
	Time      time.Time // of the change; zero if Scanned
}

// NewFeed declares a feed of the changes of source. name identifies the feed's stored
// position. apply computes the plan of a change and must be pure. NewFeed tries apply
// with each kind of change of sample, a typical document.
//
// It panics with a [*model.DeclarationError] if
//   - a plan for sample isn't repeatable, has bad input, or writes to the source, except
//     updates with FeedSpec.Mark
//   - all plans for sample are empty, or sample has no _id
//   - Mark isn't a string field, or Since isn't a time, ObjectID, integer or string
//
// The first condition also stops a running feed, before it sends the plan.
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

// change decodes an event into a typed change.
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

// Stream returns the stream that runs the feed, by [model.Stream.Run].
//
// Cost: that of [model.Stream.Run]. Without FeedSpec.Bare, the server also looks up each
// updated document by _id.
func (f *Feed[D, K]) Stream() model.Stream { return f.stream }

// Plan returns the plan that a running feed sends for a change. If the feed would stop at
// this change, running the plan gives the error.
//
// Cost: no command.
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

// Rebuild returns the job that runs the plans of all stored documents, as changes of kind
// [model.Scanned], to fill or repair copies. It doesn't delete the copies of deleted
// documents. While the feed runs, the job can overwrite newer copies: let plans compare
// versions, or stop the feed meanwhile.
//
// Cost: a query per batch of 500 documents, two to find the end, and the plans' writes.
// After a crash, run the job again.
func (f *Feed[D, K]) Rebuild() model.Job {
	return feed.Rebuild(f.stream)
}

func (f *Feed[D, K]) indexes() []model.Index {
	if f.stream.Since == "" {
		return nil
	}
	return []model.Index{feed.Index(f.stream)}
}
