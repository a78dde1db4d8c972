package paths

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// conversion is what of a [Conversion] doesn't depend on types.
type conversion struct {
	from     origin
	to       *tree
	lease    *model.Lease
	under    bson.RawValue // type 0 for none
	remove   bool
	size     int
	attempts int
	err      error
}

// copied is a node of the source as the target is to have it.
type copied struct {
	from   bson.RawValue // its id in the source
	source string        // and as a key
	order  string        // the source's
	sum    [16]byte
	made   bson.Raw // its _id, and the fields that the representation reads
}

// A survey is what both trees hold, and what the target is to hold. Its keys are those of the target's _ids.
type survey struct {
	*conversion
	wanted map[string]*copied
	names  map[string]string // keys of the source to those of the target
	source *Forest[string]   // by keys of the source

	stored map[string]node     // the target's nodes, stripped
	sums   map[string][16]byte // of those that are wanted
	placed *Forest[string]     // as they are stored
	gone   []node              // what is to be deleted, children first
	kept   int

	target *Forest[string]   // as it is to be
	want   map[string]bson.D // what differs in a node's tree fields; of a new one all
	early  bool              // deletions come first
	park   []node            // what gives up a field of a unique index first
	parked []bson.D
}

// survey reads both trees and decides, purely, what is to be written.
func (c *conversion) survey(ctx context.Context, db *mongo.Database) (*survey, error) {
	if c.err != nil {
		return nil, c.err
	}
	s := &survey{conversion: c}
	var err error
	begin := func() { s.wanted, s.names = map[string]*copied{}, map[string]string{} }
	if s.source, err = c.from.gather(ctx, db, s.take, begin); err != nil {
		return nil, err
	}
	if err := s.look(ctx, db); err != nil {
		return nil, err
	}
	if err := s.scope(); err != nil {
		return nil, err
	}
	nodes, err := s.arrange()
	if err != nil {
		return nil, err
	}
	return s, s.compare(nodes)
}

// take notes a node of the source.
func (s *survey) take(p piece) error {
	made, err := stripped(p.made, s.to.own)
	if err != nil {
		return err
	}
	w := &copied{from: p.id, source: p.link.ID, order: p.link.Order, made: made}
	if w.sum, err = s.to.sum(p.made); err != nil {
		return err
	}
	key := bsonval.Key(made.Lookup("_id"))
	if twin := s.wanted[key]; twin != nil {
		return fmt.Errorf("%w: %s and %s of %s both become %s", ErrExists, text(twin.from), text(w.from), s.from.name, text(made.Lookup("_id")))
	}
	s.wanted[key], s.names[w.source] = w, key
	return nil
}

// look reads the target.
func (s *survey) look(ctx context.Context, db *mongo.Database) error {
	s.stored, s.sums = map[string]node{}, map[string][16]byte{}
	for doc, err := range s.to.aggregate(source{pipeline: mongo.Pipeline{}}).Each(ctx, db) {
		if err != nil {
			return err
		}
		small, err := stripped(doc, s.to.tied(), s.to.own)
		if err != nil {
			return err
		}
		n, err := s.to.read(small)
		if err != nil {
			return err
		}
		s.stored[n.key()] = n
		if s.wanted[n.key()] == nil {
			continue
		}
		if s.sums[n.key()], err = s.to.sum(doc); err != nil {
			return err
		}
	}
	all := make([]node, 0, len(s.stored))
	for _, n := range s.stored {
		all = append(all, n)
	}
	s.placed = familyOf(all, "").forest
	return nil
}

// scope finds what the target has beside, and what of it is to be deleted.
func (s *survey) scope() error {
	top := ""
	if s.under.Type != 0 {
		top = bsonval.Key(s.under)
		switch {
		case s.stored[top].id.Type == 0:
			return fmt.Errorf("%w: %s in %s", ErrNoNode, text(s.under), s.to.docs)
		case s.wanted[top] != nil:
			return fmt.Errorf("%w: %s of %s, under which the nodes go, is one of them", ErrExists, text(s.under), s.to.docs)
		}
	}
	inside := map[string]bool{}
	for key := range s.placed.subtree(top) {
		inside[key] = true
	}
	for key := range s.wanted {
		if top != "" && s.placed.Has(key) && !inside[key] {
			return fmt.Errorf("%w: %s in %s, elsewhere than below %s", ErrExists, text(s.stored[key].id), s.to.docs, text(s.under))
		}
	}
	for key, n := range s.stored {
		switch {
		case s.wanted[key] != nil:
		case s.remove && (top == "" || inside[key] && key != top):
			s.gone = append(s.gone, n)
		case s.placed.Has(key) || s.wanted[bsonval.Key(n.parent)] != nil || s.stored[bsonval.Key(n.parent)].id.Type != 0:
			s.kept++
		default:
			return fmt.Errorf("%w: the parent of %s in %s is missing", ErrDamaged, text(n.id), s.to.docs)
		}
	}
	at := map[string]int{}
	for key := range s.placed.All() {
		at[key] = len(at) + 1
	}
	slices.SortFunc(s.gone, func(a, b node) int {
		if i, j := at[a.key()], at[b.key()]; i != j {
			return j - i
		}
		return bsonval.CompareIDs(a.id, b.id)
	})
	return nil
}

