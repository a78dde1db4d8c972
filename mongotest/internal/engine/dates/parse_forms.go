package dates

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// form is one of the usual ways in which a date, or a part of it, is written. The groups of its expression have the
// names of the parts that they capture: year, month, name (of a month), day, isoWeek, isoDay, dayOfYear, hour, minute,
// second, fraction (of a second), half (a or p of 3 a.m.), weekday, and seconds (since 1970).
type form struct {
	re   *regexp.Regexp
	kind formKind
}

// formKind says which parts of a date a form has.
type formKind uint8

const (
	dateForm    formKind = iota
	timeForm             // a time of day
	weekdayForm          // the name of a day of the week
	stampForm            // seconds since 1970
	bothForm             // a date with a time
)

// Parts of the expressions of forms.
const (
	monthWord = `(?i:(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|` +
		`sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?))`
	dayNumber = `(?P<day>[0-2]?\d|3[01])(?i:st|nd|rd|th)?`
	separator = `[ \t.-]*` // between the parts of a date with a month's name
	halfOfDay = `[ \t]*(?P<half>[AaPp])\.?[Mm]\.?`
)

// forms are what MongoDB reads without a format, as the library that it uses for that (timelib) describes them.
// https://www.php.net/manual/en/datetime.formats.php
//
// Of two forms that match equally much of a text the first wins.
var forms = []form{
	// 2024-05-03
	{compileForm(`(?P<year>[+-]?\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})`), dateForm},
	// 2024/5/3
	{compileForm(`(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})`), dateForm},
	// 5/3/2024
	{compileForm(`(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4}|\d{2})`), dateForm},
	// 3.5.2024
	{compileForm(`(?P<day>\d{1,2})[.\t-](?P<month>\d{1,2})[.-](?P<year>\d{4})`), dateForm},
	// 3.5.24
	{compileForm(`(?P<day>\d{1,2})[.\t](?P<month>\d{1,2})\.(?P<year>\d{2})`), dateForm},
	// 20240503
	{compileForm(`(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})`), dateForm},
	// 20240503153007
	{
		re: compileForm(`(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})` +
			`(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})`),
		kind: bothForm,
	},
	// 2024-W18-5
	{compileForm(`(?P<year>\d{4})-?W(?P<isoWeek>\d{2})(?:-?(?P<isoDay>[0-7]))?`), dateForm},
	// 2024.124
	{compileForm(`(?P<year>\d{4})[.-]?(?P<dayOfYear>\d{3})`), dateForm},
	// 3rd May 2024
	{compileForm(dayNumber + separator + monthWord + separator + `(?P<year>\d{4}|\d{2})`), dateForm},
	// May 3, 2024
	{compileForm(monthWord + separator + dayNumber + `[,.\t ]+(?P<year>\d{4}|\d{2})`), dateForm},
	// May 2024
	{compileForm(monthWord + separator + `(?P<year>\d{4})`), dateForm},
	// 2024 May 3
	{compileForm(`(?P<year>\d{4})` + separator + monthWord + `(?:` + separator + dayNumber + `)?`), dateForm},
	// 2024-05
	{compileForm(`(?P<year>\d{4})-(?P<month>\d{1,2})`), dateForm},
	// 15:30:07.009 or 3:30 pm
	{
		re: compileForm(`(?i:t?)(?P<hour>\d{1,2})[.:](?P<minute>\d{2})` +
			`(?:[.:](?P<second>\d{2})(?:[.,:](?P<fraction>\d+))?)?(?:` + halfOfDay + `)?`),
		kind: timeForm,
	},
	// 3 pm
	{compileForm(`(?P<hour>\d{1,2})` + halfOfDay), timeForm},
	// T153007
	{
		re: compileForm(`[Tt](?P<hour>\d{2})` +
			`(?:(?P<minute>\d{2})(?:(?P<second>\d{2})(?:[.,:](?P<fraction>\d+))?)?)?`),
		kind: timeForm,
	},
	// Friday
	{
		re: compileForm(
			`(?P<weekday>(?i:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?i:day)?)\b`),
		kind: weekdayForm,
	},
	// @1714743007
	{compileForm(`@(?P<seconds>-?\d+)`), stampForm},
}

// compileForm compiles a form that matches at the beginning of a text, as much as it can.
func compileForm(pattern string) *regexp.Regexp {
	re := regexp.MustCompile("^(?:" + pattern + ")")
	re.Longest()
	return re
}

// relative matches the words by which MongoDB counts from a date. The engine refuses them.
var relative = regexp.MustCompile(`^(?i)(?:` +
	`[+-]?[ \t]*\d+[ \t]*(?:msecs?|millisecond|sec|min|hour|day|week|fortnight|month|year)|` +
	`(?:yesterday|today|tomorrow|now|noon|midnight|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|` +
	`tenth|eleventh|twelfth|next|last|previous|this|back|front|ago)\b)`)

