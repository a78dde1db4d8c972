package core

import "errors"

// finalError is a stale write that another read can't make right, because the caller gave
// the condition.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

// Final returns an error after which a change doesn't read again.
func Final(err error) error { return finalError{err} }

// IsFinal reports whether an error is a result of [Final].
func IsFinal(err error) bool { return errors.As(err, new(finalError)) }
