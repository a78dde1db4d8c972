package expr

// This file joins documents for the operator and the accumulator $mergeObjects, and sets fields for $arrayToObject.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// merging joins documents: a later document's fields replace fields of the same names, in their places, and new fields
// go to the end. It starts with an empty d.
//
//	{x: 1, y: 2}, {z: 3, x: 9}   →   {x: 9, y: 2, z: 3}
//
// A merge of a single document returns that document, which may be stored, without copying it. So d must be cloned
// before it is changed. Of many fields a map finds the places, so that the time isn't the square of their number.
type merging struct {
	d  bson.D
	at map[string]int // the positions of d's fields; nil if d has few fields. If it isn't nil, d is a copy
}

// add joins a value that must be a document. Nullish values are left out.
func (m *merging) add(v any) error {
	if bsonval.IsNullish(v) {
		return nil
	}
	d, ok := v.(bson.D)
	if !ok {
		return mongoerr.New(40400, "$mergeObjects requires object inputs, but input %s is of type %s",
			bsonval.Show(v), bsonval.TypeName(v))
	}
	m.set(d)
	return nil
}

// manyFields is the number of fields above which a map finds them.
const manyFields = 16

// set joins a document.
func (m *merging) set(d bson.D) {
	switch {
	case len(m.d) == 0:
		m.d = d
		return
	case m.at == nil:
		m.d = slices.Clone(m.d)
	}
	if m.at == nil && len(m.d)+len(d) > manyFields {
		m.at = make(map[string]int, len(m.d)+len(d))
		// From the end, because of two fields of one name the first counts, as for bsonval.Index.
		for i := len(m.d) - 1; i >= 0; i-- {
			m.at[m.d[i].Key] = i
		}
	}
	for _, e := range d {
		i := -1
		if m.at == nil {
			i = bsonval.Index(m.d, e.Key)
		} else if k, ok := m.at[e.Key]; ok {
			i = k
		}
		switch {
		case i >= 0:
			m.d[i].Value = e.Value
			continue
		case m.at != nil:
			m.at[e.Key] = len(m.d)
		}
		m.d = append(m.d, e)
	}
}

// result returns the joined document. With a map for the places a later add would change it, so a group's result is
// asked for once. Package window has no $mergeObjects.
func (m *merging) result() any { return m.d }
