package dates_test

import (
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/dates"
)

// TestDateForms holds what a date without a format may look like, beside the manual's examples.
func TestDateForms(t *testing.T) {
	for _, c := range []struct{ why, text, zone, want string }{
		{"the manual's example", "2017-02-08T12:10:40.787", "", "2017-02-08T12:10:40.787Z"},
		{"the manual's example with a zone", "2017-02-08T12:10:40.787", "America/New_York", "2017-02-08T17:10:40.787Z"},
		{"the manual's example of a day", "2017-02-08", "", "2017-02-08T00:00:00Z"},
		{"an offset", "2017-02-08T12:10:40+02:00", "", "2017-02-08T10:10:40Z"},
		{"an offset without a colon", "2017-02-08 12:10:40 -0530", "", "2017-02-08T17:40:40Z"},
		{"hours only", "2017-02-08T12:10Z", "", "2017-02-08T12:10:00Z"},
		{"without separators", "20170208T121040", "", "2017-02-08T12:10:40Z"},
		{"digits alone", "20170208121040", "", "2017-02-08T12:10:40Z"},
		{"more of the second", "2017-02-08T12:10:40.78712", "", "2017-02-08T12:10:40.787Z"},
		{"American", "2/8/2017", "", "2017-02-08T00:00:00Z"},
		{"with points", "08.02.2017", "", "2017-02-08T00:00:00Z"},
		{"two digits of the year", "2/8/71", "", "1971-02-08T00:00:00Z"},
		{"and in this century", "2/8/17", "", "2017-02-08T00:00:00Z"},
		{"a month's name", "July 4th, 2017", "", "2017-07-04T00:00:00Z"},
		{"the day before it", "4 July 2017 12:39:30 BST", "", "2017-07-04T11:39:30Z"},
		{"of three letters", "04-Jul-2017 11pm", "", "2017-07-04T23:00:00Z"},
		{"an HTTP date, whose weekday counts", "Tue, 04 Jul 2017 11:39:30 GMT", "", "2017-07-04T11:39:30Z"},
		{"a weekday moves on", "Wed, 04 Jul 2017", "", "2017-07-05T00:00:00Z"},
		{"no day", "2017-07", "", "2017-07-01T00:00:00Z"},
		{"no day, a name", "Jul 2017", "", "2017-07-01T00:00:00Z"},
		{"a day of the year", "2017-185", "", "2017-07-04T00:00:00Z"},
		{"a week", "2017-W27-2", "", "2017-07-04T00:00:00Z"},
		{"a time of Unix", "@1499164770", "", "2017-07-04T10:39:30Z"},
		{"the end of a day", "2017-07-04T24:00:00", "", "2017-07-05T00:00:00Z"},
		{"a military zone", "2017-07-04 10:39 A", "", "2017-07-04T09:39:00Z"},
	} {
		checkDate(t, c.why, c.text, "", c.zone, c.want, 0)
	}
	for _, c := range []struct {
		why, text, zone string
		code            int32
	}{
		{"nothing", "", "", mongoerr.ConversionFailure},
		{"no date", "12:10", "", mongoerr.ConversionFailure},
		{"no such day", "2017-02-30", "", mongoerr.ConversionFailure},
		{"no such month", "2017-13-01", "", mongoerr.ConversionFailure},
		{"no such hour", "2017-07-04T25:00", "", mongoerr.ConversionFailure},
		{"two dates", "2017-07-04 2017-07-05", "", mongoerr.ConversionFailure},
		{"a name of a zone", "2017-07-04T11:39:30 Europe/London", "", mongoerr.ConversionFailure},
		{"two zones", "2017-07-04T11:39:30+02:00", "Europe/London", mongoerr.ConversionFailure},
		{"words", "hello world", "", mongoerr.ConversionFailure},
		{"counting", "2017-07-04 +1 day", "", mongoerr.NotImplemented},
	} {
		checkDate(t, c.why, c.text, "", c.zone, "", c.code)
	}
}

