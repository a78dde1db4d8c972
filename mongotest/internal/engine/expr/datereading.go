package expr

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/dates"
)

// dateReading makes dates of strings, and documents of the parts of dates.
var dateReading = table{
	"$dateFromString": parseDateFromString,
	"$dateToParts":    parseDateToParts,
}

var (
	dateFromStringErrors = partErrors{
		object:  "%[1]s only supports an object as an argument, found: %[2]s",
		unknown: unrecognized, missing: missingPart, notObject: 40540, notKnown: 40541,

		absent: map[string]int32{"dateString": 40542},
	}
	dateToPartsErrors = partErrors{onlyObject, unrecognized, missingPart, 40524, 40520, map[string]int32{"date": 40522}}
)

func parseDateFromString(name string, arg any, s Scope) (Expr, error) {
	parts, err := parseParts(name, arg, s, dateFromStringErrors, "dateString!", "format", "timezone", "onError", "onNull")
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) {
		v, err := parts["dateString"].Eval(c)
		if err != nil {
			return nil, err
		}
		format, err := evalFormat(c, parts["format"])
		if err != nil {
			return nil, err
		}
		loc, noZone, err := evalZone(c, parts["timezone"])
		switch {
		case err != nil:
			return nil, err
		case bsonval.IsNullish(v):
			return evalPart(c, parts["onNull"], nil)
		}
		text, ok := v.(string)
		if !ok {
			err = mongoerr.New(mongoerr.ConversionFailure,
				"$dateFromString requires that 'dateString' be a string, found: %s with value %s",
				bsonval.TypeName(v), Show(v))
		} else if noZone || parts["format"] != nil && format == nil {
			return nil, nil
		} else if layout, ok := format.(string); ok {
			v, err = dates.ParseByFormat(text, layout, loc)
		} else {
			v, err = dates.Parse(text, loc)
		}
		if err != nil && mongoerr.Convert(err).Code == mongoerr.ConversionFailure && parts["onError"] != nil {
			return parts["onError"].Eval(c)
		}
		return v, err
	}), nil
}

// evalFormat evaluates a format of $dateFromString and checks its specifiers, nil if there is no format.
func evalFormat(c *Context, e Expr) (any, error) {
	if e == nil {
		return nil, nil
	}
	v, err := e.Eval(c)
	if err != nil || bsonval.IsNullish(v) {
		return nil, err
	}
	format, ok := v.(string)
	if !ok {
		return nil, mongoerr.New(40684, "$dateFromString requires that 'format' be a string, found: %s with value %s",
			bsonval.TypeName(v), Show(v))
	}
	if err := dates.CheckFormat(format); err != nil {
		return nil, err
	}
	return format, nil
}

func parseDateToParts(name string, arg any, s Scope) (Expr, error) {
	parts, err := parseParts(name, arg, s, dateToPartsErrors, "date!", "timezone", "iso8601")
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) {
		v, err := parts["date"].Eval(c)
		if err != nil {
			return nil, err
		}
		loc, null, err := evalZone(c, parts["timezone"])
		if null || err != nil {
			return nil, err
		}
		flag, err := evalPart(c, parts["iso8601"], false)
		if err != nil || bsonval.IsNullish(flag) {
			return nil, err
		}
		iso, ok := flag.(bool)
		switch {
		case !ok:
			return nil, mongoerr.New(40521, "iso8601 must evaluate to a bool, found %s", bsonval.TypeName(flag))
		case bsonval.IsNullish(v):
			return nil, nil
		}
		t, err := dates.ConvertToTime(v)
		if err != nil {
			return nil, err
		}
		return dates.SplitTime(t.In(loc), iso), nil
	}), nil
}
