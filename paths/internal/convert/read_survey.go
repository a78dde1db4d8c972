package convert

// The survey: what both trees have, and the forest that the target shall have.

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

// A conversion has the arguments of a job.
type conversion struct {
	from   Origin
	to     *tree.Tree
	under  bson.RawValue // type 0 for none
	remove bool
}

// A copied is a node of the source, as the target shall have it.
type copied struct {
	from bson.RawValue // its id in the source
	// The same as a key.
	source string
	// The source's order key.
	order string
	// The hash of its content.
	sum  [16]byte
	made bson.Raw // its _id, and the fields that the representation reads
	// Fields that a scope adds in the target, and that the source doesn't give.
	added []string
}

// A survey has the nodes of both trees, and what is to be written. Its keys are those of
// the target's _ids, if nothing else is said.
type survey struct {
	*conversion
	scoping core.Scoping // of the target
	wanted  map[string]*copied
	names   map[string]string      // keys of the source to those of the target
	source  *forest.Forest[string] // by keys of the source

	stored map[string]tree.Node // the target's nodes, stripped
	// The hashes of the stored documents that the source has too.
	sums   map[string][16]byte
	placed *forest.Forest[string] // as they are stored
	// Nodes to be deleted, children first. kept counts the other nodes that only the
	// target has.
	gone []tree.Node
	kept int

	target *forest.Forest[string] // as it is to be
	// Tree fields of a node that differ; all of them for a new node.
	want map[string]bson.D
	// Deletions come first, because a new node needs a unique value of a deleted one.
	early bool
	// Nodes that must give up a unique value first, and their temporary fields.
	park   []tree.Node
	parked []bson.D

	b    *model.Batch
	size int // how many nodes are written under one lease
	// The source lost nodes during the conversion.
	stirred bool
}

// surveyTrees reads both trees and decides what is to be written. Everything after the
// reads is pure.
func (c *conversion) surveyTrees(ctx context.Context, db model.DB) (*survey, error) {
	s := &survey{
		conversion: c, scoping: core.ScopingOf(db, c.to.Collection), wanted: map[string]*copied{},
		names: map[string]string{},
	}
	var err error
	// The source first: readTarget hashes only documents that the source has too.
	if s.source, err = c.from.gatherNodes(ctx, db, s.noteSourceNode); err != nil {
		return nil, err
	}
	if err := s.readTarget(ctx, db); err != nil {
		return nil, err
	}
	if err := s.chooseDeletions(); err != nil {
		return nil, err
	}
	nodes, err := s.arrangeTarget()
	if err != nil {
		return nil, err
	}
	return s, s.compareFields(nodes)
}

// noteSourceNode keeps a node of the source. Two nodes that become one _id are refused.
func (s *survey) noteSourceNode(p piece) error {
	made, err := stripDocument(p.made, s.to.UserFields)
	if err != nil {
		return err
	}
	w := &copied{from: p.id, source: p.link.ID, order: p.link.Order, made: made, added: s.listAddedFields(p.made)}
	if w.sum, err = hashContent(s.to, p.made, w.added); err != nil {
		return err
	}
	key := bsonval.Key(made.Lookup("_id"))
	if twin := s.wanted[key]; twin != nil {
		return fmt.Errorf(
			"%w: %s and %s of %s both become %s", model.ErrTaken, model.Shell(twin.from), model.Shell(w.from),
			s.from.name, model.Shell(made.Lookup("_id")),
		)
	}
	s.wanted[key], s.names[w.source] = w, key
	return nil
}

