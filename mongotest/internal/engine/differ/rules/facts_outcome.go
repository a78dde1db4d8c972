// Facts about outcomes: what the engine or the server returned or stored. Only returnsPart asks the engine again.

package rules

import (
	"bytes"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// countReached returns the number of documents that the engine's reply shows or counts. It adds all numbers and lists
// of the reply: n and nModified of an update, n in lastErrorObject, the batch. So only the 0 is exact, for which rules
// ask: the command reached no document.
func (x difference) countReached() int {
	n := len(outcome.FirstBatch(x.engine.Reply))
	for _, e := range x.engine.Reply {
		switch v := e.Value.(type) {
		case int32:
			n += int(v)
		case bson.A:
			n += len(v)
		case bson.D:
			count, _ := tree.Lookup(v, "n").(int32)
			n += int(count)
		}
	}
	return n
}

// matchesCount reports whether the engine's update matches n documents. The reply of a findAndModify has the number in
// lastErrorObject.
func (x difference) matchesCount(n int32) bool {
	return tree.Lookup(x.engine.Reply, "n") == n ||
		tree.Lookup(tree.Lookup(x.engine.Reply, "lastErrorObject"), "n") == n
}

// lacksID reports whether a document was returned without an _id, or got a new _id when it was stored.
func lacksID(o outcome.Outcome) bool {
	for _, v := range outcome.FirstBatch(o.Reply) {
		if doc, ok := v.(bson.D); ok && !tree.HasField(doc, "_id") {
			return true
		}
	}
	return slices.ContainsFunc(o.State, func(doc bson.D) bool { return tree.Lookup(doc, "_id") == outcome.SomeID })
}

// hasIDTwice reports whether a document has two fields _id.
func hasIDTwice(doc bson.D) bool {
	n := 0
	for _, e := range doc {
		if e.Key == "_id" {
			n++
		}
	}
	return n > 1
}

// hasKeyWithDollar reports whether a document in the outcome has a field whose name begins with "$": an expression that
// wasn't computed.
func hasKeyWithDollar(o outcome.Outcome) bool {
	found := false
	for _, doc := range append([]bson.D{o.Reply}, o.State...) {
		tree.Walk(doc, func(key string, _ any) { found = found || strings.HasPrefix(key, "$") })
	}
	return found
}

// countedNothing reports whether a stored document is the result of a $count with 0.
func countedNothing(o outcome.Outcome) bool {
	return slices.ContainsFunc(o.State, func(doc bson.D) bool {
		return tree.Lookup(doc, "_id") == outcome.SomeID && (tree.Lookup(doc, "n") == int32(0) ||
			tree.Lookup(doc, "count") == int32(0))
	})
}

// hasEmptyArray reports whether a value is, or contains, an empty array.
func hasEmptyArray(v any) (found bool) {
	tree.Map(v, func(v any) any {
		a, ok := v.(bson.A)
		found = found || ok && len(a) == 0
		return v
	})
	return found
}

// encodesAlike reports whether two documents are equal after both have gone through f. Unlike sameAfter it compares two
// documents of the rule's choice, such as replies without a field.
func encodesAlike(f func(any) any, x, y bson.D) bool {
	return bytes.Equal(tree.Encode(tree.Map(x, f)), tree.Encode(tree.Map(y, f)))
}

// returnsMore reports whether the server's $densify returns the engine's documents, and more documents without an _id.
func (x difference) returnsMore() bool {
	stages, _ := x.Get("pipeline").(bson.A)
	if len(stages) == 0 || tree.Lookup(stages[len(stages)-1], "$densify") == nil {
		return false
	}
	rest := outcome.FirstBatch(x.server.Reply)
	for _, v := range outcome.FirstBatch(x.engine.Reply) {
		i := slices.IndexFunc(rest, func(other any) bool {
			return string(tree.Encode(v)) == string(tree.Encode(other))
		})
		if i < 0 {
			return false
		}
		rest = slices.Delete(slices.Clone(rest), i, i+1)
	}
	return x.kind == outcome.Replies &&
		!slices.ContainsFunc(rest, func(v any) bool { doc, _ := v.(bson.D); return tree.HasField(doc, "_id") })
}

// returnsPart reports whether the server returns only documents that the engine returns without a limit, in the same
// order.
func (x difference) returnsPart() bool {
	all, part := outcome.FirstBatch(x.run(x.dropLimits()).Reply), outcome.FirstBatch(x.server.Reply)
	for _, v := range all {
		if len(part) > 0 && almostEqual(v, part[0]) {
			part = part[1:]
		}
	}
	return len(part) == 0
}
