// Package dates computes with dates as MongoDB's expressions do. It knows no expressions: package expr evaluates the
// arguments, and calls a function here with Go values. The stages $densify and $setWindowFields count by its units too.
//
// # What it does
//
//   - [ConvertToTime] and [SplitTime] convert between BSON values and Go's time.
//   - [AddUnits], [AddToDate], [CountUnits] and [Truncate] compute with units of time, from a millisecond to a year.
//   - [LoadZone] finds a time zone.
//   - [Format] and [CheckFormat] are for the formats of $dateToString and $dateFromString.
//   - [Parse] and [ParseByFormat] read a date from text.
//
// # How a text is read
//
//  1. A dateText starts with all parts of the date unset.
//  2. A loop reads one piece after the other: the next specifier of the format (parse_format.go), or without a format
//     the form that matches most of the remaining text (parse_forms.go). Both read time zones by parse_zone.go. Each
//     piece sets parts. A part that is given twice is an error.
//  3. buildDate checks the parts, and makes the date from them.
//
// A text in three forms, and the parts that they set:
//
//	"Fri 3 May 2024 3:30 pm CEST"   →   weekday 5; day 3, month 5, year 2024; hour 15, minute 30; offset 7200 s
//
// # Rules
//
// A time.Time that is passed in has the time zone in which to compute. Years, months, weeks and days are those of its
// calendar; shorter units have a fixed length. Errors have MongoDB's codes and texts. A text that can't be read is the
// error ConversionFailure, which $dateFromString catches by onError.
package dates

import (
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// ConvertToTime returns the time of a date, a timestamp or an ObjectId.
func ConvertToTime(v any) (time.Time, error) {
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

// ISOWeekday returns a time's day of the week, 1 for Monday and 7 for Sunday.
func ISOWeekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// WeekOfYear returns the number of a time's week, as $week does: weeks begin on Sunday, and the days before the year's
// first Sunday are in week 0.
func WeekOfYear(t time.Time) int { return (t.YearDay() + 6 - int(t.Weekday())) / 7 }

// weekdays begin with the day that time.Weekday numbers 0. Options such as $dateTrunc's startOfWeek and texts of dates
// name them.
var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// ParseWeekday returns the number of a weekday, 0 for Sunday, by its name or the first three letters.
func ParseWeekday(name string) (day int, ok bool) {
	for i, d := range weekdays {
		if strings.EqualFold(name, d) || strings.EqualFold(name, d[:3]) {
			return i, true
		}
	}
	return 0, false
}

// SplitTime returns the document of a time's parts, as $dateToParts does. With iso it has ISO 8601's year, week and
// weekday in place of year, month and day.
func SplitTime(t time.Time, iso bool) bson.D {
	names, values := []string{"year", "month", "day"}, []int{t.Year(), int(t.Month()), t.Day()}
	if iso {
		year, week := t.ISOWeek()
		names, values = []string{"isoWeekYear", "isoWeek", "isoDayOfWeek"}, []int{year, week, ISOWeekday(t)}
	}
	names = append(names, "hour", "minute", "second", "millisecond")
	values = append(values, t.Hour(), t.Minute(), t.Second(), t.Nanosecond()/1e6)
	d := make(bson.D, len(names))
	for i, n := range names {
		d[i] = bson.E{Key: n, Value: int32(values[i])}
	}
	return d
}
