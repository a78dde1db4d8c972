package differ

import (
	"bytes"
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// holds reports whether a value of the command or of its documents is of a kind.
func (c Case) holds(is func(any) bool) bool {
	found := false
	for _, v := range []any{c.Command, c.Docs, c.Other} {
		values(v, func(v any) { found = found || is(v) })
	}
	return found
}

// hasPath reports whether a path of the update has the text in it.
func (c Case) hasPath(text string) bool {
	found := false
	walk(c.change(), func(key string, _ any) { found = found || strings.Contains(key, text) })
	return found
}

func twiceID(doc bson.D) bool {
	n := 0
	for _, e := range doc {
		if e.Key == "_id" {
			n++
		}
	}
	return n > 1
}

func plainZeros(v any) any {
	if doc, ok := v.(bson.D); ok {
		return without(doc, "nModified")
	}
	if f, ok := v.(float64); ok && f == 0 {
		return 0.0
	}
	return v
}

// equalDecimals reports whether two decimals of the documents are equal but written in different ways, or
// there are NaNs of both types.
func (c Case) equalDecimals() bool {
	written := map[bson.Decimal128]any{}
	found := false
	values(bson.A{c.Docs, c.Command}, func(v any) {
		plain, ok := plainDecimals(v).(bson.Decimal128)
		if f, isFloat := v.(float64); isFloat && math.IsNaN(f) {
			plain, ok = decimal("NaN"), true
		}
		if !ok {
			return
		}
		before, seen := written[plain]
		found = found || seen && !bytes.Equal(encode(before), encode(v))
		written[plain] = v
	})
	return found
}

func isExtreme(v any) bool {
	switch v.(type) {
	case bson.MinKey, bson.MaxKey:
		return true
	}
	return false
}

func isEmptyArray(v any) bool {
	list, ok := v.(bson.A)
	return ok && len(list) == 0
}

// updates reports whether the command is an update or a findAndModify.
func (c Case) updates() bool {
	return c.verb() == "update" || c.verb() == "findAndModify" && c.get("update") != nil
}

// statement is a field of the only statement of an update.
func (c Case) statement(key string) any {
	statements, _ := c.get("updates").(bson.A)
	if len(statements) == 0 {
		return nil
	}
	return lookup(statements[0], key)
}

// change is what an update or findAndModify does: operators, a replacement or a pipeline.
func (c Case) change() any {
	if c.verb() == "findAndModify" {
		return c.get("update")
	}
	return c.statement("u")
}

// operators reports whether the update has operators.
func (c Case) operators() bool {
	u, _ := c.change().(bson.D)
	return len(u) > 0 && strings.HasPrefix(u[0].Key, "$")
}
