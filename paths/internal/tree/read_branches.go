package tree

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Brancher is a representation whose documents tell to which child of a node they belong.
type Brancher interface {
	// Inside is the query of a node and all below it.
	Inside(n Node) Source
	// Branches is the query of what is below a node, nil for all nodes, and the stage that groups it by the children, which come in
	// order; group gives a stage's accumulators. key is a child's in the results.
	Branches(n *Node, children []Node, totals bson.D) (s Source, key func(child Node) bson.RawValue)
}

// Grouped is the stage that groups by a value.
func Grouped(by any, totals bson.D) bson.D {
	return mql.Op("$group", append(bson.D{{Key: "_id", Value: by}}, totals...))
}

func (t *ancestorArray) Inside(n Node) Source {
	return Match(t.Indexes[1].Name, bson.D{t.inSubtree(n)})
}

func (t *ancestorArray) Branches(n *Node, _ []Node, totals bson.D) (Source, func(Node) bson.RawValue) {
	s := Match("", bson.D{})
	if n != nil {
		s = Match(t.Indexes[1].Name, bson.D{t.inSubtree(*n), {Key: "_id", Value: mql.Op("$ne", n.ID)}})
	}
	branch := mql.Op("$arrayElemAt", "$"+t.path, len(t.list(n)))
	s.Pipeline = append(s.Pipeline, Grouped(branch, totals))
	return s, func(c Node) bson.RawValue { return c.ID }
}

func (t *materializedPath) Inside(n Node) Source {
	return Match(t.Indexes[1].Name, bson.D{t.prefix(t.of(&n), true)})
}

func (t *materializedPath) Branches(n *Node, _ []Node, totals bson.D) (Source, func(Node) bson.RawValue) {
	s, depth := Match("", bson.D{}), 0
	if path := t.of(n); n != nil {
		s, depth = Match(t.Indexes[1].Name, bson.D{t.prefix(path, false)}), len(prefixes(path))+1
	}
	branch := mql.Op("$arrayElemAt", mql.Op("$split", "$"+t.path, separator), depth)
	s.Pipeline = append(s.Pipeline, Grouped(branch, totals))
	return s, func(c Node) bson.RawValue {
		return forest.StringValue(t.of(&c)[len(parentPath(t.of(&c))) : len(t.of(&c))-1])
	}
}

func (t *nestedSet) Inside(n Node) Source {
	own, err := t.span(n)
	if err != nil {
		return t.nothing()
	}
	return Match(t.byLeft(), bson.D{between(t.left, own.left, own.right)})
}

// Branches are ranges of left numbers, of which each begins with a child's.
func (t *nestedSet) Branches(n *Node, children []Node, totals bson.D) (Source, func(Node) bson.RawValue) {
	from, to := int64(1), int64(end)
	if n != nil {
		own, err := t.span(*n)
		if err != nil {
			return t.nothing(), func(Node) bson.RawValue { return forest.Null }
		}
		from, to = own.left+1, own.right-1
	}
	var begins []int64
	for _, c := range children {
		if own, err := t.span(c); err == nil && own.left >= from && own.left <= to && (len(begins) == 0 || own.left > begins[len(begins)-1]) {
			begins = append(begins, own.left)
		}
	}
	if len(begins) == 0 {
		return t.nothing(), func(Node) bson.RawValue { return forest.Null }
	}
	s := Match(t.byLeft(), bson.D{between(t.left, begins[0], to)}, Grouped(t.begun(begins), totals))
	return s, func(c Node) bson.RawValue { v, _ := core.ValueAt(c.Raw, t.left); return v }
}

// begun is an expression for the greatest of some numbers that is not above a left number, by halves.
func (t *nestedSet) begun(begins []int64) any {
	if len(begins) == 1 {
		return begins[0]
	}
	half := len(begins) / 2
	below := mql.Op("$lt", "$"+t.left, begins[half])
	return mql.Cond(below, t.begun(begins[:half]), t.begun(begins[half:]))
}
