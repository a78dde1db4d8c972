package rules

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

func sortFields(v any) any {
	if doc, ok := v.(bson.D); ok {
		slices.SortStableFunc(doc, func(x, y bson.E) int { return cmp.Compare(x.Key, y.Key) })
	}
	return v
}

// sortChanged is sortFields without the count of what changed.
func sortChanged(v any) any {
	if doc, ok := v.(bson.D); ok {
		v = without(doc, "nModified")
	}
	return sortFields(v)
}

func dropEmptyArrays(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	return slices.DeleteFunc(doc, func(e bson.E) bool {
		inner, _ := e.Value.(bson.D)
		return tree.IsEmptyArray(e.Value) || inner != nil && len(inner) == 0 || e.Key == "nModified"
	})
}

func dropEmptyDocs(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	return slices.DeleteFunc(doc, func(e bson.E) bool {
		inner, ok := e.Value.(bson.D)
		return ok && len(inner) == 0
	})
}

// repeatedIn reports whether an $in holds one value several times, and no other.
func repeatedIn(command bson.D) bool {
	found := false
	tree.Walk(command, func(key string, v any) {
		list, _ := v.(bson.A)
		if key != "$in" || len(list) < 2 {
			return
		}
		same := true
		for _, x := range list {
			same = same && bsonval.Compare(x, list[0]) == 0
		}
		found = found || same
	})
	return found
}

// sixDigits rounds texts that are fractions.
func sixDigits(v any) any {
	if s, ok := v.(string); ok && strings.Contains(s, ".") {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return strconv.FormatFloat(f, 'g', 6, 64)
		}
	}
	return v
}

func dropCreated(v any) any { return sortFields(dropEmptyDocs(v)) }

func dropPadding(v any) any {
	if doc, ok := v.(bson.D); ok {
		return without(doc, "nModified")
	}
	return dropNullElements(v)
}

// dropFound removes what tells whether an array was added: empty arrays, the nulls before them, and the counts.
func dropFound(v any) any {
	if doc, ok := v.(bson.D); ok {
		return dropEmptyArrays(without(without(doc, "lastErrorObject"), "nModified"))
	}
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool { return v == nil || tree.IsEmptyArray(v) })
}

// without is a document without one of its fields.
func without(doc bson.D, key string) bson.D {
	return slices.DeleteFunc(slices.Clone(doc), func(e bson.E) bool { return e.Key == key })
}

// plainDecimals writes decimals without their trailing zeros.
func plainDecimals(v any) any {
	if doc, ok := v.(bson.D); ok {
		return without(doc, "nModified")
	}
	decimal, ok := v.(bson.Decimal128)
	if !ok {
		return v
	}
	n, exp, err := decimal.BigInt()
	if err != nil {
		return v
	}
	return stripZeros(n, exp)
}

// plainUpdate removes from a document what the server's updates are known to do otherwise: the order of new
// fields, empty paths that operators left, the digits of decimals, the sign of zero.
func plainUpdate(v any) any {
	if doc, ok := v.(bson.D); ok {
		return sortFields(dropEmptyDocs(without(doc, "nModified")))
	}
	return plainZeros(plainDecimals(v))
}

// sortElements puts the elements of a list in one order.
func sortElements(v any) any {
	if list, ok := v.(bson.A); ok {
		slices.SortFunc(list, func(x, y any) int { return bytes.Compare(tree.Encode(x), tree.Encode(y)) })
	}
	return v
}