// listAddedFields returns the fields that a scope sets in each write, and those that it
// gives to a new document without them.
func (s *survey) listAddedFields(doc bson.Raw) (added []string) {
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

// readTarget reads the target's documents: their tree fields, and the hashes of those
// that the source has too.
func (s *survey) readTarget(ctx context.Context, db model.DB) error {
	s.stored, s.sums = map[string]tree.Node{}, map[string][16]byte{}
	for doc, err := range s.to.Aggregate(tree.Source{Pipeline: mongo.Pipeline{}}).Each(ctx, db) {
		if err != nil {
			return err
		}
		// Only the tree's fields stay in memory.
		small, err := stripDocument(doc, s.to.ListTreePaths(), s.to.UserFields)
		if err != nil {
			return err
		}
		n, err := s.to.ReadNode(small)
		if err != nil {
			return err
		}
		s.stored[n.Key()] = n
		w := s.wanted[n.Key()]
		if w == nil {
			continue
		}
		if s.sums[n.Key()], err = hashContent(s.to, doc, w.added); err != nil {
			return err
		}
	}
	all := make([]tree.Node, 0, len(s.stored))
	for _, n := range s.stored {
		all = append(all, n)
	}
	s.placed = tree.BuildFamily(all, "").Forest
	return nil
}

// chooseDeletions refuses a conversion that would take nodes from elsewhere in the
// target, and decides which nodes of the target are deleted and which stay. Nodes to be
// deleted are sorted so that children come before their parents.
func (s *survey) chooseDeletions() error {
	top := ""
	if s.under.Type != 0 {
		top = bsonval.Key(s.under)
		switch {
		case s.stored[top].ID.Type == 0:
			return fmt.Errorf("%w: no node %s in %s", model.ErrNotFound, model.Shell(s.under), s.to.Collection)
		case s.wanted[top] != nil:
			return fmt.Errorf(
				"%w: the target %s of %s is one of the nodes to be copied", model.ErrTaken, model.Shell(s.under),
				s.to.Collection,
			)
		}
	}
	// With a top, only its subtree may be rewritten or deleted.
	inside := map[string]bool{}
	for key := range s.placed.WalkSubtree(top) {
		inside[key] = true
	}
	for key := range s.wanted {
		if top != "" && s.placed.Contains(key) && !inside[key] {
			return fmt.Errorf(
				"%w: %s is in %s already, but not below %s", model.ErrTaken, model.Shell(s.stored[key].ID),
				s.to.Collection, model.Shell(s.under),
			)
		}
	}
	for key, n := range s.stored {
		switch {
		case s.wanted[key] != nil:
		case s.remove && (top == "" || inside[key] && key != top):
			s.gone = append(s.gone, n)
		case s.placed.Contains(key) || s.isParentKnown(n):
			s.kept++
		default:
			return fmt.Errorf(
				"%w: the parent of %s in %s is missing", forest.ErrDamaged, model.Shell(n.ID), s.to.Collection,
			)
		}
	}
	// Indexes in preorder; 0 for nodes without a place, which are deleted last.
	at := map[string]int{}
	for key := range s.placed.WalkAll() {
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

// isParentKnown reports whether one of both trees has a node's parent.
func (s *survey) isParentKnown(n tree.Node) bool {
	parent := bsonval.Key(n.Parent)
	return s.wanted[parent] != nil || s.stored[parent].ID.Type != 0
}

// listSiblings returns the children of each parent, in order; "" is the parent of roots:
// first the source's nodes, then the nodes that only the target has. parents has the keys
// in the order of their first child, so that the result doesn't depend on the order of a
// map.
func (s *survey) listSiblings() (lists map[string][]string, parents []string) {
	lists = map[string][]string{}
	add := func(parent, key string) {
		if lists[parent] == nil {
			parents = append(parents, parent)
		}
		lists[parent] = append(lists[parent], key)
	}
	for source := range s.source.WalkAll() {
		parent := ""
		if p, ok := s.source.FindParent(source); ok {
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
		if n := s.stored[key]; n.IsRoot() {
			add("", key)
		} else {
			add(bsonval.Key(n.Parent), key)
		}
	}
	for key := range s.placed.WalkAll() {
		stay(key)
	}
	// Nodes whose parents were missing in the target can have a parent again now.
	lost := []string{}
	for key := range s.stored {
		if !s.placed.Contains(key) {
			lost = append(lost, key)
		}
	}
	slices.SortFunc(lost, func(a, b string) int { return bsonval.CompareIDs(s.stored[a].ID, s.stored[b].ID) })
	for _, key := range lost {
		stay(key)
	}
	return lists, parents
}

// arrangeTarget makes the forest that the target shall have, with new parents and order
// keys.
func (s *survey) arrangeTarget() (map[string]tree.Node, error) {
	lists, parents := s.listSiblings()
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
		// The source's order keys where they can be kept, else the target's.
		for i, order := range forest.ChooseOrders(wanted, had) {
			key := lists[parent][i]
			n, err := s.makeNode(key)
			if err != nil {
				return nil, err
			}
			n.Parent, n.Order = forest.Null, order
			if parent != "" {
				n.Parent = s.findID(parent)
			}
			nodes[key] = n
			links = append(links, forest.Link[string]{ID: key, Parent: parent, Root: parent == "", Order: order})
		}
	}
	var lost []forest.Link[string]
	if s.target, lost = forest.BuildForest(links); len(lost) > 0 {
		return nil, fmt.Errorf(
			"%w: %d nodes of %s have a missing parent or are in a cycle", forest.ErrDamaged, len(lost), s.to.Collection,
		)
	}
	return nodes, nil
}

// findID returns the _id of a node of the target.
func (s *survey) findID(key string) bson.RawValue {
	if w := s.wanted[key]; w != nil {
		return w.made.Lookup("_id")
	}
	return s.stored[key].ID
}

// makeNode returns a node as it will be stored: the stored one, with the fields that the
// representation reads taken from the source.
func (s *survey) makeNode(key string) (n tree.Node, err error) {
	n, there := s.stored[key]
	w := s.wanted[key]
	switch {
	case w == nil:
		return n, nil
	case !there:
		n.Raw = w.made
	default:
		var set bson.D
		for _, path := range s.to.UserFields {
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
	if err := s.to.CheckLoadable(n); err != nil {
		return n, fmt.Errorf("docmodel: %s of %s: %w", model.Shell(n.ID), s.to.Collection, err)
	}
	return n, nil
}
