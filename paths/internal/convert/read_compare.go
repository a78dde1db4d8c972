package convert

// What differs between the stored target and the forest that it shall have.

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"github.com/docmodel/docmodel/paths/internal/tree"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// compareFields notes the tree fields that differ, of each node.
func (s *survey) compareFields(nodes map[string]tree.Node) error {
	s.want = map[string]bson.D{}
	// The representation computes its fields from the new forest alone, as Load and
	// repairs do.
	canonical := s.to.Rep.ComputeFields(s.target, nodes)
	all := make(map[string]bson.D, len(nodes)) // the fields of the representation, encoded
	for key := range s.target.WalkAll() {
		n := nodes[key]
		fields, err := encodeFields(canonical[key])
		if err != nil {
			return err
		}
		all[key] = fields
		was, there := s.stored[key]
		if !there || was.IsRoot() != n.IsRoot() || !n.IsRoot() && bsonval.Key(was.Parent) != bsonval.Key(n.Parent) {
			s.setField(key, s.to.Links.Parent, n.Parent)
		}
		if !there || was.Order != n.Order {
			s.setField(key, s.to.Links.Order, forest.EncodeString(n.Order))
		}
		for _, e := range fields {
			if got, _ := core.ValueAt(was.Raw, e.Key); !there || !tree.IsSameValue(got, e.Value.(bson.RawValue)) {
				s.setField(key, e.Key, e.Value.(bson.RawValue))
			}
		}
	}
	return s.clearUniqueValues(nodes, all)
}

// setField notes a field to be written.
func (s *survey) setField(key, path string, v bson.RawValue) {
	s.want[key] = append(s.want[key], mql.E(path, v))
}

// encodeFields encodes the values of fields.
func encodeFields(d bson.D) (bson.D, error) {
	out := make(bson.D, len(d))
	for i, e := range d {
		v, err := core.RawValue(e.Value)
		if err != nil {
			return nil, err
		}
		out[i] = mql.E(e.Key, v)
	}
	return out, nil
}

// clearUniqueValues finds nodes with a unique value that another node shall have. A node
// that is deleted gives it up by an early deletion, another one is parked. Two nodes that
// shall have the same value are refused.
func (s *survey) clearUniqueValues(nodes map[string]tree.Node, all map[string]bson.D) error {
	holds, gets := map[string]string{}, map[string]string{}
	// The field of the unique index, and the value that a node shall have in it.
	unique := func(key string) (string, bson.RawValue, bool) {
		parked := s.to.Rep.ParkFields(nodes[key], all[key])
		if parked == nil {
			return "", bson.RawValue{}, false
		}
		for _, e := range all[key] {
			if e.Key == parked[0].Key {
				return e.Key, e.Value.(bson.RawValue), true
			}
		}
		return "", bson.RawValue{}, false
	}
	path := ""
	for key := range s.target.WalkAll() {
		field, v, ok := unique(key)
		if !ok {
			// No representation has such an index for only some of its nodes.
			return nil
		}
		path = field
		if twin, twice := gets[bsonval.Key(v)]; twice {
			return fmt.Errorf(
				"%w: %s and %s of %s would both have %s", forest.ErrSegment, model.Shell(s.findID(twin)),
				model.Shell(s.findID(key)), s.to.Collection, model.Shell(v),
			)
		}
		gets[bsonval.Key(v)] = key
	}
	for key, n := range s.stored {
		if v, _ := core.ValueAt(n.Raw, path); v.Type != 0 {
			holds[bsonval.Key(v)] = key
		}
	}
	for key := range s.target.WalkAll() {
		_, v, _ := unique(key)
		holder, held := holds[bsonval.Key(v)]
		switch {
		case !held || holder == key:
		// The holder is deleted anyway.
		case !s.target.Contains(holder):
			s.early = true
		default:
			s.park = append(s.park, s.stored[holder])
			s.parked = append(s.parked, s.to.Rep.ParkFields(nodes[holder], all[holder]))
		}
	}
	return nil
}

// compareContent reports whether a node's content differs from the source, and whether
// the node is missing. A node that only the target has never differs.
func (s *survey) compareContent(key string) (content, missing bool) {
	w := s.wanted[key]
	if w == nil {
		return false, false
	}
	sum, there := s.sums[key]
	return !there || sum != w.sum, !there
}
