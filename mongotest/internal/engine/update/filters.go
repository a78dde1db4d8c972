package update

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// arrayFilter chooses the elements that "$[name]" stands for.
type arrayFilter struct {
	name    string
	matcher *query.Matcher
}

func parseFilters(filters bson.A, by *collation.Collator) (map[string]*arrayFilter, error) {
	out := map[string]*arrayFilter{}
	for _, v := range filters {
		d, ok := v.(bson.D)
		if !ok {
			return nil, mongoerr.New(mongoerr.TypeMismatch,
				"BSON field 'update.updates.arrayFilters' is the wrong type, expected type 'object'")
		}
		name := ""
		if err := identifier(d, &name); err != nil {
			return nil, err
		}
		if name == "" {
			return nil, mongoerr.New(mongoerr.FailedToParse,
				"Cannot use an expression without a top-level field name in arrayFilters")
		}
		if !isIdentifier(name) {
			return nil, mongoerr.New(mongoerr.BadValue,
				"Error parsing array filter :: caused by :: The top-level field name must be an alphanumeric string beginning with a lowercase letter, found '%s'", name)
		}
		if out[name] != nil {
			return nil, mongoerr.New(mongoerr.FailedToParse,
				"Found multiple array filters with the same top-level field name %s", name)
		}
		m, err := query.Parse(d, query.Options{Collation: by})
		if err != nil {
			return nil, mongoerr.From(err).Prefix("Error parsing array filter :: caused by :: ")
		}
		out[name] = &arrayFilter{name, m}
	}
	return out, nil
}

// identifier finds the one name that all paths of a filter begin with.
func identifier(d bson.D, name *string) error {
	for _, f := range d {
		switch f.Key {
		case "$and", "$or", "$nor":
			branches, _ := f.Value.(bson.A)
			for _, b := range branches {
				branch, _ := b.(bson.D)
				if err := identifier(branch, name); err != nil {
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
				"Error parsing array filter :: caused by :: Expected a single top-level field name, found '%s' and '%s'", *name,
				first)
		}
		*name = first
	}
	return nil
}

func isIdentifier(name string) bool {
	for i, c := range []byte(name) {
		lower := c >= 'a' && c <= 'z'
		if !lower && (i == 0 || !(c >= 'A' && c <= 'Z' || c >= '0' && c <= '9')) {
			return false
		}
	}
	return true
}

// checkFilters refuses identifiers without a filter and filters without a use.
func (u *Update) checkFilters(d bson.D) error {
	used := map[string]bool{}
	for _, c := range u.changes {
		for _, f := range c.path {
			if !isArrayOperator(f.Name) || f.Name == "$[]" {
				continue
			}
			name := f.Name[2 : len(f.Name)-1]
			if u.filters[name] == nil {
				return mongoerr.New(mongoerr.BadValue, "No array filter found for identifier '%s' in path '%s'", name, c.path)
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

func (f *arrayFilter) match(v any) (bool, error) {
	return f.matcher.Match(bson.D{{Key: f.name, Value: v}})
}
