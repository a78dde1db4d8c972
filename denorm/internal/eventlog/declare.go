// Package eventlog is the core of denorm.EventLog and denorm.Projection: events appended in commits, and states
// that are folded from them.
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

// Log is the non-generic core of denorm.EventLog. Its methods check and encode their arguments.
type Log struct {
	Docs *core.Docs // of the commits
	Spec Spec
	Fold Fold

	key func(commit bson.Raw) (any, error)
}

// A Spec is a denorm.EventLogSpec without its types.
type Spec struct {
	MaxEvents int
	MaxBytes  int64
	Every     int64 // 0 without snapshots
}

// A Fold computes states from events, and says how states are stored.
type Fold struct {
	Docs     *core.Docs // of the documents that hold states; nil without snapshots
	Revision int

	Zero func() any
	// Step folds the events of a commit whose numbers are after < n ≤ upTo.
	Step func(state any, commit bson.Raw, after, upTo int64) (any, error)
	// Encode makes the document of a state, checked. Decode returns its key and its state.
	Encode func(key any, s State) (bson.Raw, error)
	Decode func(doc bson.Raw) (key, state any, err error)
}

// A State is what events up to a version make.
type State struct {
	Version int64
	At      bson.DateTime // of the commit that holds event Version
	Value   any

	Revision int // of a stored view: the revision that wrote it
}

const (
	defaultEvents = 1000
	maxEvents     = 100_000
	maxVersion    = 9_999_999_999_999_999 // the _id has room for no greater number
)

// Declare checks a declaration, and panics if it doesn't fit the documents.
func Declare(
	docs *core.Docs, key reflect.Type, hasFold bool, fold Fold, spec Spec, keyOf func(bson.Raw) (any, error),
) *Log {
	items, place := docs.MustField("events"), core.Place("NewEventLog of "+docs.Name())
	switch {
	case spec.MaxEvents < 0 || spec.MaxEvents > maxEvents:
		place.Fail(fmt.Sprintf("MaxEvents is %d", spec.MaxEvents), "give 0 for 1000, or at most 100000")
	case spec.MaxBytes < 0 || spec.MaxBytes > stored.MaxBytes:
		place.Fail(fmt.Sprintf("MaxBytes is %d", spec.MaxBytes),
			"give 0, or at most 15 MiB, which leaves room in MongoDB's 16 MiB")
	case items.Arrays > 1 ||
		!items.Open && items.Type.Kind() != reflect.Interface && !stored.IsDocumentType(items.Type):
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
	docs.MakeKeyed()
	if fold.Docs != nil {
		fold.Docs.MakeKeyed()
	}
	return &Log{docs, spec, fold, keyOf}
}

// Indexes is the index that finds a commit by its token.
func (l *Log) Indexes() []model.Index { return []model.Index{l.opIndex()} }

func (l *Log) opIndex() model.Index {
	// DocumentDB fails at queries of an indexed field that is called op.
	x := commands.MakeIndex(l.Docs.Name(), "the commit of an operation; a key uses each token once",
		mql.E("key", 1), mql.E("token", 1))
	x.Unique = true
	return x
}

// Footprints are the paths that are used.
func (l *Log) Footprints() []model.Footprint {
	out := append(model.Owns.In(l.Docs.Name(), model.Whole),
		model.Owns.In(l.Docs.Name(), "key", "first", "last", "at", "token", "events")...)
	if l.Fold.Docs != nil {
		out = append(out, l.Fold.footprints(l.Fold.Docs.Name())...)
	}
	return out
}

func (f Fold) footprints(collection string) []model.Footprint {
	return append(model.Owns.In(collection, model.Whole),
		model.Owns.In(collection, "version", "at", "revision", "state")...)
}

// A Key is a key of the caller's, checked and encoded.
type Key struct {
	typed any
	text  string
	value any // as it is stored
}

// Key checks and encodes a key.
func (l *Log) Key(key any) (k Key, err error) {
	text, ok := keytext.EncodeKey(key)
	if !ok {
		return k, l.Docs.Refuse("key", nil, "the key is empty: give the key of the aggregate")
	}
	value, err := l.Docs.Encode(key)
	if err != nil {
		return k, l.Docs.Refuse("key", nil, err.Error())
	}
	return Key{key, text, value}, nil
}

// ID is the _id of the commit whose first event has a number.
func (k Key) ID(first int64) string { return fmt.Sprintf("%s#%016d", k.text, first) }

// String is the key for an error.
func (k Key) String() string { return commands.Shorten(model.Shell(k.typed)) }

// All matches the commits of the key.
func (k Key) All() bson.D { return keytext.MatchRange(k.text+"#", k.text+"$") }

// From matches the commits that begin with the events from ≤ n ≤ to.
func (k Key) From(from, to int64) bson.D {
	end := k.text + "$"
	if to < maxVersion {
		end = k.ID(to + 1)
	}
	return keytext.MatchRange(k.ID(from), end)
}

// A Head is a commit without its events. The zero Head says that there is none.
type Head struct {
	First int64         `bson:"first"`
	Last  int64         `bson:"last"`
	At    bson.DateTime `bson:"at"`
	Token bson.ObjectID `bson:"token"`
}

func headOf(commit bson.Raw) (h Head, err error) {
	err = bson.Unmarshal(commit, &h)
	return h, err
}
