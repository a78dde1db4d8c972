package expr

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// merging sets the fields of one document after the other.
type merging struct {
	d  bson.D
	at map[string]int // where a field is; nil as long as d belongs to somebody else or is small
}

func (m *merging) add(v any) error {
	if bsonval.IsNullish(v) {
		return nil
	}
	d, ok := v.(bson.D)
	if !ok {
		return mongoerr.New(40400, "$mergeObjects requires object inputs, but input %s is of type %s",
			Show(v), bsonval.TypeName(v))
	}
	m.set(d)
	return nil
}

// manyFields is from how many fields on a field is found by a map.
const manyFields = 16

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

func (m *merging) result() any { return m.d }
