package rules

import (
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// A rule whose cause can't be read from a command and its two outcomes asks the engine what another command gives: one
// that computes an operand which MongoDB needn't, or one without an operator. That tells what the operator is to blame
// for.

// eager reports whether the server fails to compute what an operand of one of the operators gives, which the engine
// doesn't compute: the engine fails too once it has to.
func (x difference) eager(operators ...string) bool {
	return x.onlyServer() && x.Uses(operators...) && x.failsFor(func(v any) any {
		doc, ok := v.(bson.D)
		if !ok || len(doc) != 1 || !slices.Contains(operators, doc[0].Key) {
			return v
		}
		var vars bson.D
		for _, e := range operands(doc[0].Value) {
			vars = append(vars, bson.E{Key: "z" + strconv.Itoa(len(vars)), Value: e})
		}
		if vars == nil {
			return v
		}
		return tree.D("$let", tree.D("vars", vars, "in", doc))
	})
}

// operands are the expressions within an operator's argument that are operators themselves, without those whose
// variables the operator gives them.
func operands(arg any) (list []any) {
	switch arg := arg.(type) {
	case bson.A:
		for _, v := range arg {
			list = append(list, operands(v)...)
		}
	case bson.D:
		if len(arg) == 1 && strings.HasPrefix(arg[0].Key, "$") {
			return []any{arg}
		}
		for _, e := range arg {
			if e.Key != "in" && e.Key != "cond" || !mentions(e.Value, "$$") {
				list = append(list, operands(e.Value)...)
			}
		}
	}
	return list
}

// failsFor reports whether the engine fails as the server does, with the very code, once the command has been changed.
func (x difference) failsFor(change func(any) any) bool {
	return x.failsLike(x.MapCommand(change))
}

// failsLike reports whether the engine fails with the server's code when it computes another case, of all documents or
// of one, as the server may come to another one first. In an update the server's code is one of its own.
func (x difference) failsLike(c cases.Case) bool {
	if !x.server.FailsComputing() {
		return false
	}
	out := x.run(c)
	if x.sameError(out) || !out.FailsComputing() {
		return x.sameError(out)
	}
	return slices.ContainsFunc(c.Docs, func(doc bson.D) bool {
		one := c
		one.Docs = []bson.D{doc}
		return x.sameError(x.run(one))
	})
}

func (x difference) sameError(out outcome.Outcome) bool {
	sameOperator := out.Code == 17046 && x.server.Code == 17310 || // each is of the first operand of $setIsSubset
		out.Code == 51045 && x.server.Code == 51044 || // of either operand of $atan2
		out.Code == 28765 && x.server.Code == 14 && strings.HasPrefix(x.server.Text, "$bitNot ")
	return out.Code == x.server.Code || sameOperator || out.FailsComputing() && ownCode(x.server.Code)
}

// ownCode reports whether a code is one of PostgreSQL's, five characters of six bits each, whose first is M.
func ownCode(code int32) bool { return code >= 1<<18 && code&63 == 'M'-'0' }

// constant reports whether an expression of the command fails that has nothing of a document in it.
func (x difference) constant() bool { return x.constantIn(tree.Map(x.Command, withoutOnNull)) }

// constantIn is constant for a part of the command.
func (x difference) constantIn(command any) bool {
	found := false
	tree.WalkValues(command, func(v any) {
		doc, ok := v.(bson.D)
		if found || !ok || len(doc) != 1 || !hasConstantOperator(doc) || mentionsField(doc) || doc[0].Key == "$literal" {
			return
		}
		c := cases.Case{Collection: "c", Docs: []bson.D{tree.D("_id", 1)}}
		c.Command = tree.D("aggregate", "c", "pipeline", bson.A{tree.D("$replaceWith", tree.D("z", doc))}, "cursor", bson.D{})
		found = x.failsLike(c)
	})
	return found
}

// because reports whether the engine's failure comes from the operators, or from what they hold: it computes the
// command without.
func (x difference) because(operators ...string) bool {
	return x.onlyEngine() && x.Uses(operators...) && x.run(x.Case).Text == x.engine.Text &&
		x.run(x.less(operators...)).Code != x.engine.Code
}

// less is the case with null for what the operators give, and without the stages, and the operators of an update or a
// filter, of these names.
func (x difference) less(operators ...string) cases.Case {
	c := x.Case
	named := func(v any) bool {
		doc, ok := v.(bson.D)
		return ok && len(doc) == 1 && slices.Contains(operators, doc[0].Key)
	}
	c.Command, _ = tree.Map(c.Command, func(v any) any {
		switch v := v.(type) {
		case bson.A:
			return slices.DeleteFunc(v, func(x any) bool { return x == removed })
		case bson.D:
			if named(v) {
				return removed
			}
			return slices.DeleteFunc(v, func(e bson.E) bool { return slices.Contains(operators, e.Key) })
		}
		return v
	}).(bson.D)
	c.Command, _ = tree.Map(c.Command, func(v any) any {
		if v == removed {
			return nil
		}
		return v
	}).(bson.D)
	return c
}

// removed stands for what less takes out.
var removed any = bson.Symbol("removed")

// within reports whether the outcomes are equal but for the fields that depend on the operators: those that the engine
// gives other values without them. Both outcomes go through f first.
func (x difference) within(f func(any) any, operators ...string) bool {
	return x.Uses(operators...) && x.between(f, x.less(operators...))
}

// between is within for fields that the engine gives other values in any of the other cases.
func (x difference) between(f func(any) any, others ...cases.Case) bool {
	return !x.engine.Fails() && !x.server.Fails() && x.apart(f, others...).kind == outcome.Same
}

// apart is the difference without the fields that the engine gives other values in any of the other cases.
func (x difference) apart(f func(any) any, others ...cases.Case) difference {
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

// fieldValues are the values at each path of an outcome's documents, sorted.
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

// dropPaths makes null of the fields at the paths, but of those that only hold others that are.
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

// chosen reports whether the outcomes may tell of different documents alone: all that differs in them is a truth, null,
// what the case's documents and command hold, or at a path where the engine gives something else for fewer documents.
func (x difference) chosen() bool {
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
				if known[v] || slices.Contains(pair[1][path], v) || holdsMore(v) || slices.Contains(truths, v) {
					continue
				}
				if depends == nil {
					depends = x.dependsOnDocs()
				}
				if !depends[path] {
					return false
				}
			}
		}
	}
	return true
}