// TestDateFormats reads by a format, as the manual and MongoDB's own tests have them.
func TestDateFormats(t *testing.T) {
	for _, c := range []struct {
		why, text, format, want string
		code                    int32
	}{
		{"the manual's example", "06-15-2018", "%m-%d-%Y", "2018-06-15T00:00:00Z", 0},
		{"the manual's other example", "15-06-2018", "%d-%m-%Y", "2018-06-15T00:00:00Z", 0},
		{"one digit each", "7.7.2017", "%d.%m.%Y", "2017-07-07T00:00:00Z", 0},
		{"a time", "2017-07-04T11:56:02.81Z", "%Y-%m-%dT%H:%M:%S.%LZ", "2017-07-04T11:56:02.810Z", 0},
		{"an hour alone", "2017-07-04 11", "%Y-%m-%d %H", "2017-07-04T11:00:00Z", 0},
		{"an offset", "2017-07-04T11:56:02 +0200", "%Y-%m-%dT%H:%M:%S %z", "2017-07-04T09:56:02Z", 0},
		{"minutes of an offset", "2017-07-04 +120", "%Y-%m-%d %Z", "2017-07-03T22:00:00Z", 0},
		{"a week", "1.1.2017", "%u.%V.%G", "2017-01-02T00:00:00Z", 0},
		{"days of a year count from 0", "2017, 187", "%Y, %j", "2017-07-07T00:00:00Z", 0},
		{"a day without its year", "187, 2017", "%j, %Y", "", mongoerr.ConversionFailure},
		{"a percent sign", "100% 2017-07-04", "100%% %Y-%m-%d", "2017-07-04T00:00:00Z", 0},
		{"a month's whole name", "4 September 2017", "%d %B %Y", "2017-09-04T00:00:00Z", 0},
		{"too few digits", "17-07-04", "%Y-%m-%d", "", mongoerr.ConversionFailure},
		{"a separator", "2017/07/04", "%Y-%m-%d", "", mongoerr.ConversionFailure},
		{"too short", "2017-07", "%Y-%m-%d", "", mongoerr.ConversionFailure},
		{"too long", "2017-07-04T10", "%Y-%m-%d", "", mongoerr.ConversionFailure},
		{"no such day", "2017-02-30", "%Y-%m-%d", "", mongoerr.ConversionFailure},
		{"weeks and months", "2017-27-07", "%G-%V-%m", "", mongoerr.ConversionFailure},
		{"a week without a year", "27", "%V", "", mongoerr.ConversionFailure},
		{"an unknown specifier", "1", "%x", "", 18536},
		{"a specifier that is written only", "1", "%U", "", 18536},
		{"a sign alone", "1", "%", "", 18535},
	} {
		checkDate(t, c.why, c.text, c.format, "", c.want, c.code)
	}
}

func checkDate(t *testing.T, why, text, format, zone, want string, code int32) {
	t.Helper()
	got, err := parseDate(text, format, zone)
	switch {
	case code != 0 && mongoerr.CodeOf(err) != code:
		t.Errorf("%s: %q by %q in %q gave %s, %v; want code %d",
			why, text, format, zone, valuetest.Text(got), err, code)
	case code == 0 && (err != nil || got != valuetest.Value("{$date: '"+want+"'}")):
		t.Errorf("%s: %q by %q in %q gave %s, %v; want %s", why, text, format, zone, valuetest.Text(got), err, want)
	}
}

// parseDate reads a date as $dateFromString does, without a format or a zone if it is "".
func parseDate(text, format, zone string) (date any, err error) {
	loc := time.UTC
	if zone != "" {
		if loc, err = dates.LoadZone(zone); err != nil {
			return nil, err
		}
	}
	if format == "" {
		return dates.Parse(text, loc)
	}
	if err := dates.CheckFormat(format); err != nil {
		return nil, err
	}
	return dates.ParseByFormat(text, format, loc)
}
