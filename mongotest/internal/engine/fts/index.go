// Package fts is MongoDB's text search: the terms of a document's texts, the grammar of $search, and the score.
//
// The manual's pages on text indexes and $text decide
// (https://www.mongodb.com/docs/manual/core/indexes/index-types/index-text/,
// https://www.mongodb.com/docs/manual/reference/operator/query/text/). Terms are those of text indexes of version 3.
//
// A document, and the terms that an index of {title: "text", body: "text"} with the weight 10 for title has of it:
//
//	{_id: 1, title: "Cats and dogs", body: "The cat's whiskers", language: "english"}
//	cat, dog, whisker
//
// The steps from a text to its terms (token.go, stem.go, fold.go):
//
//  1. Split it into words at white space and punctuation. English keeps the apostrophe.
//  2. Leave out the stop words of the language.
//  3. Put the words in lower case, unless the search tells cases apart.
//  4. Reduce each word to its stem.
//  5. Remove diacritics, unless the search tells them apart.
//
// The steps of a search (search.go):
//
//  1. [Parse] reads the argument of $text and splits the text into words, phrases, and denied words and phrases.
//  2. The engine looks up documents by [Search.Terms], which are the terms as the index has them.
//  3. [Search.Match] checks a document: one of the terms, all of the phrases, nothing that is denied.
//  4. [Search.Score] sums the scores of the terms for {$meta: "textScore"}.
//
// Invariants:
//
//   - The index and the search make terms by the same steps, or the search would find nothing. A sensitive search
//     finds its candidates by insensitive terms, and then checks the texts themselves.
//   - A field named by Override, "language" by default, decides the language of the document that it is in, and of
//     the documents below it.
//   - The engine has English and none. Other languages of MongoDB are refused by name, since a wrong stem would
//     find other documents than production does.
//
// The engine calls [Index.Terms] when it writes, and package query calls [Parse] and [Search.Match].
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
	err := x.walkTexts(d, func(t text) bool {
		t.addScores(scores)
		return true
	})
	return scores, err
}

// addScores adds the score that each term has in the text: more for the first occurrences than for later ones, and
// for a term that is a larger part of the text. The n-th occurrence adds half of what the one before it added. A text
// that is the term alone counts a tenth more.
func (t text) addScores(scores map[string]float64) {
	type occurrence struct{ count, frequency, next float64 }
	found := map[string]*occurrence{}
	all := 0.0
	count := func(term string) bool {
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
	}
	t.language.walkTerms(t.s, sensitivity{}, count)
	for term, o := range found {
		score := t.weight * o.frequency * (0.5*o.count/all + 0.5)
		if len(term) == len(t.s) && strings.EqualFold(term, t.s) {
			score *= 1.1
		}
		scores[term] += score
	}
}

// walkTexts calls yield with the texts of a document, until yield returns false.
func (x *Index) walkTexts(d bson.D, yield func(t text) bool) error {
	_, err := x.walkDocument(d, "", x.Language, yield)
	return err
}

// walkDocument calls yield with the texts of a document at a path. in is the language of the document around it. The
// first result is false once yield has returned false.
func (x *Index) walkDocument(d bson.D, prefix string, in Language, yield func(t text) bool) (more bool, err error) {
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
		if more, err = x.walkValue(f.Value, prefix+f.Key, in, yield); !more || err != nil {
			return more, err
		}
	}
	return true, nil
}

// mayHoldTexts reports whether an indexed path is the path or begins with it. What lies elsewhere needn't be walked.
func (x *Index) mayHoldTexts(path string) bool {
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

// walkValue calls yield with the texts of a field: itself, or what its elements or fields hold. An array doesn't add
// to the path.
func (x *Index) walkValue(v any, path string, in Language, yield func(t text) bool) (more bool, err error) {
	if !x.mayHoldTexts(path) {
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
		return x.walkDocument(v, path+".", in, yield)
	case bson.A:
		for _, item := range v {
			if more, err = x.walkValue(item, path, in, yield); !more || err != nil {
				return more, err
			}
		}
	}
	return true, nil
}
