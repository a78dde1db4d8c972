package model

import (
	"context"
	"errors"
	"slices"

	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// errGone is the [ErrNotFound] of a write whose document isn't there. A [Change] reads again after it, for its plan may have been decided
// when the document was there.
var errGone error = goneError{}

type goneError struct{}

func (goneError) Error() string { return "docmodel: not found: no document has this _id" }
func (goneError) Unwrap() error { return ErrNotFound }

// outdated reports whether a plan ended because it was decided from what isn't so: it may succeed when it is decided anew.
func outdated(err error) bool { return errors.Is(err, ErrStale) || errors.Is(err, errGone) }

// gone reports whether a write matched nothing because no document that the scopes show has the _id which its filter asks for. It asks
// the server only if the filter asks for more than the _id, and no reason that missed a document asked for the _id alone.
func (r *runner) gone(ctx context.Context, w Write, missed []bson.D) (bool, error) {
	plain := w
	plain.Model = w.unscoped()
	filter, ok := asDocument(plain.filter())
	i := indexOfID(filter)
	if !ok || i < 0 || !isEquality(filter[i].Value) || inserts(w.Model) {
		return false, nil
	}
	if len(filter) == 1 {
		return true, nil
	}
	if tx := runctx.TxOf(ctx); tx != nil && tx.Hoped && !tx.Sure { // the transaction is run again, with the read that was left out
		return false, nil
	}
	id := And(bson.D{filter[i]}, w.within)
	if slices.ContainsFunc(missed, func(asked bson.D) bool { return sameValue(asked, id) }) {
		return true, nil
	}
	there, err := r.holds(ctx, w.Collection, id)
	return err == nil && !there, err
}
