package update

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// arrayFilter chooses the elements that $[name] stands for. Of {"x.a": {$gt: 1}} the name is x, and an element is
// matched as the field x of a document.
type arrayFilter struct {
	name    string
	matcher *query.Matcher
}

// parseFilters parses the arrayFilters of a statement, by name
// (https://www.mongodb.com/docs/manual/reference/operator/update/positional-filtered/). Two filters for the update
// {$set: {"a.$[x].$[y].b": 1}}:
//
//	[{"x.n": {$gt: 1}, "x.m": 2}, {y: {$in: [1, 2]}}]
//
// Each filter is about one name. Its conditions may be in several fields, and in $and, $or and $nor.
func parseFilters(filters bson.A, by *collation.Collator) (map[string]*arrayFilter, error) {
	out := map[string]*arrayFilter{}
	for _, v := range filters {
		d, ok := v.(bson.D)
		if !ok {
			return nil, mongoerr.New(mongoerr.TypeMismatch,
				"BSON field 'update.updates.arrayFilters' is the wrong type, expected type 'object'")
		}
		name := ""
		if err := readIdentifier(d, &name); err != nil {
			return nil, err
		}
		// A filter without conditions, or only with empty branches, names no element.
		if name == "" {
			return nil, mongoerr.New(mongoerr.FailedToParse,
				"Cannot use an expression without a top-level field name in arrayFilters")
		}
		if !isIdentifier(name) {
			return nil, mongoerr.New(mongoerr.BadValue,
				"Error parsing array filter :: caused by :: The top-level field name must be an alphanumeric string "+
					"beginning with a lowercase letter, found '%s'", name)
		}
		if out[name] != nil {
			return nil, mongoerr.New(mongoerr.FailedToParse,
				"Found multiple array filters with the same top-level field name %s", name)
		}
		m, err := query.Parse(d, query.Options{Collation: by})
		if err != nil {
			return nil, mongoerr.Convert(err).Prefix("Error parsing array filter :: caused by :: ")
		}
		out[name] = &arrayFilter{name, m}
	}
	return out, nil
}

// readIdentifier finds the one name with which all paths of a filter begin, and stores it in name. A second name is an
// error.
func readIdentifier(d bson.D, name *string) error {
	for _, f := range d {
		switch f.Key {
		case "$and", "$or", "$nor":
			branches, _ := f.Value.(bson.A)
			for _, b := range branches {
				branch, _ := b.(bson.D)
				if err := readIdentifier(branch, name); err != nil {
					return err
				}
			}
			continue
		}
		if strings.HasPrefix(f.Key, "$") {
			return mongoerr.New(mongoerr.FailedToParse, "%s is not allowed in arrayFilters", f.Key)
		}
		first, _, _ := strings.Cut(f.Key, ".")
		if *name != "" && *name != first {
			return mongoerr.New(mongoerr.FailedToParse,
				"Error parsing array filter :: caused by :: Expected a single top-level field name, found '%s' and "+
					"'%s'", *name,
				first)
		}
		*name = first
	}
	return nil
}

// isIdentifier reports whether a name is allowed: a lowercase letter, then letters and digits.
func isIdentifier(name string) bool {
	for i, c := range []byte(name) {
		lower := c >= 'a' && c <= 'z'
		if !lower && (i == 0 || !(c >= 'A' && c <= 'Z' || c >= '0' && c <= '9')) {
			return false
		}
	}
	return true
}

// checkFilters refuses identifiers without a filter and filters that no path uses. d is the whole update, for the
// error.
func (u *Update) checkFilters(d bson.D) error {
	used := map[string]bool{}
	for _, c := range u.changes {
		for _, f := range c.path {
			if !isArrayOperator(f.Name) || f.Name == "$[]" {
				continue
			}
			name := f.Name[2 : len(f.Name)-1]
			if u.filters[name] == nil {
				return mongoerr.New(mongoerr.BadValue,
					"No array filter found for identifier '%s' in path '%s'", name, c.path)
			}
			used[name] = true
		}
	}
	for name := range u.filters {
		if !used[name] {
			return mongoerr.New(mongoerr.FailedToParse,
				"The array filter for identifier '%s' was not used in the update %s", name, show(d))
		}
	}
	return nil
}

// matches reports whether the filter matches an element.
func (f *arrayFilter) matches(v any) (bool, error) {
	return f.matcher.Match(bson.D{{Key: f.name, Value: v}})
}
