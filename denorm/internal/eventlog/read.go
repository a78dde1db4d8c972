package eventlog

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// batch is how many commits a reply holds at most; 16 MB end it too.
const batch = 1000

// head reads the last commit of a key, without its events.
func (l *Log) head(ctx context.Context, db model.DB, k Key) (Head, error) {
	h, err := (&model.Find[Head]{Query: model.Query{
		Collection: l.Docs.Name(), Keyed: true, Filter: k.All(), Sort: bson.D{mql.E("_id", -1)},
		Index: model.IDIndex, Deleted: true,
		Projection: commands.ProjectFields("first", "last", "at", "token"),
	}}).One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return Head{}, nil
	}
	return h, err
}

// commitAt reads the commit whose first event has a number; nil for none.
func (l *Log) commitAt(ctx context.Context, db model.DB, k Key, first int64) (bson.Raw, error) {
	raw, err := (&model.Find[bson.Raw]{Query: model.Query{
		Collection: l.Docs.Name(), Keyed: true, Filter: commands.MatchID(k.ID(first)),
		Index: model.IDIndex, Deleted: true,
	}}).One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return nil, nil
	}
	return raw, err
}

// commits is the query of a filter's commits in their order.
func (l *Log) commits(filter bson.D) *model.Find[bson.Raw] {
	return &model.Find[bson.Raw]{Query: model.Query{
		Collection: l.Docs.Name(), Keyed: true, Filter: filter, Sort: bson.D{mql.E("_id", 1)},
		Index: model.IDIndex, Deleted: true,
		Options: model.ReadOptions{BatchSize: batch},
	}}
}

// next folds a commit, up to an event.
func (l *Log) next(f Fold, k Key, s State, commit bson.Raw, upTo int64) (State, error) {
	h, err := headOf(commit)
	switch {
	case err != nil:
		return s, err
	case h.First != s.Version+1 || h.Last < h.First:
		return s, l.errorf(ErrGap, "events of %s are missing: event %d follows event %d", k, h.First, s.Version)
	}
	value, err := f.Step(s.Value, commit, s.Version, upTo)
	if err != nil {
		return s, fmt.Errorf("docmodel: %s: folding %s: %w", l.Docs.Name(), model.Shell(commit.Lookup("_id")), err)
	}
	return State{Version: min(h.Last, upTo), At: h.At, Value: value}, nil
}

