package window

// This file parses windows: {documents: [lower, upper]} or {range: [lower, upper], unit: "day"}.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/dates"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// bounds are a parsed window. A nil *bounds is the whole partition: that is the window of a function that names none.
type bounds struct {
	lower, upper bound
	key          expr.Expr // of a range: what the documents are sorted by; nil: the bounds count documents
	unit         string    // of a range over dates
}

// bound is one end of a window.
type bound struct {
	unbounded bool
	by        any // the distance from the document; nil: the document itself
}

// isWhole reports whether every document's window is the whole partition. Only then the documents need no order.
func (b *bounds) isWhole() bool {
	return b == nil || b.key == nil && b.lower.unbounded && b.upper.unbounded
}

// grows reports whether windows begin with the partition. Then a window never loses a document of the one before.
func (b *bounds) grows() bool { return b == nil || b.lower.unbounded }

// parseBounds parses a window. The order of the cases decides which error a window with several mistakes gets. An
// empty document is the whole partition.
func parseBounds(v any, s Stage) (*bounds, error) {
	d, ok := v.(bson.D)
	if !ok {
		return nil, newError("'window' field must be an object")
	}
	documents, byDocuments := bsonval.Get(d, "documents")
	span, byRange := bsonval.Get(d, "range")
	unit, hasUnit := bsonval.Get(d, "unit")
	switch {
	case byDocuments && byRange:
		return nil, newError("Window bounds can specify either 'documents' or 'unit', not both.")
	case hasUnit && !byRange:
		return nil, newError("Window bounds can only specify 'unit' with range-based bounds.")
	case byDocuments && len(d) != 1:
		return nil, newError("'window' field that specifies documents cannot have other fields")
	case byDocuments:
		return parseDocuments(documents, s)
	case byRange && hasUnit && len(d) != 2:
		return nil, newError("'window' field that specifies unit cannot have other fields besides 'range'")
	case byRange && !hasUnit && len(d) != 1:
		return nil, newError("'window' field that specifies range cannot have other fields besides 'unit'")
	case byRange:
		return parseRange(span, unit, hasUnit, s)
	case len(d) != 0:
		return nil, newError("'window' field can only contain 'documents' as the only argument or 'range' with an " +
			"optional 'unit' field")
	}
	return nil, nil
}

// parseDocuments parses bounds that count documents from the document itself, such as [-1, 1].
func parseDocuments(v any, s Stage) (*bounds, error) {
	b, err := parsePair("documents", v, s, func(v any) error {
		if !isInt(v) {
			return newError("Numeric document-based bounds must be an integer")
		}
		return nil
	})
	if err == nil && !b.isWhole() && s.SortBy == nil {
		err = mongoerr.New(5339901, "Document-based bounds require a sortBy")
	}
	return b, err
}

// parseRange parses bounds that are distances between the values that the documents are sorted by: numbers, or dates
// with a unit.
func parseRange(v, unit any, hasUnit bool, s Stage) (*bounds, error) {
	name, isText := unit.(string)
	if hasUnit && !isText {
		return nil, newError("'unit' must be a string")
	}
	checkDistance := func(v any) error {
		switch {
		case hasUnit && !isInt(v):
			return newError("With 'unit', range-based bounds must be an integer")
		case !bsonval.IsNumber(v):
			return newError("Range-based bounds expression must be a number")
		}
		return nil
	}
	b, err := parsePair("range", v, s, checkDistance)
	switch {
	case err != nil:
		return nil, err
	case hasUnit && !dates.IsUnit(name):
		return nil, newError("unknown time unit value: %s", name)
	case len(s.SortBy) != 1:
		return nil, mongoerr.New(5339902, "Range-based bounds require sortBy a single field")
	}
	// frames search for the ends of a window forwards, so the values must rise.
	if direction, _ := bsonval.Int64(s.SortBy[0].Value); direction < 0 {
		return nil, mongoerr.New(8947401, "Range-based bounds require an ascending sortBy")
	}
	b.unit = name
	b.key, err = s.parseSortKey()
	return b, err
}

// isInt reports whether a value is a number without a fraction that fits 32 bits. Its type may be a double.
func isInt(v any) bool {
	n, ok := bsonval.Int64(v)
	return ok && int64(int32(n)) == n
}

// parsePair parses [lower, upper]. check judges constants: documents and ranges allow different ones.
func parsePair(name string, v any, s Stage, check func(v any) error) (*bounds, error) {
	a, ok := v.(bson.A)
	if !ok || len(a) != 2 {
		return nil, newError("Window bounds must be a 2-element array: %s: %s", name, bsonval.Text(v))
	}
	lower, err := parseBound(a[0], s, check)
	if err != nil {
		return nil, err
	}
	upper, err := parseBound(a[1], s, check)
	if err != nil {
		return nil, err
	}
	b := &bounds{lower: lower, upper: upper}
	// Equal bounds are allowed: the window is one document, or the documents with one value.
	low, high := lower.distance(), upper.distance()
	if !lower.unbounded && !upper.unbounded && bsonval.Compare(low, high) > 0 {
		return nil, mongoerr.New(5339900, "Lower bound must not exceed upper bound: [%s, %s]",
			bsonval.Text(low), bsonval.Text(high))
	}
	return b, nil
}

// parseBound parses one end: "unbounded", "current", or an expression of a constant, such as {$add: [1, 2]}.
func parseBound(v any, s Stage, check func(v any) error) (bound, error) {
	if text, ok := v.(string); ok {
		switch text {
		case "unbounded":
			return bound{unbounded: true}, nil
		case "current":
			return bound{}, nil
		}
		return bound{}, newError("Window bounds must be 'unbounded', 'current', or a number.")
	}
	c, ok, err := s.evalConstant(v)
	switch {
	case err != nil:
		return bound{}, err
	case !ok:
		return bound{}, newError("Window bounds expression must be a constant.")
	}
	return bound{by: c}, check(c)
}

// distance returns how far the bound is from the document. It is below 0 for a bound before the document.
func (b bound) distance() any {
	if b.by == nil {
		return int32(0)
	}
	return b.by
}
