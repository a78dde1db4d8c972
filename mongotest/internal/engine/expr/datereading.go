package expr

import (
	"strings"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// dateReading makes dates of strings, and documents of the parts of dates.
var dateReading = table{
	"$dateFromString": parseDateFromString,
	"$dateToParts":    parseDateToParts,
}

var (
	ofDateFromString = refusals{
		object:  "%[1]s only supports an object as an argument, found: %[2]s",
		unknown: unrecognized, missing: missingPart, notObject: 40540, notKnown: 40541,

		absent: map[string]int32{"dateString": 40542},
	}
	ofDateToParts = refusals{onlyObject, unrecognized, missingPart, 40524, 40520, map[string]int32{"date": 40522}}
)

func parseDateFromString(name string, arg any, s Scope) (Expr, error) {
	parts, err := fields(name, arg, s, ofDateFromString, "dateString!", "format", "timezone", "onError", "onNull")
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) {
		v, err := parts["dateString"].Eval(c)
		if err != nil {
			return nil, err
		}
		format, err := dateFormat(c, parts["format"])
		if err != nil {
			return nil, err
		}
		loc, noZone, err := location(c, parts["timezone"])
		switch {
		case err != nil:
			return nil, err
		case bsonval.IsNullish(v):
			return part(c, parts["onNull"], nil)
		}
		text, ok := v.(string)
		if !ok {
			err = mongoerr.New(mongoerr.ConversionFailure,
				"$dateFromString requires that 'dateString' be a string, found: %s with value %s",
				bsonval.TypeName(v), Show(v))
		} else if noZone || parts["format"] != nil && format == nil {
			return nil, nil
		} else {
			v, err = readDate(text, format, loc)
		}
		if err != nil && mongoerr.From(err).Code == mongoerr.ConversionFailure && parts["onError"] != nil {
			return parts["onError"].Eval(c)
		}
		return v, err
	}), nil
}

// dateFormat evaluates a format, and checks its specifiers; nil if there is none.
func dateFormat(c *Context, e Expr) (any, error) {
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
	for rest := format; rest != ""; {
		_, after, found := strings.Cut(rest, "%")
		if !found {
			break
		}
		if after == "" {
			return nil, mongoerr.New(18535, "Unmatched '%%' at end of format string")
		}
		if !strings.ContainsRune("bBdGHjLmMSuVYzZ%", rune(after[0])) {
			return nil, mongoerr.New(18536, "Invalid format character '%%%c' in format string", after[0])
		}
		rest = after[1:]
	}
	return format, nil
}

// readDate reads a date by a format, or in one of the usual forms if the format is nil. The location
// is that of a date that doesn't name its own.
func readDate(text string, format any, loc *time.Location) (any, error) {
	r := newReading(text)
	var err error
	if layout, ok := format.(string); ok {
		err = r.byFormat(layout)
	} else {
		err = r.byForm()
	}
	if err != nil {
		return nil, err
	}
	return r.date(loc)
}

// unset is a part of a date that the text doesn't have.
const unset = -1 << 40

// reading is what has been read of the text of a date.
type reading struct {
	text                 string
	at                   int // how much of the text has been read
	year, month, day     int
	hour, minute, second int
	ms                   int
	isoYear, isoWeek     int
	isoDay               int
	weekday              int // the date moves to this day of the week, 0 for Sunday
	seconds              int64
	zone                 zoneKind
	offset               int // in seconds, to the east
	zoneName             string
}

type zoneKind uint8

const (
	noZone zoneKind = iota
	zoneOffset
	zoneAbbreviation
)

func newReading(text string) *reading {
	return &reading{text: text, year: unset, month: unset, day: unset, hour: unset, minute: unset, second: unset,
		isoYear: unset, isoWeek: unset, isoDay: unset, weekday: unset}
}

// fail says what is wrong at a place of the text.
func (r *reading) fail(at int, problem string) error {
	sign := "\x00"
	if at < len(r.text) {
		_, n := utf8.DecodeRuneInString(r.text[at:])
		sign = r.text[at : at+n]
	}
	return mongoerr.New(mongoerr.ConversionFailure, "Error parsing date string '%s'; %d: %s '%s'",
		r.text, at, problem, sign)
}

