package model

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Ensure creates the missing indexes. It drops no index. An existing index with the same
// name but other keys or options gives the server's error. So does an existing index that
// differs only in its name. Under a [Scope] it creates what [Scope.Indexes] returns.
// Cost: one createIndexes command per collection, and one listCollections command under a
// Scope with a string tenant.
func (s IndexSet) Ensure(ctx context.Context, db DB) error {
	if err := core.CheckRun(ctx, db); err != nil {
		return err
	}
	s, uses := s.rewriteFor(db)
	if err := checkCollations(ctx, db, uses); err != nil {
		return err
	}
	byCollection := map[string][]mongo.IndexModel{}
	var order []string
	for _, x := range s.Needed {
		if byCollection[x.Collection] == nil {
			order = append(order, x.Collection)
		}
		byCollection[x.Collection] = append(byCollection[x.Collection], x.Model())
	}
	for _, name := range order {
		if _, err := core.Database(db).Collection(name).Indexes().CreateMany(ctx, byCollection[name]); err != nil {
			return fmt.Errorf("docmodel: indexes of %s: %w", name, err)
		}
	}
	return nil
}

// rewriteFor returns the set under the scopes of a database, and the collections in which the
// scopes compare a tenant.
func (s IndexSet) rewriteFor(db DB) (IndexSet, []use) {
	if w := rewriterOf(db); w != nil {
		return w.indexes(s)
	}
	return s, nil
}

// Diff compares the set with the existing indexes. Under a [Scope], it compares the set
// that [Scope.Indexes] returns. An existing index is Changed if it is hidden, or has an
// option that an [Index] can't declare: sparse, a collation other than the collection's, a
// wildcardProjection, or weights and languages of a text index. The versions of indexes
// don't matter. Ensure doesn't unhide an index.
//
// Cost: one listIndexes command per collection, and one listCollections command.
func (s IndexSet) Diff(ctx context.Context, db DB) (IndexDiff, error) {
	var diff IndexDiff
	if err := core.CheckRun(ctx, db); err != nil {
		return diff, err
	}
	s, _ = s.rewriteFor(db)
	collations, err := s.readCollations(ctx, db)
	if err != nil {
		return diff, err
	}
	existing := map[string][]storedIndex{}
	for _, x := range s.Needed {
		have, ok := existing[x.Collection]
		if !ok {
			if have, err = listIndexes(ctx, db, x.Collection, collations[x.Collection]); err != nil {
				return diff, err
			}
			existing[x.Collection] = have
		}
		switch {
		case slices.ContainsFunc(have, func(h storedIndex) bool { return h.is(x) }):
		case slices.ContainsFunc(have, func(h storedIndex) bool { return h.Name == x.Name || h.isOrHidden(x) }):
			diff.Changed = append(diff.Changed, x)
		default:
			diff.Missing = append(diff.Missing, x)
		}
	}
	for _, x := range s.Needed {
		for _, h := range existing[x.Collection] {
			needed := func(n Index) bool {
				return n.Collection == h.Collection && (n.Name == h.Name || h.isOrHidden(n))
			}
			name := h.Collection + "." + h.Name
			if h.Name != IDIndex && !slices.ContainsFunc(s.Needed, needed) && !slices.Contains(diff.Extra, name) {
				diff.Extra = append(diff.Extra, name)
			}
		}
	}
	return diff, nil
}
