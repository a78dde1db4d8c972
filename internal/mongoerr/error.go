// Package mongoerr is the one error type that the embedded engine answers
// with: a code, its name, a message and labels, as a MongoDB server sends them.
//
// MongoDB's list of error codes decides the codes and their names
// (https://www.mongodb.com/docs/manual/reference/error-codes/). A code that has
// no name of its own is called Location followed by the number.
package mongoerr

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Error is a server's answer to a command or a write that failed.
type Error struct {
	Code    int32
	Name    string   // codeName
	Message string   // errmsg
	Labels  []string // errorLabels; nil means none
	Extra   bson.D   // further fields beside code and errmsg, such as keyPattern; nil means none
}

// New returns an error of that code, with the code's name and the formatted message.
func New(code int32, format string, args ...any) *Error {
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	return &Error{Code: code, Name: CodeName(code), Message: message}
}

// Error returns the message after the code's name, as a shell prints it.
func (e *Error) Error() string { return e.Name + ": " + e.Message }

// WithLabels returns a copy that carries the labels too.
func (e *Error) WithLabels(labels ...string) *Error {
	next := *e
	next.Labels = append(slices.Clone(e.Labels), labels...)
	return &next
}

// WithExtra returns a copy that carries the fields too.
func (e *Error) WithExtra(extra ...bson.E) *Error {
	next := *e
	next.Extra = append(slices.Clone(e.Extra), extra...)
	return &next
}

// Prefix returns a copy whose message begins with the prefix.
func (e *Error) Prefix(format string, args ...any) *Error {
	next := *e
	next.Message = fmt.Sprintf(format, args...) + e.Message
	return &next
}

// HasLabel reports whether the error carries the label.
func (e *Error) HasLabel(label string) bool { return slices.Contains(e.Labels, label) }

// From returns err as an *Error: itself when it is or wraps one, else one of
// code InternalError with its text. From(nil) is nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return New(InternalError, "%s", err.Error())
}

// CodeOf returns the code that err carries, 0 for nil.
func CodeOf(err error) int32 {
	if err == nil {
		return 0
	}
	return From(err).Code
}

// CodeName returns the name of a code.
func CodeName(code int32) string {
	if name, ok := names[code]; ok {
		return name
	}
	return "Location" + strconv.Itoa(int(code))
}
