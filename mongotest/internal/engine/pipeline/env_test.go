package pipeline_test

import (
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/fts"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// memory is an Env of slices. It counts what its collections were asked.
type memory struct {
	colls  map[string][]bson.D
	unique []string // fields with a unique index beside _id
	finds  int
	bounds []string // the paths that finds were bounded by
	watch  *interrupt.Watch
	noDisk bool
}

func (m *memory) Now() time.Time { return time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC) }

func (m *memory) Watch() *interrupt.Watch { return m.watch }
func (m *memory) AllowDiskUse() bool      { return !m.noDisk }
func (m *memory) InTransaction() bool     { return false }

func (m *memory) CollStats(_, _ string, _ CollStats) (bson.D, error) { return bson.D{}, nil }
func (m *memory) Sessions() []bson.D                                 { return nil }
func (m *memory) IndexStats(_, _ string) ([]bson.D, error)           { return nil, nil }
func (m *memory) Collation() *collation.Collator                     { return nil }

func (m *memory) Find(_, coll string, q *query.Matcher) Docs {
	m.finds++
	m.bounds = append(m.bounds, slices.Sorted(maps.Keys(q.Bounds()))...)
	return func(yield func(bson.D, error) bool) {
		for _, d := range m.colls[coll] {
			ok, err := q.Match(d)
			if err != nil {
				yield(nil, err)
				return
			}
			if ok && !yield(d, nil) {
				return
			}
		}
	}
}

func (m *memory) ReplaceCollection(_, coll string, docs Docs) error {
	var all []bson.D
	for d, err := range docs {
		if err != nil {
			return err
		}
		all = append(all, d)
	}
	m.colls[coll] = all
	return nil
}

func (m *memory) IsUnique(_, _ string, on []string) (bool, error) {
	return len(on) == 1 && (on[0] == "_id" || slices.Contains(m.unique, on[0])), nil
}

func (m *memory) TextIndex() (*fts.Index, error) {
	return nil, mongoerr.New(mongoerr.IndexNotFound, "text index required for $text query")
}

func (m *memory) MergeOne(_, coll string, on []string, doc bson.D,
	apply func(old bson.D) (bson.D, Action, error)) error {
	at := slices.IndexFunc(m.colls[coll], func(d bson.D) bool {
		for _, name := range on {
			a, _ := bsonval.Get(d, name)
			b, _ := bsonval.Get(doc, name)
			if bsonval.Compare(a, b) != 0 {
				return false
			}
		}
		return true
	})
	var old bson.D
	if at >= 0 {
		old = m.colls[coll][at]
	}
	next, action, err := apply(old)
	switch {
	case err != nil:
		return err
	case action == Insert && at >= 0:
		return mongoerr.New(mongoerr.DuplicateKey, "E11000 duplicate key error")
	case action == Insert:
		m.colls[coll] = append(m.colls[coll], next)
	case action == Replace, action == Update, action == Transform:
		m.colls[coll][at] = next
	}
	return nil
}

// newMemory holds the collections that the tests join with.
func newMemory() *memory {
	docs := func(text string) []bson.D {
		var out []bson.D
		for _, v := range valuetest.Array(text) {
			out = append(out, v.(bson.D))
		}
		return out
	}
	return &memory{unique: []string{"k"}, colls: map[string][]bson.D{
		"in": docs("[{_id: 1, t: 'a', n: 5, p: [1, 2]}, {_id: 2, t: 'b', n: 3, p: []}, {_id: 3, t: 'a', n: 1}, " +
			"{_id: 4, t: null, n: 3, p: 2}]"),
		"parts":  docs("[{_id: 1, name: 'x', w: 4}, {_id: 2, name: 'y', w: 2}, {_id: 9, tags: ['a', 'c']}]"),
		"target": docs("[{_id: 1, k: 'a', old: true}, {_id: 7, k: 'z', old: true}]"),
	}}
}

// result runs a pipeline over "in" and returns its documents as text.
func result(m *memory, stages string) (string, error) {
	p, err := Parse(valuetest.Array(stages), m)
	if err != nil {
		return "", err
	}
	out := bson.A{}
	for d, err := range p.Run(m.Find("", "in", query.MustParse(nil))) {
		if err != nil {
			return "", err
		}
		out = append(out, d)
	}
	return valuetest.Text(out), nil
}
