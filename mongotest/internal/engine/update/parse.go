package update

import (
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// change is one operator at one path.
type change struct {
	path   bsonval.Path
	action action
	from   bsonval.Path // $rename's source
	insert bool         // only when inserting
}

// action is what an operator does with the value at a path.
type action struct {
	creates  bool // makes the path where it isn't there
	appends  bool // adds elements at the end of an array, if it adds any
	tolerant bool // does nothing where the path can't exist, rather than failing
	apply    func(old any, s *state) (any, error)
}

// operator makes the action of its argument for a path. It compares under a collation.
type operator func(path string, arg any, by *collation.Collator) (action, error)

// table holds the operators that act on one path; $rename and $setOnInsert need more and stand in parseOperators.
var table = map[string]operator{
	"$set":         parseSet,
	"$setOnInsert": parseSet,
	"$unset":       parseUnset,
	"$inc":         parseInc,
	"$mul":         parseMul,
	"$min":         parseMin,
	"$max":         parseMax,
	"$currentDate": parseCurrentDate,
	"$bit":         parseBit,
	"$push":        parsePush,
	"$addToSet":    parseAddToSet,
	"$pop":         parsePop,
	"$pull":        parsePull,
	"$pullAll":     parsePullAll,
	"$rename":      parseRename,
}

// Operators returns the names of the operators, sorted.
func Operators() []string { return slices.Sorted(maps.Keys(table)) }

// Modifiers returns the names of what may stand within the operators' paths and arguments, sorted.
func Modifiers() []string {
	return []string{"$", "$[<identifier>]", "$[]", "$each", "$position", "$slice", "$sort"}
}

func parseOperators(d bson.D, arrayFilters bson.A, opt Options) (*Update, error) {
	u := &Update{watch: opt.Watch}
	var err error
	if u.filters, err = parseFilters(arrayFilters, opt.Collation); err != nil {
		return nil, err
	}
	for _, f := range d {
		parse, ok := table[f.Key]
		if !ok {
			return nil, mongoerr.New(mongoerr.FailedToParse,
				"Unknown modifier: %s. Expected a valid update modifier or pipeline-style update specified as an array", f.Key)
		}
		fields, ok := f.Value.(bson.D)
		if !ok {
			return nil, mongoerr.New(mongoerr.FailedToParse,
				"Modifiers operate on fields but we found type %s instead. For example: {$mod: {<field>: ...}} not {%s: %s}",
				bsonval.TypeName(f.Value), f.Key, show(f.Value))
		}
		for _, g := range fields {
			if err := u.add(f.Key, parse, g, opt.Collation); err != nil {
				return nil, err
			}
		}
	}
	if err := u.checkConflicts(); err != nil {
		return nil, err
	}
	return u, u.checkFilters(d)
}

func (u *Update) add(name string, parse operator, f bson.E, by *collation.Collator) error {
	path, err := parsePath(f.Key)
	if err != nil {
		return err
	}
	a, err := parse(f.Key, f.Value, by)
	if err != nil {
		return err
	}
	c := change{path: path, action: a, insert: name == "$setOnInsert"}
	if name == "$rename" {
		to, err := parsePath(f.Value.(string))
		if err != nil {
			return err
		}
		c.path, c.from = to, path
	}
	u.changes = append(u.changes, c)
	return nil
}

func parsePath(dotted string) (bsonval.Path, error) {
	if dotted == "" {
		return nil, mongoerr.New(mongoerr.EmptyFieldName, "An empty update path is not valid.")
	}
	path := bsonval.ParsePath(dotted)
	positional := 0
	for i, f := range path {
		switch {
		case f.Name == "":
			return nil, mongoerr.New(mongoerr.EmptyFieldName,
				"The update path '%s' contains an empty field name, which is not allowed.", dotted)
		case f.Name == "$" || isArrayOperator(f.Name):
			if i == 0 {
				if f.Name != "$" {
					return nil, mongoerr.New(mongoerr.BadValue,
						"Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path '%s'", dotted)
				}
				return nil, mongoerr.New(mongoerr.BadValue,
					"Cannot have positional (i.e. '$') element in the first position in path '%s'", dotted)
			}
			if f.Name == "$" {
				positional++
			}
		case strings.HasPrefix(f.Name, "$"):
			// DBRefs have such names.
			if f.Name != "$ref" && f.Name != "$id" && f.Name != "$db" {
				return nil, mongoerr.New(mongoerr.DollarPrefixedFieldName,
					"The dollar ($) prefixed field '%s' in '%s' is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.", f.Name, dotted)
			}
		}
	}
	if positional > 1 {
		return nil, mongoerr.New(mongoerr.BadValue, "Too many positional (i.e. '$') elements found in path '%s'", dotted)
	}
	return path, nil
}

func isArrayOperator(name string) bool {
	return strings.HasPrefix(name, "$[") && strings.HasSuffix(name, "]")
}

// checkConflicts refuses two changes of which one's path contains the other's,
// and paths that take one array both by operator and by name.
func (u *Update) checkConflicts() error {
	var paths []bsonval.Path
	for _, c := range u.changes {
		for _, p := range []bsonval.Path{c.from, c.path} {
			if p == nil {
				continue
			}
			for _, q := range paths {
				if err := conflict(q, p); err != nil {
					return err
				}
			}
			paths = append(paths, p)
		}
	}
	return nil
}

func conflict(earlier, later bsonval.Path) error {
	n := min(len(earlier), len(later))
	for i := range n {
		a, b := earlier[i].Name, later[i].Name
		if a == b {
			continue
		}
		if isArrayOperator(a) != isArrayOperator(b) {
			return mongoerr.New(mongoerr.ConflictingUpdateOperators,
				"Updating the path '%s' would create a conflict at '%s'", later, later[:i])
		}
		return nil
	}
	return mongoerr.New(mongoerr.ConflictingUpdateOperators,
		"Updating the path '%s' would create a conflict at '%s'", later, later[:n])
}
