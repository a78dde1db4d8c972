// Package feed updates copies of any shape after each change of their source: see [Feed].
package feed

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Feed keeps copies of a collection's data up to date. For each change of a document,
// your function returns a [model.Plan] of writes. [Feed.Stream] runs the plan. A new feed
// begins with a plan for each stored document.
//
// After a crash, the feed repeats the last plans. Each plan must be repeatable:
//   - Write a copy by an _id from the change. Don't use $inc or $push.
//   - If a copy can change, use a replace with upsert, not an insert.
//   - To update the changed document itself, set Write.Expect to [model.Any].
//
// # Consistency
//
// Plans for one document run in the order of the changes. [model.StreamProgress] reports
// the delay. If a second program runs the feed, the first program gets
// [model.ErrTakenOver].
//
// In rare cases, an old write overwrites a newer copy ([model.Stream.Run]). For safety,
// store Change.Token or a document version in the copy. Overwrite only copies with a
// smaller token or version.
//
// Source: change streams, https://www.mongodb.com/docs/manual/changeStreams/.
//
// # Indexes
//
// Indexes returns the index for polling, if Spec.Since is set.
type Feed[D, K any] struct {
	model.Parts

	source *model.Collection[D, K]
	stream model.Stream
}

// Spec says how a [Feed] reads changes. The zero value is valid.
type Spec struct {
	// Places is the collection for the feed's position. "" means "docmodel.feeds".
	Places string

	// Bare makes Change.Doc nil for updates, which saves a read. Without Bare, the
	// feed skips updates of documents that no longer exist.
	Bare bool

	// Mark is a source field that only this feed writes. If the feed's plans update
	// source documents, set Mark. Then the feed skips its own updates. Mark doesn't permit
	// inserts, upserts, replacements or deletions in source. If a plan updates source
	// documents by a pipeline, a feed that follows a change stream runs the plan in a
	// transaction.
	Mark string

	// Since is the path to poll on servers without change streams. Each write must set a
	// greater time, ObjectID, integer or string. Polling misses deletions. Without Since,
	// these servers give model.ErrNoChangeStreams.
	Since string

	// Overlap is how far each poll goes back. For changes in this time, plans run again.
	// Since must name a time or ObjectID. Without Overlap, polls can miss a late write.
	// To repair the copy, write the document again, or run [Feed.Rebuild].
	Overlap time.Duration
}

// A Change is one change of a document.
type Change[D, K any] struct {
	Kind model.EventKind
	ID   K
	Doc  *D // the document, perhaps with later changes; nil for a deletion, or an update with Spec.Bare

	Updated   bson.Raw  // for an update: new values, by dotted path
	Removed   []string  // for an update: removed fields
	Truncated bson.Raw  // for an update: shortened arrays, as {field, newSize}
	Token     string    // identifies the change, even if it comes again; "" for model.Scanned
	Time      time.Time // time of the change; zero for model.Scanned
}

// New declares a feed of the changes of source. The feed stores its position under
// name. The function apply computes a change's plan, without side effects. New tests
// apply with changes of sample, a typical document.
//
// New panics with a [*model.DeclarationError] if
//   - a plan isn't repeatable (see [Feed])
//   - a plan contains a write to source that Spec.Mark doesn't permit
//   - all plans are empty
//   - a parameter is invalid
func New[D, K any](
	source *model.Collection[D, K], name string, sample D, apply func(Change[D, K]) model.Plan, spec Spec,
) *Feed[D, K] {
	f := &Feed[D, K]{model.Parts{}, source, declareStream(source.Docs(), name, apply == nil, spec)}
	f.stream.Plan = func(e model.Event) (model.Plan, error) {
		c, err := f.change(e)
		if err != nil {
			return model.Plan{}, err
		}
		return apply(c), nil
	}
	raw, err := stored.EncodeReadDocument(source.Docs(), &sample)
	tryStream(f.stream, raw, err)
	footprints := func() []model.Footprint { return listFootprints(source.Name(), f.stream, spec) }
	var needs []model.Need
	if spec.Since == "" {
		needs = []model.Need{{Feature: "change streams", Why: "Stream follows " + source.Name() + " without Since"}}
	}
	f.Parts = model.NewParts(f.indexes, nil, nil, footprints, needs...).WithDocs(source.Docs()).
		WithReactions(func() []model.Reaction { return nil })
	return f
}

// change decodes an event into a typed change.
func (f *Feed[D, K]) change(e model.Event) (Change[D, K], error) {
	c := Change[D, K]{
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

// Stream returns the stream that runs the feed. Call [model.Stream.Run].
//
// Cost: that of [model.Stream.Run]. Without Spec.Bare, a change stream also looks up
// each updated document by _id.
func (f *Feed[D, K]) Stream() model.Stream { return f.stream }

// Plan returns the plan that a running feed sends for a change. If the change would stop
// the feed with an error, running the plan gives that error.
//
// Cost: no command.
func (f *Feed[D, K]) Plan(c Change[D, K]) model.Plan {
	id, err := f.source.Docs().Raw(c.ID)
	e := model.Event{
		Kind: c.Kind, Updated: bytes.Clone(c.Updated), Removed: slices.Clone(c.Removed),
		Truncated: bytes.Clone(c.Truncated), Token: c.Token, Time: c.Time, ID: id,
	}
	if err == nil && c.Doc != nil {
		e.Document, err = f.source.Docs().Document(*c.Doc)
	}
	var plan model.Plan
	if err == nil {
		plan, err = f.stream.PlanFor(e)
	}
	if err != nil {
		return model.NewPlan(model.Refused(f.source.Name(), err))
	}
	return plan
}

// Rebuild returns the job that runs a plan (see [Feed]) for each stored document, to fill
// or repair copies. Copies of deleted documents stay. The job can overwrite newer copies.
// Stop the feed first, or compare versions: see [Feed]. After a crash, run the job again.
//
// Cost: one query for each 500 documents, two more queries, and the plans' writes.
func (f *Feed[D, K]) Rebuild() model.Job {
	return makeRebuildJob(f.stream)
}

func (f *Feed[D, K]) indexes() []model.Index {
	if f.stream.Since == "" {
		return nil
	}
	return []model.Index{makeIndex(f.stream)}
}
