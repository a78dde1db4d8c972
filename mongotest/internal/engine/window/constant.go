package window

// This file evaluates constants: the bounds of windows, and the default of $shift.

import (
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// varying are the operators whose value isn't the same each time. An expression with one of them isn't a constant, even
// if it refers to no field.
var varying = []string{"$rand", "$sampleRate", "$function", "$createObjectId", "$createUUID", "$currentDate"}

// evalConstant returns the value of an expression if it is a constant, else false. The expression is evaluated with
// an empty document, no time and no variables, so it must not refer to them.
func (s Stage) evalConstant(v any) (any, bool, error) {
	e, err := expr.Parse(v, s.Scope)
	if err != nil {
		return nil, false, err
	}
	if c, ok := expr.Literal(e); ok {
		return c, true, nil
	}
	if usesVariables(v) {
		return nil, false, nil
	}
	c, err := e.Eval(expr.NewContext(bson.D{}, time.Time{}, nil, nil))
	return c, err == nil, err
}

// usesVariables reports whether an expression refers to a field or a variable, or has a varying operator. It looks at
// the expression as it is written: a parsed expression can't be asked.
func usesVariables(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.HasPrefix(v, "$")
	case bson.A:
		return slices.ContainsFunc(v, usesVariables)
	case bson.D:
		return slices.ContainsFunc(v, func(f bson.E) bool {
			return f.Key != "$literal" && (slices.Contains(varying, f.Key) || usesVariables(f.Value))
		})
	}
	return false
}
