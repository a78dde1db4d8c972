// Comparing parts of outcomes: without the fields that depend on an operator, or without regard to which documents were
// chosen. To find the fields, they run the command without the operator, or on fewer documents.

package rules

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// sameOutside reports whether the outcomes are equal in all fields that don't depend on the operators. A field depends
// on them if the engine gives it another value without them. Both outcomes go through f first.
func (x difference) sameOutside(f func(any) any, operators ...string) bool {
	return x.Uses(operators...) && x.sameOutsideCases(f, x.removeOperators(operators...))
}

// sameOutsideCases is sameOutside for the fields to which the engine gives another value in one of the other cases.
func (x difference) sameOutsideCases(f func(any) any, others ...cases.Case) bool {
	return !x.engine.Fails() && !x.server.Fails() && x.dropDependent(f, others...).kind == outcome.Same
}

// dropDependent returns the difference without the fields to which the engine gives another value in one of the other
// cases, and with its kind found again. Both outcomes go through f first.
func (x difference) dropDependent(f func(any) any, others ...cases.Case) difference {
	tainted := map[string]bool{}
	before := fieldValues(x.run(x.Case))
	for _, c := range others {
		after := fieldValues(x.run(c))
		for _, side := range []map[string][]string{before, after} {
			for path := range side {
				tainted[path] = tainted[path] || !slices.Equal(before[path], after[path])
			}
		}
	}
	clean := func(o outcome.Outcome) outcome.Outcome {
		o = outcome.MapOutcome(o, f)
		o.Reply, _ = dropPaths(o.Reply, "", tainted).(bson.D)
		for i, doc := range o.State {
			o.State[i], _ = dropPaths(doc, "", tainted).(bson.D)
		}
		outcome.SortReply(x.Case, o.Reply)
		return o
	}
	x.engine, x.server = clean(x.engine), clean(x.server)
	x.kind = outcome.Compare(x.engine, x.server)
	return x
}

// fieldValues returns the encoded values at each path of an outcome's reply and stored documents, sorted. A path
// doesn't distinguish the elements of an array: {batch: [{a: 1}, {a: 2}]} has the path batch.a with two values.
func fieldValues(o outcome.Outcome) map[string][]string {
	out := map[string][]string{}
	note := func(v any) { noteFields(out, "", v) }
	note(o.Reply)
	for _, doc := range o.State {
		note(doc)
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}

// noteFields adds the fields of v, which is at path, to the result of fieldValues. Scalars in an array have the path
// "path.[]".
func noteFields(out map[string][]string, path string, v any) {
	switch v := v.(type) {
	case bson.D:
		for _, e := range v {
			out[path+e.Key] = append(out[path+e.Key], string(tree.Encode(e.Value)))
			noteFields(out, path+e.Key+".", e.Value)
		}
	case bson.A:
		for _, x := range v {
			switch x.(type) {
			case bson.D, bson.A:
				noteFields(out, path, x)
			default:
				out[path+"[]"] = append(out[path+"[]"], string(tree.Encode(x)))
			}
		}
	}
}

// dropPaths removes the fields at the paths. The fields of a reply that contain its documents stay, because only the
// fields in them are compared.
func dropPaths(v any, path string, paths map[string]bool) any {
	switch v := v.(type) {
	case bson.D:
		out := bson.D{}
		for _, e := range v {
			name := path + e.Key
			inner := slices.ContainsFunc([]string{"batch", "value", "lastErrorObject"}, func(s string) bool {
				return path == "" && e.Key == s
			})
			if paths[name] && !inner {
				continue
			}
			out = append(out, bson.E{Key: e.Key, Value: dropPaths(e.Value, name+".", paths)})
		}
		return out
	case bson.A:
		out := make(bson.A, len(v))
		for i, x := range v {
			out[i] = dropPaths(x, path, paths)
		}
		return out
	}
	return v
}

// differsInChoice reports whether the two sides may only have chosen different documents: by a filter, a sort or a
// group. Then each value that only one side has is one that any document could give: true, false, null, a value of the
// case's documents or command, or a value at a path that depends on which documents there are.
func (x difference) differsInChoice() bool {
	if x.engine.Fails() || x.server.Fails() {
		return false
	}
	known := map[string]bool{}
	for _, v := range []any{x.Docs, x.Other, x.Command} {
		tree.WalkValues(v, func(v any) { known[string(tree.Encode(outcome.Normalize(v)))] = true })
	}
	engine, server := fieldValues(x.engine), fieldValues(x.server)
	if x.Verb() != "aggregate" {
		for _, counts := range []string{"n", "nModified", "lastErrorObject.n"} {
			delete(engine, counts)
			delete(server, counts)
		}
	}
	var depends map[string]bool
	for _, pair := range [][2]map[string][]string{{engine, server}, {server, engine}} {
		for path, list := range pair[0] {
			for _, v := range list {
				if known[v] || slices.Contains(pair[1][path], v) || holdsMore(v) || slices.Contains(anyDocValues, v) {
					continue
				}
				if depends == nil {
					depends = x.listDependentPaths()
				}
				if !depends[path] {
					return false
				}
			}
		}
	}
	return true
}

// anyDocValues are encoded values that an expression or a reply may have for any document.
var anyDocValues = []string{string(tree.Encode(true)), string(tree.Encode(false)), string(tree.Encode(nil)),
	string(tree.Encode(outcome.SomeID))}

// holdsMore reports whether an encoded value is a document or an array, whose fields are compared by themselves. The
// value is encoded as a document with one field, so its type is the fifth byte.
func holdsMore(encoded string) bool {
	kind := bson.Type(encoded[4])
	return kind == bson.TypeEmbeddedDocument || kind == bson.TypeArray
}

// listDependentPaths returns the paths at which the engine gives other values if one of the documents is missing.
func (x difference) listDependentPaths() map[string]bool {
	out := map[string]bool{}
	whole := fieldValues(x.run(x.Case))
	for i := range x.Docs {
		c := x.Case
		c.Docs = slices.Delete(slices.Clone(x.Docs), i, i+1)
		for path, list := range fieldValues(x.run(c)) {
			out[path] = out[path] || !slices.Equal(list, whole[path])
		}
	}
	return out
}
