// Package eventlog stores events, and computes states ([EventLog]) and views of the states ([Projection]) from them.
package eventlog

import (
	"context"
	"reflect"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Commit is the document of one append to an [EventLog]. K is a string type, a
// signed integer type or bson.ObjectID. E is the type of an event, stored as a document.
// If E is the interface of an embed.Union, declare the collection with the Union's
// Options.
type Commit[K, E any] struct {
	ID     string        `bson:"_id"`    // made of Key and First
	Key    K             `bson:"key"`    // identifies the aggregate, such as an account
	First  int64         `bson:"first"`  // number of Events[0]; each Key starts at 1
	Last   int64         `bson:"last"`   // number of the last event: the aggregate's version
	At     time.Time     `bson:"at"`     // time of the commit, never before the previous commit's At
	Token  bson.ObjectID `bson:"token"`  // to recognize a retry
	Events []E           `bson:"events"` // the events in order
}

// State is an aggregate's state at a version. Reads of an [EventLog] or [Projection]
// return this type. An EventLog's snapshots and a Projection's documents have this type.
type State[K, S any] struct {
	ID       K         `bson:"_id"`      // the aggregate's key
	Version  int64     `bson:"version"`  // number of the last applied event; 0 if none
	At       time.Time `bson:"at"`       // Commit.At of the last event
	Revision int       `bson:"revision"` // version of the spec's Fold that computed State
	State    S         `bson:"state"`
}

// Spec contains the options of an [EventLog]. Fold is required.
type Spec[K, E, S any] struct {
	// Fold returns the state after an event. The first state is the zero S. Fold can
	// modify the passed state, but must be pure otherwise. An error ends the read.
	Fold func(state S, event E) (S, error)

	// Revision is the version of Fold. When you change Fold, increase Revision.
	Revision int

	// Snapshots stores states (snapshots) for faster reads. Every is the number of
	// events between an aggregate's snapshots. Set both Snapshots and Every, or neither.
	Snapshots *model.Collection[State[K, S], K]
	Every     int64

	// MaxEvents and MaxBytes limit one append. The defaults are 1000 events and 15 MiB.
	// If you lower MaxEvents later, [EventLog.Commits] can miss commits.
	MaxEvents int
	MaxBytes  int64
}

// EventLog stores the events of things such as accounts (aggregates), and computes each
// aggregate's state. Each append stores one [Commit]. An aggregate's version is the
// number of its last event.
//
// Don't give the collection a collation. Reads include soft-deleted commits.
//
// Source: Event Sourcing pattern
// (https://learn.microsoft.com/azure/architecture/patterns/event-sourcing); "Event
// Sourcing", M. Fowler (https://martinfowler.com/eaaDev/EventSourcing.html).
//
// # Indexes and checks
//
// Indexes returns the unique index on the key and token of an [Commit].
//
// Checks returns one check, or two checks with Spec.Snapshots:
//
//   - Commits with gaps or wrong fields. There is no repair.
//   - Snapshots that don't match the events. The repair deletes the snapshots.
//
// Cost: the first check reads all commits. The second check sends one command per
// snapshot.
type EventLog[K, E, S any] struct {
	model.Parts

	commits *model.Collection[Commit[K, E], string]
	l       *untypedLog
	fold    folding
}

// New declares that a collection contains an event log's commits. New
// panics with a [*model.DeclarationError] if
//
//   - K can't be part of an _id, or E isn't stored as a document
//   - snapshots and commits share a collection
//   - a spec field is missing or out of range
func New[K, E, S any](
	commits *model.Collection[Commit[K, E], string], spec Spec[K, E, S],
) *EventLog[K, E, S] {
	uses := []*core.Docs{commits.Docs()}
	var docs *core.Docs
	if spec.Snapshots != nil {
		docs = spec.Snapshots.Docs()
		uses = append(uses, docs)
	}
	l := &EventLog[K, E, S]{commits: commits, fold: foldOf[K](commits, docs, spec.Fold, spec.Revision)}
	l.l = declareLog(commits.Docs(), reflect.TypeFor[K](), spec.Fold != nil, l.fold,
		limits{MaxEvents: spec.MaxEvents, MaxBytes: spec.MaxBytes, Every: spec.Every}, keyOf(commits))
	l.Parts = model.NewParts(l.l.listIndexes, nil, l.l.listChecks, l.l.listFootprints).
		WithKeys(l.l.describeKeys()...).WithDocs(uses...).
		WithoutReactions("EventLog.Append")
	return l
}

// keyOf returns the function that decodes the key of a commit.
func keyOf[K, E any](commits *model.Collection[Commit[K, E], string]) func(bson.Raw) (any, error) {
	return func(raw bson.Raw) (any, error) {
		var c Commit[K, E]
		err := commits.Docs().Decode(raw, &c)
		return c.Key, err
	}
}

// foldOf returns the non-generic form of a fold. docs describes the stored states.
func foldOf[K, E, S any](
	commits *model.Collection[Commit[K, E], string], docs *core.Docs, fold func(S, E) (S, error), revision int,
) folding {
	return folding{
		Docs: docs, Revision: revision,
		Zero: func() any { var s S; return s },
		Step: func(state any, raw bson.Raw, after, upTo int64) (any, error) {
			var c Commit[K, E]
			if err := commits.Docs().Decode(raw, &c); err != nil {
				return nil, err
			}
			s, _ := state.(S)
			var err error
			for i, e := range c.Events {
				if n := c.First + int64(i); n <= after || n > upTo {
					continue
				}
				if s, err = fold(s, e); err != nil {
					return nil, err
				}
			}
			return s, nil
		},
		Encode: func(key any, s untypedState) (bson.Raw, error) {
			doc := stateOf[K, S](key, s, revision)
			raw, _, err := docs.EncodeChecked(&doc)
			return raw, err
		},
		Decode: func(raw bson.Raw) (any, any, error) {
			var doc State[K, S]
			err := docs.Decode(raw, &doc)
			return doc.ID, doc.State, err
		},
	}
}

func stateOf[K, S any](key any, s untypedState, revision int) State[K, S] {
	out := State[K, S]{Version: s.Version, Revision: revision}
	out.ID, _ = key.(K)
	out.State, _ = s.Value.(S)
	if s.Version > 0 {
		out.At = s.At.Time().UTC()
	}
	return out
}

// events returns the non-generic form of the events of an append.
func (l *EventLog[K, E, S]) events(key K, op bson.ObjectID, list []E) untypedEvents {
	return untypedEvents{N: len(list), Encode: func(id string, first, last int64, at time.Time) (bson.Raw, error) {
		c := Commit[K, E]{id, key, first, last, at, op, list}
		raw, _, err := l.commits.Docs().EncodeChecked(&c)
		return raw, err
	}}
}

// Append returns the change that appends events to the aggregate with this key. expected
// is the version that you read, or 0 for a new aggregate. t is the events' time. A retry
// with the same arguments does nothing. Errors:
//
//   - [ErrVersion]: the aggregate is at another version.
//   - denorm.ErrToken: the token belongs to another append.
//   - denorm.ErrEarlier: t is before the last commit's time.
//
// Cost: two commands, one document, by _id. With Spec.Snapshots, some appends
// also store a snapshot. If only the snapshot fails, the events are stored, but the
// change gives an error.
func (l *EventLog[K, E, S]) Append(
	key K, expected int64, t time.Time, events []E, token bson.ObjectID,
) model.Change {
	return l.l.appendEvents(key, expected, t, token, l.events(key, token, events))
}

// Decide returns the change that passes an aggregate's newest state to decide, and
// appends the events that decide returns. decide must be pure. After a concurrent append,
// the change calls decide again. A retry with the same token does nothing.
//
// Cost: one or two commands read the state: see [EventLog.Load]. If a snapshot exists,
// one more command looks for the token. One command stores one document. Some calls also
// store a snapshot: see [EventLog.Append].
func (l *EventLog[K, E, S]) Decide(
	key K, t time.Time, token bson.ObjectID, decide func(State[K, S]) ([]E, error),
) model.Change {
	var untyped func(untypedState) (untypedEvents, error)
	if decide != nil {
		untyped = func(s untypedState) (untypedEvents, error) {
			list, err := decide(stateOf[K, S](key, s, l.fold.Revision))
			return l.events(key, token, list), err
		}
	}
	return l.l.decideEvents(key, t, token, untyped).Change()
}

// Load returns the change that reads an aggregate's newest state. An aggregate without
// events has the zero state at version 0. Missing commits give [ErrGap].
//
// Cost: two commands, by _id, for the snapshot and the later commits. Without
// Spec.Snapshots, one command reads every commit.
func (l *EventLog[K, E, S]) Load(key K) model.ChangeOf[State[K, S]] {
	return l.state(key, l.l.loadState(key))
}

// At returns the change that reads an aggregate's state at a version. Version 0 is the
// zero state. A version that the aggregate hasn't reached gives ErrVersion.
//
// Cost: as [EventLog.Load]. If the snapshot is newer than the version, the change reads
// all commits up to the version.
func (l *EventLog[K, E, S]) At(key K, version int64) model.ChangeOf[State[K, S]] {
	return l.state(key, l.l.loadVersion(key, version))
}

// AsOf returns the change that reads a key's state at the time t. Commits with a later
// Commit.At are skipped.
//
// Cost: as [EventLog.At].
func (l *EventLog[K, E, S]) AsOf(key K, t time.Time) model.ChangeOf[State[K, S]] {
	return l.state(key, l.l.loadAsOf(key, t))
}

func (l *EventLog[K, E, S]) state(key K, c model.ChangeOf[untypedState]) model.ChangeOf[State[K, S]] {
	return readAs(c, func(s untypedState) State[K, S] { return stateOf[K, S](key, s, l.fold.Revision) })
}

// Version returns the change that reads the number of an aggregate's last event. Without
// events, the result is 0.
//
// Cost: one command, one document by _id.
func (l *EventLog[K, E, S]) Version(key K) model.ChangeOf[int64] { return l.l.readVersion(key) }

// Commits returns the query of an aggregate's commits, in order. The commits contain the
// events from number start (at least 1) to number end. An end of 0 means no upper limit.
// For the next page, pass the last commit's ID to [model.Find.After].
//
// Cost: one command, by _id.
func (l *EventLog[K, E, S]) Commits(key K, start, end int64) *model.Find[Commit[K, E]] {
	filter, err := l.l.matchEvents(key, start, end)
	f := l.commits.Find(filter)
	f.Sort, f.Deleted = bson.D{{Key: "_id", Value: 1}}, true
	return commands.ServeFind(f, model.IDIndex, err)
}

// Refresh returns the change that writes a snapshot of an aggregate's newest state. (For
// aggregates, see [EventLog].) Without Spec.Snapshots, the change gives a
// [*model.ValueError].
//
// Cost: two commands, as [EventLog.Load], and one write by _id if the snapshot isn't up
// to date.
func (l *EventLog[K, E, S]) Refresh(key K) model.Change {
	return l.l.writeSnapshot(key).Change()
}

// readAs returns a change that only reads, with its state converted by as.
func readAs[S, T any](c model.ChangeOf[T], as func(T) S) model.ChangeOf[S] {
	out := model.ChangeOf[S]{
		Name: c.Name, Attempts: c.Attempts, Err: c.Err,
		Decide: func(S) (model.Plan, error) { return model.Plan{}, nil },
	}
	if c.Read != nil {
		out.Read = func(ctx context.Context, db model.DB) (s S, err error) {
			v, err := c.Read(ctx, db)
			if err == nil {
				s = as(v)
			}
			return s, err
		}
	}
	return out
}
