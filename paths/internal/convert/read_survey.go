package convert

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"github.com/docmodel/docmodel/paths/internal/tree"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// conversion brings the nodes of an origin into a tree.
type conversion struct {
	from   Origin
	to     *tree.Tree
	under  bson.RawValue // type 0 for none
	remove bool
}

// copied is a node of the source as the target is to have it.
type copied struct {
	from   bson.RawValue // its id in the source
	source string        // and as a key
	order  string        // the source's
	sum    [16]byte
	made   bson.Raw // its _id, and the fields that the representation reads
	added  []string // the target's fields that come from a scope, not from the source
}

// A survey is what both trees hold, and what the target is to hold. Its keys are those of the target's _ids.
type survey struct {
	*conversion
	scoping core.Scoping // of the target
	wanted  map[string]*copied
	names   map[string]string      // keys of the source to those of the target
	source  *forest.Forest[string] // by keys of the source

	stored map[string]tree.Node   // the target's nodes, stripped
	sums   map[string][16]byte    // of those that are wanted
	placed *forest.Forest[string] // as they are stored
	gone   []tree.Node            // what is to be deleted, children first
	kept   int

	target *forest.Forest[string] // as it is to be
	want   map[string]bson.D      // what differs in a node's tree fields; of a new one all
	early  bool                   // deletions come first
	park   []tree.Node            // what gives up a field of a unique index first
	parked []bson.D

	b       *model.Batch
	size    int  // how many nodes are written under one lease
	stirred bool // the source hasn't some of the nodes any more
}

