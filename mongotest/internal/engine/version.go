package engine

// This file lets the engine answer as an older version of MongoDB. Only the version numbers, bulkWrite and some rules
// of sharding differ. All other commands are as in the newest version.

import "strconv"

// newest is the major version of MongoDB as which the engine answers.
const newest = 8

// wireVersions are the highest versions of the protocol that versions of MongoDB speak.
var wireVersions = map[int]int{5: 13, 6: 17, 7: 21, newest: 25}

// SetVersion makes the engine answer as MongoDB 5.0, 6.0, 7.0 or 8.0. Before 8.0 there is
// no bulkWrite command. Call it before using the engine, and after SetRouter.
func (e *Engine) SetVersion(major int) {
	e.major = major
	if e.router != nil {
		e.router.Before71 = major < newest
	}
}

// version is the major version of MongoDB as which the engine answers.
func (e *Engine) version() int {
	if e.major == 0 {
		return newest
	}
	return e.major
}

// versionText is the version as buildInfo shows it.
func (e *Engine) versionText() string { return strconv.Itoa(e.version()) + ".0.0" }

// isBefore80 reports whether the engine answers as a version without the bulkWrite command.
func (e *Engine) isBefore80() bool { return e.version() < newest }

// wireVersion is the highest version of the protocol that the engine speaks.
func (e *Engine) wireVersion() int { return wireVersions[e.version()] }
