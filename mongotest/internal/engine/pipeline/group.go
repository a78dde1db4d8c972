package pipeline

// This file has $group, and $sortByCount, which is made of it. Package expr has the accumulators.

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// group is $group: one document for each value of an expression, with accumulators over the documents that have it. The
// groups come out in the order of their first documents. MongoDB promises no order.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/group/
//
//	{$group: {_id: "$w", n: {$sum: 1}, best: {$max: "$v"}}}
//
//	{w: "a", v: 1}, {w: "b", v: 5}, {w: "a", v: 3}   gives   {_id: "a", n: 2, best: 3}, {_id: "b", n: 1, best: 5}
type group struct {
	id     expr.Expr
	fields []groupField
}

// groupField is a field of the result: {total: {$sum: "$n"}}. $bucketAuto has them too.
type groupField struct {
	name string
	acc  *expr.Accumulator
}

// parseGroup parses the stage. $bucket and $sortByCount call it for a $group that they make.
func parseGroup(p *parser, _ string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(15947, "a group's fields must be specified in an object")
	}
	s := &group{}
	var err error
	for _, f := range d {
		if f.Key == "_id" {
			if s.id != nil {
				return nil, mongoerr.New(15948, "a group's _id may only be specified once")
			}
			if s.id, err = expr.Parse(f.Value, p.scope); err != nil {
				return nil, err
			}
			continue
		}
		if err := s.addField(p, f); err != nil {
			return nil, err
		}
	}
	if s.id == nil {
		return nil, mongoerr.New(15955, "a group specification must include an _id")
	}
	return s, nil
}

// addField parses one field of the result, and adds it.
func (s *group) addField(p *parser, f bson.E) error {
	acc, ok := f.Value.(bson.D)
	switch {
	case strings.Contains(f.Key, "."):
		return mongoerr.New(40235, "The field name '%s' cannot contain '.'", f.Key)
	case strings.HasPrefix(f.Key, "$"):
		return mongoerr.New(40236, "The field name '%s' cannot be an operator name", f.Key)
	case !ok || len(acc) == 0:
		return mongoerr.New(40234, "The field '%s' must be an accumulator object", f.Key)
	case len(acc) != 1:
		return mongoerr.New(40238, "The field '%s' must specify one accumulator", f.Key)
	}
	// MongoDB refuses a field that is given twice, though a document may have it twice.
	for _, g := range s.fields {
		if g.name == f.Key {
			return mongoerr.New(16406, "duplicate field in $group: %s", f.Key)
		}
	}
	a, err := expr.ParseAccumulator(acc[0].Key, acc[0].Value, p.scope)
	if err != nil {
		return err
	}
	s.fields = append(s.fields, groupField{f.Key, a})
	return nil
}

// groupState is a group while documents are read. states[i] is the state of fields[i].
type groupState struct {
	id     any
	states []expr.Group
}

// run yields a document for each group, when all of the input was read.
func (s *group) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		groups, err := s.collectGroups(r, in)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, g := range groups {
			d := make(bson.D, 0, 1+len(s.fields))
			d = append(d, bson.E{Key: "_id", Value: g.id})
			for i, state := range g.states {
				d = append(d, bson.E{Key: s.fields[i].name, Value: state.Result()})
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// collectGroups reads all documents. The meter counts the groups' _ids and what the accumulators hold, not the
// documents.
func (s *group) collectGroups(r *run, in Docs) ([]*groupState, error) {
	var groups []*groupState
	byKey := map[string]*groupState{} // by the key of the _id under the collation
	var key []byte                    // is used again for each document
	held := r.newMeter("$group", newGroupMemoryError())
	for d, err := range in {
		if err != nil {
			return nil, err
		}
		c := r.base.ForDocument(d)
		id, err := s.id.Eval(c)
		if err != nil {
			return nil, err
		}
		// Documents without a value are in the group of null.
		if bsonval.IsMissing(id) {
			id = nil
		}
		key = r.by.AppendKey(key[:0], id)
		g := byKey[string(key)]
		if g == nil {
			if err := held.add(id); err != nil {
				return nil, err
			}
			g = &groupState{id: id, states: make([]expr.Group, len(s.fields))}
			for i, f := range s.fields {
				g.states[i] = f.acc.Start()
			}
			byKey[string(key)] = g
			groups = append(groups, g)
		}
		for _, state := range g.states {
			// $push and $addToSet hold more with each document, $sum doesn't.
			before := state.HeldBytes()
			if err := state.Add(c); err != nil {
				return nil, err
			}
			held.used += state.HeldBytes() - before
		}
		if err := held.check(); err != nil {
			return nil, err
		}
	}
	return groups, nil
}

// chain is several stages as one. Stages that MongoDB describes as short forms of others are chains.
type chain []stage

func (s chain) run(r *run, in Docs) Docs { return runStages(r, s, in) }

// parseSortByCount parses {$sortByCount: "$tag"}: {$group: {_id: "$tag", count: {$sum: 1}}} and {$sort: {count: -1}}.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/sortByCount/
func parseSortByCount(p *parser, _ string, arg any) (stage, error) {
	switch x := arg.(type) {
	case string:
		if !strings.HasPrefix(x, "$") {
			return nil, mongoerr.New(40148,
				"the sortByCount field must be defined as a $-prefixed path or an expression inside an object")
		}
	case bson.D:
		if len(x) == 0 || !strings.HasPrefix(x[0].Key, "$") {
			return nil, mongoerr.New(40147,
				"the sortByCount field must be defined as a $-prefixed path or an expression inside an object")
		}
	default:
		return nil, mongoerr.New(40149, "the sortByCount field must be specified as a string or as an object")
	}
	g, err := parseGroup(p, "$group", bson.D{{Key: "_id", Value: arg},
		{Key: "count", Value: bson.D{{Key: "$sum", Value: int32(1)}}}})
	if err != nil {
		return nil, err
	}
	s, err := parseSort(p, "$sort", bson.D{{Key: "count", Value: int32(-1)}})
	return chain{g, s}, err
}
