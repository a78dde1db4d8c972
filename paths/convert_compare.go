package paths

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// compare finds what differs, and what is in the way of it.
func (s *survey) compare(nodes map[string]node) error {
	s.want = map[string]bson.D{}
	canonical := s.to.rep.canonical(s.target, nodes)
	all := make(map[string]bson.D, len(nodes)) // the fields of the representation, encoded
	for key := range s.target.All() {
		n := nodes[key]
		fields, err := encodedFields(canonical[key])
		if err != nil {
			return err
		}
		all[key] = fields
		was, there := s.stored[key]
		if !there || was.root() != n.root() || !n.root() && bsonval.Key(was.parent) != bsonval.Key(n.parent) {
			s.set(key, s.to.links.Parent, n.parent)
		}
		if !there || was.order != n.order {
			s.set(key, s.to.links.Order, stringValue(n.order))
		}
		for _, e := range fields {
			if got, _ := model.ValueAt(was.raw, e.Key); !there || !sameField(got, e.Value.(bson.RawValue)) {
				s.set(key, e.Key, e.Value.(bson.RawValue))
			}
		}
	}
	return s.clear(nodes, all)
}

func (s *survey) set(key, path string, v bson.RawValue) {
	s.want[key] = append(s.want[key], bson.E{Key: path, Value: v})
}

// encodedFields are fields with their values encoded.
func encodedFields(d bson.D) (bson.D, error) {
	out := make(bson.D, len(d))
	for i, e := range d {
		v, err := rawValue(e.Value)
		if err != nil {
			return nil, err
		}
		out[i] = bson.E{Key: e.Key, Value: v}
	}
	return out, nil
}

// clear finds the nodes that hold what others are to have in a unique index.
func (s *survey) clear(nodes map[string]node, all map[string]bson.D) error {
	holds, gets := map[string]string{}, map[string]string{}
	unique := func(key string) (string, bson.RawValue, bool) {
		parked := s.to.rep.parked(nodes[key], all[key])
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
			return fmt.Errorf("%w: %s and %s of %s would both have %s", ErrSegment, text(s.idOf(twin)), text(s.idOf(key)), s.to.docs, text(v))
		}
		gets[bsonval.Key(v)] = key
	}
	for key, n := range s.stored {
		if v, _ := model.ValueAt(n.raw, path); v.Type != 0 {
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
			s.parked = append(s.parked, s.to.rep.parked(nodes[holder], all[holder]))
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

// would is what there is to do.
func (s *survey) would() Converted {
	missing, differ := s.work()
	return Converted{Nodes: len(s.wanted), Kept: s.kept, Deleted: len(s.gone), Inserted: len(missing), Updated: len(differ)}
}
