package expr

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/dates"
)

// dateReading are the operators that read a date from a string, or take a date apart into a document of numbers.
//
//	{$dateFromString: {dateString: "2024-W09-4", format: "%G-W%V-%u"}}   →   ISODate("2024-02-29")
//	{$dateFromString: {dateString: "x", onError: "no date"}}             →   "no date"
//	{$dateToParts: {date: ISODate("2024-02-29"), iso8601: true}}         →   {isoWeekYear: 2024, isoWeek: 9, …}
var dateReading = table{
	"$dateFromString": parseDateFromString,
	"$dateToParts":    parseDateToParts,
}

// parseDateFromString parses {$dateFromString: {dateString: …, format: …, timezone: …, onError: …, onNull: …}}. Package
// dates reads the string.
func parseDateFromString(name string, arg any, s Scope) (Expr, error) {
	parts, err := parseParts(name, arg, s, dateFromStringErrors,
		"dateString!", "format", "timezone", "onError", "onNull")
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) { return readDate(c, parts) }), nil
}

// readDate evaluates $dateFromString. Errors in the format and the time zone aren't caught by onError. Errors of the
// string are: a value of another type, or a text that can't be read. A nullish format or time zone gives null.
func readDate(c *Context, parts map[string]Expr) (any, error) {
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
			bsonval.TypeName(v), bsonval.Show(v))
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
}

// evalFormat evaluates the part format of $dateFromString, a string, and checks its specifiers. It returns nil for a
// nullish format and if e is nil.
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
			bsonval.TypeName(v), bsonval.Show(v))
	}
	if err := dates.CheckFormat(format); err != nil {
		return nil, err
	}
	return format, nil
}

// parseDateToParts parses {$dateToParts: {date: …, timezone: …, iso8601: bool}}. The result has the numbers of the
// calendar, {year, month, day, …}, or with iso8601 the numbers of the week date, {isoWeekYear, isoWeek, isoDayOfWeek,
// …}.
func parseDateToParts(name string, arg any, s Scope) (Expr, error) {
	parts, err := parseParts(name, arg, s, dateToPartsErrors, "date!", "timezone", "iso8601")
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) { return splitDate(c, parts) }), nil
}

// splitDate evaluates $dateToParts. The date is checked last: a wrong iso8601 is an error even beside a null date.
func splitDate(c *Context, parts map[string]Expr) (any, error) {
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
}
