package core

import "errors"

// finalError is a stale write that another read can't make right. The caller gave the
// condition, for example the version of the document that a user was shown. Or another
// program must do something first, for example a relay must send the document's events.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

// Final returns an error after which a change doesn't read again. Reactions return it. The
// error that it wraps stays visible to errors.Is, such as model.ErrStale.
func Final(err error) error { return finalError{err} }

// IsFinal reports whether an error is, or wraps, a result of [Final]. The loop of a
// model.Change asks (model/change_run.go).
func IsFinal(err error) bool { return errors.As(err, new(finalError)) }
