package dates

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Parse reads a date that is written in one of the usual forms, for $dateFromString without a format and $toDate. A
// date without a time zone is in loc.
func Parse(text string, loc *time.Location) (bson.DateTime, error) {
	r := newText(text)
	if err := r.readByForms(); err != nil {
		return 0, err
	}
	return r.buildDate(loc)
}

// ParseByFormat reads a date by the specifiers of $dateFromString. A date without a time zone is in loc.
func ParseByFormat(text, format string, loc *time.Location) (bson.DateTime, error) {
	r := newText(text)
	if err := r.readByFormat(format); err != nil {
		return 0, err
	}
	return r.buildDate(loc)
}
