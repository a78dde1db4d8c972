package expr

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/dates"
)

// dateMath are operators that compute with dates and units of time, such as "month". Package dates computes, in the
// calendar of the time zone. This file evaluates and checks the arguments, in MongoDB's order.
//
//	{$dateAdd: {startDate: ISODate("2024-01-31"), unit: "month", amount: 1}}   →   ISODate("2024-02-29")
//	{$dateTrunc: {date: ISODate("2024-02-29"), unit: "quarter"}}               →   ISODate("2024-01-01")
//	{$dateDiff: {startDate: ISODate("2024-01-01"), endDate: ISODate("2024-02-29"), unit: "day"}}   →   59
var dateMath = table{
	"$dateAdd":      parseDateAdd(1),
	"$dateSubtract": parseDateAdd(-1),
	"$dateDiff":     parseDateDiff,
	"$dateTrunc":    parseDateTrunc,
}

// evalUnit evaluates a unit of time, from "millisecond" to "year". It returns "" for a nullish unit. name is the
// operator's, for errors.
func evalUnit(name string, c *Context, e Expr) (string, error) {
	v, err := e.Eval(c)
	if err != nil || bsonval.IsNullish(v) {
		return "", err
	}
	unit, ok := v.(string)
	switch {
	case !ok:
		return "", mongoerr.New(5439013, "%s requires 'unit' to be a string, but got %s", name, bsonval.TypeName(v))
	case !dates.IsUnit(unit):
		return "", mongoerr.New(mongoerr.FailedToParse,
			"%s parameter 'unit' value parsing failed :: caused by :: unknown time unit value: %s", name, unit)
	}
	return unit, nil
}

// parseDateAdd returns the parser of {$dateAdd: {startDate: …, unit: "month", amount: 1, timezone: …}}, where sign is
// 1, or of $dateSubtract, where sign is -1.
func parseDateAdd(sign int64) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		parts, err := parseParts(name, arg, s, dateAddErrors, "startDate!", "unit!", "amount!", "timezone")
		if err != nil {
			return nil, err
		}
		return function(func(c *Context) (any, error) { return addUnits(c, name, parts, sign) }), nil
	}
}

// addUnits evaluates $dateAdd or $dateSubtract. All parts are evaluated first: a nullish part gives null even if
// startDate or amount has a wrong type.
func addUnits(c *Context, name string, parts map[string]Expr, sign int64) (any, error) {
	start, err := parts["startDate"].Eval(c)
	if err != nil || bsonval.IsNullish(start) {
		return nil, err
	}
	unit, err := evalUnit(name, c, parts["unit"])
	if err != nil || unit == "" {
		return nil, err
	}
	v, err := parts["amount"].Eval(c)
	if err != nil || bsonval.IsNullish(v) {
		return nil, err
	}
	loc, null, err := evalZone(c, parts["timezone"])
	if err != nil || null {
		return nil, err
	}
	t, err := dates.ConvertToTime(start)
	if err != nil {
		return nil, mongoerr.New(5166403, "%s requires startDate to be convertible to a date", name)
	}
	t = t.In(loc)
	n, ok := bsonval.Int64(v)
	if !ok {
		return nil, mongoerr.New(5166405, "%s expects integer amount of time units", name)
	}
	sum, err := dates.AddUnits(name, t, unit, sign*n)
	if err != nil {
		return nil, err
	}
	return sum, nil
}

// evalWeekStart evaluates the part startOfWeek, such as "monday". day is 0 for Sunday, which is the default, to 6 for
// Saturday. null reports that the part is nullish. Callers evaluate it only for the unit week.
func evalWeekStart(name string, c *Context, e Expr) (day int64, null bool, err error) {
	v, err := evalPart(c, e, "sunday")
	if err != nil || bsonval.IsNullish(v) {
		return 0, err == nil, err
	}
	s, ok := v.(string)
	if !ok {
		return 0, false, mongoerr.New(5439015, "%s requires 'startOfWeek' to be a string, but got %s",
			name, bsonval.TypeName(v))
	}
	if day, ok := dates.ParseWeekday(s); ok {
		return int64(day), false, nil
	}
	return 0, false, mongoerr.New(mongoerr.FailedToParse, "unknown day of week value: %s", s)
}

