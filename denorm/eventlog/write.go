package eventlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// untypedEvents are the events of one append.
type untypedEvents struct {
	// number of events
	N int
	// makes the checked document of their commit
	Encode func(id string, first, last int64, at time.Time) (bson.Raw, error)
}

// encodeCommit encodes a commit after a version.
func (l *untypedLog) encodeCommit(k logKey, after int64, at time.Time, events untypedEvents) (bson.Raw, error) {
	// The number of the last event. The first event of a key is 1, so version 0 has no
	// events.
	last := after + int64(events.N)
	switch {
	case events.N == 0:
		return nil, l.Docs.Refuse("events", nil, "no events were given: give at least one")
	case events.N > l.Spec.MaxEvents:
		return nil, l.Docs.Refuse("events", events.N,
			fmt.Sprintf("are more events than MaxEvents, %d", l.Spec.MaxEvents))
	case after < 0 || last > maxVersion:
		return nil, l.Docs.Refuse("expected", after, "must be from 0 to 9999999999999999")
	}
	raw, err := events.Encode(k.commitID(after+1), after+1, last, at)
	if err != nil {
		return nil, err
	}
	// The public type's types can encode an event as something other than a document.
	list := raw.Lookup("events")
	for i, e := range core.Elements(list) {
		if e.Type != bson.TypeEmbeddedDocument {
			return nil, l.Docs.Refuse(fmt.Sprintf("events.%d", i), e,
				"must be stored as a document: wrap the event in a struct")
		}
	}
	if size := int64(len(list.Value)); size > l.Spec.MaxBytes {
		return nil, l.Docs.Refuse("events", size, fmt.Sprintf("have more bytes than MaxBytes, %d", l.Spec.MaxBytes))
	}
	return raw, nil
}

// checkTokenAndTime checks the arguments of every append.
func (l *untypedLog) checkTokenAndTime(at time.Time, op bson.ObjectID) error {
	switch {
	case op.IsZero():
		return l.Docs.Refuse("token", nil, commands.NoToken)
	case at.IsZero():
		return l.Docs.Refuse("t", nil, "is the zero time: pass the time of the events")
	}
	return nil
}

// insertCommit is the write of a commit. byID is the error if another commit has its _id,
// byOp if another commit has its token.
func (l *untypedLog) insertCommit(k logKey, raw bson.Raw, byID, byOp error) model.Write {
	id := commands.MatchID(raw.Lookup("_id"))
	op, events := mql.E("token", raw.Lookup("token")), mql.E("events", mql.Eq(raw.Lookup("events")))
	token, _ := raw.Lookup("token").ObjectIDOK()
	return model.Write{
		Collection: l.Docs.Name(), Index: model.IDIndex, Keyed: true,
		Model: &mongo.InsertOneModel{Document: raw}, Deleted: true, Token: token,
		// The same commit of the same token: the insert was sent twice.
		Done: append(bson.D{id[0]}, op, events),
		// The first one that is true gives the error.
		Reasons: []model.Reason{
			{If: bson.D{id[0], op}, Err: byOp}, {If: id, Err: byID},
			{If: bson.D{mql.E("key", mql.Eq(k.value)), op}, Err: byOp},
		},
	}
}

// An appending is the state from which an append decides.
type appending struct {
	Head logHead
	// the commit that begins after the expected version; nil if there is none
	Held bson.Raw
}

