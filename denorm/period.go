package denorm

// A Period is the time span of a bucket (package bucket), a count (package uniquecount)
// or a bin (package rollup).
type Period uint8

const (
	NoPeriod Period = iota // no time span
	Daily                  // a day
	Monthly                // a month
	Hourly                 // an hour, for bins only
)
