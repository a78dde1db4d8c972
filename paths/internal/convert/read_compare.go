package convert

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

// compare finds what differs, and what is in the way of it.
func (s *survey) compare(nodes map[string]tree.Node) error {
	s.want = map[string]bson.D{}
	canonical := s.to.Rep.Canonical(s.target, nodes)
	all := make(map[string]bson.D, len(nodes)) // the fields of the representation, encoded
	for key := range s.target.All() {
		n := nodes[key]
		fields, err := encodedFields(canonical[key])
		if err != nil {
			return err
		}
		all[key] = fields
		was, there := s.stored[key]
		if !there || was.Root() != n.Root() || !n.Root() && bsonval.Key(was.Parent) != bsonval.Key(n.Parent) {
			s.set(key, s.to.Links.Parent, n.Parent)
		}
		if !there || was.Order != n.Order {
			s.set(key, s.to.Links.Order, forest.StringValue(n.Order))
		}
		for _, e := range fields {
			if got, _ := core.ValueAt(was.Raw, e.Key); !there || !tree.SameField(got, e.Value.(bson.RawValue)) {
				s.set(key, e.Key, e.Value.(bson.RawValue))
			}
		}
	}
	return s.clear(nodes, all)
}

func (s *survey) set(key, path string, v bson.RawValue) {
	s.want[key] = append(s.want[key], mql.E(path, v))
}

// encodedFields are fields with their values encoded.
func encodedFields(d bson.D) (bson.D, error) {
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

// clear finds the nodes that hold what others are to have in a unique index.
func (s *survey) clear(nodes map[string]tree.Node, all map[string]bson.D) error {
	holds, gets := map[string]string{}, map[string]string{}
	unique := func(key string) (string, bson.RawValue, bool) {
		parked := s.to.Rep.Parked(nodes[key], all[key])
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
	for key := range s.target.All() {
		field, v, ok := unique(key)
		if !ok {
			return nil // no representation has such an index for some nodes only
		}
		path = field
		if twin, twice := gets[bsonval.Key(v)]; twice {
			return fmt.Errorf("%w: %s and %s of %s would both have %s", forest.ErrSegment, model.Shell(s.idOf(twin)), model.Shell(s.idOf(key)), s.to.Collection, model.Shell(v))
		}
		gets[bsonval.Key(v)] = key
	}
	for key, n := range s.stored {
		if v, _ := core.ValueAt(n.Raw, path); v.Type != 0 {
			holds[bsonval.Key(v)] = key
		}
	}
	for key := range s.target.All() {
		_, v, _ := unique(key)
		holder, held := holds[bsonval.Key(v)]
		switch {
		case !held || holder == key:
		case !s.target.Has(holder):
			s.early = true
		default:
			s.park = append(s.park, s.stored[holder])
			s.parked = append(s.parked, s.to.Rep.Parked(nodes[holder], all[holder]))
		}
	}
	return nil
}

// differs reports whether a node's content differs, or it isn't there.
func (s *survey) differs(key string) (content, missing bool) {
	w := s.wanted[key]
	if w == nil {
		return false, false
	}
	sum, there := s.sums[key]
	return !there || sum != w.sum, !there
}
