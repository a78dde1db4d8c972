package eventlog

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// batch is the maximum number of commits in a reply. A reply also ends at 16 MB.
const batch = 1000

// readHead reads the last commit of a key, without its events.
func (l *untypedLog) readHead(ctx context.Context, db model.DB, k logKey) (logHead, error) {
	h, err := (&model.Find[logHead]{Query: model.Query{
		Collection: l.Docs.Name(), Keyed: true, Filter: k.matchCommits(), Sort: bson.D{mql.E("_id", -1)},
		Index: model.IDIndex, Deleted: true,
		Projection: commands.ProjectFields("first", "last", "at", "token"),
	}}).One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return logHead{}, nil
	}
	return h, err
}

// readCommit reads the commit whose first event has a number. It returns nil if there is
// none.
func (l *untypedLog) readCommit(ctx context.Context, db model.DB, k logKey, first int64) (bson.Raw, error) {
	raw, err := (&model.Find[bson.Raw]{Query: model.Query{
		Collection: l.Docs.Name(), Keyed: true, Filter: commands.MatchID(k.commitID(first)),
		Index: model.IDIndex, Deleted: true,
	}}).One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return nil, nil
	}
	return raw, err
}

// findCommits is the query of a filter's commits in their order.
func (l *untypedLog) findCommits(filter bson.D) *model.Find[bson.Raw] {
	return &model.Find[bson.Raw]{Query: model.Query{
		Collection: l.Docs.Name(), Keyed: true, Filter: filter, Sort: bson.D{mql.E("_id", 1)},
		Index: model.IDIndex, Deleted: true,
		Options: model.ReadOptions{BatchSize: batch},
	}}
}

// foldCommit folds the events of a commit up to a number. A commit that doesn't follow
// the state is ErrGap: folding it would give a wrong state without notice.
func (l *untypedLog) foldCommit(
	f folding, k logKey, s untypedState, commit bson.Raw, upTo int64,
) (untypedState, error) {
	h, err := decodeHead(commit)
	switch {
	case err != nil:
		return s, err
	case h.First != s.Version+1 || h.Last < h.First:
		return s, l.describeError(ErrGap, "events of %s are missing: event %d follows event %d", k, h.First, s.Version)
	}
	value, err := f.Step(s.Value, commit, s.Version, upTo)
	if err != nil {
		return s, fmt.Errorf("docmodel: %s: folding %s: %w", l.Docs.Name(), model.Shell(commit.Lookup("_id")), err)
	}
	return untypedState{Version: min(h.Last, upTo), At: h.At, Value: value}, nil
}