// appendEvents adds events after an expected version.
func (l *untypedLog) appendEvents(
	key any, expected int64, at time.Time, op bson.ObjectID, events untypedEvents,
) model.Change {
	k, err := l.encodeKey(key)
	var raw bson.Raw
	if err == nil {
		err = l.checkTokenAndTime(at, op)
	}
	if err == nil {
		raw, err = l.encodeCommit(k, expected, at, events)
	}
	if err != nil {
		return commands.RefuseChange(l.Docs.Name(), err)
	}
	// One attempt: the caller decided the events from the expected version, so a stale
	// plan is the caller's.
	last := expected + int64(events.N)
	c := model.ChangeOf[appending]{
		Name: "append " + l.Docs.Name(), Attempts: 1,
		Read: func(ctx context.Context, db model.DB) (a appending, err error) {
			if a.Head, err = l.readHead(ctx, db, k); err == nil && a.Head.Last > expected {
				a.Held, err = l.readCommit(ctx, db, k, expected+1)
			}
			return a, err
		},
		Decide: func(a appending) (model.Plan, error) { return l.planAppend(k, expected, raw, a) },
	}
	// A snapshot follows when the append passes a multiple of Every.
	if l.Spec.Every > 0 && last/l.Spec.Every > expected/l.Spec.Every {
		c.Then = func(appending) *model.Change { return l.thenSnapshot(k) }
	}
	return c.Change()
}

// thenSnapshot returns the change that writes a snapshot, for the Then of another change.
func (l *untypedLog) thenSnapshot(k logKey) *model.Change {
	snapshot := l.writeSnapshotOf(k).Change()
	return &snapshot
}

// planAppend inserts the commit after the expected version. If a commit with the same
// token and events is there already, the append is applied.
func (l *untypedLog) planAppend(k logKey, expected int64, raw bson.Raw, a appending) (model.Plan, error) {
	op, _ := raw.Lookup("token").ObjectIDOK()
	at, _ := raw.Lookup("at").DateTimeOK()
	// Others have appended, or this append was made by an earlier attempt, whose answer
	// was lost.
	if a.Head.Last != expected {
		if a.Held == nil || !a.Held.Lookup("token").Equal(raw.Lookup("token")) {
			return model.Plan{}, l.refuseVersion(k, expected, a.Head.Last)
		}
		if !bytes.Equal(a.Held.Lookup("events").Value, raw.Lookup("events").Value) {
			return model.Plan{}, l.refuseReused(op)
		}
		return model.Plan{Applied: true}, nil
	}
	switch {
	// The unique index would refuse the token too, but after a write.
	case a.Head.Token == op:
		return model.Plan{}, l.refuseReused(op)
	case bson.DateTime(at) < a.Head.At:
		return model.Plan{}, l.describeError(stored.ErrEarlier, "the time %s is before the last commit's, %s",
			model.Shell(bson.DateTime(at)), model.Shell(a.Head.At))
	}
	return model.NewPlan(l.insertCommit(k, raw, l.refuseVersion(k, expected, -1), l.refuseReused(op))), nil
}

// A loadedView is a state and the snapshot that it was folded from.
type loadedView struct {
	untypedState
	// the snapshot's version; 0 without one
	Base int64
	// of decideEvents: a commit with its token was found
	Applied bool
}

// decideEvents appends the events that a function decides from the state.
func (l *untypedLog) decideEvents(
	key any, at time.Time, op bson.ObjectID, decide func(untypedState) (untypedEvents, error),
) model.ChangeOf[loadedView] {
	k, err := l.encodeKey(key)
	if err == nil {
		err = l.checkTokenAndTime(at, op)
	}
	if err == nil && decide == nil {
		err = l.Docs.Refuse("decide", nil, "is nil: give the function that decides the events")
	}
	if err != nil {
		return commands.RefuseChangeOf[loadedView](l.Docs.Name(), err)
	}
	c := model.ChangeOf[loadedView]{
		Name: "decide " + l.Docs.Name(), Attempts: 100,
		Read: func(ctx context.Context, db model.DB) (loadedView, error) {
			s, err := l.loadForToken(ctx, db, k, op)
			if err == nil && !s.Applied && s.Base > 0 { // the commits before it were not read
				s.Applied, err = l.hasToken(ctx, db, k, op)
			}
			return s, err
		},
		Decide: func(s loadedView) (model.Plan, error) {
			if s.Applied {
				return model.Plan{Applied: true}, nil
			}
			events, err := decide(s.untypedState)
			if err != nil || events.N == 0 {
				return model.Plan{}, err
			}
			// Times never decrease within a key: loadAsOf depends on it.
			when := at
			if s.Version > 0 && when.Before(s.At.Time()) {
				when = s.At.Time() // another writer's clock is ahead
			}
			raw, err := l.encodeCommit(k, s.Version, when, events)
			if err != nil {
				return model.Plan{}, err
			}
			return model.NewPlan(l.insertCommit(k, raw, model.ErrStale, model.ErrStale)), nil
		},
	}
	if l.Spec.Every > 0 {
		// The state says how many events a read has to fold. With Every of them, a
		// snapshot pays.
		c.Then = func(s loadedView) *model.Change {
			behind := s.Version - s.Base
			if !s.Applied {
				behind++ // at least
			}
			if behind < l.Spec.Every {
				return nil
			}
			return l.thenSnapshot(k)
		}
	}
	return c
}

