package indexes

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/fts"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// readText reads the options of a text index. In its key one field stands for all fields with texts:
//
//	{key: {a: 1, b: "text", c: "text"}}   →   {key: {a: 1, _fts: "text", _ftsx: 1}, weights: {b: 1, c: 1}, …}
//
// The index's keys are the terms of a document, which package fts finds.
func readText(a *args.Reader, s *store.IndexSpec) error {
	options := []string{"weights", "default_language", "language_override", "textIndexVersion"}
	if s.Field(store.Text) == nil {
		for _, name := range options {
			a.Refuse(name)
		}
		return a.Err
	}
	// An option of text indexes needs a field with texts in the key.
	weights, err := readTextKey(s)
	if err == nil {
		err = readWeights(a, weights)
	}
	if err != nil {
		return err
	}
	x := &fts.Index{Weights: map[string]float64{}}
	language, override := a.Text("default_language"), a.Text("language_override")
	language, override = cmp.Or(language, string(fts.English)), cmp.Or(override, "language")
	version := a.Integer("textIndexVersion", 3)
	if a.Err != nil {
		return a.Err
	}
	// The engine knows some of the languages that MongoDB has stemmers for, and refuses the others as NotImplemented.
	switch x.Language, err = fts.LanguageOf(language); {
	case mongoerr.CodeOf(err) == mongoerr.NotImplemented:
		return err
	case err != nil:
		return newIndexError("default_language is not valid")
	case strings.HasPrefix(override, "$") || strings.Contains(override, "."):
		return newIndexError("language_override is not valid")
	case version < 1 || version > 3:
		return newIndexError("bad textIndexVersion: %d", version)
	case version != 3:
		return mongoerr.New(mongoerr.NotImplemented,
			"textIndexVersion %d isn't implemented by the embedded engine", version)
	}
	// listIndexes shows the weights in the order of the fields' names.
	x.Override = override
	shown := bson.D{}
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		shown = append(shown, bson.E{Key: name, Value: weights[name]})
		if name == everyField {
			x.Wildcard = true
			continue
		}
		x.Weights[name] = float64(weights[name])
	}
	s.Extra = append(s.Extra, bson.E{Key: "weights", Value: shown}, bson.E{Key: "default_language", Value: language},
		bson.E{Key: "language_override", Value: override}, bson.E{Key: "textIndexVersion", Value: int32(3)})
	// A term that is in several fields is one key of the document.
	s.Text = x
	s.Derive = func(doc bson.D) ([]any, error) {
		terms, err := x.Terms(doc)
		var keys []any
		for _, term := range slices.Sorted(maps.Keys(terms)) {
			keys = append(keys, term)
		}
		return keys, err
	}
	return nil
}

// readTextKey rewrites the key, and returns the fields with texts, each of weight 1. The fields with texts must be
// together, and all other fields ordered.
func readTextKey(s *store.IndexSpec) (map[string]int32, error) {
	weights := map[string]int32{}
	var key bson.D
	var fields []store.Field
	for i, f := range s.Fields {
		switch {
		case f.Name == "_fts" || f.Name == "_ftsx":
			return nil, newIndexError("text index with reserved fields _fts/_ftsx not allowed")
		case f.Kind == store.Text && len(weights) > 0 && s.Fields[i-1].Kind != store.Text:
			return nil, newIndexError("'text' fields in index must all be adjacent")
		case f.Kind == store.Text && len(weights) == 0: // the first; the others have no field in the key
			key = append(key, bson.E{Key: "_fts", Value: "text"}, bson.E{Key: "_ftsx", Value: int32(1)})
			fields = append(fields, store.NewField("_fts", store.Text, false))
		case f.Kind == store.Sphere || f.Kind == store.Plane || f.Kind == store.Hashed:
			return nil, newIndexError("expected value 1 or -1 for non-text key in compound index")
		case f.Kind == store.Ordered:
			if n, ok := bsonval.Int64(s.Key[i].Value); !ok || n != 1 && n != -1 {
				return nil, newIndexError("expected value 1 or -1 for non-text key in compound index")
			}
			key = append(key, s.Key[i])
			fields = append(fields, f)
		}
		if f.Kind == store.Text {
			weights[f.Name] = 1
		}
	}
	s.Key, s.Fields = key, fields
	return weights, nil
}

// maxWeight is above all weights of a text index: the largest weight is 99,999.
const maxWeight = 100_000

// readWeights reads the weights of the fields into weights, also those of fields that the key doesn't have: they are
// indexed too. "$**" in place of a document is one more field, for all texts.
func readWeights(a *args.Reader, weights map[string]int32) error {
	v, ok := a.Get("weights")
	if !ok {
		return nil
	}
	if v == everyField {
		weights[everyField] = 1
		return nil
	}
	d, ok := v.(bson.D)
	if !ok {
		return newIndexError("text index option 'weights' must be an object")
	}
	for _, f := range d {
		if !bsonval.IsNumber(f.Value) {
			return newIndexError("weight for text index needs numeric type")
		}
		// A name can be a path, but of no array's element, and no operator.
		n, ok := bsonval.TruncInt64(f.Value)
		if !ok || n <= 0 || n >= maxWeight {
			return newIndexError("text index weight must be in the exclusive interval (0,100000) but found: %s",
				store.Show(f.Value))
		}
		if f.Key == "" || f.Key != everyField && (strings.HasPrefix(f.Key, "$") || strings.HasPrefix(f.Key, ".") ||
			strings.HasSuffix(f.Key, ".") || strings.Contains(f.Key, "..") || strings.Contains(f.Key, ".$")) {
			return newIndexError("weight cannot be on an illegal field name: '%s'", f.Key)
		}
		weights[f.Key] = int32(n)
	}
	return nil
}