// replayCommits folds the commits after a state, up to an event. more is a further
// filter.
func (l *untypedLog) replayCommits(
	ctx context.Context, db model.DB, f folding, k logKey, s untypedState, upTo int64, more bson.D,
) (untypedState, error) {
	// There is nothing to fold.
	if s.Version >= upTo {
		return s, nil
	}
	for commit, err := range l.findCommits(bsondoc.JoinFilters(k.matchFrom(s.Version+1, upTo), more)).Each(ctx, db) {
		if err == nil {
			s, err = l.foldCommit(f, k, s, commit, upTo)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// readStored reads a stored state of this revision. It returns nil if there is none.
func (f folding) readStored(ctx context.Context, db model.DB, collection string, id any) (bson.Raw, error) {
	raw, err := (&model.Find[bson.Raw]{Query: model.Query{
		Collection: collection, Keyed: true, Filter: commands.MatchID(id), Index: model.IDIndex, Deleted: true,
	}}).One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if h, err := decodeStatus(raw); err != nil || h.Revision != f.Revision {
		return nil, err
	}
	return raw, nil
}

// decodeState decodes a stored state. nil gives the state without events. The caller's
// fold may change the value, so each call returns a new one.
func (f folding) decodeState(doc bson.Raw) (untypedState, error) {
	if doc == nil {
		return untypedState{Value: f.Zero()}, nil
	}
	h, err := decodeStatus(doc)
	if err != nil {
		return untypedState{}, err
	}
	_, value, err := f.Decode(doc)
	return untypedState{Version: h.Version, At: h.At, Value: value, Revision: h.Revision}, err
}

// A status is the version of a stored state.
type status struct {
	Version  int64         `bson:"version"`
	Revision int           `bson:"revision"`
	At       bson.DateTime `bson:"at"`
}

// decodeStatus decodes a stored state without its value.
func decodeStatus(doc bson.Raw) (s status, err error) {
	err = bson.Unmarshal(doc, &s)
	return s, err
}

// readBase returns the snapshot from which a replay up to a version and a time can begin,
// or the empty state.
func (l *untypedLog) readBase(
	ctx context.Context, db model.DB, k logKey, upTo int64, before bson.DateTime,
) (untypedState, error) {
	none := untypedState{Value: l.Fold.Zero()}
	if l.Spec.Every == 0 {
		return none, nil
	}
	doc, err := l.Fold.readStored(ctx, db, l.Fold.Docs.Name(), k.value)
	if err != nil {
		return none, err
	}
	s, err := l.Fold.decodeState(doc)
	// A snapshot that is newer than the wanted state is of no use: states can't be folded
	// back.
	if err != nil || s.Version > upTo || s.At > before {
		return none, err
	}
	return s, nil
}

// loadNewest reads the newest state.
func (l *untypedLog) loadNewest(ctx context.Context, db model.DB, k logKey) (loadedView, error) {
	return l.loadForToken(ctx, db, k, bson.NilObjectID)
}

// loadForToken is [Log.loadNewest]. Applied says whether a commit after the snapshot has
// the token.
func (l *untypedLog) loadForToken(
	ctx context.Context, db model.DB, k logKey, op bson.ObjectID,
) (out loadedView, err error) {
	base, err := l.readBase(ctx, db, k, maxVersion, math.MaxInt64)
	if err != nil {
		return out, err
	}
	// The replay goes through the commits anyway, so it looks for the token too.
	f := l.Fold
	f.Step = func(value any, commit bson.Raw, after, upTo int64) (any, error) {
		if token, ok := commit.Lookup("token").ObjectIDOK(); ok && token == op {
			out.Applied = true
		}
		return l.Fold.Step(value, commit, after, upTo)
	}
	out.Base = base.Version
	out.untypedState, err = l.replayCommits(ctx, db, f, k, base, maxVersion, nil)
	return out, err
}

// makeReading returns a change that only reads.
func makeReading[S any](
	l *untypedLog, name string, key any, bad error, read func(context.Context, model.DB, logKey) (S, error),
) model.ChangeOf[S] {
	k, err := l.encodeKey(key)
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

// loadState reads the newest state.
func (l *untypedLog) loadState(key any) model.ChangeOf[untypedState] {
	return makeReading(l, "load", key, nil, func(ctx context.Context, db model.DB, k logKey) (untypedState, error) {
		s, err := l.loadNewest(ctx, db, k)
		return s.untypedState, err
	})
}

// loadVersion reads the state at a version.
func (l *untypedLog) loadVersion(key any, version int64) model.ChangeOf[untypedState] {
	var bad error
	if version < 0 || version > maxVersion {
		bad = l.Docs.Refuse("version", version, "must be from 0 to 9999999999999999")
	}
	read := func(ctx context.Context, db model.DB, k logKey) (untypedState, error) {
		if version == 0 {
			return untypedState{Value: l.Fold.Zero()}, nil
		}
		s, err := l.readBase(ctx, db, k, version, math.MaxInt64)
		if err != nil {
			return s, err
		}
		if s, err = l.replayCommits(ctx, db, l.Fold, k, s, version, nil); err == nil && s.Version < version {
			err = l.refuseVersion(k, version, s.Version)
		}
		return s, err
	}
	return makeReading(l, "load", key, bad, read)
}

// loadAsOf reads the state at a time.
func (l *untypedLog) loadAsOf(key any, at time.Time) model.ChangeOf[untypedState] {
	until := bson.NewDateTimeFromTime(at)
	return makeReading(l, "load", key, nil, func(ctx context.Context, db model.DB, k logKey) (untypedState, error) {
		s, err := l.readBase(ctx, db, k, maxVersion, until)
		if err != nil {
			return s, err
		}
		return l.replayCommits(ctx, db, l.Fold, k, s, maxVersion, bson.D{mql.E("at", mql.Op("$lte", until))})
	})
}

// readVersion reads the number of the last event.
func (l *untypedLog) readVersion(key any) model.ChangeOf[int64] {
	return makeReading(l, "version", key, nil, func(ctx context.Context, db model.DB, k logKey) (int64, error) {
		h, err := l.readHead(ctx, db, k)
		return h.Last, err
	})
}

// matchEvents matches the commits with events from one number to another; 0 as to means
// all. The first commit may begin up to MaxEvents before from.
func (l *untypedLog) matchEvents(key any, from, to int64) (bson.D, error) {
	k, err := l.encodeKey(key)
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
	// The commit with event from can begin earlier, by at most the events of one commit.
	filter := k.matchFrom(max(1, from-int64(l.Spec.MaxEvents)+1), to)
	if from > 1 {
		filter = append(filter, mql.E("last", mql.Op("$gte", from)))
	}
	return filter, nil
}
