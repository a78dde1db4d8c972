package store

import (
	"sync/atomic"
	"time"
)

// Uses counts how often commands have read an index, for $indexStats. All versions of the index share it.
type Uses struct {
	Since time.Time
	n     atomic.Int64
}

// newUses begins a count. Dropping an index and making it again begins another one.
func newUses(now time.Time) *Uses { return &Uses{Since: now} }

// Add counts one use.
func (u *Uses) Add() { u.n.Add(1) }

// Count returns how many uses there were.
func (u *Uses) Count() int64 { return u.n.Load() }
