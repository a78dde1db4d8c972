package dates

import (
	"fmt"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Format renders a time by $dateToString's specifiers
// (https://www.mongodb.com/docs/manual/reference/operator/aggregation/dateToString/).
func Format(t time.Time, format string) (string, error) {
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

// formatPart writes what the specifier %c stands for. Of a date 2024-05-03T15:30:07.009 in +02:00:
//
//	%Y 2024   %m 05   %d 03       %H 15    %M 30   %S 07   %L 009
//	%j 124 (the day of the year)  %b May   %B May (the whole name of the month)
//	%G 2024   %V 18   %u 5        the year, week and weekday (1 is Monday) of ISO 8601
//	%U 17     %w 6                the week and weekday (1 is Sunday) of weeks that begin on Sunday
//	%z +0200  %Z +120             the offset in hours and minutes, and in minutes
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
		fmt.Fprintf(b, "%d", ISOWeekday(t))
	case 'U':
		fmt.Fprintf(b, "%02d", WeekOfYear(t))
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

// CheckFormat refuses a format of $dateFromString with an unknown specifier. $dateFromString and $dateToString know
// different specifiers.
func CheckFormat(format string) error {
	for rest := format; rest != ""; {
		_, after, found := strings.Cut(rest, "%")
		if !found {
			break
		}
		if after == "" {
			return mongoerr.New(18535, "Unmatched '%%' at end of format string")
		}
		if !strings.ContainsRune("bBdGHjLmMSuVYzZ%", rune(after[0])) {
			return mongoerr.New(18536, "Invalid format character '%%%c' in format string", after[0])
		}
		rest = after[1:]
	}
	return nil
}
