package modeltest

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ownCommand restricts a command to the tenant's documents.
func ownCommand(body bson.D) bson.D {
	body = slices.Clone(body)
	name, _ := body[0].Value.(string)
	own, owned, ownGone := own, owned, ownGone
	keyed := core.IsKeyedName(name)
	if keyed {
		own, owned, ownGone = ofKeyed(own), withKeyID(owned), ofKeyed(ownGone)
	}
	for i, e := range body {
		switch e.Key {
		case "filter", "query":
			if q, ok := e.Value.(bson.D); ok {
				body[i].Value = own(q)
			}
		case "documents":
			body[i].Value = eachOf(e.Value, owned)
		case "updates":
			body[i].Value = eachOf(e.Value, func(u bson.D) bson.D { return ownStatement(u, own, owned) })
		case "deletes":
			body[i].Value = eachOf(e.Value, func(u bson.D) bson.D { return ownStatement(u, ownGone, owned) })
		case "update":
			if u, ok := e.Value.(bson.D); ok && len(u) > 0 && !strings.HasPrefix(u[0].Key, "$") {
				body[i].Value = owned(u)
			}
		case "pipeline":
			body[i].Value = ownPipeline(e.Value.(bson.A), keyed)
		}
	}
	switch body[0].Key {
	case "find":
		if !slices.ContainsFunc(body, func(e bson.E) bool { return e.Key == "filter" }) {
			body = append(body, bson.E{Key: "filter", Value: own(nil)})
		}
	case "count", "distinct":
		if !slices.ContainsFunc(body, func(e bson.E) bool { return e.Key == "query" }) {
			body = append(body, bson.E{Key: "query", Value: own(nil)})
		}
	}
	return body
}

func ownStatement(u bson.D, own, owned func(bson.D) bson.D) bson.D {
	for i, e := range u {
		v, ok := e.Value.(bson.D)
		switch {
		case !ok:
		case e.Key == "q":
			u[i].Value = own(v)
		case e.Key == "u" && len(v) > 0 && !strings.HasPrefix(v[0].Key, "$"):
			u[i].Value = owned(v)
		}
	}
	return u
}

func ownPipeline(stages bson.A, keyed bool) bson.A {
	if len(stages) > 0 {
		if first, ok := stages[0].(bson.D); ok && len(first) == 1 {
			switch first[0].Key {
			case "$changeStream", "$collStats", "$indexStats", "$documents", "$geoNear":
				return stages
			}
		}
	}
	first := bson.A{bson.D{{Key: "$match", Value: own(nil)}}}
	if keyed {
		stages = keyedStages(stages)
	}
	return append(first, stages...)
}

// ownIndexes puts the tenant first in unique indexes, and excludes deleted documents, as
// the documentation of a scope asks.
func ownIndexes(body bson.D) bson.D {
	for i, e := range body {
		if e.Key == "indexes" {
			body[i].Value = eachOf(e.Value, func(x bson.D) bson.D {
				for j, e := range x {
					if key, ok := e.Value.(bson.D); ok && e.Key == "key" && has(x, "unique") && !has(key, tenantField) {
						x[j].Value = append(bson.D{{Key: tenantField, Value: 1}}, key...)
						x = shownOnly(x)
						break
					}
				}
				return x
			})
		}
	}
	return body
}

// shownOnly returns the specification of a unique index without the deleted documents.
func shownOnly(x bson.D) bson.D {
	shown := bson.E{Key: deletedField, Value: nil}
	for i, e := range x {
		if partial, ok := e.Value.(bson.D); ok && e.Key == "partialFilterExpression" {
			x[i].Value = append(slices.Clip(partial), shown)
			return x
		}
	}
	if has(x, "sparse") {
		return x
	}
	return append(x, bson.E{Key: "partialFilterExpression", Value: bson.D{shown}})
}

func eachOf(list any, f func(bson.D) bson.D) any {
	a, ok := list.(bson.A)
	if !ok {
		return list
	}
	out := make(bson.A, len(a))
	for i, v := range a {
		out[i] = v
		if doc, ok := v.(bson.D); ok {
			out[i] = f(doc)
		}
	}
	return out
}

func has(doc bson.D, key string) bool {
	return slices.ContainsFunc(doc, func(e bson.E) bool { return e.Key == key })
}

// own is a filter for the tenant's documents that aren't deleted.
func own(q bson.D) bson.D {
	return append(ownGone(q), bson.E{Key: deletedField, Value: nil})
}

// ownGone is a filter for the tenant's documents, including deleted ones.
func ownGone(q bson.D) bson.D {
	return append(slices.Clone(q), bson.E{Key: tenantField, Value: "mine"})
}

// owned returns a document with the tenant.
func owned(doc bson.D) bson.D {
	if has(doc, tenantField) {
		return doc
	}
	return append(slices.Clone(doc), bson.E{Key: tenantField, Value: "mine"})
}
