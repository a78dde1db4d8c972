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

// graphLookup is $graphLookup: it follows connections from document to document, and adds an array of all documents
// that it reaches. Each is in the array once, nearest first.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/graphLookup/
//
//	{$graphLookup: {from: "staff", startWith: "$boss", connectFromField: "boss", connectToField: "_id", as: "bosses"}}
//
//	{_id: "Ron", boss: "Eliot", bosses: [{_id: "Eliot", boss: "Dev"}, {_id: "Dev"}]}
type graphLookup struct {
	db, from   string         // see parseTarget
	as         []string       // the path of the array
	start      expr.Expr      // startWith: the values to begin with
	fromField  bsonval.Path   // connectFromField: its values lead on from a document that was reached
	toField    string         // connectToField: a document is reached if this field has one of the values
	maxDepth   int64          // how many steps may follow the first one; below 0: no limit
	depthField []string       // the path at which a reached document's depth is stored; nil: it isn't
	restrict   *query.Matcher // restrictSearchWithMatch: which documents can be reached; nil: all
}

// parseGraphLookup parses the options. from, startWith, connectFromField, connectToField and as must be given.
func parseGraphLookup(p *parser, _ string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(mongoerr.FailedToParse,
			"the $graphLookup stage specification must be an object, but found %s", bsonval.TypeName(arg))
	}
	s := &graphLookup{maxDepth: -1}
	for _, f := range d {
		if err := s.parseOption(p, f); err != nil {
			return nil, err
		}
	}
	if s.from == "" || s.as == nil || s.start == nil || s.fromField == nil || s.toField == "" {
		return nil, mongoerr.New(40105,
			"$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' "+
				"to be specified.")
	}
	// Only for the limit of nested stages.
	_, err := p.enterCollection("$graphLookup", s.db, s.from)
	return s, err
}

// parseOption parses one option of the stage.
func (s *graphLookup) parseOption(p *parser, f bson.E) (err error) {
	switch f.Key {
	case "startWith":
		s.start, err = expr.Parse(f.Value, p.scope)
		return err
	case "maxDepth":
		return s.parseDepth(f.Value)
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
		s.db, s.from, err = parseTarget("$graphLookup", f.Value)
		return err
	}
	// The other options are paths.
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

// parseDepth parses maxDepth.
func (s *graphLookup) parseDepth(v any) error {
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

// run searches anew for each document.
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

// search returns the documents that are reached from one document:
//
//  1. The values of startWith are the first frontier.
//  2. One query finds all documents whose toField has a value of the frontier.
//  3. Documents that weren't reached before are a part of the result. The values of their fromField that weren't
//     queried before are the next frontier.
//  4. Without new values, or after maxDepth more steps, the search ends. So a cycle ends.
func (s *graphLookup) search(r *run, d bson.D) (bson.A, error) {
	begin, err := s.start.Eval(r.base.ForDocument(d))
	if err != nil {
		return nil, err
	}
	// The values of the next step. An array to start with is several values.
	frontier := bson.A{begin}
	if list, ok := begin.(bson.A); ok {
		frontier = list
	}
	frontier = slices.DeleteFunc(slices.Clone(frontier), bsonval.IsMissing)
	var restrict *query.Matcher
	if s.restrict != nil {
		restrict = s.restrict.Bind(r.base)
	}
	// Values that were queried, by their keys under the collation: "A" and "a" may be the same value.
	asked := map[string]bool{}
	for _, v := range frontier {
		asked[string(r.by.AppendKey(nil, v))] = true
	}
	out, held := bson.A{}, 0
	seen := map[string]bool{} // the _ids of the documents in out
	for depth := int64(0); len(frontier) > 0 && (s.maxDepth < 0 || depth <= s.maxDepth); depth++ {
		m, err := makeEquality(s.toField, frontier, r.by)
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
			// A document may be reached again by another of its values.
			if seen[key] {
				continue
			}
			seen[key] = true
			if held += bsonval.SizeOf(x, expr.MaxMemory); held > expr.MaxMemory {
				return nil, mongoerr.New(40099, "$graphLookup reached maximum memory consumption")
			}
			addValue := func(v any) {
				if key := string(r.by.AppendKey(nil, v)); !asked[key] {
					asked[key] = true
					frontier = append(frontier, v)
				}
			}
			visitValues(x, s.fromField, addValue)
			if s.depthField != nil {
				// A long: 0 for a document that the first step reaches.
				x = setPath(x, s.depthField, depth)
			}
			out = append(out, x)
		}
	}
	return out, nil
}
