package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The indexes of a database, as [IndexSet.Diff] reads them.

// A storedIndex is an index of a database.
type storedIndex struct {
	Index
	hidden bool
	other  bool // it has options that an Index can't declare, other than hidden
}

// is reports whether the stored index is the declared one, except for its name. An index
// can be read in both directions. An index that the query planner can use is not hidden.
func (h storedIndex) is(x Index) bool { return !h.hidden && h.isOrHidden(x) }

// isOrHidden is like is, but accepts a hidden index. The server doesn't create a second index
// beside it.
func (h storedIndex) isOrHidden(x Index) bool {
	// Equal 0 makes covers compare the order and the directions of all keys.
	x.Keys, x.Equal = sortTextKeys(x.Keys), 0
	return !h.other && h.Unique == x.Unique && h.covers(x) != "" && x.covers(h.Index) != ""
}

// sortTextKeys sorts the text fields of a text index by name, as the server does. The
// fields stand side by side.
func sortTextKeys(keys bson.D) bson.D {
	isText := func(e bson.E) bool { return e.Value == "text" }
	first := slices.IndexFunc(keys, isText)
	if first < 0 {
		return keys
	}
	out, last := slices.Clone(keys), first
	for last < len(out) && isText(out[last]) {
		last++
	}
	slices.SortFunc(out[first:last], func(a, b bson.E) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// listIndexes reads a collection's indexes. A missing collection has no indexes. The
// collation is the collection's default, which indexes inherit.
func listIndexes(ctx context.Context, db DB, collection string, collation bson.Raw) ([]storedIndex, error) {
	var specs []bson.Raw
	cur, err := core.Database(db).Collection(collection).Indexes().List(ctx)
	if err == nil {
		err = cur.All(ctx, &specs)
	}
	var cmd mongo.CommandError
	if errors.As(err, &cmd) && cmd.Code == 26 { // NamespaceNotFound
		return nil, nil
	}
	out := make([]storedIndex, len(specs))
	for i, spec := range specs {
		if err == nil {
			out[i], err = readIndex(collection, spec, collation)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("docmodel: indexes of %s: %w", collection, err)
	}
	return out, nil
}

// readIndex reads an index as listIndexes describes it. Manual: createIndexes, "Options".
func readIndex(collection string, spec, collation bson.Raw) (storedIndex, error) {
	var s struct {
		Name          string        `bson:"name"`
		Key           bson.D        `bson:"key"`
		Unique        bool          `bson:"unique"`
		Sparse        bool          `bson:"sparse"`
		Hidden        bool          `bson:"hidden"`
		PrepareUnique bool          `bson:"prepareUnique"`
		Partial       bson.D        `bson:"partialFilterExpression"`
		Expire        bson.RawValue `bson:"expireAfterSeconds"`
		Collation     bson.Raw      `bson:"collation"`
		Wildcard      bson.Raw      `bson:"wildcardProjection"`
		Weights       bson.D        `bson:"weights"`
		Language      string        `bson:"default_language"`
		Override      string        `bson:"language_override"`
		Bits          bson.RawValue `bson:"bits"`
		Min           bson.RawValue `bson:"min"`
		Max           bson.RawValue `bson:"max"`
	}
	if err := bson.Unmarshal(spec, &s); err != nil {
		return storedIndex{}, err
	}
	h := storedIndex{
		hidden: s.Hidden,
		Index:  Index{Collection: collection, Name: s.Name, Keys: s.Key, Unique: s.Unique, Partial: s.Partial},
	}
	seconds, timed := s.Expire.AsInt64OK()
	if timed {
		h.ExpireAfter = ttl(seconds)
	}
	h.other = s.PrepareUnique || len(s.Wildcard) > 0 || !timed && s.Expire.Type != 0 ||
		!isOption(s.Bits, 26) || !isOption(s.Min, -180) || !isOption(s.Max, 180) ||
		h.Name != IDIndex && !sameCollation(s.Collation, collation)
	switch {
	case hasKeyKind(s.Key, "text"): // such an index is always sparse
		h.Keys = textKeys(s.Key, s.Weights)
		equal := !slices.ContainsFunc(s.Weights, func(e bson.E) bool { return keyText(e.Value) != "1" })
		h.other = !equal || cmp.Or(s.Language, "english") != "english" || cmp.Or(s.Override, "language") != "language"
	case hasKeyKind(s.Key, "2dsphere"): // such an index is always sparse
	default:
		h.other = h.other || s.Sparse
	}
	return h, nil
}

func hasKeyKind(keys bson.D, kind string) bool {
	return slices.ContainsFunc(keys, func(e bson.E) bool { return e.Value == kind })
}

// isOption reports whether an option is missing, or has its default value.
func isOption(v bson.RawValue, byDefault int64) bool {
	n, ok := v.AsInt64OK()
	return v.Type == 0 || ok && n == byDefault
}

// textKeys returns the keys of a text index as they are declared. The server replaces the
// text fields by _fts and _ftsx, and lists their names in the weights.
func textKeys(stored, weights bson.D) bson.D {
	var out bson.D
	for _, k := range stored {
		switch k.Key {
		case "_fts":
			for _, w := range weights {
				out = append(out, bson.E{Key: w.Key, Value: "text"})
			}
		case "_ftsx":
		default:
			out = append(out, k)
		}
	}
	return sortTextKeys(out)
}

// sameCollation compares two collations as the server completed them. A missing collation
// is the simple one.
func sameCollation(a, b bson.Raw) bool {
	all := func(raw bson.Raw) (out []string) {
		elements, _ := raw.Elements()
		for _, e := range elements {
			if e.Key() != "version" && !(e.Key() == "locale" && e.Value().StringValue() == "simple") {
				out = append(out, e.String())
			}
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(all(a), all(b))
}

// readCollations returns the default collations of the set's collections by name.
func (s IndexSet) readCollations(ctx context.Context, db DB) (map[string]bson.Raw, error) {
	names := bson.A{}
	for _, x := range s.Needed {
		if !slices.Contains(names, any(x.Collection)) {
			names = append(names, x.Collection)
		}
	}
	out := map[string]bson.Raw{}
	if len(names) == 0 {
		return out, nil
	}
	list, err := core.Database(db).
		ListCollectionSpecifications(ctx, bson.D{{Key: "name", Value: bson.D{{Key: "$in", Value: names}}}})
	if err != nil {
		return nil, fmt.Errorf("docmodel: collations of %v: %w", names, err)
	}
	for _, c := range list {
		if collation, ok := c.Options.Lookup("collation").DocumentOK(); ok {
			out[c.Name] = collation
		}
	}
	return out, nil
}
