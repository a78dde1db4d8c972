package model

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The first command of an action finds a referenced document and makes the updates that the
// reactions are expected to ask for. They are called with values that stand for the
// references. What they ask for later is compared: see compareReferred.

// An expectedWrite is a write of an action before its references are known.
type expectedWrite struct {
	StoreWrite
	known []string // the known paths of a deleted document; nil if all are
}

// expect finds out what the reactions will ask of the referenced documents. A value of the
// same type stands for each reference.
func (s *store) expect(tx *runctx.Tx, list []*referred, writes []expectedWrite) {
	for _, w := range writes {
		doc := pick(w.After != nil, w.After, w.Before)
		ids := make([]bson.RawValue, len(list))
		var set bson.D
		for i, r := range list {
			v, _ := core.ValueAt(doc, r.path)
			ids[i] = core.MustRawValue(standIn(v))
			set = append(set, bson.E{Key: r.path, Value: ids[i]})
			if w.known != nil {
				w.known = append(slices.Clip(w.known), r.path)
			}
		}
		doc, err := withFields(doc, set)
		if err != nil {
			return
		}
		w.Before, w.After = pick(w.Before != nil, doc, nil), pick(w.After != nil, doc, nil)
		w.Given, w.Tx, w.tx = w.After, true, tx
		for _, r := range s.reactions {
			if r.Collection == s.docs.Name() && r.On.includes(w.occasion()) && w.knows(r.Paths) {
				r.expect(w.StoreWrite, list, ids)
			}
		}
	}
	for _, r := range list {
		r.held = len(r.sent) > 0 || r.held && !tx.Together // else the command of all writes holds it
	}
}

// knows reports whether a write has all fields that a reaction looks at.
func (w expectedWrite) knows(paths []string) bool {
	return w.known == nil || !slices.ContainsFunc(paths, func(path string) bool {
		return !slices.ContainsFunc(w.known, func(known string) bool {
			return path == known || strings.HasPrefix(path, known+".")
		})
	})
}

// standIn returns a value that stands for a reference of the type of v.
func standIn(v bson.RawValue) any {
	id := bson.NewObjectID()
	switch v.Type {
	case bson.TypeString:
		return id.Hex()
	case bson.TypeInt32:
		return rand.Int32()
	case bson.TypeInt64:
		return rand.Int64()
	}
	return id
}

// expect notes the updates of referenced documents that the reaction asks for, if it needs
// no other document.
func (r Reaction) expect(w StoreWrite, list []*referred, ids []bson.RawValue) {
	if r.Fetch != nil {
		fetches, err := r.Fetch(w)
		if err != nil {
			return
		}
		w.found = make([][]bson.Raw, len(fetches))
		needs := false
		for _, f := range fetches {
			i := slices.IndexFunc(ids, func(id bson.RawValue) bool {
				return f.Query == nil && f.By == "" && bsonval.EqualRaw(id, f.ID)
			})
			if i >= 0 && f.Hold && f.Collection == list[i].to.Name() {
				list[i].held = true
			}
			needs = needs || i < 0 || !f.isFoundOutByHold(true)
		}
		if needs {
			return
		}
	}
	if r.React == nil {
		return
	}
	answer, err := r.React(w)
	if err != nil {
		return
	}
	for _, step := range answer.follow() {
		for i, id := range ids {
			if x, ok := step.(Write); ok && x.isPlainUpdate(list[i].to.Name(), id) {
				list[i].sent = append(list[i].sent, x)
			}
		}
	}
}

// isPlainUpdate reports whether the write updates the document of an _id by operators,
// without other conditions.
func (w Write) isPlainUpdate(collection string, id bson.RawValue) bool {
	m, ok := w.Model.(*mongo.UpdateOneModel)
	if !ok || w.Err != nil || w.Collection != collection {
		return false
	}
	filter, _ := m.Filter.(bson.D)
	_, plain := m.Update.(bson.D)
	return plain && len(filter) == 1 && bsondoc.SameValue(idFilter(filter), id) && m.ArrayFilters == nil &&
		m.Upsert == nil && m.Sort == nil
}
