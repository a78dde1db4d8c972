package rollup

import (
	"context"
	"fmt"
	"math"
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

// A sums has the totals of a subtree. Integers and floats are added separately: only one
// of both is stored.
type sums struct {
	nodes, values int64
	// Sum, minimum and maximum of integers.
	whole, low, top int64
	// The same of floats.
	real, min, max float64
}

// addSums adds the totals of another subtree. It returns false if the sum leaves int64:
// the sum then moves in the other direction than the summand's sign says.
func (s *sums) addSums(o sums) bool {
	sum := s.whole + o.whole
	if (sum > s.whole) != (o.whole > 0) && o.whole != 0 {
		return false
	}
	s.nodes += o.nodes
	if o.values == 0 {
		return true
	}
	if s.values == 0 {
		s.low, s.top, s.min, s.max = o.low, o.top, o.min, o.max
	}
	s.values, s.whole, s.real = s.values+o.values, sum, s.real+o.real
	s.low, s.top = min(s.low, o.low), max(s.top, o.top)
	s.min, s.max = math.Min(s.min, o.min), math.Max(s.max, o.max)
	return true
}

// StoreTotals is the change that stores the totals of all nodes.
func (r *RollUp) StoreTotals() model.Change {
	c := model.ChangeOf[[]bson.Raw]{
		Name: "roll-up " + r.tree.Collection, Lease: r.tree.Lease, Mends: true,
		Read: func(ctx context.Context, db model.DB) (nodes []bson.Raw, err error) {
			f, err := r.tree.ReadSkeleton(ctx, db, nil, []string{r.path, r.into})
			if err != nil {
				return nil, err
			}
			for _, n := range f.ListPreorder() {
				nodes = append(nodes, n.Raw)
			}
			return nodes, nil
		},
		Decide: r.planTotals,
	}
	if r.into == "" {
		c.Err = r.tree.Refuse(
			"target", nil, "is \"\" in the declaration, so totals can't be stored: give NewRollUp a path",
		)
	}
	return c.Change()
}

// planTotals is the plan that writes the totals that differ.
func (r *RollUp) planTotals(docs []bson.Raw) (model.Plan, error) {
	nodes := make([]tree.Node, len(docs))
	for i, doc := range docs {
		var err error
		if nodes[i], err = r.tree.ReadNode(doc); err != nil {
			return model.Plan{}, err
		}
	}
	f := tree.BuildFamily(nodes, "")
	if len(f.Lost) > 0 {
		return model.Plan{}, fmt.Errorf(
			"%w: %d nodes of %s have a missing parent or are in a cycle", forest.ErrDamaged, len(f.Lost),
			r.tree.Collection,
		)
	}
	totals := make(map[string]*sums, len(nodes))
	order := f.ListPreorder()
	for _, n := range order {
		own, err := r.readOwnTotals(n)
		if err != nil {
			return model.Plan{}, err
		}
		totals[n.Key()] = &own
	}
	// Backwards in preorder, children come before their parents.
	for _, n := range slices.Backward(order) {
		if n.IsRoot() {
			continue
		}
		if parent := f.Nodes[bsonval.Key(n.Parent)]; !totals[parent.Key()].addSums(*totals[n.Key()]) {
			return model.Plan{}, r.tree.Refuse(
				r.path, parent.ID, "is the _id of a node whose sum doesn't fit into an int64",
			)
		}
	}
	var p model.Plan
	for _, n := range order {
		want, err := r.encodeTotals(*totals[n.Key()])
		if err != nil {
			return p, err
		}
		got, _ := core.ValueAt(n.Raw, r.into)
		if forest.EqualBytes(got, want) {
			continue
		}
		// If another writer has stored totals since the read, its totals stay.
		was := any(nil)
		if got.Type != 0 {
			was = mql.Eq(got)
		}
		p.Steps = append(p.Steps, model.Write{
			Collection: r.tree.Collection, Index: model.IDIndex, Idempotent: true,
			Model: &mongo.UpdateOneModel{
				Filter: bson.D{{Key: "_id", Value: mql.Eq(n.ID)}, {Key: r.into, Value: was}},
				Update: mql.Op("$set", bson.D{{Key: r.into, Value: want}}),
			},
		})
	}
	return p, nil
}

// readOwnTotals returns the totals of a node alone. A float is allowed among integers if
// it has no fraction: some clients store all numbers as doubles.
func (r *RollUp) readOwnTotals(n tree.Node) (sums, error) {
	v, _ := core.ValueAt(n.Raw, r.path)
	s := sums{nodes: 1}
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64:
		s.whole, s.real = v.AsInt64(), float64(v.AsInt64())
	case bson.TypeDouble:
		s.real = v.Double()
		if s.whole = int64(s.real); !r.float && float64(s.whole) != s.real {
			return s, r.tree.Refuse(r.path, v, model.Shell(n.ID)+" has a number with a fraction in this field")
		}
	case bson.TypeDecimal128:
		return s, r.tree.Refuse(r.path, v, model.Shell(n.ID)+" has a decimal in this field, which isn't added up")
	default:
		return s, nil
	}
	if r.float {
		s.whole = 0
	}
	s.values, s.low, s.top, s.min, s.max = 1, s.whole, s.whole, s.real, s.real
	return s, nil
}

// encodeTotals returns totals as they are stored.
func (r *RollUp) encodeTotals(s sums) (bson.RawValue, error) {
	sum, low, top := any(s.whole), any(s.low), any(s.top)
	if r.float {
		sum, low, top = s.real, s.min, s.max
	}
	if s.values == 0 {
		low, top = nil, nil
	}
	doc, err := bson.Marshal(
		bson.D{
			{Key: "nodes", Value: s.nodes}, {Key: "values", Value: s.values}, {Key: "sum", Value: sum},
			{Key: "min", Value: low}, {Key: "max", Value: top},
		},
	)
	return forest.EncodeDocument(doc), err
}