// replay folds the commits after a state, up to an event; more narrows the commits.
func (l *Log) replay(ctx context.Context, db model.DB, f Fold, k Key, s State, upTo int64, more bson.D) (State, error) {
	if s.Version >= upTo {
		return s, nil
	}
	for commit, err := range l.commits(model.And(k.From(s.Version+1, upTo), more)).Each(ctx, db) {
		if err == nil {
			s, err = l.next(f, k, s, commit, upTo)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// stored reads a state of this revision; nil if there is none.
func (f Fold) stored(ctx context.Context, db model.DB, collection string, id any) (bson.Raw, error) {
	raw, err := (&model.Find[bson.Raw]{Query: model.Query{
		Collection: collection, Keyed: true, Filter: commands.MatchID(id), Index: model.IDIndex, Deleted: true,
	}}).One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if h, err := statusOf(raw); err != nil || h.Revision != f.Revision {
		return nil, err
	}
	return raw, nil
}

// state decodes a stored state; nil is the state without events. A fold may change what it returns.
func (f Fold) state(doc bson.Raw) (State, error) {
	if doc == nil {
		return State{Value: f.Zero()}, nil
	}
	h, err := statusOf(doc)
	if err != nil {
		return State{}, err
	}
	_, value, err := f.Decode(doc)
	return State{Version: h.Version, At: h.At, Value: value, Revision: h.Revision}, err
}

// A status is what a stored state says of itself.
type status struct {
	Version  int64         `bson:"version"`
	Revision int           `bson:"revision"`
	At       bson.DateTime `bson:"at"`
}

func statusOf(doc bson.Raw) (s status, err error) {
	err = bson.Unmarshal(doc, &s)
	return s, err
}

// base is the snapshot that a replay up to a version and a time begins with, or the empty state.
func (l *Log) base(ctx context.Context, db model.DB, k Key, upTo int64, before bson.DateTime) (State, error) {
	none := State{Value: l.Fold.Zero()}
	if l.Spec.Every == 0 {
		return none, nil
	}
	doc, err := l.Fold.stored(ctx, db, l.Fold.Docs.Name(), k.value)
	if err != nil {
		return none, err
	}
	s, err := l.Fold.state(doc)
	if err != nil || s.Version > upTo || s.At > before {
		return none, err
	}
	return s, nil
}

func (l *Log) load(ctx context.Context, db model.DB, k Key) (Loaded, error) {
	return l.loadFor(ctx, db, k, bson.NilObjectID)
}

// loadFor is load, which sees whether a commit behind the snapshot has a token.
func (l *Log) loadFor(ctx context.Context, db model.DB, k Key, op bson.ObjectID) (out Loaded, err error) {
	base, err := l.base(ctx, db, k, maxVersion, math.MaxInt64)
	if err != nil {
		return out, err
	}
	f := l.Fold
	f.Step = func(value any, commit bson.Raw, after, upTo int64) (any, error) {
		if token, ok := commit.Lookup("token").ObjectIDOK(); ok && token == op {
			out.Applied = true
		}
		return l.Fold.Step(value, commit, after, upTo)
	}
	out.Base = base.Version
	out.State, err = l.replay(ctx, db, f, k, base, maxVersion, nil)
	return out, err
}

// reading is a change that only reads.
func reading[S any](
	l *Log, name string, key any, bad error, read func(context.Context, model.DB, Key) (S, error),
) model.ChangeOf[S] {
	k, err := l.Key(key)
	if err == nil {
		err = bad
	}
	if err != nil {
		return commands.RefuseChangeOf[S](l.Docs.Name(), err)
	}
	return model.ChangeOf[S]{
		Name: name + " " + l.Docs.Name(), Attempts: 1,
		Read:   func(ctx context.Context, db model.DB) (S, error) { return read(ctx, db, k) },
		Decide: func(S) (model.Plan, error) { return model.Plan{}, nil },
	}
}

// Load reads the newest state.
func (l *Log) Load(key any) model.ChangeOf[State] {
	return reading(l, "load", key, nil, func(ctx context.Context, db model.DB, k Key) (State, error) {
		s, err := l.load(ctx, db, k)
		return s.State, err
	})
}

// At reads the state at a version.
func (l *Log) At(key any, version int64) model.ChangeOf[State] {
	var bad error
	if version < 0 || version > maxVersion {
		bad = l.Docs.Refuse("version", version, "must be from 0 to 9999999999999999")
	}
	return reading(l, "load", key, bad, func(ctx context.Context, db model.DB, k Key) (State, error) {
		if version == 0 {
			return State{Value: l.Fold.Zero()}, nil
		}
		s, err := l.base(ctx, db, k, version, math.MaxInt64)
		if err != nil {
			return s, err
		}
		if s, err = l.replay(ctx, db, l.Fold, k, s, version, nil); err == nil && s.Version < version {
			err = l.versionError(k, version, s.Version)
		}
		return s, err
	})
}

// AsOf reads the state at a time.
func (l *Log) AsOf(key any, at time.Time) model.ChangeOf[State] {
	until := bson.NewDateTimeFromTime(at)
	return reading(l, "load", key, nil, func(ctx context.Context, db model.DB, k Key) (State, error) {
		s, err := l.base(ctx, db, k, maxVersion, until)
		if err != nil {
			return s, err
		}
		return l.replay(ctx, db, l.Fold, k, s, maxVersion, bson.D{mql.E("at", mql.Op("$lte", until))})
	})
}

// Version reads the number of the last event.
func (l *Log) Version(key any) model.ChangeOf[int64] {
	return reading(l, "version", key, nil, func(ctx context.Context, db model.DB, k Key) (int64, error) {
		h, err := l.head(ctx, db, k)
		return h.Last, err
	})
}

// Commits matches the commits that hold events from ≤ n ≤ to; 0 for to is all. The first of them may begin up to
// MaxEvents before.
func (l *Log) Commits(key any, from, to int64) (bson.D, error) {
	k, err := l.Key(key)
	if to == 0 {
		to = maxVersion
	}
	switch {
	case err != nil:
		return nil, err
	case from < 1 || from > maxVersion:
		return nil, l.Docs.Refuse("start", from, "must be 1 or more: events are numbered from 1")
	case to < from || to > maxVersion:
		return nil, l.Docs.Refuse("end", to, "is before start, or too large: give 0 for all later events")
	}
	filter := k.From(max(1, from-int64(l.Spec.MaxEvents)+1), to)
	if from > 1 {
		filter = append(filter, mql.E("last", mql.Op("$gte", from)))
	}
	return filter, nil
}
