// Package changestream makes the events of change streams from the changes that a store has recorded
// (https://www.mongodb.com/docs/manual/changeStreams/). The command aggregate opens a stream by [Open] and reads it as
// the source of a cursor.
//
// # How a stream reads
//
//  1. A stream starts after a position among the changes: now, a time, or a resume token. If the store has forgotten
//     changes since then, the error is ChangeStreamHistoryLost.
//  2. Next takes the next change. The stream's [Scope] decides whether the stream sees it: changes of a collection, of
//     a database or of all databases. Changes of kinds that only expanded events show are passed over.
//  3. The change becomes an event (event.go, expanded.go), which goes through the stages after $changeStream. They may
//     leave it out, and must not change its _id.
//  4. A change that ends the stream, such as a drop of its collection, is followed by an invalidate event. Then the
//     stream is over.
//
// Next returns nil if there is no change yet. The channel of SignalChange is closed when the store has another one.
//
// # Tokens
//
// The _id of an event is a resume token: the position of the change, and what stands there (token.go). Position returns
// the token after the last change that was looked at, whether it had an event or not, so that a stream of rare events
// can resume too.
//
// # Documents in events
//
// A change has its documents before and after. An update's fullDocument with "updateLookup" is looked up when the event
// is made. With "whenAvailable" and "required" it is the recorded document, if the collection records images.
package changestream

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// Stream is an open change stream. One goroutine at a time uses it.
type Stream struct {
	store *store.Store
	Options
	scope Scope
	pipe  *pipeline.Pipeline

	at     store.Position // of the last change that was looked at
	token  bson.D         // with which a new stream would continue
	queue  []*store.Event // read from the history, not yet looked at
	ending *store.Event   // the change that invalidates the stream, if its event is next
	over   bool           // the stream has been invalidated
	wake   <-chan struct{}
	watch  *interrupt.Watch
}

// Close does nothing: the store keeps no list of streams.
func (s *Stream) Close() {}

// Position returns the token with which a new stream would continue.
func (s *Stream) Position() bson.D { return s.token }

// IsOver reports whether the stream was invalidated.
func (s *Stream) IsOver() bool { return s.over }

// SignalChange returns a channel that is closed when Next may have another event.
func (s *Stream) SignalChange() <-chan struct{} { return s.wake }

// sees reports whether the stream sees the change. A stream of expanded events sees views, unless it watches a
// collection.
func (s *Stream) sees(e *store.Event) bool {
	return s.scope.sees(e) && (!e.OfView() || s.Expanded && s.scope.Coll == "")
}

// hides reports whether the stream has no event for a change that it sees. A stream can resume from such a change.
func (s *Stream) hides(e *store.Event) bool {
	return !s.Expanded && slices.Contains(expandedKinds, e.Kind)
}

// expandedKinds are the kinds of changes that only expanded events show.
var expandedKinds = []string{store.Created, store.IndexesCreated, store.IndexesDropped, store.Modified}

// IsOpenedBy reports whether a pipeline opens a change stream: its first stage is $changeStream.
func IsOpenedBy(stages bson.A) bool {
	if len(stages) == 0 {
		return false
	}
	d, _ := stages[0].(bson.D)
	return len(d) == 1 && d[0].Key == "$changeStream"
}

// Open returns a stream of the changes in a scope. Its events go through the pipeline, which has the stages after
// $changeStream.
func Open(
	s *store.Store, opt Options, of Scope, p *pipeline.Pipeline, w *interrupt.Watch,
) (*Stream, error) {
	x := &Stream{store: s, Options: opt, scope: of, pipe: p, watch: w}
	return x, x.start()
}

// start finds the position after which the stream reads.
func (s *Stream) start() error {
	st := s.store
	switch {
	case s.hasToken:
		return s.resume(s.from)
	case s.hasTime:
		s.at = store.Position{Timestamp: s.time}
		if s.at.Compare(st.Forgotten()) < 0 {
			return newHistoryLost()
		}
	default:
		s.at = st.Latest()
	}
	s.token = token{s.at, passed}.document()
	return nil
}

// resume continues after a token. The change of the token must be one that the stream sees.
func (s *Stream) resume(t token) error {
	st := s.store
	s.at, s.token = t.at, t.document()
	// A stream can continue after the latest forgotten change, but not look at it.
	lost := t.at.Compare(st.Forgotten())
	if lost < 0 || lost == 0 && t.kind != passed {
		return newHistoryLost()
	}
	if t.kind == passed {
		return nil
	}
	e := st.Event(t.at)
	if e == nil || !s.sees(e) || t.kind == invalidated && !s.scope.endsBy(e) {
		return newFatalError(mongoerr.ChangeStreamFatalError,
			"cannot resume stream; the resume token was not found. %s", store.Show(t.document()))
	}
	if t.kind == changed && s.scope.endsBy(e) { // the invalidate event is still to come
		s.ending = e
	}
	return nil
}

// readAhead is the number of changes that are read from the history at a time.
const readAhead = 256

// Next returns the next event, nil if there is no event yet or the stream is over.
func (s *Stream) Next() (bson.D, error) {
	for !s.over {
		if err := s.watch.Step(); err != nil {
			return nil, err
		}
		if e := s.ending; e != nil {
			s.ending, s.over = nil, true
			doc, err := s.runStages(s.makeInvalidation(e), token{e.Position, invalidated})
			if doc != nil || err != nil {
				return doc, err
			}
			continue
		}
		if len(s.queue) == 0 {
			var kept bool
			if s.queue, s.wake, kept = s.store.Events(s.at, readAhead); !kept {
				return nil, newHistoryLost()
			}
			if len(s.queue) == 0 {
				return nil, nil
			}
		}
		e := s.queue[0]
		s.queue = s.queue[1:]
		s.at = e.Position
		s.token = token{s.at, passed}.document()
		if !s.sees(e) || s.hides(e) {
			continue
		}
		if s.scope.endsBy(e) {
			s.ending = e
		}
		doc, err := s.makeEvent(e)
		if err != nil {
			return nil, err
		}
		if doc, err = s.runStages(doc, token{s.at, changed}); doc != nil || err != nil {
			return doc, err
		}
	}
	return nil, nil
}

// runStages puts an event through the stages that follow $changeStream. It returns nil if they leave the event out. t
// is the event's token.
func (s *Stream) runStages(doc bson.D, t token) (bson.D, error) {
	id := t.document()
	in := func(yield func(bson.D, error) bool) { yield(doc, nil) }
	for out, err := range s.pipe.Run(in) {
		if err != nil {
			return nil, err
		}
		if got, _ := bsonval.Get(out, "_id"); !bsonval.Equal(got, id) {
			return nil, newFatalError(mongoerr.ChangeStreamFatalError,
				"Encountered an event whose _id field, which contains the resume token, was modified by the pipeline. "+
					"Modifying the _id field of an event makes it impossible to resume the stream from that point. "+
					"Only transformations that retain the unmodified _id field are allowed. Expected: %s but found: %s",
				store.Show(bson.D{{Key: "_id", Value: id}}), store.Show(bson.D{{Key: "_id", Value: got}}))
		}
		if n := bsonval.Size(out); n > store.MaxDocument {
			return nil, mongoerr.New(mongoerr.BSONObjectTooLarge,
				"BSONObj size: %d is invalid: a change event may have 16MB", n)
		}
		s.token = id
		return out, nil
	}
	return nil, nil
}
