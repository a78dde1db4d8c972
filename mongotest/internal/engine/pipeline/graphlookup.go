package pipeline

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// graphLookup is $graphLookup: it follows connections from document to document, each reached once, nearest first.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/graphLookup/
type graphLookup struct {
	db, from   string
	as         []string
	start      expr.Expr
	fromField  bsonval.Path
	toField    string
	maxDepth   int64    // below 0: no limit
	depthField []string // nil for none
	restrict   *query.Matcher
}

func parseGraphLookup(p *parser, _ string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(mongoerr.FailedToParse,
			"the $graphLookup stage specification must be an object, but found %s", bsonval.TypeName(arg))
	}
	s := &graphLookup{maxDepth: -1}
	for _, f := range d {
		if err := s.option(p, f); err != nil {
			return nil, err
		}
	}
	if s.from == "" || s.as == nil || s.start == nil || s.fromField == nil || s.toField == "" {
		return nil, mongoerr.New(40105,
			"$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be specified.")
	}
	_, err := p.enterCollection("$graphLookup", s.db, s.from)
	return s, err
}

func (s *graphLookup) option(p *parser, f bson.E) (err error) {
	switch f.Key {
	case "startWith":
		s.start, err = expr.Parse(f.Value, p.scope)
		return err
	case "maxDepth":
		return s.depth(f.Value)
	case "restrictSearchWithMatch":
		d, ok := f.Value.(bson.D)
		if !ok {
			return mongoerr.New(40185, "restrictSearchWithMatch must be an object, found %s", bsonval.TypeName(f.Value))
		}
		s.restrict, err = query.Parse(d, query.Options{Scope: &p.scope})
		return err
	case "from", "as", "connectFromField", "connectToField", "depthField":
	default:
		return mongoerr.New(40104, "Unknown argument to $graphLookup: %s", f.Key)
	}
	if f.Key == "from" {
		s.db, s.from, err = target("$graphLookup", f.Value)
		return err
	}
	text, ok := f.Value.(string)
	if !ok {
		return mongoerr.New(40103, "expected string as argument for %s, found: %s", f.Key, bsonval.TypeName(f.Value))
	}
	if err := expr.CheckPath(text); err != nil {
		return err
	}
	switch f.Key {
	case "as":
		s.as = strings.Split(text, ".")
	case "depthField":
		s.depthField = strings.Split(text, ".")
	case "connectFromField":
		s.fromField = bsonval.ParsePath(text)
	case "connectToField":
		s.toField = text
	}
	return nil
}

func (s *graphLookup) depth(v any) error {
	if !bsonval.IsNumber(v) {
		return mongoerr.New(40100, "maxDepth requires numeric argument, found %s", bsonval.TypeName(v))
	}
	n, exact := bsonval.Int64(v)
	switch {
	case !exact:
		return mongoerr.New(40102, "maxDepth could not be represented as a long long: %v", v)
	case n < 0:
		return mongoerr.New(40101, "maxDepth requires a nonnegative argument, found: %d", n)
	}
	s.maxDepth = n
	return nil
}

func (s *graphLookup) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		for d, err := range in {
			var found bson.A
			if err == nil {
				found, err = s.search(r, d)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(setPath(d, s.as, found), nil) {
				return
			}
		}
	}
}

// search goes from the start one step further at a time, until nothing new is reached.
func (s *graphLookup) search(r *run, d bson.D) (bson.A, error) {
	begin, err := s.start.Eval(r.base.On(d))
	if err != nil {
		return nil, err
	}
	frontier := bson.A{begin}
	if list, ok := begin.(bson.A); ok {
		frontier = list
	}
	frontier = slices.DeleteFunc(slices.Clone(frontier), bsonval.IsMissing)
	var restrict *query.Matcher
	if s.restrict != nil {
		restrict = s.restrict.Bind(r.base)
	}
	asked := map[string]bool{}
	for _, v := range frontier {
		asked[string(r.by.AppendKey(nil, v))] = true
	}
	out, seen, held := bson.A{}, map[string]bool{}, 0
	for depth := int64(0); len(frontier) > 0 && (s.maxDepth < 0 || depth <= s.maxDepth); depth++ {
		m, err := equality(s.toField, frontier, r.by)
		if err != nil {
			return nil, err
		}
		if restrict != nil {
			m = query.RequireBoth(m, restrict)
		}
		frontier = nil
		for x, err := range r.env.Find(s.db, s.from, m) {
			if err != nil {
				return nil, err
			}
			id, _ := bsonval.Get(x, "_id")
			key := string(bsonval.AppendKey(nil, id))
			if seen[key] {
				continue
			}
			seen[key] = true
			if held += bsonval.SizeOf(x, expr.MaxMemory); held > expr.MaxMemory {
				return nil, mongoerr.New(40099, "$graphLookup reached maximum memory consumption")
			}
			visit(x, s.fromField, func(v any) {
				if key := string(r.by.AppendKey(nil, v)); !asked[key] {
					asked[key] = true
					frontier = append(frontier, v)
				}
			})
			if s.depthField != nil {
				x = setPath(x, s.depthField, depth)
			}
			out = append(out, x)
		}
	}
	return out, nil
}
