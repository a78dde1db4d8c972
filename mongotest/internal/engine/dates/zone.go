package dates

import (
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // so that zones resolve on every machine

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// zones are the zones that LoadZone has loaded: *time.Location by name. Loading one reads a database.
var zones sync.Map

// LoadZone returns the time zone of a name, or of an offset such as "+02:00". It keeps each zone that it has loaded.
func LoadZone(name string) (*time.Location, error) {
	if loc, ok := zones.Load(name); ok {
		return loc.(*time.Location), nil
	}
	loc, ok := readFixedZone(name)
	if !ok {
		var err error
		if loc, err = time.LoadLocation(name); err != nil || name == "" || name == "Local" {
			return nil, mongoerr.New(40485, "unrecognized time zone identifier: \"%s\"", name)
		}
	}
	zones.Store(name, loc)
	return loc, nil
}

// readFixedZone reads "+hh", "+hhmm" and "+hh:mm", the forms that MongoDB has for an offset.
func readFixedZone(name string) (*time.Location, bool) {
	if name == "" || (name[0] != '+' && name[0] != '-') {
		return nil, false
	}
	digits := strings.Replace(name[1:], ":", "", 1)
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || (len(digits) != 2 && len(digits) != 4) {
		return nil, false
	}
	if len(digits) == 2 {
		n *= 100
	}
	seconds := (n/100*60 + n%100) * 60
	if name[0] == '-' {
		seconds = -seconds
	}
	return time.FixedZone(name, seconds), true
}
