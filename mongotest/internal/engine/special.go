package engine

// This file finds the indexes that special conditions need: $text its text index, $geoNear an index of geometries. A
// collection has at most one text index (https://www.mongodb.com/docs/manual/core/indexes/index-types/index-text/). A
// filter is parsed with it, because the index says how words are compared and weighted.

import (
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// findSpecial returns the text index of a collection, for the filter of a command.
func (r *request) findSpecial(ns store.Namespace) *query.Special {
	return newSpecial(r.state().Collection(ns), ns)
}

// newSpecial returns a collection's text index, or the error that a filter with $text then is. c is nil for a
// collection that doesn't exist.
func newSpecial(c *store.Collection, ns store.Namespace) *query.Special {
	if c == nil {
		return &query.Special{
			NoText: mongoerr.New(mongoerr.IndexNotFound,
				"text index required for $text query (no such collection '%s')", ns),
		}
	}
	for _, x := range c.Indexes {
		if x.Spec.Text != nil && !x.Spec.Hidden {
			return &query.Special{Text: x.Spec.Text}
		}
	}
	return &query.Special{NoText: mongoerr.New(mongoerr.IndexNotFound, "text index required for $text query")}
}

// findNearKey returns the path of the geometries for $geoNear: the path that its field key names, or the path of the
// collection's only 2d index, or without a 2d index the path of its only 2dsphere index.
func findNearKey(c *store.Collection, ns store.Namespace, named string) (string, error) {
	switch {
	case c == nil:
		return "", mongoerr.New(mongoerr.NamespaceNotFound,
			"$geoNear requires a geo index to run, but %s does not exist", ns)
	case named != "":
		return named, nil
	}
	for _, k := range []struct {
		kind store.Kind
		name string
	}{{store.Plane, "2d"}, {store.Sphere, "2dsphere"}} {
		found := ""
		for _, x := range c.Indexes {
			f := x.Spec.Field(k.kind)
			if f != nil && found != "" {
				return "", mongoerr.New(mongoerr.IndexNotFound,
					"There is more than one %s index on %s; unsure which to use for $geoNear", k.name, ns)
			}
			if f != nil {
				found = f.Name
			}
		}
		if found != "" {
			return found, nil
		}
	}
	return "", mongoerr.New(mongoerr.IndexNotFound, "$geoNear requires a 2d or 2dsphere index, but none were found")
}