// siblings are lists of nodes by their parents' keys, "" for the roots: the source's, and after them what else the target has.
func (s *survey) siblings() (lists map[string][]string, parents []string) {
	lists = map[string][]string{}
	add := func(parent, key string) {
		if lists[parent] == nil {
			parents = append(parents, parent)
		}
		lists[parent] = append(lists[parent], key)
	}
	for source := range s.source.All() {
		parent := ""
		if p, ok := s.source.above(source); ok {
			parent = s.names[p]
		} else if s.under.Type != 0 {
			parent = bsonval.Key(s.under)
		}
		add(parent, s.names[source])
	}
	going := make(map[string]bool, len(s.gone))
	for _, n := range s.gone {
		going[n.key()] = true
	}
	stay := func(key string) {
		if s.wanted[key] != nil || going[key] {
			return
		}
		if n := s.stored[key]; n.root() {
			add("", key)
		} else {
			add(bsonval.Key(n.parent), key)
		}
	}
	for key := range s.placed.All() {
		stay(key)
	}
	lost := []string{}
	for key := range s.stored {
		if !s.placed.Has(key) {
			lost = append(lost, key)
		}
	}
	slices.SortFunc(lost, func(a, b string) int { return bsonval.CompareIDs(s.stored[a].id, s.stored[b].id) })
	for _, key := range lost {
		stay(key)
	}
	return lists, parents
}

// arrange makes the target's forest, with its nodes as they are to be placed.
func (s *survey) arrange() (map[string]node, error) {
	lists, parents := s.siblings()
	nodes := make(map[string]node, len(s.wanted)+s.kept)
	var links []Link[string]
	for _, parent := range parents {
		var wanted, had []string
		for _, key := range lists[parent] {
			if w := s.wanted[key]; w != nil {
				wanted = append(wanted, w.order)
			}
			had = append(had, s.stored[key].order)
		}
		for i, order := range orderKeys(wanted, had) {
			key := lists[parent][i]
			n, err := s.node(key)
			if err != nil {
				return nil, err
			}
			n.parent, n.order = null, order
			if parent != "" {
				n.parent = s.idOf(parent)
			}
			nodes[key] = n
			links = append(links, Link[string]{ID: key, Parent: parent, Root: parent == "", Order: order})
		}
	}
	var lost []Link[string]
	if s.target, lost = NewForest(links); len(lost) > 0 {
		return nil, fmt.Errorf("%w: %d nodes of %s have no place", ErrDamaged, len(lost), s.to.docs)
	}
	return nodes, nil
}

// idOf is the _id of a node of the target.
func (s *survey) idOf(key string) bson.RawValue {
	if w := s.wanted[key]; w != nil {
		return w.made.Lookup("_id")
	}
	return s.stored[key].id
}

// node is a node as it will be read: what is stored, with the fields that the source gives.
func (s *survey) node(key string) (n node, err error) {
	n, there := s.stored[key]
	w := s.wanted[key]
	switch {
	case w == nil:
		return n, nil
	case !there:
		n.raw = w.made
	default:
		var set bson.D
		for _, path := range s.to.own {
			v, _ := model.ValueAt(w.made, path)
			if v.Type == 0 {
				v = null
			}
			set = append(set, bson.E{Key: path, Value: v})
		}
		if n.raw, err = model.SetFields(n.raw, set); err != nil {
			return n, err
		}
	}
	n.id = w.made.Lookup("_id")
	if err := s.to.loadable(n); err != nil {
		return n, fmt.Errorf("docmodel: %s of %s: %w", text(n.id), s.to.docs, err)
	}
	return n, nil
}
