package eventlog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// listChecks returns the check of the commits and, with snapshots, the check of the
// snapshots.
func (l *untypedLog) listChecks() []model.Check {
	name := l.Docs.Name() + ": commits out of order"
	out := []model.Check{{
		Name: name, Collection: l.Docs.Name(),
		Rule: "the events of an aggregate are numbered without gaps or overlaps, each commit's _id has its first " +
			"number, and times never decrease",
		Queries: []*model.Aggregate[bson.Raw]{{Aggregation: model.Aggregation{
			Collection: l.Docs.Name(),
			Pipeline:   mongo.Pipeline{mql.SortID(), mql.Project(projectHeader()...)}, Index: model.IDIndex,
		}}},
		Read: func(ctx context.Context, db model.DB, filter bson.D) iter.Seq2[model.Finding, error] {
			return l.findDisorder(ctx, db, name, filter)
		},
	}}
	if l.Fold.Docs != nil {
		return commands.MarkChecksKeyed(append(out, l.checkSnapshots()), l.Docs.Name(), l.Fold.Docs.Name())
	}
	return commands.MarkChecksKeyed(out, l.Docs.Name())
}

// findHeaders is the query of the commits in order, without the content of their events:
// each event is read as an empty document, only to count them.
func (l *untypedLog) findHeaders(filter bson.D) *model.Find[bson.Raw] {
	return &model.Find[bson.Raw]{Query: model.Query{
		Collection: l.Docs.Name(), Keyed: true, Filter: filter, Sort: bson.D{mql.E("_id", 1)},
		Index: model.IDIndex, Deleted: true, Projection: projectHeader(), Options: model.ReadOptions{BatchSize: batch},
	}}
}

// projectHeader is the projection of a header. events._none gives an empty document for
// each event, unless an event has a field of this name.
func projectHeader() bson.D {
	return commands.ProjectFields("key", "first", "last", "at", "events._none")
}

// A header is a commit as the check reads it.
type header struct {
	ID    string        `bson:"_id"`
	First int64         `bson:"first"`
	Last  int64         `bson:"last"`
	At    bson.DateTime `bson:"at"`

	// number of events
	n    int64
	text string // of the key
}

// findDisorder returns the commits that don't follow the commit before them.
func (l *untypedLog) findDisorder(
	ctx context.Context, db model.DB, check string, filter bson.D,
) iter.Seq2[model.Finding, error] {
	return func(yield func(model.Finding, error) bool) {
		// The commits of a key are consecutive in the order of _id.
		var before header
		for raw, err := range l.findHeaders(filter).Each(ctx, db) {
			if err != nil {
				yield(model.Finding{}, err)
				return
			}
			f := model.Finding{Check: check, Collection: l.Docs.Name(), ID: raw.Lookup("_id"), Detail: raw}
			var h header
			f.Problem = l.readHeader(raw, &h)
			if f.Problem == "" && len(filter) > 0 && (h.text != before.text || h.First != before.Last+1) {
				before, err = l.readHeaderBefore(ctx, db, h) // the filter may leave it out
			}
			if err != nil {
				yield(model.Finding{}, err)
				return
			}
			if f.Problem == "" {
				f.Problem = h.compareBefore(before)
			}
			if f.Problem != "" && !yield(f, nil) {
				return
			}
			if h.text != "" {
				before = h
			}
		}
	}
}

// readHeaderBefore reads the commit before a commit of the same key, or a zero header.
func (l *untypedLog) readHeaderBefore(ctx context.Context, db model.DB, h header) (before header, err error) {
	f := l.findHeaders(keytext.MatchRange(h.text+"#", h.ID))
	f.Sort, f.Limit, f.Options.BatchSize = bson.D{mql.E("_id", -1)}, 1, 0
	raw, err := f.One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return header{}, nil
	}
	if err == nil {
		l.readHeader(raw, &before)
	}
	return before, err
}

// readHeader decodes a commit, and says what is wrong with it by itself.
func (l *untypedLog) readHeader(raw bson.Raw, h *header) string {
	if err := bson.Unmarshal(raw, h); err != nil {
		return "isn't a commit: " + err.Error()
	}
	typed, err := l.key(raw)
	if err != nil {
		return "isn't a commit: " + err.Error()
	}
	k, err := l.encodeKey(typed)
	if err != nil {
		return "isn't a commit: its key is empty"
	}
	h.text, h.n = k.text, int64(len(core.Elements(raw.Lookup("events"))))
	switch {
	case h.ID != k.commitID(h.First):
		return fmt.Sprintf("begins with event %d, but its _id isn't made of its key and this number", h.First)
	case h.n != h.Last-h.First+1 || h.n == 0:
		return fmt.Sprintf("is numbered %d to %d, but holds %d events", h.First, h.Last, h.n)
	case h.n > int64(l.Spec.MaxEvents):
		return fmt.Sprintf("holds %d events, but MaxEvents is %d", h.n, l.Spec.MaxEvents)
	}
	return ""
}

