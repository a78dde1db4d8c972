// Inside package eventlog: events are appended in commits, and
// states are folded from them. The public types fold and encode typed values (folding), and pass
// the List methods to model.Parts.
//
// # Stored form of a log
//
// Two commits of the account "a", and its snapshot:
//
//	events     {_id: "a#0000000000000001", key: "a", first: 1, last: 2, at: ISODate(…),
//	            token: …, events: [{…}, {…}]}
//	events     {_id: "a#0000000000000003", key: "a", first: 3, last: 3, …, events: [{…}]}
//	snapshots  {_id: "a", version: 2, at: ISODate(…), revision: 1, state: {…}}
//
// Commits never change. The _id has the number of the first event (package keytext), so
// two appends after the same version meet at the unique _id. A key uses each token once,
// by a unique index.
//
// # Protocol of appendEvents and decideEvents
//
//  1. Read the last commit, or the newest state: the snapshot and the commits after it.
//  2. Insert the next commit. If the _id exists, another append was first: appendEvents fails
//     with ErrVersion, decideEvents begins again. If the token exists, the append was made.
//  3. After each Every events, write the snapshot by an upsert that never goes back.
//
// # Stored form of a projection
//
// A pointer says which generation readers read. Each generation is a collection:
//
//	docmodel.projections  {_id: "views", live: 1, liveRevision: 1, building: 2,
//	                       buildingRevision: 2, closing: false, last: 2}
//	views.1, views.2      {_id: "a", version: 3, at: …, revision: …, state: {…}}
//
// # Protocol of a projection
//
// A catch-up (planCatchUp) reads in this order: the last commit of a key, the pointer,
// the documents. So a commit that it writes to a generation was in the log before the
// generation took writes.
//
//  1. makeRebuildJob begins a generation and fills it for all keys. Streams and catch-ups
//     write to both generations from then on.
//  2. makeSwitchJob sets closing: the live generation takes no more writes. It fills the new
//     one again for all keys, because a writer with an old pointer may have missed it.
//  3. It makes the new generation live. Readers that find nothing read the pointer again.
//  4. dropGeneration deletes the old one.
//
// # What a crash leaves
//
// A commit is one insert. A crash before a snapshot leaves an older one: reads fold more
// commits. A crash in a catch-up leaves views at different versions, which the next one
// corrects. A crashed job continues where it was: the pointer and the job's place say so.

package eventlog

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An untypedLog is the EventLog without its Go types. Its methods check and encode their
// arguments.
type untypedLog struct {
	Docs *core.Docs // of the commits
	Spec limits
	Fold folding

	key func(commit bson.Raw) (any, error)
}

// limits are a Spec without its types.
type limits struct {
	// The limits of one commit. A commit is one document, so MaxBytes leaves room for its
	// other fields.
	MaxEvents int
	MaxBytes  int64
	Every     int64 // 0 without snapshots
}

// A folding computes states from events, and says how states are stored.
type folding struct {
	// Documents of another revision are ignored, because another fold wrote them.
	Docs     *core.Docs // of the documents that hold states; nil without snapshots
	Revision int

	Zero func() any
	// Step folds the events of a commit whose numbers are after < n ≤ upTo.
	Step func(state any, commit bson.Raw, after, upTo int64) (any, error)
	// Encode makes the document of a state, checked. Decode returns its key and its
	// state.
	Encode func(key any, s untypedState) (bson.Raw, error)
	Decode func(doc bson.Raw) (key, state any, err error)
}

// An untypedState is the result of the events up to a version.
type untypedState struct {
	Version int64
	At      bson.DateTime // of the commit that holds event Version
	Value   any

	// of a stored view: the revision that wrote it
	Revision int
}

const (
	defaultEvents = 1000
	maxEvents     = 100_000
	maxVersion    = 9_999_999_999_999_999 // the _id has room for no greater number
)

