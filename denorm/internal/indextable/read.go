package indextable

import (
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// FindEntries returns the filter of a value's entries. It refuses arrays and null, which
// have no entry of their own.
func (t *Table) FindEntries(value any) (bson.D, error) {
	v, err := t.EncodeValue(value)
	if err != nil {
		return nil, err
	}
	list, err := t.listEntryValues(v)
	switch {
	case err != nil:
		return nil, err
	case v.Type == bson.TypeArray:
		return nil, t.docs.Refuse(t.path, nil, "is an array: look up one of its elements")
	case len(list) == 0:
		return nil, t.docs.Refuse(t.path, nil, "is null, which has no entry: query the documents themselves")
	case t.unique:
		return commands.MatchID(v), nil
	}
	return t.MatchValue(v), nil
}

// MatchValue returns the range of a value's entries, in a table that isn't unique. _ids
// are compared as whole documents, so one range of the _id index has all entries of the
// value
// (https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/#objects).
func (t *Table) MatchValue(v bson.RawValue) bson.D {
	bound := func(id any) bson.D { return bson.D{{Key: "v", Value: v}, {Key: "id", Value: id}} }
	return bson.D{{
		Key:   "_id",
		Value: bson.D{{Key: "$gte", Value: bound(bson.MinKey{})}, {Key: "$lte", Value: bound(bson.MaxKey{})}},
	}}
}

// FindDocuments returns the pipeline from a value's entries to the documents. The last
// stage skips surplus entries: their document doesn't have the value.
func (t *Table) FindDocuments(value any) (mongo.Pipeline, error) {
	filter, err := t.FindEntries(value)
	if err != nil {
		return nil, err
	}
	v, err := t.EncodeValue(value)
	return mongo.Pipeline{
		mql.Match(filter...),
		mql.SortID(),
		mql.Lookup(t.docs.Name(), t.idPath(), "_id", "found"),
		mql.Unwind("$found"),
		mql.ReplaceRoot("$found"),
		mql.Match(mql.E(t.path, mql.Eq(v))),
	}, err
}

// EncodeValue encodes a value that is looked up.
func (t *Table) EncodeValue(value any) (bson.RawValue, error) {
	return t.docs.FieldValue(t.field, value, true)
}

func (t *Table) idPath() string {
	if t.unique {
		return "id"
	}
	return "_id.id"
}

func (t *Table) valuePath() string {
	if t.unique {
		return "_id"
	}
	return "_id.v"
}

// listEntryValues returns the distinct values that have an entry if the path has the
// value v.
func (t *Table) listEntryValues(v bson.RawValue) (out []bson.RawValue, _ error) {
	list := []bson.RawValue{v}
	if v.Type == bson.TypeArray {
		var err error
		if list, err = bson.RawArray(v.Value).Values(); err != nil {
			return nil, t.docs.Refuse(t.path, nil, err.Error())
		}
	}
	var seen map[string]bool
	if len(list) > 1 {
		seen = make(map[string]bool, len(list))
	}
	for _, e := range list {
		switch e.Type {
		case 0, bson.TypeNull:
			continue
		case bson.TypeArray, bson.TypeRegex, bson.TypeUndefined:
			return nil,
				t.docs.Refuse(t.path, e,
					"an array within an array, a regular expression or undefined can't have an entry")
		}
		if path, err := core.CheckNames(e, t.path); err != nil {
			return nil, t.docs.Refuse(path, nil, err.Error())
		}
		if seen != nil {
			key := bsonval.Key(e)
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		out = append(out, e)
	}
	return out, nil
}

// readStates returns the state of a document for each table.
func (ts Tables) readStates(doc bson.Raw) ([]state, error) {
	out := make([]state, len(ts))
	for i, t := range ts {
		var err error
		if out[i], err = t.readState(doc); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// A state is the part of a document on which the table depends. at is the value at the
// path, values its distinct elements, and copies the copied fields as an entry stores
// them.
type state struct {
	id     bson.RawValue
	at     bson.RawValue // what the path holds
	values []bson.RawValue
	held   map[string]bson.RawValue // what the copied paths hold
	copies bson.D
}

func (t *Table) readState(doc bson.Raw) (s state, err error) {
	s.id = doc.Lookup("_id")
	if s.at, err = stored.ValueAt(t.docs, doc, t.path); err != nil {
		return s, err
	}
	if s.values, err = t.listEntryValues(s.at); err != nil {
		return s, err
	}
	s.held, err = stored.ValuesAt(t.docs, doc, t.copies)
	s.copies = stored.NestValues(t.copies, s.held)
	return s, err
}

// listReadPaths returns the paths of which entries have values.
func (ts Tables) listReadPaths() (out []string) {
	for _, t := range ts {
		out = append(append(out, t.path), t.copies...)
	}
	return out
}
