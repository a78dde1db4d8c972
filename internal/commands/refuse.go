package commands

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// takenError reports that another document has a value: a unique table's value, or an
// inserted document's _id. Its text is made on demand, because plans contain many.
type takenError struct {
	collection string
	value      bson.RawValue
	pending    bool // not confirmed: the operation runs, or crashed
}

// NewTakenError returns the error for a value that another document has. pending means
// that the claim isn't confirmed.
func NewTakenError(collection string, value bson.RawValue, pending bool) error {
	return &takenError{collection, value, pending}
}

func (e *takenError) Error() string {
	s := fmt.Sprintf("docmodel: %s: %s is taken by another document", e.collection, Shorten(model.Shell(e.value)))
	if e.pending {
		s += ", whose entry isn't confirmed: the Job of the technique's Checks may free it"
	}
	return s
}

func (e *takenError) Unwrap() error { return model.ErrTaken }

// NoToken refuses an operation without a token.
const NoToken = "is the zero ObjectID: pass bson.NewObjectID() as the operation's token"

// NotAKey refuses an unusable key of elements.
const NotAKey = "can't be a key: null would match elements without a key, and a regular expression is a pattern"

// Shorten shortens a value for an error.
func Shorten(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}

// RefuseChange returns a change that fails with an error before it reads or writes.
func RefuseChange(collection string, err error) model.Change {
	return model.Change{Name: collection, Err: err}
}

// RefuseChangeOf is RefuseChange for a change with a state.
func RefuseChangeOf[S any](collection string, err error) model.ChangeOf[S] {
	return model.ChangeOf[S]{Name: collection, Err: err}
}
