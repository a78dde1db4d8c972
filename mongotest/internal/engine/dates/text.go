package dates

import (
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// unset is the value of a part that the text doesn't have.
const unset = -1 << 40

// dateText is a text, and the parts of a date that were read from it. Parse and ParseByFormat make one for each call.
// The functions read… take the next piece of the text: they store its parts, and move at behind it.
type dateText struct {
	text                 string
	at                   int // how many bytes of the text have been read
	year, month, day     int
	hour, minute, second int
	ms                   int   // milliseconds
	isoYear, isoWeek     int   // of a week date, which has no month
	isoDay               int   // 1 for Monday
	weekday              int   // the date moves to this day of the week, 0 for Sunday
	seconds              int64 // added to the date; from "@" and the seconds since 1970
	zone                 zoneKind
	offset               int    // of the zone, in seconds to the east
	zoneName             string // for an error
}

// zoneKind is how a text names its time zone.
type zoneKind uint8

const (
	noZone           zoneKind = iota
	zoneOffset                // +02:00
	zoneAbbreviation          // CEST
)

// newText returns a text of which nothing is read yet.
func newText(text string) *dateText {
	return &dateText{text: text, year: unset, month: unset, day: unset, hour: unset, minute: unset, second: unset,
		isoYear: unset, isoWeek: unset, isoDay: unset, weekday: unset}
}

// fail returns the error of a problem at a position of the text, in bytes. MongoDB's text has the position and the
// character there, a zero byte at the end.
func (r *dateText) fail(at int, problem string) error {
	sign := "\x00"
	if at < len(r.text) {
		_, n := utf8.DecodeRuneInString(r.text[at:])
		sign = r.text[at : at+n]
	}
	return mongoerr.New(mongoerr.ConversionFailure, "Error parsing date string '%s'; %d: %s '%s'",
		r.text, at, problem, sign)
}

// buildDate makes the date of the parts that were read. It is in loc if the text names no time zone. A time of day may
// be absent (midnight), a part of the date may not.
func (r *dateText) buildDate(loc *time.Location) (bson.DateTime, error) {
	if err := r.resolveISO(); err != nil {
		return 0, err
	}
	// A time of day with hours alone is whole.
	if r.hour != unset || r.minute != unset || r.second != unset {
		r.hour, r.minute, r.second = max(r.hour, 0), max(r.minute, 0), max(r.second, 0)
	}
	if r.year == unset || r.month == unset || r.day == unset {
		return 0, mongoerr.New(mongoerr.ConversionFailure,
			"an incomplete date/time string has been found, with elements missing: \"%s\"", r.text)
	}
	switch {
	case r.hour > 24 || r.minute > 59 || r.second > 59 || r.hour == 24 && (r.minute > 0 || r.second > 0):
		return 0, r.fail(len(r.text), "The parsed time was invalid")
	case r.month < 1 || r.month > 12 || r.day < 1 ||
		r.day > time.Date(r.year, time.Month(r.month)+1, 0, 0, 0, 0, 0, time.UTC).Day():
		return 0, r.fail(len(r.text), "The parsed date was invalid")
	}
	if r.zone != noZone {
		if loc != time.UTC && loc.String() != "UTC" { // UTC is what a caller without a time zone passes
			return 0, r.refuseTwoZones()
		}
		loc = time.FixedZone("", r.offset)
	}
	// Milliseconds and seconds aren't passed to Date: seconds since 1970 may be far beyond a minute.
	t := time.Date(r.year, time.Month(r.month), r.day, max(r.hour, 0), max(r.minute, 0), max(r.second, 0), 0, loc)
	if r.weekday != unset {
		t = t.AddDate(0, 0, (r.weekday-int(t.Weekday())+7)%7)
	}
	return bson.DateTime(t.UnixMilli() + int64(r.ms) + 1000*r.seconds), nil
}

// refuseTwoZones returns the error of a text with a time zone where the caller names a time zone too.
func (r *dateText) refuseTwoZones() error {
	if r.zone == zoneOffset {
		return mongoerr.New(mongoerr.ConversionFailure,
			"you cannot pass in a date/time string with GMT offset together with a timezone argument")
	}
	return mongoerr.New(mongoerr.ConversionFailure,
		"you cannot pass in a date/time string with time zone information ('%s') together with a timezone argument",
		r.zoneName)
}

// resolveISO computes year, month and day from the parts of an ISO 8601 week date.
func (r *dateText) resolveISO() error {
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
	t := fourth.AddDate(0, 0, 7*(week-1)+day-ISOWeekday(fourth))
	r.year, r.month, r.day = t.Year(), int(t.Month()), t.Day()
	return nil
}