// readByForms reads the parts of a date in any order, each in the form that takes most of the text. Spaces and commas
// between the parts don't matter. What no form matches must be a time zone.
func (r *dateText) readByForms() error {
	if r.text == "" {
		return r.fail(0, "Empty string")
	}
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		if strings.ContainsRune(" \t\n,;", rune(rest[0])) {
			r.at++
			continue
		}
		best, length := r.findLongestForm(rest)
		if m := relative.FindString(rest); len(m) > length && len(m) > 0 {
			return mongoerr.New(mongoerr.NotImplemented,
				"a date with '%s', which counts from another, isn't implemented by the embedded engine", m)
		}
		if length > 0 {
			if err := r.storeForm(forms[best], rest); err != nil {
				return err
			}
			r.at += length
			continue
		}
		n, err := r.readZone()
		if err != nil {
			return err
		}
		if n == 0 {
			return r.fail(r.at, "Unexpected character")
		}
	}
	return nil
}

// findLongestForm returns the first of the forms that match most of the text, by its index, and how much it matches. A
// form doesn't count if it ends within a number: "2024-01-15" isn't 2024-01-1 and a 5.
func (r *dateText) findLongestForm(rest string) (best, length int) {
	for i, f := range forms {
		m := f.re.FindString(rest)
		end := len(m)
		if end > length && (end == len(rest) || !isDigit(rest[end-1]) || !isDigit(rest[end])) {
			best, length = i, end
		}
	}
	return best, length
}

// storeForm stores the parts that a form has matched at the beginning of rest.
func (r *dateText) storeForm(f form, rest string) error {
	parts := map[string]string{}
	for i, m := range f.re.FindStringSubmatch(rest) {
		if name := f.re.SubexpNames()[i]; name != "" && m != "" {
			parts[name] = m
		}
	}
	switch f.kind {
	case timeForm:
		return r.storeTime(parts)
	case weekdayForm:
		r.weekday = slices.IndexFunc(weekdays, func(d string) bool {
			return strings.HasPrefix(strings.ToLower(parts["weekday"]), d[:3])
		})
		return nil
	case stampForm:
		r.seconds, _ = strconv.ParseInt(parts["seconds"], 10, 64)
		r.year, r.month, r.day = 1970, 1, 1
		return nil
	case bothForm:
		if err := r.storeTime(parts); err != nil {
			return err
		}
	}
	return r.storeDate(parts)
}

// storeDate stores the parts of a date. A text can have only one date. A month or day that it doesn't have is 1. A year
// of two digits is one from 1970 to 2069, as timelib reads it.
func (r *dateText) storeDate(parts map[string]string) error {
	if r.year != unset || r.isoYear != unset {
		return r.fail(r.at, "Double date specification")
	}
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(parts[name]); err == nil {
			return n
		}
		return otherwise
	}
	year := number("year", 0)
	if len(parts["year"]) == 2 {
		year += 1900
		if year < 1970 {
			year += 100
		}
	}
	switch {
	case parts["isoWeek"] != "":
		r.isoYear, r.isoWeek, r.isoDay = year, number("isoWeek", 1), number("isoDay", 1)
		return nil
	case parts["dayOfYear"] != "":
		t := time.Date(year, 1, number("dayOfYear", 1), 0, 0, 0, 0, time.UTC)
		r.year, r.month, r.day = t.Year(), int(t.Month()), t.Day()
		return nil
	}
	r.year, r.month, r.day = year, number("month", 1), number("day", 1)
	if parts["name"] != "" {
		r.month, _ = readMonth(parts["name"])
	}
	return nil
}

// storeTime stores the parts of a time of day. A text can have only one. Digits of a fraction beyond the milliseconds
// are ignored.
func (r *dateText) storeTime(parts map[string]string) error {
	if r.hour != unset {
		return r.fail(r.at, "Double time specification")
	}
	r.hour, _ = strconv.Atoi(parts["hour"])
	r.minute, _ = strconv.Atoi(parts["minute"])
	r.second, _ = strconv.Atoi(parts["second"])
	if f := parts["fraction"]; f != "" {
		r.ms, _ = strconv.Atoi((f + "00")[:3])
	}
	// 12 a.m. is midnight, 12 p.m. is noon.
	switch half := strings.ToLower(parts["half"]); {
	case half == "":
	case r.hour < 1 || r.hour > 12:
		return r.fail(r.at, "The parsed time was invalid")
	default:
		r.hour %= 12
		if half == "p" {
			r.hour += 12
		}
	}
	return nil
}
