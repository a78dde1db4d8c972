package model

import (
	"context"
	"iter"
)

// How a [Find] is run.

// All runs the query and returns every document.
func (f *Find[D]) All(ctx context.Context, db DB) ([]D, error) {
	var docs []D
	err := readQuery(ctx, db, &f.Query).all(&docs)
	return docs, err
}

// Each yields the documents batch by batch. An error ends the sequence. Every loop over
// the sequence runs the query again.
func (f *Find[D]) Each(ctx context.Context, db DB) iter.Seq2[D, error] {
	return each[D](readQuery(ctx, db, &f.Query))
}

// One returns the first document, or [ErrNotFound]. Cost: one command.
func (f *Find[D]) One(ctx context.Context, db DB) (D, error) {
	var doc D
	err := readOne(ctx, db, &f.Query).one(&doc)
	return doc, err
}
