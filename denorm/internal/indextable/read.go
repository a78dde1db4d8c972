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

// Find is the filter of a value's entries.
func (t *Table) Find(value any) (bson.D, error) {
	v, err := t.Value(value)
	if err != nil {
		return nil, err
	}
	list, err := t.values(v)
	switch {
	case err != nil:
		return nil, err
	case v.Type == bson.TypeArray:
		return nil, t.docs.Refuse(t.path, nil, "is an array: look up one of its elements")
	case len(list) == 0:
		return nil, t.docs.Refuse(t.path, nil, "is null, which has no entry: query the documents themselves")
	case t.unique:
		return commands.ByID(v), nil
	}
	return t.OfValue(v), nil
}

// OfValue is the range of a value's entries, in a table that is not unique.
func (t *Table) OfValue(v bson.RawValue) bson.D {
	bound := func(id any) bson.D { return bson.D{{Key: "v", Value: v}, {Key: "id", Value: id}} }
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: bound(bson.MinKey{})}, {Key: "$lte", Value: bound(bson.MaxKey{})}}}}
}

// Documents is the pipeline from a value's entries to the documents that hold it.
func (t *Table) Documents(value any) (mongo.Pipeline, error) {
	filter, err := t.Find(value)
	if err != nil {
		return nil, err
	}
	v, err := t.Value(value)
	return mongo.Pipeline{
		mql.Match(filter...),
		mql.SortID(),
		mql.Lookup(t.docs.Name(), t.idPath(), "_id", "found"),
		mql.Unwind("$found"),
		mql.ReplaceRoot("$found"),
		mql.Match(mql.E(t.path, mql.Eq(v))),
	}, err
}

// Value encodes a value that is looked up.
func (t *Table) Value(value any) (bson.RawValue, error) {
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

// values returns the distinct values that have an entry when the path holds v.
func (t *Table) values(v bson.RawValue) (out []bson.RawValue, _ error) {
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
			return nil, t.docs.Refuse(t.path, e, "an array within an array, a regular expression or undefined can't have an entry")
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

// states are what of a document each table depends on.
func (ts Tables) states(doc bson.Raw) ([]state, error) {
	out := make([]state, len(ts))
	for i, t := range ts {
		var err error
		if out[i], err = t.state(doc); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// A state is what of a document the table depends on.
type state struct {
	id     bson.RawValue
	at     bson.RawValue // what the path holds
	values []bson.RawValue
	held   map[string]bson.RawValue // what the copied paths hold
	copies bson.D
}

func (t *Table) state(doc bson.Raw) (s state, err error) {
	s.id = doc.Lookup("_id")
	if s.at, err = stored.At(t.docs, doc, t.path); err != nil {
		return s, err
	}
	if s.values, err = t.values(s.at); err != nil {
		return s, err
	}
	s.held, err = stored.AtEach(t.docs, doc, t.copies)
	s.copies = stored.NestedValues(t.copies, s.held)
	return s, err
}

// held are the paths that entries hold values of.
func (ts Tables) held() (out []string) {
	for _, t := range ts {
		out = append(append(out, t.path), t.copies...)
	}
	return out
}
