package dates

import (
	"strconv"
	"strings"
	"time"
)

// readByFormat reads a date by the specifiers of $dateFromString. CheckFormat has accepted the format, so a character
// follows each %.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/dateFromString/
func (r *dateText) readByFormat(format string) error {
	for i := 0; i < len(format); i++ {
		if r.at == len(r.text) {
			return r.fail(r.at, "Not enough data available to satisfy format")
		}
		if format[i] != '%' || format[i+1] == '%' {
			if format[i] == '%' {
				i++
			}
			if r.text[r.at] != format[i] {
				return r.fail(r.at, "The format separator does not match")
			}
			r.at++
			continue
		}
		i++
		if err := r.readSpecifier(format[i]); err != nil {
			return err
		}
	}
	if r.at < len(r.text) {
		return r.fail(r.at, "Trailing data")
	}
	return nil
}

// readSpecifier reads what one specifier stands for. The texts of errors are those of timelib, the library that MongoDB
// uses. Some say "two digit" where one digit is enough.
func (r *dateText) readSpecifier(c byte) error {
	switch c {
	case 'Y':
		return r.readNumber(&r.year, 4, 4, "A four digit year could not be found")
	case 'G':
		return r.readNumber(&r.isoYear, 4, 4, "A four digit ISO year could not be found")
	case 'm':
		return r.readNumber(&r.month, 1, 2, "A two digit month could not be found")
	case 'd':
		return r.readNumber(&r.day, 1, 2, "A two digit day could not be found")
	case 'H':
		return r.readNumber(&r.hour, 1, 2, "A two digit hour could not be found")
	case 'M':
		return r.readNumber(&r.minute, 1, 2, "A two digit minute could not be found")
	case 'S':
		return r.readNumber(&r.second, 1, 2, "A two digit second could not be found")
	case 'V':
		return r.readNumber(&r.isoWeek, 1, 2, "A two digit ISO week could not be found")
	case 'u':
		return r.readNumber(&r.isoDay, 1, 1, "A single digit ISO day of week could not be found")
	case 'L':
		return r.readMilliseconds()
	case 'j':
		return r.readDayOfYear()
	case 'b', 'B':
		return r.readMonthName()
	case 'Z':
		return r.readMinutesOffset()
	}
	return r.requireZone()
}

// readNumber reads a number of least to most digits into a part of the date. problem is the error's text if there are
// fewer.
func (r *dateText) readNumber(into *int, least, most int, problem string) error {
	n := 0
	for n < most && r.at+n < len(r.text) && isDigit(r.text[r.at+n]) {
		n++
	}
	if n < least {
		return r.fail(r.at, problem)
	}
	*into, _ = strconv.Atoi(r.text[r.at : r.at+n])
	r.at += n
	return nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// readMilliseconds reads the digits after a decimal point: "5" is 500 ms.
func (r *dateText) readMilliseconds() error {
	from := r.at
	if err := r.readNumber(&r.ms, 1, 3, "A three digit millisecond could not be found"); err != nil {
		return err
	}
	for range 3 - (r.at - from) { // a digit that is absent is a 0
		r.ms *= 10
	}
	return nil
}

// readDayOfYear counts from the beginning of the year, which must have been read before. The first day is
// 0 here, though $dateToString writes 001 (https://jira.mongodb.org/browse/DOCS-15857).
func (r *dateText) readDayOfYear() error {
	from, day := r.at, 0
	if err := r.readNumber(&day, 1, 3, "A three digit day-of-year could not be found"); err != nil {
		return err
	}
	if r.year == unset {
		return r.fail(from, "A 'day of year' can only come after a year has been found")
	}
	t := time.Date(r.year, 1, day+1, 0, 0, 0, 0, time.UTC)
	r.year, r.month, r.day = t.Year(), int(t.Month()), t.Day()
	return nil
}

// readMonthName reads the name of a month, for the specifiers %b and %B.
func (r *dateText) readMonthName() error {
	month, n := readMonth(r.text[r.at:])
	if n == 0 {
		return r.fail(r.at, "A textual month could not be found")
	}
	r.month, r.at = month, r.at+n
	return nil
}

// readMonth reads the name of a month, whole or of three letters, in any case. It returns the month, 1 for January, and
// how long its name is in the text, 0 if there is none.
func readMonth(text string) (month, length int) {
	for m := time.January; m <= time.December; m++ {
		for _, name := range []string{m.String(), m.String()[:3]} {
			if len(text) >= len(name) && strings.EqualFold(text[:len(name)], name) {
				return int(m), len(name)
			}
		}
	}
	if len(text) >= 4 && strings.EqualFold(text[:4], "sept") {
		return 9, 4
	}
	return 0, 0
}

// readMinutesOffset reads the offset of a zone in minutes, such as +120, for the specifier %Z.
func (r *dateText) readMinutesOffset() error {
	const problem = "Invalid timezone offset in minutes"
	sign := 1
	switch r.text[r.at] {
	case '-':
		sign = -1
	case '+':
	default:
		return r.fail(r.at, problem)
	}
	r.at++
	minutes := 0
	if err := r.readNumber(&minutes, 1, 4, problem); err != nil {
		return err
	}
	r.zone, r.offset = zoneOffset, sign*minutes*60
	return nil
}

// requireZone reads a zone for the specifier %z. A text without a zone there is an error.
func (r *dateText) requireZone() error {
	at := r.at
	n, err := r.readZone()
	if err == nil && n == 0 {
		err = r.fail(at, "The timezone could not be found in the database")
	}
	return err
}
