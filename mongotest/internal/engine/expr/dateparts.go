package expr

import (
	"strings"
	"time"
	_ "time/tzdata" // so that zones resolve on every machine

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/dates"
)

// dateParts take dates apart. The argument is a date or {date, timezone}.
var dateParts = table{
	"$year":         datePart(func(t time.Time) any { return int32(t.Year()) }),
	"$month":        datePart(func(t time.Time) any { return int32(t.Month()) }),
	"$dayOfMonth":   datePart(func(t time.Time) any { return int32(t.Day()) }),
	"$dayOfYear":    datePart(func(t time.Time) any { return int32(t.YearDay()) }),
	"$dayOfWeek":    datePart(func(t time.Time) any { return int32(t.Weekday()) + 1 }),
	"$hour":         datePart(func(t time.Time) any { return int32(t.Hour()) }),
	"$minute":       datePart(func(t time.Time) any { return int32(t.Minute()) }),
	"$second":       datePart(func(t time.Time) any { return int32(t.Second()) }),
	"$millisecond":  datePart(func(t time.Time) any { return int32(t.Nanosecond() / 1e6) }),
	"$week":         datePart(func(t time.Time) any { return int32(dates.WeekOfYear(t)) }),
	"$isoWeek":      datePart(func(t time.Time) any { _, w := t.ISOWeek(); return int32(w) }),
	"$isoWeekYear":  datePart(func(t time.Time) any { y, _ := t.ISOWeek(); return int64(y) }),
	"$isoDayOfWeek": datePart(func(t time.Time) any { return int32(dates.ISOWeekday(t)) }),
}

func datePart(f func(t time.Time) any) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		parts := map[string]Expr{}
		var err error
		if d, ok := arg.(bson.D); ok && (len(d) == 0 || !strings.HasPrefix(d[0].Key, "$")) {
			parts, err = fields(name, arg, s, ofDatePart, "date!", "timezone")
		} else {
			var items []Expr
			if items, err = arguments(name, arg, s, 1, 1); err == nil {
				parts["date"] = items[0]
			}
		}
		if err != nil {
			return nil, err
		}
		return function(func(c *Context) (any, error) {
			t, null, err := localDate(c, parts["date"], parts["timezone"])
			if null || err != nil {
				return nil, err
			}
			return f(t), nil
		}), nil
	}
}

// localDate evaluates a date and a time zone; null when either is.
func localDate(c *Context, date, zone Expr) (t time.Time, null bool, err error) {
	return localDateOr(c, date, zone, nil)
}

// localDateOr is localDate with an error of the caller's for what is no date.
func localDateOr(c *Context, date, zone Expr, wrong func(v any) error) (t time.Time, null bool, err error) {
	v, err := date.Eval(c)
	if err != nil {
		return t, false, err
	}
	loc, null, err := location(c, zone)
	if null || err != nil {
		return t, null, err
	}
	if bsonval.IsNullish(v) {
		return t, true, nil
	}
	if t, err = dates.ConvertToTime(v); err != nil && wrong != nil {
		err = wrong(v)
	}
	return t.In(loc), false, err
}

// location evaluates a time zone; UTC when it isn't given.
func location(c *Context, zone Expr) (loc *time.Location, null bool, err error) {
	if zone == nil {
		return time.UTC, false, nil
	}
	v, err := zone.Eval(c)
	if err != nil || bsonval.IsNullish(v) {
		return nil, err == nil, err
	}
	name, ok := v.(string)
	if !ok {
		return nil, false, mongoerr.New(40517, "timezone must evaluate to a string, found %s", bsonval.TypeName(v))
	}
	loc, err = dates.LoadZone(name)
	return loc, false, err
}
