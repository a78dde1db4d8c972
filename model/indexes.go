package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An IndexSet is what a model's techniques need of indexes, each once.
type IndexSet struct {
	Needed  []Index
	Dropped []DroppedIndex // what another index covers, and why
}

// A DroppedIndex is an index that some technique asked for and that another index makes needless.
type DroppedIndex struct {
	Index Index
	By    string // the name of the index that covers it
	Why   string
}

// Indexes returns the indexes that the techniques need together. One whose keys are the first keys of another is dropped, since the longer
// serves its queries (https://www.mongodb.com/docs/manual/core/indexes/index-types/index-compound/#index-prefixes);
// so is one on _id alone. Unique, TTL and partial indexes are dropped only for one that does the same. The order is that
// of the techniques.
func (m *Model) Indexes() IndexSet {
	var all []Index
	for _, t := range m.techniques {
		all = append(all, t.Indexes()...)
	}
	var set IndexSet
	for i, y := range all {
		if by, why := needless(all, i); why != "" {
			if !slices.ContainsFunc(set.Dropped, func(d DroppedIndex) bool { return d.Index.String() == y.String() }) && by != y.Name {
				set.Dropped = append(set.Dropped, DroppedIndex{y, by, why})
			}
			continue
		}
		set.Needed = append(set.Needed, y)
	}
	return set
}

// needless says which index that stays covers the i-th, and why; "" when it stays itself.
func needless(all []Index, i int) (by, why string) {
	y := all[i]
	if len(y.Keys) == 1 && y.Keys[0].Key == "_id" && y.ExpireAfter == 0 && y.Partial == nil {
		if _, _, ok := directed(y.Keys[0].Value); ok {
			return IDIndex, "every collection has this index"
		}
	}
	at := i
	for range all { // what covers it may itself be covered
		if next := coveredBy(all, at); next >= 0 {
			at = next
		}
	}
	if at == i {
		return "", ""
	}
	return all[at].Name, all[at].covers(y)
}

// coveredBy returns the first index that covers the i-th, or -1. Of equals, the first covers the others.
func coveredBy(all []Index, i int) int {
	for j, x := range all {
		if i != j && x.covers(all[i]) != "" && (j < i || all[i].covers(x) == "") {
			return j
		}
	}
	return -1
}

// String is the set as mongosh commands; what was dropped follows as comments.
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

// Ensure creates the indexes that don't exist yet: one createIndexes command for each collection. An index that exists
// under the same name with other keys or options is an error of the server; nothing is dropped. On a database under a [Scope] they are
// those of [Scope.Indexes].
func (s IndexSet) Ensure(ctx context.Context, db DB) error {
	if err := core.CheckRun(ctx, db); err != nil {
		return err
	}
	s = indexesUnder(s, db)
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

// An IndexDiff says how a database's indexes differ from a set.
type IndexDiff struct {
	Missing []Index  // needed, and not there under any name
	Changed []Index  // there under this name, with other keys or options
	Extra   []string // there in a collection of the set, as collection.name, and needed by no technique
}

// Empty reports whether nothing is missing or changed.
func (d IndexDiff) Empty() bool { return len(d.Missing) == 0 && len(d.Changed) == 0 }

// Diff compares the set with the indexes that exist: one listIndexes command for each collection. It changes nothing. On a database under
// a [Scope] the set is that of [Scope.Indexes].
func (s IndexSet) Diff(ctx context.Context, db DB) (IndexDiff, error) {
	var diff IndexDiff
	if err := core.CheckRun(ctx, db); err != nil {
		return diff, err
	}
	s = indexesUnder(s, db)
	existing := map[string][]Index{}
	for _, x := range s.Needed {
		have, ok := existing[x.Collection]
		if !ok {
			var err error
			if have, err = listIndexes(ctx, db, x.Collection); err != nil {
				return diff, err
			}
			existing[x.Collection] = have
		}
		equal := func(h Index) bool { return h.covers(x) != "" && x.covers(h) != "" && h.Unique == x.Unique }
		switch {
		case slices.ContainsFunc(have, equal):
		case slices.ContainsFunc(have, func(h Index) bool { return h.Name == x.Name }):
			diff.Changed = append(diff.Changed, x)
		default:
			diff.Missing = append(diff.Missing, x)
		}
	}
	for _, x := range s.Needed {
		for _, h := range existing[x.Collection] {
			needed := func(n Index) bool {
				return n.Collection == h.Collection && (n.Name == h.Name || n.covers(h) != "" && h.covers(n) != "")
			}
			name := h.Collection + "." + h.Name
			if h.Name != IDIndex && !slices.ContainsFunc(s.Needed, needed) && !slices.Contains(diff.Extra, name) {
				diff.Extra = append(diff.Extra, name)
			}
		}
	}
	return diff, nil
}

// listIndexes reads a collection's indexes; a collection that doesn't exist has none.
func listIndexes(ctx context.Context, db DB, collection string) ([]Index, error) {
	var specs []struct {
		Name    string `bson:"name"`
		Key     bson.D `bson:"key"`
		Unique  bool   `bson:"unique"`
		Partial bson.D `bson:"partialFilterExpression"`
		Expire  *int64 `bson:"expireAfterSeconds"`
	}
	cur, err := core.Database(db).Collection(collection).Indexes().List(ctx)
	if err == nil {
		err = cur.All(ctx, &specs)
	}
	var cmd mongo.CommandError
	if errors.As(err, &cmd) && cmd.Code == 26 { // NamespaceNotFound
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("docmodel: indexes of %s: %w", collection, err)
	}
	out := make([]Index, len(specs))
	for i, s := range specs {
		out[i] = Index{Collection: collection, Name: s.Name, Keys: s.Key, Unique: s.Unique, Partial: s.Partial}
		if s.Expire != nil {
			out[i].ExpireAfter = ttl(*s.Expire)
		}
	}
	return out, nil
}