// hasToken reports whether the key has a commit with the token.
func (l *untypedLog) hasToken(ctx context.Context, db model.DB, k logKey, op bson.ObjectID) (bool, error) {
	_, err := (&model.Find[bson.Raw]{Query: model.Query{
		Collection: l.Docs.Name(), Keyed: true, Filter: bson.D{mql.E("key", mql.Eq(k.value)), mql.E("token", op)},
		Projection: bson.D{mql.E("_id", 1)}, Index: l.makeTokenIndex().Name, Deleted: true,
	}}).One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// writeSnapshot writes the snapshot of a key's newest state.
func (l *untypedLog) writeSnapshot(key any) model.ChangeOf[loadedView] {
	k, err := l.encodeKey(key)
	if err == nil && l.Spec.Every == 0 {
		err = l.Docs.Refuse("Snapshots", nil, "the spec has no Snapshots: declare their collection")
	}
	if err != nil {
		return commands.RefuseChangeOf[loadedView](l.Docs.Name(), err)
	}
	return l.writeSnapshotOf(k)
}

// writeSnapshotOf is writeSnapshot of an encoded key.
func (l *untypedLog) writeSnapshotOf(k logKey) model.ChangeOf[loadedView] {
	return model.ChangeOf[loadedView]{
		Name: "snapshot " + l.Docs.Name(), Attempts: 8,
		Read: func(ctx context.Context, db model.DB) (loadedView, error) { return l.loadNewest(ctx, db, k) },
		Decide: func(s loadedView) (model.Plan, error) {
			// The snapshot is the newest state already.
			if s.Version == s.Base {
				return model.Plan{}, nil
			}
			w, err := l.Fold.putState(l.Fold.Docs.Name(), k, s.untypedState)
			return model.NewPlan(w), err
		},
	}
}

// putState is the upsert of a state. It replaces a state of a lower revision, or of the
// same revision and a lower version. So an old writer can't overwrite a newer state.
func (f folding) putState(collection string, k logKey, s untypedState) (model.Write, error) {
	raw, err := f.Encode(k.typed, s)
	if err != nil {
		return model.Write{}, err
	}
	// is compares the stored state with this one: the revision first, then the version.
	is := func(revision, version string) bson.E {
		return mql.E("$or", bson.A{
			bson.D{mql.E("revision", mql.Op(revision, f.Revision))},
			bson.D{mql.E("revision", f.Revision), mql.E("version", mql.Op(version, s.Version))},
		})
	}
	// An upsert takes the _id from its filter.
	var set bson.D
	elems, err := raw.Elements()
	if err != nil {
		return model.Write{}, err
	}
	for _, e := range elems {
		if e.Key() != "_id" {
			set = append(set, mql.E(e.Key(), e.Value()))
		}
	}
	id := commands.MatchID(raw.Lookup("_id"))
	w := commands.UpsertOne(collection, bson.D{id[0], is("$lt", "$lt")}, mql.Op("$set", set))
	w.Done, w.Deleted, w.Keyed = bson.D{id[0], is("$gt", "$gte")}, true, true
	w.Reasons = []model.Reason{{If: id, Err: model.ErrStale}} // another writer has just created it
	return w, nil
}