// date puts the parts together.
func (r *reading) date(loc *time.Location) (any, error) {
	if err := r.resolveISO(); err != nil {
		return nil, err
	}
	if r.hour != unset || r.minute != unset || r.second != unset {
		r.hour, r.minute, r.second = max(r.hour, 0), max(r.minute, 0), max(r.second, 0)
	}
	if r.year == unset || r.month == unset || r.day == unset {
		return nil, mongoerr.New(mongoerr.ConversionFailure,
			"an incomplete date/time string has been found, with elements missing: \"%s\"", r.text)
	}
	switch {
	case r.hour > 24 || r.minute > 59 || r.second > 59 || r.hour == 24 && (r.minute > 0 || r.second > 0):
		return nil, r.fail(len(r.text), "The parsed time was invalid")
	case r.month < 1 || r.month > 12 || r.day < 1 ||
		r.day > time.Date(r.year, time.Month(r.month)+1, 0, 0, 0, 0, 0, time.UTC).Day():
		return nil, r.fail(len(r.text), "The parsed date was invalid")
	}
	if r.zone != noZone {
		if loc != time.UTC && loc.String() != "UTC" {
			return nil, r.twoZones()
		}
		loc = time.FixedZone("", r.offset)
	}
	t := time.Date(r.year, time.Month(r.month), r.day, max(r.hour, 0), max(r.minute, 0), max(r.second, 0), 0, loc)
	if r.weekday != unset {
		t = t.AddDate(0, 0, (r.weekday-int(t.Weekday())+7)%7)
	}
	return bson.DateTime(t.UnixMilli() + int64(r.ms) + 1000*r.seconds), nil
}

func (r *reading) twoZones() error {
	if r.zone == zoneOffset {
		return mongoerr.New(mongoerr.ConversionFailure,
			"you cannot pass in a date/time string with GMT offset together with a timezone argument")
	}
	return mongoerr.New(mongoerr.ConversionFailure,
		"you cannot pass in a date/time string with time zone information ('%s') together with a timezone argument",
		r.zoneName)
}

// resolveISO makes a day of the year and week of ISO 8601.
func (r *reading) resolveISO() error {
	if r.isoYear == unset && r.isoWeek == unset && r.isoDay == unset {
		return nil
	}
	if r.year != unset || r.month != unset || r.day != unset {
		return r.fail(len(r.text), "Mixing of ISO dates with natural dates is not allowed")
	}
	if r.isoYear == unset {
		return nil
	}
	week, day := 1, 1
	if r.isoWeek != unset {
		week = r.isoWeek
	}
	if r.isoDay != unset {
		day = r.isoDay
	}
	fourth := time.Date(r.isoYear, 1, 4, 0, 0, 0, 0, time.UTC) // is in the first week
	t := fourth.AddDate(0, 0, 7*(week-1)+day-isoWeekday(fourth))
	r.year, r.month, r.day = t.Year(), int(t.Month()), t.Day()
	return nil
}

func parseDateToParts(name string, arg any, s Scope) (Expr, error) {
	parts, err := fields(name, arg, s, ofDateToParts, "date!", "timezone", "iso8601")
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) {
		v, err := parts["date"].Eval(c)
		if err != nil {
			return nil, err
		}
		loc, null, err := location(c, parts["timezone"])
		if null || err != nil {
			return nil, err
		}
		flag, err := part(c, parts["iso8601"], false)
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
		t, err := timeOf(v)
		if err != nil {
			return nil, err
		}
		return partsOf(t.In(loc), iso), nil
	}), nil
}

func partsOf(t time.Time, iso bool) bson.D {
	names, values := []string{"year", "month", "day"}, []int{t.Year(), int(t.Month()), t.Day()}
	if iso {
		year, week := t.ISOWeek()
		names, values = []string{"isoWeekYear", "isoWeek", "isoDayOfWeek"}, []int{year, week, isoWeekday(t)}
	}
	names = append(names, "hour", "minute", "second", "millisecond")
	values = append(values, t.Hour(), t.Minute(), t.Second(), t.Nanosecond()/1e6)
	d := make(bson.D, len(names))
	for i, n := range names {
		d[i] = bson.E{Key: n, Value: int32(values[i])}
	}
	return d
}