// truths are what an expression or a reply may say of any document.
var truths = []string{string(tree.Encode(true)), string(tree.Encode(false)), string(tree.Encode(nil)), string(tree.Encode(outcome.SomeID))}

// holdsMore reports whether an encoded value is a document or an array, whose fields are looked at by themselves.
func holdsMore(encoded string) bool {
	kind := bson.Type(encoded[4])
	return kind == bson.TypeEmbeddedDocument || kind == bson.TypeArray
}

// dependsOnDocs are the paths at which the engine gives something else without one of the documents.
func (x difference) dependsOnDocs() map[string]bool {
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

// another reports whether the one that fails does so as the engine does with another of the documents.
func (x difference) another() bool {
	failed := x.engine
	if !failed.Fails() {
		failed = x.server
	}
	for _, doc := range x.Docs {
		c := x.Case
		c.Docs = []bson.D{doc}
		// Of two operators that fail, one for a type or an array and one for a path, the engine names the first.
		if out := x.run(c); out.Fails() &&
			(out.Code == failed.Code || (out.Code == 14 || out.Code == 2) && failed.Code == 28) {
			return true
		}
	}
	return false
}

// unfiltered are the case with array filters that take no element, and with those that take each.
func (x difference) unfiltered() []cases.Case {
	out := []cases.Case{x.Case, x.Case}
	for i, condition := range []bson.D{tree.D("$in", bson.A{}), tree.D("$nin", bson.A{})} {
		out[i].Command, _ = tree.Map(x.Command, func(v any) any {
			doc, _ := v.(bson.D)
			for k, e := range doc {
				if e.Key == "arrayFilters" {
					doc[k].Value = bson.A{tree.D("x", condition)}
				}
			}
			return v
		}).(bson.D)
	}
	return out
}

// storesAll reports whether the server does what the engine does with equality in place of $all, and of $in of one
// value, but for what other rules of updates say, or finds that several values of $all are.
func (x difference) storesAll() bool {
	if (x.kind == outcome.OnlyServer || x.kind == outcome.Codes) && strings.HasSuffix(x.server.Text, "has been matched twice") {
		return true
	}
	c := x.Case
	c.Command, _ = allIsEquality(c.Command).(bson.D)
	return outcome.Compare(outcome.MapOutcome(x.run(c), plainUpdate), outcome.MapOutcome(x.server, plainUpdate)) == outcome.Same
}

func allIsEquality(v any) any {
	switch v := v.(type) {
	case bson.D:
		out := make(bson.D, len(v))
		for i, e := range v {
			list, _ := e.Value.(bson.A)
			if len(list) > 0 && (e.Key == "$all" || e.Key == "$in" && len(list) == 1) {
				out[i] = bson.E{Key: "$eq", Value: list[0]}
			} else {
				out[i] = bson.E{Key: e.Key, Value: allIsEquality(e.Value)}
			}
		}
		return out
	case bson.A:
		out := make(bson.A, len(v))
		for i, x := range v {
			out[i] = allIsEquality(x)
		}
		return out
	}
	return v
}

// unlimited is a find without a limit.
func (x difference) unlimited() cases.Case {
	c := x.Case
	c.Command = slices.DeleteFunc(slices.Clone(c.Command), func(e bson.E) bool {
		return e.Key == "limit" || e.Key == "skip"
	})
	return c
}

// restricts reports whether the condition of a $graphLookup fails for some document of its collection.
func (x difference) restricts() bool {
	found := false
	tree.Walk(x.Command, func(key string, v any) {
		filter := tree.Lookup(v, "restrictSearchWithMatch")
		if key != "$graphLookup" || filter == nil || found {
			return
		}
		c := x.Case
		c.Command = tree.D("aggregate", tree.Lookup(v, "from"), "pipeline", bson.A{tree.D("$match", filter)}, "cursor", bson.D{})
		found = x.failsLike(c)
	})
	return found
}
