package model

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An IndexSet lists a model's indexes. [IndexSet.Ensure] doesn't create those in Dropped.
type IndexSet struct {
	Needed  []Index
	Dropped []DroppedIndex
}

// A DroppedIndex is a needed index that isn't created, because another index covers it.
type DroppedIndex struct {
	Index Index
	By    string // covering index's name
	Why   string
}

// Indexes returns the indexes that the techniques need. The set's Dropped lists each
// index whose keys are the first keys of another index
// (https://www.mongodb.com/docs/manual/core/indexes/index-types/index-compound/#index-prefixes),
// or whose queries another one serves because of [Index].Equal.
// If the other index is partial, the two indexes' filters must be equal. For a unique or
// TTL index, the other index must have the same keys and the same option.
func (m *Model) Indexes() IndexSet {
	m.mustExist("Model.Indexes")
	var all []Index
	for _, t := range m.techniques {
		all = append(all, t.Indexes()...)
	}
	chosen := chooseIndexes(all)
	var set IndexSet
	for i, y := range all {
		by, why := servedBy(all, chosen, i)
		switch {
		case why == "":
			set.Needed = append(set.Needed, y)
		case by != y.Name &&
			!slices.ContainsFunc(set.Dropped, func(d DroppedIndex) bool { return d.Index.String() == y.String() }):
			set.Dropped = append(set.Dropped, DroppedIndex{y, by, why})
		}
	}
	return set
}

// chooseIndexes returns which indexes serve all others. An index that can serve another
// comes before it: the longer, the one with more properties, the one with the stricter order.
// Of equal ones, the first serves the rest.
func chooseIndexes(all []Index) (chosen []int) {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		x, y := all[i], all[j]
		return cmp.Or(len(y.Keys)-len(x.Keys), whichFirst(x.Unique, y.Unique),
			whichFirst(x.ExpireAfter != 0, y.ExpireAfter != 0),
			whichFirst(x.Partial == nil, y.Partial == nil), x.Equal-y.Equal)
	})
	for _, i := range order {
		if _, why := servedBy(all, chosen, i); why == "" {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

func whichFirst(x, y bool) int {
	switch {
	case x && !y:
		return -1
	case y && !x:
		return 1
	}
	return 0
}

// servedBy returns the chosen index that serves the i-th, and the reason; "" if none does.
func servedBy(all []Index, chosen []int, i int) (by, why string) {
	y := all[i]
	if len(y.Keys) == 1 && y.Keys[0].Key == "_id" && y.ExpireAfter == 0 && y.Partial == nil {
		if _, _, ok := directed(y.Keys[0].Value); ok {
			return IDIndex, "every collection has this index"
		}
	}
	for _, j := range chosen {
		if why := all[j].covers(y); why != "" && i != j {
			return all[j].Name, why
		}
	}
	return "", ""
}

// String returns the set as mongosh commands. The indexes in Dropped become comments.
func (s IndexSet) String() string {
	var b strings.Builder
	for _, x := range s.Needed {
		b.WriteString(x.String() + "\n")
	}
	for _, d := range s.Dropped {
		fmt.Fprintf(&b, "// %s.%s is covered by %s: %s\n", d.Index.Collection, d.Index.Name, d.By, d.Why)
	}
	return b.String()
}

// Ensure creates the missing indexes. It drops no index. An existing index with the same
// name but other keys or options gives the server's error. So does an existing index that
// differs only in its name. Under a [Scope] it creates what [Scope.Indexes] returns.
// Cost: one createIndexes command per collection, and one listCollections command under a
// Scope with a string tenant.
func (s IndexSet) Ensure(ctx context.Context, db DB) error {
	if err := core.CheckRun(ctx, db); err != nil {
		return err
	}
	s, uses := s.under(db)
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

// under returns the set under the scopes of a database, and the collections in which the
// scopes compare a tenant.
func (s IndexSet) under(db DB) (IndexSet, []use) {
	if w := rewriterOf(db); w != nil {
		return w.indexes(s)
	}
	return s, nil
}

// An IndexDiff is the difference between an [IndexSet] and the indexes of a database.
type IndexDiff struct {
	Missing []Index  // indexes that don't exist, even under other names
	Changed []Index  // indexes that exist with other keys or options
	Extra   []string // unneeded indexes in the set's collections, as "collection.name"
}

// Empty reports whether no index is missing or changed.
func (d IndexDiff) Empty() bool { return len(d.Missing) == 0 && len(d.Changed) == 0 }

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
	s, _ = s.under(db)
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
		case slices.ContainsFunc(have, func(h storedIndex) bool { return h.Name == x.Name || h.differsInHidden(x) }):
			diff.Changed = append(diff.Changed, x)
		default:
			diff.Missing = append(diff.Missing, x)
		}
	}
	for _, x := range s.Needed {
		for _, h := range existing[x.Collection] {
			needed := func(n Index) bool {
				return n.Collection == h.Collection && (n.Name == h.Name || h.differsInHidden(n))
			}
			name := h.Collection + "." + h.Name
			if h.Name != IDIndex && !slices.ContainsFunc(s.Needed, needed) && !slices.Contains(diff.Extra, name) {
				diff.Extra = append(diff.Extra, name)
			}
		}
	}
	return diff, nil
}
