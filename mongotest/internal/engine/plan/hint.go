package plan

// This file reads hints and $natural, which overrule the choice.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// naturalKey stands in a sort or a hint for the order in which documents are stored.
const naturalKey = "$natural"

// takeNatural separates {$natural: ±1} from a sort: its direction, or 0, and
// what is left to sort by.
func takeNatural(sort bson.D) (direction int64, rest bson.D, err error) {
	v, ok := bsonval.Get(sort, naturalKey)
	if !ok {
		return 0, sort, nil
	}
	direction, whole := bsonval.Int64(v)
	if !whole || direction != 1 && direction != -1 || len(sort) != 1 {
		return 0, nil, mongoerr.New(mongoerr.BadValue,
			"$natural sort must be 1 or -1, and nothing else may be sorted by")
	}
	return direction, nil, nil
}

// useHint makes the plan use what the hint names, or returns an error. An empty document is no hint. A name must be
// exact; of several indexes of one key, the one with the query's collation is meant.
func (p *Plan) useHint(natural int64) error {
	var index *store.Index
	switch hint := p.query.Hint.(type) {
	case string:
		if p.coll != nil {
			index = p.coll.Index(hint)
		}
	case bson.D:
		// An empty document asks for nothing: the choice is free.
		if len(hint) == 0 {
			p.query.Hint = nil
			if p.coll != nil && natural == 0 {
				p.chooseScans()
			}
			return nil
		}
		direction, _, err := takeNatural(hint)
		if err != nil {
			return err
		}
		if direction != 0 {
			p.reverse = direction < 0
			return nil
		}
		if p.coll != nil {
			for _, x := range p.coll.Indexes {
				same := bsonval.Equal(x.Spec.Key, hint) && !x.Spec.Internal
				if same && (index == nil || collation.IsSame(x.Spec.Collation, p.query.Matcher.Collation())) {
					index = x
				}
			}
		}
	default:
		return mongoerr.New(mongoerr.FailedToParse, "hint must be a string or an object")
	}
	if p.coll == nil {
		return nil
	}
	if index == nil || index.Spec.Internal {
		return mongoerr.New(mongoerr.BadValue, "error processing query: ns=%s: planner returned error :: caused by :: "+
			"hint provided does not correspond to an existing index", p.coll.NS)
	}
	return p.forceIndex(index)
}

// forceIndex uses an index whether it fits or not. Only a partial index that may lack matches, and an index of a kind
// that can't be walked, are refused.
func (p *Plan) forceIndex(x *store.Index) error {
	m := p.query.Matcher
	wide := m.Bounds()
	partial := x.Spec.Partial != nil && !implies(p.query.Filter, wide, x.Spec, m.Collation())
	// A geospatial index serves its region, even if another index would be chosen.
	if x.Spec.Derive != nil {
		if c := findRegion(x, p.query.Filter, m); c != nil {
			p.useCandidate(c)
			return nil
		}
	}
	if !x.Spec.IsOrdered() && !x.Spec.IsHashed() || partial {
		return mongoerr.New(mongoerr.NoQueryExecutionPlans, "error processing query: ns=%s: planner returned error :: "+
			"caused by :: No query solutions: index %s can't serve this query", p.coll.NS, x.Spec.Name)
	}
	if x.Spec.Wild != nil {
		c := findBestWild(x, p.query.Filter, wide, m.TightBounds(), p.query.Sort, m.Collation())
		if c == nil {
			return mongoerr.New(mongoerr.NoQueryExecutionPlans,
				"error processing query: ns=%s: planner returned error :: "+
					"caused by :: No query solutions: wildcard index %s can't serve this query", p.coll.NS, x.Spec.Name)
		}
		p.useCandidate(c)
		return nil
	}
	p.useCandidate(newCandidate(x, wide, m.TightBounds(), boundsOfOneElement(x, m.ElementBounds()),
		p.query.Sort, m.Collation()))
	return nil
}
