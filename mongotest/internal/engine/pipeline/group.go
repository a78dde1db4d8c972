package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// group is $group. Its groups come out in the order of their first documents.
type group struct {
	id     expr.Expr
	fields []groupField
}

type groupField struct {
	name string
	acc  *expr.Accumulator
}

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
		if err := s.add(p, f); err != nil {
			return nil, err
		}
	}
	if s.id == nil {
		return nil, mongoerr.New(15955, "a group specification must include an _id")
	}
	return s, nil
}

func (s *group) add(p *parser, f bson.E) error {
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

type oneGroup struct {
	id     any
	states []expr.Group
}

func (s *group) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		groups, err := s.collect(r, in)
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

func (s *group) collect(r *run, in Docs) ([]*oneGroup, error) {
	var groups []*oneGroup
	byKey := map[string]*oneGroup{}
	var key []byte
	held := r.newMeter("$group", newGroupError())
	for d, err := range in {
		if err != nil {
			return nil, err
		}
		c := r.base.ForDocument(d)
		id, err := s.id.Eval(c)
		if err != nil {
			return nil, err
		}
		if bsonval.IsMissing(id) {
			id = nil
		}
		key = r.by.AppendKey(key[:0], id)
		g := byKey[string(key)]
		if g == nil {
			if err := held.add(id); err != nil {
				return nil, err
			}
			g = &oneGroup{id: id, states: make([]expr.Group, len(s.fields))}
			for i, f := range s.fields {
				g.states[i] = f.acc.Start()
			}
			byKey[string(key)] = g
			groups = append(groups, g)
		}
		for _, state := range g.states {
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

// stages is several stages as one.
type several []stage

func (s several) run(r *run, in Docs) Docs { return runStages(r, s, in) }

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
	return several{g, s}, err
}
