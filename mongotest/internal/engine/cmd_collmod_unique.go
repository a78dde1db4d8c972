package engine

// This file makes an index unique by collMod, in two commands: with prepareUnique: true the index takes no new
// duplicates, and unique: true makes it unique. The second command fails while there are duplicates, and names them.
// See https://www.mongodb.com/docs/manual/core/index-unique/convert-to-unique/
//
//	{collMod: "things", index: {name: "n_1", prepareUnique: true}}
//	{prepareUnique_old: false, prepareUnique_new: true, ok: 1.0}
//
//	{collMod: "things", index: {name: "n_1", unique: true}}
//	{unique_new: true, ok: 1.0}

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// checkUnique refuses unique: false, and a dry run of any other change than unique: true.
func (m *modification) checkUnique() error {
	if m.index.HasField("unique") && !m.index.Boolean("unique", false) && m.index.Err == nil {
		return mongoerr.New(mongoerr.BadValue,
			"collMod does not support converting an index to non-unique: unique: false")
	}
	if !m.dry || m.Err != nil {
		return m.index.Err
	}
	for _, e := range m.index.Doc {
		if e.Key != "name" && e.Key != "keyPattern" && e.Key != "unique" {
			return mongoerr.New(mongoerr.InvalidOptions, "dryRun takes no other modification than unique: %s", e.Key)
		}
	}
	for _, name := range m.request.command.fields {
		if name != "index" && name != "dryRun" && m.HasField(name) {
			return mongoerr.New(mongoerr.InvalidOptions, "dryRun takes no other modification than unique: %s", name)
		}
	}
	if !m.index.HasField("unique") {
		return mongoerr.New(mongoerr.InvalidOptions, "dryRun mode is only supported for unique conversion")
	}
	return m.index.Err
}

// changeUnique changes the uniqueness in the spec s of the index x, and returns the fields of the reply about it. The
// reply has only fields that change. An index that is unique already stays as it is.
func (m *modification) changeUnique(w *store.Writer, x *store.Index, s *store.IndexSpec) (rep reply, err error) {
	if m.index.HasField("unique") || m.index.HasField("prepareUnique") {
		for _, f := range s.Fields {
			if f.Kind != store.Ordered || s.Wild != nil {
				return nil, mongoerr.New(mongoerr.CannotCreateIndex,
					"Only ordered indexes can be unique, not %s", store.Show(s.Key))
			}
		}
		if c := w.Collection(m.ns); c.Series != nil {
			return nil, mongoerr.New(mongoerr.InvalidOptions,
				"Unique indexes are not supported on time-series collections: %s", store.Show(s.Key))
		}
	}
	if s.Unique { // as before the command
		return nil, nil
	}
	if (m.index.HasField("unique") || m.index.HasField("prepareUnique")) &&
		!m.request.allowsUnique(w.Collection(m.ns), s.Key) {
		return nil, m.request.newUniqueKeyError(w.Collection(m.ns), s.Key)
	}
	if m.index.HasField("unique") {
		if !s.Prepare {
			return nil, mongoerr.New(mongoerr.InvalidOptions,
				"Cannot make index unique with 'prepareUnique=false'. Run collMod to set it first.")
		}
		if err := checkDuplicates(m.Watch, w.Collection(m.ns), x); err != nil {
			return nil, err
		}
		s.Unique, s.Prepare = true, false
		rep = append(rep, bson.E{Key: "unique_new", Value: true})
	}
	if prepare := m.index.Boolean("prepareUnique", s.Prepare); prepare != s.Prepare && !s.Unique {
		rep = append(rep, bson.E{Key: "prepareUnique_old", Value: s.Prepare},
			bson.E{Key: "prepareUnique_new", Value: prepare})
		s.Prepare = prepare
	}
	return rep, m.index.Err
}

// maxViolations is how many bytes of _ids an error has at most, so that it fits into a reply.
const maxViolations = 8 << 20

// checkDuplicates refuses an index with duplicates. The error has the _ids of the documents, a group for each key:
// {violations: [{ids: [1, 2]}, {ids: [4, 9]}]}.
func checkDuplicates(w *interrupt.Watch, c *store.Collection, x *store.Index) error {
	groups, err := groupSameKeys(w, x)
	if err != nil || len(groups) == 0 {
		return err
	}
	var violations bson.A
	size := 0
	for _, group := range groups {
		var ids bson.A
		for _, record := range group {
			r, _ := c.Record(record)
			id, _ := bsonval.Get(r.Doc, "_id")
			size += bsonval.SizeOf(bson.A{id}, store.MaxDocument)
			if size > maxViolations && len(violations)+len(ids) > 0 {
				if len(ids) > 0 {
					violations = append(violations, bson.D{{Key: "ids", Value: ids}})
				}
				return newConvertError("Too many conflicting documents were detected. Please resolve them and rerun "+
					"collMod.",
					violations)
			}
			ids = append(ids, id)
		}
		violations = append(violations, bson.D{{Key: "ids", Value: ids}})
	}
	return newConvertError("Please resolve conflicting documents before running collMod again.", violations)
}

// groupSameKeys returns the groups of records, by their numbers, that have the same key of the index. Entries of an
// index are sorted by key, so the records of a group are neighbours.
func groupSameKeys(w *interrupt.Watch, x *store.Index) (groups [][]int64, err error) {
	var key store.Key // of the group
	var run []int64   // the records of the group so far
	end := func() {
		if len(run) > 1 {
			groups = append(groups, run)
		}
		run = nil
	}
	for e := range x.Entries.All() {
		if err := w.Step(); err != nil {
			return nil, err
		}
		if key == nil || x.Spec.Compare(key, e.Key) != 0 {
			end()
		}
		key, run = e.Key, append(run, e.Record)
	}
	end()
	return groups, nil
}

// newConvertError returns the error of an index that can't become unique, with the _ids of duplicates.
func newConvertError(what string, violations bson.A) error {
	err := mongoerr.New(mongoerr.CannotConvertIndexToUnique, "Cannot convert the index to unique. %s", what)
	err.Extra = bson.D{{Key: "violations", Value: violations}}
	return err
}