// survey reads both trees and decides, purely, what is to be written.
func (c *conversion) survey(ctx context.Context, db model.DB) (*survey, error) {
	s := &survey{conversion: c, scoping: core.ScopingOf(db, c.to.Collection), wanted: map[string]*copied{}, names: map[string]string{}}
	var err error
	if s.source, err = c.from.gather(ctx, db, s.take); err != nil {
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
	made, err := stripped(p.made, s.to.Own)
	if err != nil {
		return err
	}
	w := &copied{from: p.id, source: p.link.ID, order: p.link.Order, made: made, added: s.addedTo(p.made)}
	if w.sum, err = sumOf(s.to, p.made, w.added); err != nil {
		return err
	}
	key := bsonval.Key(made.Lookup("_id"))
	if twin := s.wanted[key]; twin != nil {
		return fmt.Errorf("%w: %s and %s of %s both become %s", model.ErrTaken, model.Shell(twin.from), model.Shell(w.from), s.from.name, model.Shell(made.Lookup("_id")))
	}
	s.wanted[key], s.names[w.source] = w, key
	return nil
}

// addedTo returns the fields that a scope gives to a new document: those of each write, and those that the document lacks.
func (s *survey) addedTo(doc bson.Raw) (added []string) {
	for _, e := range s.scoping.Set {
		added = append(added, e.Key)
	}
	for _, e := range s.scoping.Insert {
		if doc.Lookup(e.Key).Type == 0 {
			added = append(added, e.Key)
		}
	}
	return added
}

// look reads the target.
func (s *survey) look(ctx context.Context, db model.DB) error {
	s.stored, s.sums = map[string]tree.Node{}, map[string][16]byte{}
	for doc, err := range s.to.Aggregate(tree.Source{Pipeline: mongo.Pipeline{}}).Each(ctx, db) {
		if err != nil {
			return err
		}
		small, err := stripped(doc, s.to.Tied(), s.to.Own)
		if err != nil {
			return err
		}
		n, err := s.to.Read(small)
		if err != nil {
			return err
		}
		s.stored[n.Key()] = n
		w := s.wanted[n.Key()]
		if w == nil {
			continue
		}
		if s.sums[n.Key()], err = sumOf(s.to, doc, w.added); err != nil {
			return err
		}
	}
	all := make([]tree.Node, 0, len(s.stored))
	for _, n := range s.stored {
		all = append(all, n)
	}
	s.placed = tree.FamilyOf(all, "").Forest
	return nil
}

// scope finds what the target has beside, and what of it is to be deleted.
func (s *survey) scope() error {
	top := ""
	if s.under.Type != 0 {
		top = bsonval.Key(s.under)
		switch {
		case s.stored[top].ID.Type == 0:
			return fmt.Errorf("%w: no node %s in %s", model.ErrNotFound, model.Shell(s.under), s.to.Collection)
		case s.wanted[top] != nil:
			return fmt.Errorf("%w: the target %s of %s is one of the nodes to be copied", model.ErrTaken, model.Shell(s.under), s.to.Collection)
		}
	}
	inside := map[string]bool{}
	for key := range s.placed.Subtree(top) {
		inside[key] = true
	}
	for key := range s.wanted {
		if top != "" && s.placed.Has(key) && !inside[key] {
			return fmt.Errorf("%w: %s is in %s already, but not below %s", model.ErrTaken, model.Shell(s.stored[key].ID), s.to.Collection, model.Shell(s.under))
		}
	}
	for key, n := range s.stored {
		switch {
		case s.wanted[key] != nil:
		case s.remove && (top == "" || inside[key] && key != top):
			s.gone = append(s.gone, n)
		case s.placed.Has(key) || s.wanted[bsonval.Key(n.Parent)] != nil || s.stored[bsonval.Key(n.Parent)].ID.Type != 0:
			s.kept++
		default:
			return fmt.Errorf("%w: the parent of %s in %s is missing", forest.ErrDamaged, model.Shell(n.ID), s.to.Collection)
		}
	}
	at := map[string]int{}
	for key := range s.placed.All() {
		at[key] = len(at) + 1
	}
	slices.SortFunc(s.gone, func(a, b tree.Node) int {
		if i, j := at[a.Key()], at[b.Key()]; i != j {
			return j - i
		}
		return bsonval.CompareIDs(a.ID, b.ID)
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
		if p, ok := s.source.Above(source); ok {
			parent = s.names[p]
		} else if s.under.Type != 0 {
			parent = bsonval.Key(s.under)
		}
		add(parent, s.names[source])
	}
	going := make(map[string]bool, len(s.gone))
	for _, n := range s.gone {
		going[n.Key()] = true
	}
	stay := func(key string) {
		if s.wanted[key] != nil || going[key] {
			return
		}
		if n := s.stored[key]; n.Root() {
			add("", key)
		} else {
			add(bsonval.Key(n.Parent), key)
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
	slices.SortFunc(lost, func(a, b string) int { return bsonval.CompareIDs(s.stored[a].ID, s.stored[b].ID) })
	for _, key := range lost {
		stay(key)
	}
	return lists, parents
}

// arrange makes the target's forest, with its nodes as they are to be placed.
func (s *survey) arrange() (map[string]tree.Node, error) {
	lists, parents := s.siblings()
	nodes := make(map[string]tree.Node, len(s.wanted)+s.kept)
	var links []forest.Link[string]
	for _, parent := range parents {
		var wanted, had []string
		for _, key := range lists[parent] {
			if w := s.wanted[key]; w != nil {
				wanted = append(wanted, w.order)
			}
			had = append(had, s.stored[key].Order)
		}
		for i, order := range forest.Orders(wanted, had) {
			key := lists[parent][i]
			n, err := s.node(key)
			if err != nil {
				return nil, err
			}
			n.Parent, n.Order = forest.Null, order
			if parent != "" {
				n.Parent = s.idOf(parent)
			}
			nodes[key] = n
			links = append(links, forest.Link[string]{ID: key, Parent: parent, Root: parent == "", Order: order})
		}
	}
	var lost []forest.Link[string]
	if s.target, lost = forest.New(links); len(lost) > 0 {
		return nil, fmt.Errorf("%w: %d nodes of %s have a missing parent or are in a cycle", forest.ErrDamaged, len(lost), s.to.Collection)
	}
	return nodes, nil
}

// idOf is the _id of a node of the target.
func (s *survey) idOf(key string) bson.RawValue {
	if w := s.wanted[key]; w != nil {
		return w.made.Lookup("_id")
	}
	return s.stored[key].ID
}

// node is a node as it will be read: what is stored, with the fields that the source gives.
func (s *survey) node(key string) (n tree.Node, err error) {
	n, there := s.stored[key]
	w := s.wanted[key]
	switch {
	case w == nil:
		return n, nil
	case !there:
		n.Raw = w.made
	default:
		var set bson.D
		for _, path := range s.to.Own {
			v, _ := core.ValueAt(w.made, path)
			if v.Type == 0 {
				v = forest.Null
			}
			set = append(set, mql.E(path, v))
		}
		if n.Raw, err = core.SetFields(n.Raw, set); err != nil {
			return n, err
		}
	}
	n.ID = w.made.Lookup("_id")
	if err := s.to.Loadable(n); err != nil {
		return n, fmt.Errorf("docmodel: %s of %s: %w", model.Shell(n.ID), s.to.Collection, err)
	}
	return n, nil
}
