package expr

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/dates"
)

// dateMaking are the operators that make a string from a date, or a date from numbers.
//
//	{$dateToString: {date: ISODate("2024-02-29"), format: "%d/%m/%Y"}}   →   "29/02/2024"
//	{$dateFromParts: {year: 2024, month: 14}}                            →   ISODate("2025-02-01")
var dateMaking = table{
	"$dateToString":  parseDateToString,
	"$dateFromParts": parseDateFromParts,
}

// parseDateToString parses {$dateToString: {date: …, format: "%Y-%m-%d", timezone: …, onNull: …}}. Package dates has
// the formats.
func parseDateToString(name string, arg any, s Scope) (Expr, error) {
	parts, err := parseParts(name, arg, s, dateToStringErrors, "date!", "format", "timezone", "onNull")
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) { return formatDate(c, parts) }), nil
}

// formatDate evaluates $dateToString. A nullish format gives null, but only after the date and the time zone are
// checked. Without a format the date is written in ISO 8601. Its end, Z, is left out for a time zone that isn't UTC, as
// in MongoDB.
func formatDate(c *Context, parts map[string]Expr) (any, error) {
	format, err := evalPart(c, parts["format"], "")
	if err != nil {
		return nil, err
	}
	layout, hasLayout := format.(string)
	if !hasLayout && !bsonval.IsNullish(format) {
		return nil, mongoerr.New(18533, "$dateToString requires that 'format' be a string, found: %s with value %s",
			bsonval.TypeName(format), bsonval.Show(format))
	}
	v, err := parts["date"].Eval(c)
	if err != nil {
		return nil, err
	}
	if bsonval.IsNullish(v) {
		return evalPart(c, parts["onNull"], nil)
	}
	t, null, err := evalLocalDate(c, constant{v}, parts["timezone"])
	if null || err != nil || !hasLayout {
		return nil, err
	}
	if parts["format"] == nil {
		layout = "%Y-%m-%dT%H:%M:%S.%L"
		if t.Location() == time.UTC {
			layout += "Z"
		}
	}
	out, err := dates.Format(t, layout)
	return out, err
}

// datePartNames are the parts of $dateFromParts, without timezone, in the order of their evaluation. datePartDefaults
// are their values if they aren't given.
var (
	datePartNames    = [7]string{"year", "month", "day", "hour", "minute", "second", "millisecond"}
	datePartDefaults = [7]int64{1970, 1, 1, 0, 0, 0, 0}
)

// parseDateFromParts parses {$dateFromParts: {year: 2024, month: 2, day: 29, hour: 13, timezone: …}}.
func parseDateFromParts(name string, arg any, s Scope) (Expr, error) {
	if d, ok := arg.(bson.D); ok && bsonval.Index(d, "isoWeekYear") >= 0 {
		return nil, mongoerr.New(mongoerr.NotImplemented,
			"$dateFromParts with isoWeekYear isn't implemented by the embedded engine")
	}
	parts, err := parseParts(name, arg, s, dateFromPartsErrors, "year!", "month", "day", "hour", "minute", "second",
		"millisecond", "timezone")
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) { return buildDate(c, parts) }), nil
}

// buildDate evaluates $dateFromParts. Numbers outside of the calendar count on: month 13 is the next January, day 0 the
// last day of the month before, as in MongoDB and in Go.
func buildDate(c *Context, parts map[string]Expr) (any, error) {
	var numbers [7]int // in the order of datePartNames
	for i, n := range datePartNames {
		v, err := evalPart(c, parts[n], datePartDefaults[i])
		if err != nil || bsonval.IsNullish(v) {
			return nil, err
		}
		x, ok := bsonval.Int64(v)
		switch {
		case !ok:
			return nil, mongoerr.New(40515, "'%s' must evaluate to an integer, found %s with value %s", n,
				bsonval.TypeName(v), bsonval.Show(v))
		case i == 0 && (x < 1 || x > 9999):
			return nil, mongoerr.New(40523,
				"'year' must evaluate to an integer in the range 1 to 9999, found %d", x)
		case i > 0 && i < 5 && (x < -32768 || x > 32767): // from month to minute
			return nil, mongoerr.New(31034,
				"'%s' must evaluate to a value in the range [-32768, 32767]; value %d is not in range", n, x)
		case x > 1<<40 || x < -1<<40: // seconds or milliseconds beyond Go's arithmetic with them
			return nil, mongoerr.New(31034, "'%s' is out of range: %d", n, x)
		}
		numbers[i] = int(x)
	}
	loc, null, err := evalZone(c, parts["timezone"])
	if null || err != nil {
		return nil, err
	}
	t := time.Date(numbers[0], time.Month(numbers[1]), numbers[2], numbers[3], numbers[4], numbers[5], 0, loc)
	return bson.DateTime(t.UnixMilli() + int64(numbers[6])), nil
}