// parseDateDiff parses {$dateDiff: {startDate: …, endDate: …, unit: "day", timezone: …, startOfWeek: …}}.
func parseDateDiff(name string, arg any, s Scope) (Expr, error) {
	parts, err := parseParts(name, arg, s, dateDiffErrors, "startDate!", "endDate!", "unit!", "timezone", "startOfWeek")
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) { return subtractDates(c, name, parts) }), nil
}

// subtractDates evaluates $dateDiff: how many boundaries of the unit are between the dates. From 23:59 on December 31
// to 0:00 on January 1 it is one year. Both dates are evaluated before one is converted, so that a nullish date gives
// null even beside a value that isn't a date.
func subtractDates(c *Context, name string, parts map[string]Expr) (any, error) {
	for _, part := range []string{"startDate", "endDate"} {
		if v, err := parts[part].Eval(c); err != nil || bsonval.IsNullish(v) {
			return nil, err
		}
	}
	notDate := func(part string) func(any) error {
		return func(v any) error {
			return mongoerr.New(5166307,
				"$dateDiff requires '%s' to be a date, but got %s", part, bsonval.TypeName(v))
		}
	}
	from, null, err := evalLocalDateOr(c, parts["startDate"], parts["timezone"], notDate("startDate"))
	if null || err != nil {
		return nil, err
	}
	to, null, err := evalLocalDateOr(c, parts["endDate"], parts["timezone"], notDate("endDate"))
	if null || err != nil {
		return nil, err
	}
	unit, err := evalUnit(name, c, parts["unit"])
	if err != nil || unit == "" {
		return nil, err
	}
	start := int64(0)
	if unit == "week" {
		if start, null, err = evalWeekStart(name, c, parts["startOfWeek"]); null || err != nil {
			return nil, err
		}
	}
	return dates.CountUnits(to, unit, start) - dates.CountUnits(from, unit, start), nil
}

// parseDateTrunc parses {$dateTrunc: {date: …, unit: "hour", binSize: 6, timezone: …, startOfWeek: …}}.
func parseDateTrunc(name string, arg any, s Scope) (Expr, error) {
	parts, err := parseParts(name, arg, s, dateTruncErrors, "date!", "unit!", "binSize", "timezone", "startOfWeek")
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) { return truncateDate(c, name, parts) }), nil
}

// truncateDate evaluates $dateTrunc: the begin of the bin of binSize units in which the date is.
func truncateDate(c *Context, name string, parts map[string]Expr) (any, error) {
	t, null, err := evalLocalDateOr(c, parts["date"], parts["timezone"], func(v any) error {
		return mongoerr.New(5439012, "%s requires 'date' to be a date, but got %s", name, bsonval.TypeName(v))
	})
	if null || err != nil {
		return nil, err
	}
	unit, err := evalUnit(name, c, parts["unit"])
	if err != nil || unit == "" {
		return nil, err
	}
	v, err := evalPart(c, parts["binSize"], int32(1))
	if err != nil || bsonval.IsNullish(v) {
		return nil, err
	}
	size, ok := bsonval.Int64(v)
	switch {
	case !ok:
		return nil, mongoerr.New(5439017, "%s requires 'binSize' to be a 64-bit integer, but got value '%s' of type %s",
			name, bsonval.Show(v), bsonval.TypeName(v))
	case size <= 0:
		return nil, mongoerr.New(5439018, "%s requires 'binSize' to be greater than 0, but got value %d", name, size)
	case size > math.MaxInt32:
		return nil, mongoerr.New(mongoerr.NotImplemented,
			"%s with a binSize beyond %d isn't implemented by the embedded engine", name, math.MaxInt32)
	}
	start := int64(0)
	if unit == "week" {
		if start, null, err = evalWeekStart(name, c, parts["startOfWeek"]); null || err != nil {
			return nil, err
		}
	}
	return bson.NewDateTimeFromTime(dates.Truncate(t, unit, size, start)), nil
}
