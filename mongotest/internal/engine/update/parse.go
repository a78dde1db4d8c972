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
	from   bsonval.Path // $rename's source; path is the destination then
	insert bool         // $setOnInsert: has an effect only in a document that an upsert inserts
}

// action is what an operator does with the value at a path.
type action struct {
	creates  bool // makes the path if it doesn't exist, as $set does and $pull doesn't
	appends  bool // only adds elements at the end of an array, so that a change event can name the elements alone
	tolerant bool // does nothing if the path leads into a value without fields, where $set fails
	// apply returns the new value. Both values are bsonval.Missing for none.
	apply func(old any, s *state) (any, error)
}

// operator parses the argument of an operator for a path, and returns what it does there. by is the collation under
// which it compares values.
type operator func(path string, arg any, by *collation.Collator) (action, error)

// table has the parsers of the operators by name. Those of $rename and $setOnInsert are only a part: addChange does the
// rest, because they concern more than the value at one path.
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

// Operators returns the names of the operators, sorted. Package operators lists them for the documentation.
func Operators() []string { return slices.Sorted(maps.Keys(table)) }

// Modifiers returns the names of what may be in the operators' paths and arguments, sorted, for the same list.
func Modifiers() []string {
	return []string{"$", "$[<identifier>]", "$[]", "$each", "$position", "$slice", "$sort"}
}

// parseOperators parses a document of operators, {$set: {a: 1}, …}.
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
				"Unknown modifier: %s. Expected a valid update modifier or pipeline-style update specified as an array",
				f.Key)
		}
		fields, ok := f.Value.(bson.D)
		if !ok {
			return nil, mongoerr.New(mongoerr.FailedToParse,
				"Modifiers operate on fields but we found type %s instead. For example: {$mod: {<field>: ...}} not "+
					"{%s: %s}",
				bsonval.TypeName(f.Value), f.Key, show(f.Value))
		}
		for _, g := range fields {
			if err := u.addChange(f.Key, parse, g, opt.Collation); err != nil {
				return nil, err
			}
		}
	}
	// Conflicts are looked for among the written paths first, so that an update fails even if no document matches.
	if err := u.checkConflicts(); err != nil {
		return nil, err
	}
	return u, u.checkFilters(d)
}

// addChange parses one field of an operator's document, such as "a.b": 5 of $inc. name is the operator, and parse its
// parser. The update itself isn't complete until parseOperators returns.
func (u *Update) addChange(name string, parse operator, f bson.E, by *collation.Collator) error {
	path, err := parsePath(f.Key)
	if err != nil {
		return err
	}
	a, err := parse(f.Key, f.Value, by)
	if err != nil {
		return err
	}
	c := change{path: path, action: a, insert: name == "$setOnInsert"}
	if name == "$rename" { // the change is on the destination; applyRename removes the source too
		to, err := parsePath(f.Value.(string))
		if err != nil {
			return err
		}
		c.path, c.from = to, path
	}
	u.changes = append(u.changes, c)
	return nil
}

// parsePath parses the path of an operator, and refuses what MongoDB refuses:
//
//   - empty names, as in "a..b"
//   - $ and $[x] in the first place, and a second $
//   - names that begin with $, except those of a DBRef
func parsePath(dotted string) (bsonval.Path, error) {
	if dotted == "" {
		return nil, mongoerr.New(mongoerr.EmptyFieldName, "An empty update path is not valid.")
	}
	path := bsonval.ParsePath(dotted)
	positional := 0 // how many $ there are
	for i, f := range path {
		switch {
		case f.Name == "":
			return nil, mongoerr.New(mongoerr.EmptyFieldName,
				"The update path '%s' contains an empty field name, which is not allowed.", dotted)
		case f.Name == "$" || isArrayOperator(f.Name):
			if i == 0 {
				if f.Name != "$" {
					return nil, mongoerr.New(mongoerr.BadValue,
						"Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path "+
							"'%s'", dotted)
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
					"The dollar ($) prefixed field '%s' in '%s' is not allowed in the context of an update's "+
						"replacement document. Consider using an aggregation pipeline with $replaceWith.", f.Name,
					dotted)
			}
		}
	}
	if positional > 1 {
		return nil, mongoerr.New(mongoerr.BadValue,
			"Too many positional (i.e. '$') elements found in path '%s'", dotted)
	}
	return path, nil
}

// isArrayOperator reports whether a part of a path is $[] or $[x], which stand for several elements.
func isArrayOperator(name string) bool {
	return strings.HasPrefix(name, "$[") && strings.HasSuffix(name, "]")
}

// checkConflicts refuses two changes if the path of one contains the path of the other, and paths that take one array
// both by operator and by name. The error is ConflictingUpdateOperators (40), for pairs such as
//
//	a and a.b        a.b and a.b        a.$[x].n and a.0.n
func (u *Update) checkConflicts() error {
	var paths []bsonval.Path
	for _, c := range u.changes {
		for _, p := range []bsonval.Path{c.from, c.path} {
			if p == nil {
				continue
			}
			for _, q := range paths {
				if err := checkConflict(q, p); err != nil {
					return err
				}
			}
			paths = append(paths, p)
		}
	}
	return nil
}

// checkConflict compares two paths, of which later is named in the error. It stops at the first part that differs:
// paths to different fields are never in conflict.
func checkConflict(earlier, later bsonval.Path) error {
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
