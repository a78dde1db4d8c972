// Package mongoerr is a MongoDB server's error: a code, its name, a message, labels and further fields. The embedded
// engine answers with it, and tests compare the codes. An error as a client gets it:
//
//	{ok: 0, code: 11000, codeName: "DuplicateKey", errmsg: "E11000 duplicate key …", keyPattern: {…}, keyValue: {…},
//	 errorLabels: ["TransientTransactionError"]}
//
// MongoDB's list of error codes decides the codes and their names
// (https://www.mongodb.com/docs/manual/reference/error-codes/). A code without a name is called Location and the
// number, such as Location16410. codes.go has the codes that have a name and are used, as constants of that name.
// error.go has the type [Error].
//
// # From a place in the engine to the client
//
//  1. Code that refuses something returns [New] with the code and MongoDB's text. It writes the number itself if the
//     code has no name.
//  2. Code on the way up may put a text in front ([Error.Prefix]), or add labels and fields. Each returns a copy.
//  3. The engine makes the reply of what [Convert] returns. An error that isn't an Error becomes an InternalError,
//     which is a bug of the engine.
//
// An Error may be wrapped. Tests and callers ask by [CodeOf], never by the text.
//
// Package bsonval gives the errors of values too, such as InvalidBSON. Otherwise this package is for code that acts as
// a server. Code that asks a server, such as package model, uses the driver's errors.
package mongoerr

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Error is a server's answer to a command or a write that failed. Several goroutines may have an error once it is
// returned. So only the function that calls New may set fields, and later code makes a changed copy.
type Error struct {
	Code    int32
	Name    string   // codeName
	Message string   // errmsg
	Labels  []string // errorLabels; nil means none
	Extra   bson.D   // further fields beside code and errmsg, such as keyPattern; nil means none
}

// New returns an error of that code, with the code's name and the formatted message. Without arguments the format is
// the message, so it may have any %.
func New(code int32, format string, args ...any) *Error {
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	return &Error{Code: code, Name: CodeName(code), Message: message}
}

// Error returns the message after the code's name, as a shell prints it.
func (e *Error) Error() string { return e.Name + ": " + e.Message }

// WithLabels returns a copy that has these labels too. A label tells the driver what to do next, such as
// RetryableWriteError: send the write again.
func (e *Error) WithLabels(labels ...string) *Error {
	next := *e
	next.Labels = append(slices.Clone(e.Labels), labels...)
	return &next
}

// WithExtra returns a copy that has these fields too. The driver's error has them in Raw.
func (e *Error) WithExtra(extra ...bson.E) *Error {
	next := *e
	next.Extra = append(slices.Clone(e.Extra), extra...)
	return &next
}

// Prefix returns a copy whose message begins with the prefix. MongoDB writes "… :: caused by :: " so.
func (e *Error) Prefix(format string, args ...any) *Error {
	next := *e
	next.Message = fmt.Sprintf(format, args...) + e.Message
	return &next
}

// HasLabel reports whether the error has the label.
func (e *Error) HasLabel(label string) bool { return slices.Contains(e.Labels, label) }

// Convert returns err as an *Error: the Error that err is or wraps, else an InternalError with the text of err. The
// text of wrappers is lost, so code that adds a text uses [Error.Prefix]. Convert(nil) is nil.
func Convert(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return New(InternalError, "%s", err.Error())
}

// CodeOf returns the code of an error, 0 for nil, and that of InternalError for an error without a code.
func CodeOf(err error) int32 {
	if err == nil {
		return 0
	}
	return Convert(err).Code
}

// CodeName returns the name of a code, as codeName has it.
func CodeName(code int32) string {
	if name, ok := names[code]; ok {
		return name
	}
	return "Location" + strconv.Itoa(int(code))
}
