package model

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// gone reports whether a write matched nothing because no visible document has the _id of
// its filter. It asks the server only if the filter has other conditions too, and no
// reason that didn't match has asked for the _id alone.
func (r *runner) gone(ctx context.Context, w Write, missed []bson.D) (bool, error) {
	plain := w
	plain.Model = w.unscoped()
	filter, ok := bsondoc.Document(plain.filter())
	i := bsondoc.IndexOfID(filter)
	if !ok || i < 0 || !bsondoc.IsEquality(filter[i].Value) || inserts(w.Model) {
		return false, nil
	}
	if len(filter) == 1 {
		return true, nil
	}
	// the transaction runs again, with the read that it left out
	if tx := runctx.TxOf(ctx); tx != nil && tx.Hoped && !tx.Sure {
		return false, nil
	}
	id := bsondoc.JoinFilters(w.scoping().keyedID(filter[i].Value), w.scoping().within)
	if slices.ContainsFunc(missed, func(asked bson.D) bool { return bsondoc.SameValue(asked, id) }) {
		return true, nil
	}
	there, err := r.holds(ctx, w.Collection, id)
	return err == nil && !there, err
}
