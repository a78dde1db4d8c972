package dates

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// form is one of the usual ways in which a date, or a part of it, is written. What its expression
// captures is named as the part is.
type form struct {
	re   *regexp.Regexp
	kind formKind
}

type formKind uint8

const (
	dateForm formKind = iota
	timeForm
	weekdayForm
	stampForm
	bothForm // a date with a time
)

const (
	monthWord = `(?i:(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|` +
		`oct(?:ober)?|nov(?:ember)?|dec(?:ember)?))`
	dayNumber = `(?P<day>[0-2]?\d|3[01])(?i:st|nd|rd|th)?`
	between   = `[ \t.-]*`
)

// forms are what MongoDB reads without a format, as the library that it uses for that (timelib) describes them.
// https://www.php.net/manual/en/datetime.formats.php
var forms = []form{
	{compileForm(`(?P<year>[+-]?\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})`), dateForm},
	{compileForm(`(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})`), dateForm},
	{compileForm(`(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4}|\d{2})`), dateForm},
	{compileForm(`(?P<day>\d{1,2})[.\t-](?P<month>\d{1,2})[.-](?P<year>\d{4})`), dateForm},
	{compileForm(`(?P<day>\d{1,2})[.\t](?P<month>\d{1,2})\.(?P<year>\d{2})`), dateForm},
	{compileForm(`(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})`), dateForm},
	{compileForm(`(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})`), bothForm},
	{compileForm(`(?P<year>\d{4})-?W(?P<isoWeek>\d{2})(?:-?(?P<isoDay>[0-7]))?`), dateForm},
	{compileForm(`(?P<year>\d{4})[.-]?(?P<dayOfYear>\d{3})`), dateForm},
	{compileForm(dayNumber + between + monthWord + between + `(?P<year>\d{4}|\d{2})`), dateForm},
	{compileForm(monthWord + between + dayNumber + `[,.\t ]+(?P<year>\d{4}|\d{2})`), dateForm},
	{compileForm(monthWord + between + `(?P<year>\d{4})`), dateForm},
	{compileForm(`(?P<year>\d{4})` + between + monthWord + `(?:` + between + dayNumber + `)?`), dateForm},
	{compileForm(`(?P<year>\d{4})-(?P<month>\d{1,2})`), dateForm},
	{
		re:   compileForm(`(?i:t?)(?P<hour>\d{1,2})[.:](?P<minute>\d{2})(?:[.:](?P<second>\d{2})(?:[.,:](?P<fraction>\d+))?)?(?:[ \t]*(?P<half>[AaPp])\.?[Mm]\.?)?`),
		kind: timeForm,
	},
	{compileForm(`(?P<hour>\d{1,2})[ \t]*(?P<half>[AaPp])\.?[Mm]\.?`), timeForm},
	{compileForm(`[Tt](?P<hour>\d{2})(?:(?P<minute>\d{2})(?:(?P<second>\d{2})(?:[.,:](?P<fraction>\d+))?)?)?`), timeForm},
	{compileForm(`(?P<weekday>(?i:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?i:day)?)\b`), weekdayForm},
	{compileForm(`@(?P<seconds>-?\d+)`), stampForm},
}

// compileForm compiles a form that matches at the beginning of a text, as much as it can.
func compileForm(pattern string) *regexp.Regexp {
	re := regexp.MustCompile("^(?:" + pattern + ")")
	re.Longest()
	return re
}

// relative matches the words by which MongoDB counts from a date.
var relative = regexp.MustCompile(`^(?i)(?:[+-]?[ \t]*\d+[ \t]*(?:msecs?|millisecond|sec|min|hour|day|week|fortnight|month|year)|` +
	`(?:yesterday|today|tomorrow|now|noon|midnight|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|` +
	`next|last|previous|this|back|front|ago)\b)`)

// readByForms reads the parts of a date in any order, each in the form that takes most of the text.
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

// findLongestForm returns the first of the forms that match most of the text.
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

// storeForm stores what a form has matched.
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
