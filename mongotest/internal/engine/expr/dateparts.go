package expr

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // so that zones resolve on every machine

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
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
	"$week":         datePart(func(t time.Time) any { return int32(weekOfYear(t)) }),
	"$isoWeek":      datePart(func(t time.Time) any { _, w := t.ISOWeek(); return int32(w) }),
	"$isoWeekYear":  datePart(func(t time.Time) any { y, _ := t.ISOWeek(); return int64(y) }),
	"$isoDayOfWeek": datePart(func(t time.Time) any { return int32(isoWeekday(t)) }),
}

func isoWeekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// weekOfYear counts from the year's first Sunday; the days before it are in week 0.
func weekOfYear(t time.Time) int { return (t.YearDay() + 6 - int(t.Weekday())) / 7 }

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
	if t, err = timeOf(v); err != nil && wrong != nil {
		err = wrong(v)
	}
	return t.In(loc), false, err
}

// timeOf returns the time of a date, a timestamp or an ObjectId.
func timeOf(v any) (time.Time, error) {
	switch x := v.(type) {
	case bson.DateTime:
		return x.Time().UTC(), nil
	case bson.Timestamp:
		return time.Unix(int64(x.T), 0).UTC(), nil
	case bson.ObjectID:
		return x.Timestamp().UTC(), nil
	}
	return time.Time{}, mongoerr.New(16006, "can't convert from BSON type %s to Date", bsonval.TypeName(v))
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
	loc, err = loadZone(name)
	return loc, false, err
}

var zones sync.Map // of *time.Location by name

func loadZone(name string) (*time.Location, error) {
	if loc, ok := zones.Load(name); ok {
		return loc.(*time.Location), nil
	}
	loc, ok := fixedZone(name)
	if !ok {
		var err error
		if loc, err = time.LoadLocation(name); err != nil || name == "" || name == "Local" {
			return nil, mongoerr.New(40485, "unrecognized time zone identifier: \"%s\"", name)
		}
	}
	zones.Store(name, loc)
	return loc, nil
}

// fixedZone reads "+hh", "+hhmm" and "+hh:mm".
func fixedZone(name string) (*time.Location, bool) {
	if name == "" || (name[0] != '+' && name[0] != '-') {
		return nil, false
	}
	digits := strings.Replace(name[1:], ":", "", 1)
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || (len(digits) != 2 && len(digits) != 4) {
		return nil, false
	}
	if len(digits) == 2 {
		n *= 100
	}
	seconds := (n/100*60 + n%100) * 60
	if name[0] == '-' {
		seconds = -seconds
	}
	return time.FixedZone(name, seconds), true
}

// formatDate renders a time by $dateToString's specifiers.
func formatDate(t time.Time, format string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		if i++; i == len(format) {
			return "", mongoerr.New(18535, "Unmatched '%%' at end of format string")
		}
		if err := formatPart(&b, t, format[i]); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func formatPart(b *strings.Builder, t time.Time, c byte) error {
	isoYear, isoWeek := t.ISOWeek()
	_, offset := t.Zone()
	switch c {
	case '%':
		b.WriteByte('%')
	case 'Y', 'G':
		year := t.Year()
		if c == 'G' {
			year = isoYear
		}
		if year < 0 || year > 9999 {
			return mongoerr.New(18537,
				"Could not convert date to string: date component was outside the supported range of 0-9999: %d", year)
		}
		fmt.Fprintf(b, "%04d", year)
	case 'm':
		fmt.Fprintf(b, "%02d", t.Month())
	case 'd':
		fmt.Fprintf(b, "%02d", t.Day())
	case 'H':
		fmt.Fprintf(b, "%02d", t.Hour())
	case 'M':
		fmt.Fprintf(b, "%02d", t.Minute())
	case 'S':
		fmt.Fprintf(b, "%02d", t.Second())
	case 'L':
		fmt.Fprintf(b, "%03d", t.Nanosecond()/1e6)
	case 'j':
		fmt.Fprintf(b, "%03d", t.YearDay())
	case 'w':
		fmt.Fprintf(b, "%d", t.Weekday()+1)
	case 'u':
		fmt.Fprintf(b, "%d", isoWeekday(t))
	case 'U':
		fmt.Fprintf(b, "%02d", weekOfYear(t))
	case 'V':
		fmt.Fprintf(b, "%02d", isoWeek)
	case 'b':
		b.WriteString(t.Month().String()[:3])
	case 'B':
		b.WriteString(t.Month().String())
	case 'z':
		sign := '+'
		if offset < 0 {
			sign, offset = '-', -offset
		}
		fmt.Fprintf(b, "%c%02d%02d", sign, offset/3600, offset/60%60)
	case 'Z':
		fmt.Fprintf(b, "%+d", offset/60)
	default:
		return mongoerr.New(18536, "Invalid format character '%%%c' in format string", c)
	}
	return nil
}
