// Package fts is MongoDB's text search: the terms of a document's texts, the grammar of $search, and the score.
//
// The manual's pages on text indexes and $text decide
// (https://www.mongodb.com/docs/manual/core/indexes/index-types/index-text/,
// https://www.mongodb.com/docs/manual/reference/operator/query/text/). Terms are those of text indexes of version 3.
package fts

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Index says which texts of a document a text index has, and in which languages they are.
type Index struct {
	Weights  map[string]float64 // by path; never nil
	Wildcard bool               // all texts; those not in Weights have the weight 1
	Language Language           // of texts that say nothing else
	Override string             // the field that names the language of the document it is in
}

// text is one text of a document.
type text struct {
	s        string
	weight   float64
	language Language
}

// Terms returns each term of a document once, with its score. It is an error when a field that names a language is
// wrong.
func (x *Index) Terms(d bson.D) (map[string]float64, error) {
	scores := map[string]float64{}
	err := x.each(d, func(t text) bool {
		t.score(scores)
		return true
	})
	return scores, err
}

// score adds the score that each term has in the text: more for the first occurrences than for later ones, and for a
// term that is a larger part of the text.
func (t text) score(scores map[string]float64) {
	type occurrence struct{ count, frequency, next float64 }
	found := map[string]*occurrence{}
	all := 0.0
	t.language.tokens(t.s, sensitivity{}, func(term string) bool {
		o := found[term]
		if o == nil {
			o = &occurrence{next: 1}
			found[term] = o
		}
		o.count++
		o.frequency += o.next
		o.next /= 2
		all++
		return true
	})
	for term, o := range found {
		score := t.weight * o.frequency * (0.5*o.count/all + 0.5)
		if len(term) == len(t.s) && strings.EqualFold(term, t.s) {
			score *= 1.1
		}
		scores[term] += score
	}
}

// each calls yield with the texts of a document.
func (x *Index) each(d bson.D, yield func(t text) bool) error {
	_, err := x.walk(d, "", x.Language, yield)
	return err
}

func (x *Index) walk(d bson.D, prefix string, in Language, yield func(t text) bool) (more bool, err error) {
	if v, ok := bsonval.Get(d, x.Override); ok {
		name, isString := v.(string)
		if !isString {
			return false, mongoerr.New(17261, "found language override field in document with non-string type")
		}
		switch l, err := LanguageOf(name); {
		case mongoerr.CodeOf(err) == mongoerr.NotImplemented:
			return false, err
		case err != nil:
			return false, mongoerr.New(17262, "language override unsupported: %s", name)
		default:
			in = l
		}
	}
	for _, f := range d {
		if f.Key == x.Override {
			continue
		}
		if more, err = x.value(f.Value, prefix+f.Key, in, yield); !more || err != nil {
			return more, err
		}
	}
	return true, nil
}

// leads reports whether an indexed path is the path or begins with it.
func (x *Index) leads(path string) bool {
	if x.Wildcard {
		return true
	}
	for p := range x.Weights {
		if rest, ok := strings.CutPrefix(p, path); ok && (rest == "" || rest[0] == '.') {
			return true
		}
	}
	return false
}

func (x *Index) value(v any, path string, in Language, yield func(t text) bool) (more bool, err error) {
	if !x.leads(path) {
		return true, nil
	}
	switch v := v.(type) {
	case string:
		weight, ok := x.Weights[path]
		switch {
		case ok:
		case x.Wildcard:
			weight = 1
		default:
			return true, nil
		}
		return yield(text{v, weight, in}), nil
	case bson.D:
		return x.walk(v, path+".", in, yield)
	case bson.A:
		for _, item := range v {
			if more, err = x.value(item, path, in, yield); !more || err != nil {
				return more, err
			}
		}
	}
	return true, nil
}
