package denorm

import (
	"context"
	"reflect"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/eventlog"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// EventCommit is the document of one append to an [EventLog]. K is a kind of string or
// integer, or a bson.ObjectID. E is stored as a document; it may be the interface of an
// embed.Union, with the union's options on the collection.
type EventCommit[K, E any] struct {
	ID     string        `bson:"_id"`    // the key and First, so that _ids are in the order of events
	Key    K             `bson:"key"`    // the aggregate
	First  int64         `bson:"first"`  // number of the first event, counted from 1 in each aggregate
	Last   int64         `bson:"last"`   // number of the last event: the aggregate's version
	At     time.Time     `bson:"at"`     // never before the commit before it
	Token  bson.ObjectID `bson:"token"`  // of the append
	Events []E           `bson:"events"` // in their order
}

// EventState is what the events of an aggregate up to a version make: the result of a
// read, a snapshot, or a document of a [Projection].
type EventState[K, S any] struct {
	ID       K         `bson:"_id"`      // the aggregate
	Version  int64     `bson:"version"`  // number of the last event that State holds; 0 for none
	At       time.Time `bson:"at"`       // time of that event's commit; zero for none
	Revision int       `bson:"revision"` // of the function that folded it
	State    S         `bson:"state"`
}

// EventLogSpec says how states are made of events, and what an append may hold. Fold is
// required.
type EventLogSpec[K, E, S any] struct {
	// Fold applies an event to a state. It must be pure. The first state is the zero S. It
	// may change the state that it is given, and return it. An error ends the read. A state
	// that is stored must fit a document.
	Fold func(state S, event E) (S, error)

	// Revision counts the versions of Fold. A snapshot of a lower revision isn't read, and is
	// replaced; one of a higher revision isn't read either, and stays.
	Revision int

	// Snapshots keeps a state of each aggregate for about Every events, so that a read
	// replays few of them. Both or neither.
	Snapshots *model.Collection[EventState[K, S], K]
	Every     int64

	// MaxEvents and MaxBytes bound one append. 0 means 1000 events, and 15 MiB. Don't lower
	// MaxEvents later: EventLog.Commits relies on it.
	MaxEvents int
	MaxBytes  int64
}

// EventLog stores the events of aggregates, and makes their states from them: an account is
// its deposits and withdrawals. Events are appended at a version that the writer has read,
// and never change. Make it with [NewEventLog].
//
// One append is one document, a commit, with all its events. The _id of a commit is the key
// of its aggregate and the number of its first event. Two appends at one version have the
// same _id, so that the server stores one of them: the log has no gap and no fork. Commits
// of an aggregate are one bytewise range of _id: the collection must not have a collation.
// Under a tenant's [model.Scope] keys must differ between tenants, for the _id holds the key.
// Commits that a scope has marked as deleted are read all the same.
//
// Snapshots are derived. One is written after an append that passes a multiple of Every,
// replaces older ones only, and may be lost.
//
// Source: Event Sourcing pattern
// (https://learn.microsoft.com/azure/architecture/patterns/event-sourcing); "Event Sourcing",
// M. Fowler (https://martinfowler.com/eaaDev/EventSourcing.html).
//
// Indexes returns the unique index of keys and tokens, by which [EventLog.Decide] finds its
// own commit, and a token that was used before is refused.
//
// Checks returns a check of the commits: of gaps, overlaps, numbers that don't fit the
// events or the _id, and times that run backwards. No write mends them. With Snapshots a
// second check finds snapshots of this Revision that differ from a
// replay, or claim a version at which no commit ends. Mending deletes them.
//
// Cost: the first check reads all commits, the second replays the commits of each snapshot:
// a command for each, and one for each further 1000 commits. Mending deletes one document
// each, by _id.
type EventLog[K, E, S any] struct {
	model.Parts

	commits *model.Collection[EventCommit[K, E], string]
	l       *eventlog.Log
	fold    eventlog.Fold
}

// NewEventLog declares that a collection holds the commits of an event log. It panics with a
// [*model.DeclarationError] when K can't be written into an _id, E is not stored as a
// document, there is no Fold, Snapshots and Every don't come together, snapshots and
// commits share a collection, or a bound is out of range.
func NewEventLog[K, E, S any](commits *model.Collection[EventCommit[K, E], string], spec EventLogSpec[K, E, S]) *EventLog[K, E, S] {
	var docs *core.Docs
	if spec.Snapshots != nil {
		docs = spec.Snapshots.Docs()
	}
	l := &EventLog[K, E, S]{commits: commits, fold: foldOf[K](commits, docs, spec.Fold, spec.Revision)}
	l.l = eventlog.Declare(commits.Docs(), reflect.TypeFor[K](), spec.Fold != nil, l.fold,
		eventlog.Spec{MaxEvents: spec.MaxEvents, MaxBytes: spec.MaxBytes, Every: spec.Every}, keyOf(commits))
	l.Parts = model.NewParts(l.l.Indexes, nil, l.l.Checks, l.l.Footprints)
	return l
}

// keyOf decodes the key of a commit.
func keyOf[K, E any](commits *model.Collection[EventCommit[K, E], string]) func(bson.Raw) (any, error) {
	return func(raw bson.Raw) (any, error) {
		var c EventCommit[K, E]
		err := commits.Docs().Decode(raw, &c)
		return c.Key, err
	}
}

// foldOf is a fold without its types. docs is where its states are stored.
func foldOf[K, E, S any](
	commits *model.Collection[EventCommit[K, E], string], docs *core.Docs, fold func(S, E) (S, error), revision int,
) eventlog.Fold {
	return eventlog.Fold{
		Docs: docs, Revision: revision,
		Zero: func() any { var s S; return s },
		Step: func(state any, raw bson.Raw, after, upTo int64) (any, error) {
			var c EventCommit[K, E]
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
		Encode: func(key any, s eventlog.State) (bson.Raw, error) {
			doc := stateOf[K, S](key, s, revision)
			raw, _, err := docs.Checked(&doc)
			return raw, err
		},
		Decode: func(raw bson.Raw) (any, any, error) {
			var doc EventState[K, S]
			err := docs.Decode(raw, &doc)
			return doc.ID, doc.State, err
		},
	}
}

func stateOf[K, S any](key any, s eventlog.State, revision int) EventState[K, S] {
	out := EventState[K, S]{Version: s.Version, Revision: revision}
	out.ID, _ = key.(K)
	out.State, _ = s.Value.(S)
	if s.Version > 0 {
		out.At = s.At.Time().UTC()
	}
	return out
}

// events are the events of an append at a key.
func (l *EventLog[K, E, S]) events(key K, op bson.ObjectID, list []E) eventlog.Events {
	return eventlog.Events{N: len(list), Commit: func(id string, first, last int64, at time.Time) (bson.Raw, error) {
		c := EventCommit[K, E]{id, key, first, last, at, op, list}
		raw, _, err := l.commits.Docs().Checked(&c)
		return raw, err
	}}
}

// Append returns the change that appends events to an aggregate at the version that the
// caller has read, 0 for a new aggregate. All of them are stored, or none. Running it again
// with its token does nothing, also when others have appended since.
//
// Running it gives ErrVersion when the aggregate is at another version, ErrToken when the
// token belongs to another append, ErrEarlier when the last commit's time is later than at,
// and a [*model.ValueError] for no events, too many or too large ones. The log stays as it
// was.
//
// Cost: two commands, one document, by _id; on a conflict up to three commands more. An
// append that passes a multiple of Every costs three commands and one document more for the
// snapshot. A cut leaves an older snapshot. An error of the snapshot is returned too, though
// the events are stored.
func (l *EventLog[K, E, S]) Append(key K, expected int64, at time.Time, events []E, op bson.ObjectID) model.Change[any] {
	return l.l.Append(key, expected, at, op, l.events(key, op, events))
}

// Decide returns the change that appends the events which a function decides from the
// state, at that state's version. The function must be pure: it is asked again with the new
// state when another append came first, up to 100 times. Its error ends the change, and no
// events append nothing. A commit's time is at, or that of the last commit if that is later.
// Running it again with its token does nothing, and asks the function nothing.
//
// Cost: two commands for the state, as [EventLog.Load], and one for the commit, one document.
// Behind a snapshot one more looks the token up, by the index of [EventLog.Indexes]. When
// Every events follow the snapshot, three commands and one document more. A cut leaves an
// older snapshot.
func (l *EventLog[K, E, S]) Decide(
	key K, at time.Time, op bson.ObjectID, decide func(EventState[K, S]) ([]E, error),
) model.Change[any] {
	var untyped func(eventlog.State) (eventlog.Events, error)
	if decide != nil {
		untyped = func(s eventlog.State) (eventlog.Events, error) {
			list, err := decide(stateOf[K, S](key, s, l.fold.Revision))
			return l.events(key, op, list), err
		}
	}
	return commands.Untyped(l.l.Decide(key, at, op, untyped))
}

// Load returns the change that reads an aggregate's newest state. It writes nothing. An
// aggregate without events has version 0 and the zero state.
//
// Cost: two commands, the snapshot by _id and the commits after it by a range of _id: at
// most Every events and those of one commit, once the snapshot is written. Without
// Snapshots one command, and every commit. One command more for each further 1000 commits
// or 16 MB. ErrGap says that commits are missing: see Checks.
func (l *EventLog[K, E, S]) Load(key K) model.Change[EventState[K, S]] {
	return l.state(key, l.l.Load(key))
}

// At returns the change that reads the state at a version, of which an event of the middle
// of a commit is one. A version that the aggregate hasn't reached gives ErrVersion.
//
// Cost: as [EventLog.Load]. A snapshot that is newer than the version doesn't help: all
// commits up to the version are read.
func (l *EventLog[K, E, S]) At(key K, version int64) model.Change[EventState[K, S]] {
	return l.state(key, l.l.At(key, version))
}

// AsOf returns the change that reads the state at a time: that of all commits whose time is
// at or before it.
//
// Cost: as [EventLog.At].
func (l *EventLog[K, E, S]) AsOf(key K, at time.Time) model.Change[EventState[K, S]] {
	return l.state(key, l.l.AsOf(key, at))
}

func (l *EventLog[K, E, S]) state(key K, c model.Change[eventlog.State]) model.Change[EventState[K, S]] {
	return readAs(c, func(s eventlog.State) EventState[K, S] { return stateOf[K, S](key, s, l.fold.Revision) })
}

// Version returns the change that reads the number of an aggregate's last event; 0 for none.
//
// Cost: one command, one document by _id.
func (l *EventLog[K, E, S]) Version(key K) model.Change[int64] { return l.l.Version(key) }

// Commits returns the query of the commits that hold the events from ≤ n ≤ to of an
// aggregate, in their order; 0 for to means all. Commits come whole: the first and the last
// may hold events outside. Page it with Limited and After(commit.ID).
//
// Cost: one command, served by _id; it examines up to MaxEvents commits before the first.
func (l *EventLog[K, E, S]) Commits(key K, from, to int64) *model.Find[EventCommit[K, E]] {
	filter, err := l.l.Commits(key, from, to)
	f := l.commits.Find(filter)
	f.Sort, f.Deleted = bson.D{{Key: "_id", Value: 1}}, true
	return commands.Served(f, model.IDIndex, err)
}

// Refresh returns the change that writes the snapshot of an aggregate's newest state. It
// needs Snapshots.
//
// Cost: two commands, as [EventLog.Load], and one document, by _id, unless it is up to date.
func (l *EventLog[K, E, S]) Refresh(key K) model.Change[any] {
	return commands.Untyped(l.l.Snapshot(key))
}

// readAs is a change that only reads, whose state is shown in another form.
func readAs[S, T any](c model.Change[T], as func(T) S) model.Change[S] {
	out := model.Change[S]{Name: c.Name, Attempts: c.Attempts, Err: c.Err, Decide: func(S) (model.Plan, error) { return model.Plan{}, nil }}
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