// declareLog checks a declaration. It panics with a *model.DeclarationError if the
// declaration doesn't fit the documents.
func declareLog(
	docs *core.Docs, key reflect.Type, hasFold bool, fold folding, spec limits, keyOf func(bson.Raw) (any, error),
) *untypedLog {
	items, place := docs.MustField("events"), core.Place("eventlog.New of "+docs.Name())
	switch {
	case spec.MaxEvents < 0 || spec.MaxEvents > maxEvents:
		place.Fail(fmt.Sprintf("MaxEvents is %d", spec.MaxEvents), "give 0 for 1000, or at most 100000")
	case spec.MaxBytes < 0 || spec.MaxBytes > stored.MaxBytes:
		place.Fail(fmt.Sprintf("MaxBytes is %d", spec.MaxBytes),
			"give 0, or at most 15 MiB, which leaves room in MongoDB's 16 MiB")
	case items.Arrays > 1 ||
		!items.Untyped && items.Type.Kind() != reflect.Interface && !stored.IsDocumentType(items.Type):
		place.Fail(fmt.Sprintf("events are of type %s, which isn't stored as a document", items.Type),
			"wrap each event in a struct")
	case !keytext.IsKeyType(key):
		place.Fail(fmt.Sprintf("keys are of type %s, which can't be part of an _id", key),
			"use a string type, an integer type or bson.ObjectID")
	case !hasFold:
		place.Fail("Fold is nil", "give a function that applies an event to a state")
	case (fold.Docs == nil) != (spec.Every == 0):
		place.Fail("Snapshots and Every belong together",
			"give both the collection of the snapshots and the number of events between two snapshots, or leave "+
				"both out")
	case spec.Every < 0:
		place.Fail(fmt.Sprintf("Every is %d", spec.Every), "give the number of events between two snapshots, 1 or more")
	case fold.Docs != nil && fold.Docs.Name() == docs.Name():
		place.Fail("snapshots and commits are in the same collection", "give the snapshots another collection")
	}
	if fold.Docs != nil {
		fold.Docs.MustField("state")
	}
	spec.MaxEvents, spec.MaxBytes = cmp.Or(spec.MaxEvents, defaultEvents), cmp.Or(spec.MaxBytes, stored.MaxBytes)
	// The _ids of commits and snapshots are made of the caller's keys, so two tenants can
	// have the same.
	docs.MakeKeyed()
	if fold.Docs != nil {
		fold.Docs.MakeKeyed()
	}
	return &untypedLog{Docs: docs, Spec: spec, Fold: fold, key: keyOf}
}

// listIndexes returns the index that finds a commit by its token.
func (l *untypedLog) listIndexes() []model.Index { return []model.Index{l.makeTokenIndex()} }

// makeTokenIndex returns the unique index of tokens.
func (l *untypedLog) makeTokenIndex() model.Index {
	// DocumentDB fails at queries of an indexed field that is called op.
	x := commands.MakeIndex(l.Docs.Name(), "the commit of an operation; a key uses each token once",
		mql.E("key", 1), mql.E("token", 1))
	x.Unique = true
	return x
}

// listFootprints returns the paths that the log uses.
func (l *untypedLog) listFootprints() []model.Footprint {
	out := append(model.Owns.In(l.Docs.Name(), model.Whole),
		model.Owns.In(l.Docs.Name(), "key", "first", "last", "at", "token", "events")...)
	if l.Fold.Docs != nil {
		out = append(out, l.Fold.listFootprints(l.Fold.Docs.Name())...)
	}
	return out
}

// listFootprints returns the paths of stored states in a collection.
func (f folding) listFootprints(collection string) []model.Footprint {
	return append(model.Owns.In(collection, model.Whole),
		model.Owns.In(collection, "version", "at", "revision", "state")...)
}

// A logKey is a checked and encoded key of the caller.
type logKey struct {
	typed any
	text  string
	// as it is stored
	value any
}

// encodeKey checks and encodes a key.
func (l *untypedLog) encodeKey(key any) (k logKey, err error) {
	text, ok := keytext.EncodeKey(key)
	if !ok {
		return k, l.Docs.Refuse("key", nil, "the key is empty: give the key of the aggregate")
	}
	value, err := l.Docs.Encode(key)
	if err != nil {
		return k, l.Docs.Refuse("key", nil, err.Error())
	}
	return logKey{key, text, value}, nil
}

// commitID returns the _id of the commit whose first event has this number.
func (k logKey) commitID(first int64) string { return fmt.Sprintf("%s#%016d", k.text, first) }

// String returns the key for an error.
func (k logKey) String() string { return commands.Shorten(model.Shell(k.typed)) }

// matchCommits matches the commits of the key.
func (k logKey) matchCommits() bson.D { return keytext.MatchRange(k.text+"#", k.text+"$") }

// matchFrom matches the commits whose first event has a number from from to to.
func (k logKey) matchFrom(from, to int64) bson.D {
	// "$" follows "#", which ends the text of every key.
	end := k.text + "$"
	if to < maxVersion {
		end = k.commitID(to + 1)
	}
	return keytext.MatchRange(k.commitID(from), end)
}

// A logHead is a commit without its events. The zero logHead means that the key has no commit.
type logHead struct {
	First int64         `bson:"first"`
	Last  int64         `bson:"last"`
	At    bson.DateTime `bson:"at"`
	Token bson.ObjectID `bson:"token"`
}

// decodeHead decodes a commit without its events.
func decodeHead(commit bson.Raw) (h logHead, err error) {
	err = bson.Unmarshal(commit, &h)
	return h, err
}
