package dates

import (
	"regexp"
	"strconv"
	"strings"
)

// The forms of zones: an offset such as +02:00 or GMT+2, and a name, also in parentheses.
var (
	offsetForm = regexp.MustCompile(`^(?i:GMT|UTC)?([+-])(\d{1,2}):?([0-5]\d)?`)
	zoneForm   = regexp.MustCompile(`^\(?([A-Za-z]+(?:[/_][A-Za-z_/]+)?)\)?`)
)

// abbreviations are the zones that a date may name, with their hours to the east. A single letter is one of the
// military zones.
var abbreviations = map[string]float64{
	"utc": 0, "gmt": 0, "wet": 0, "west": 1, "bst": 1, "cet": 1, "cest": 2, "met": 1, "mest": 2, "eet": 2,
	"eest": 3, "msk": 3, "ist": 2, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8,
	"pdt": -7, "akst": -9, "akdt": -8, "hst": -10, "jst": 9, "kst": 9, "aest": 10, "aedt": 11, "acst": 9.5,
	"awst": 8, "nzst": 12, "nzdt": 13,
}

// readZone reads a zone: an offset, or a known abbreviation. It returns how long it is, 0 if there is none. A name such
// as Europe/Paris is an error: $dateFromString has the argument timezone for it.
func (r *dateText) readZone() (int, error) {
	rest := r.text[r.at:]
	if m := offsetForm.FindStringSubmatch(rest); m != nil {
		hours, _ := strconv.Atoi(m[2])
		minutes, _ := strconv.Atoi(m[3])
		offset := (hours*60 + minutes) * 60
		if m[1] == "-" {
			offset = -offset
		}
		return r.setZone(zoneOffset, m[0], offset)
	}
	m := zoneForm.FindStringSubmatch(rest)
	if m == nil {
		return 0, nil
	}
	name := strings.ToLower(m[1])
	hours, ok := abbreviations[name]
	if len(name) == 1 {
		hours, ok = militaryZone(name[0])
	}
	if !ok {
		return 0, r.fail(r.at, "passing a time zone identifier as part of the string is not allowed")
	}
	r.zoneName = strings.ToUpper(name)
	return r.setZone(zoneAbbreviation, m[0], int(hours*3600))
}

// setZone stores the zone that text names, and returns the length of text. offset is in seconds to the east.
func (r *dateText) setZone(kind zoneKind, text string, offset int) (int, error) {
	if r.zone != noZone {
		return 0, r.fail(r.at, "Double timezone specification")
	}
	r.zone, r.offset = kind, offset
	r.at += len(text)
	return len(text), nil
}

// militaryZone returns the hours to the east of a zone with one letter: a to m are 1 to 12, n to y are -1 to -12, and z
// is UTC. There is no j.
func militaryZone(c byte) (float64, bool) {
	switch {
	case c >= 'a' && c <= 'i':
		return float64(c-'a') + 1, true
	case c >= 'k' && c <= 'm':
		return float64(c-'k') + 10, true
	case c >= 'n' && c <= 'y':
		return -float64(c-'n') - 1, true
	}
	return 0, c == 'z'
}
