package query

// This file has the conditions that don't look at the document: $sampleRate, $alwaysTrue and $alwaysFalse.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// parseSampleRate parses $sampleRate, a short form of {$expr: {$lt: [{$rand: {}}, rate]}}.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/sampleRate/
func (p *parser) parseSampleRate(_ string, arg any) (node, error) {
	rate, ok := bsonval.Float(arg)
	switch {
	case p.depth > 0:
		return nil, mongoerr.New(mongoerr.BadValue, "$sampleRate can only be applied to the top-level document")
	case !ok:
		return nil, mongoerr.New(mongoerr.BadValue, "argument to $sampleRate must be a numeric type")
	case !(rate >= 0 && rate <= 1): // NaN too
		return nil, mongoerr.New(mongoerr.BadValue, "numeric argument to $sampleRate must be in [0, 1]")
	// Without $rand both may stand in an upsert and in a validator.
	case rate == 0:
		return or{}, nil
	case rate == 1:
		return and{}, nil
	}
	return p.parseExpr("$expr", bson.D{{Key: "$lt", Value: bson.A{bson.D{{Key: "$rand", Value: bson.D{}}}, rate}}})
}

// parseAlways parses $alwaysTrue and $alwaysFalse, whose argument must be 1. An and without conditions matches every
// document, an or without conditions no document.
func (p *parser) parseAlways(name string, arg any) (node, error) {
	n, problem := expr.Whole(name, arg)
	switch {
	case problem != "":
		return nil, mongoerr.New(mongoerr.FailedToParse, "%s", problem)
	case n != 1:
		return nil, mongoerr.New(mongoerr.FailedToParse, "%s must be an integer value of 1", name)
	case name == "$alwaysTrue":
		return and{}, nil
	}
	return or{}, nil
}

// isRandom reports whether an expression has $rand in it, outside of $literal. It gets the expression as it is written,
// not parsed.
func isRandom(v any) bool {
	switch v := v.(type) {
	case bson.A:
		for _, x := range v {
			if isRandom(x) {
				return true
			}
		}
	case bson.D:
		for _, f := range v {
			if f.Key == "$rand" || f.Key != "$literal" && isRandom(f.Value) {
				return true
			}
		}
	}
	return false
}