// compareBefore says what is wrong between a commit and the commit before it.
func (h header) compareBefore(before header) string {
	// The first commit of a key must begin with event 1.
	last := before.Last
	if before.text != h.text {
		last = 0
	}
	switch {
	case h.First > last+1:
		return fmt.Sprintf("begins with event %d, but the previous commit ends with event %d: events are missing",
			h.First,
			last)
	case h.First <= last:
		return fmt.Sprintf("begins with event %d, but the previous commit ends with event %d: they overlap", h.First,
			last)
	case last > 0 && h.At < before.At:
		return fmt.Sprintf("has the time %s, which is before the previous commit's, %s",
			model.Shell(h.At), model.Shell(before.At))
	}
	return ""
}

// checkSnapshots is the check of snapshots that differ from the fold of their events. The
// repair deletes them: until the next snapshot, reads fold all commits.
func (l *untypedLog) checkSnapshots() model.Check {
	docs := l.Fold.Docs
	name := docs.Name() + ": wrong snapshots"
	query := func(filter bson.D) *model.Find[bson.Raw] {
		return &model.Find[bson.Raw]{Query: model.Query{
			Collection: docs.Name(), Keyed: true,
			Filter: bsondoc.JoinFilters(filter, bson.D{mql.E("revision", l.Fold.Revision)}),
			Sort:   bson.D{mql.E("_id", 1)},
		}}
	}
	read := func(ctx context.Context, db model.DB, filter bson.D) iter.Seq2[model.Finding, error] {
		return func(yield func(model.Finding, error) bool) {
			for raw, err := range query(filter).Each(ctx, db) {
				f := model.Finding{Check: name, Collection: docs.Name(), ID: raw.Lookup("_id"), Detail: raw}
				if err == nil {
					f.Problem, err = l.compareSnapshot(ctx, db, raw)
				}
				if err != nil {
					yield(model.Finding{}, err)
					return
				}
				if f.Problem != "" && !yield(f, nil) {
					return
				}
			}
		}
	}
	// The filter is the whole snapshot, so one that was written again since is left
	// alone.
	deleteSnapshot := func(i int, row bson.Raw) model.Write {
		if row.Lookup("_id").Type == 0 {
			return found.RefuseFinding(docs.Name(), i, "_id")
		}
		return commands.DeleteOne(docs.Name(), core.AsRead(row))
	}
	return model.Check{
		Name: name, Collection: docs.Name(), Rule: "a snapshot equals the state that the events up to its version make",
		Queries: []*model.Aggregate[bson.Raw]{{Aggregation: model.Aggregation{
			Collection: docs.Name(),
			Pipeline:   mongo.Pipeline{mql.Match(mql.E("revision", l.Fold.Revision)), mql.SortID()},
		}}},
		Read: read,
		Mend: found.MendRows(name, docs.Name(), func(rows []bson.Raw) model.Plan {
			return found.PlanWrites(rows, "some snapshots deleted; the next check finds the others", deleteSnapshot)
		}),
	}
}

// compareSnapshot says what is wrong with a snapshot, or "". It encodes and decodes its
// own state first, because a stored value can differ from a computed one, such as in
// precision.
func (l *untypedLog) compareSnapshot(ctx context.Context, db model.DB, raw bson.Raw) (string, error) {
	claimed, err := decodeStatus(raw)
	if err != nil {
		return "isn't a snapshot: " + err.Error(), nil
	}
	typed, value, err := l.Fold.Decode(raw)
	var k logKey
	if err == nil {
		k, err = l.encodeKey(typed)
	}
	switch {
	case err != nil:
		return "isn't a snapshot: " + err.Error(), nil
	case claimed.Version < 1:
		return fmt.Sprintf("claims version %d", claimed.Version), nil
	}
	// All events are folded again, without other snapshots.
	s := untypedState{Value: l.Fold.Zero()}
	for commit, err := range l.findCommits(k.matchFrom(1, claimed.Version)).Each(ctx, db) {
		if err != nil {
			return "", err
		}
		if s, err = l.foldCommit(l.Fold, k, s, commit, maxVersion); err != nil {
			return "can't be compared: " + err.Error(), nil
		}
	}
	// A snapshot is made after a whole commit.
	if s.Version != claimed.Version {
		return fmt.Sprintf("claims version %d, but the commit there ends with event %d",
			claimed.Version, s.Version), nil
	}
	again, err := l.Fold.Encode(typed, s)
	if err != nil {
		return "", err
	}
	if _, s.Value, err = l.Fold.Decode(again); err != nil {
		return "", err
	}
	if s.At != claimed.At || !reflect.DeepEqual(s.Value, value) {
		return fmt.Sprintf("differs from the state that the events up to version %d make", s.Version), nil
	}
	return "", nil
}
