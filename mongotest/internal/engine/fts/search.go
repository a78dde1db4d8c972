package fts

import (
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Search is the condition of $text on the documents of a collection with a text index.
type Search struct {
	index *Index
	text  string
	in    Language
	// tell is what the search tells apart: $caseSensitive and $diacriticSensitive.
	tell   sensitivity
	terms  map[string]bool // as the index has them, one of which a document must have
	wanted map[string]bool // the same as the search tells them apart
	denied map[string]bool // none of which a document may have
	// phrases must all occur, and none of deniedPhrases, also within words.
	phrases, deniedPhrases []string
}

// Parse reads the argument of $text.
func Parse(arg any, x *Index) (*Search, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(mongoerr.BadValue, "$text expects an object")
	}
	s := &Search{
		index: x, in: x.Language, terms: map[string]bool{}, wanted: map[string]bool{}, denied: map[string]bool{},
	}
	given := false
	for _, f := range d {
		text, isString := f.Value.(string)
		flag, isBool := f.Value.(bool)
		var err error
		switch f.Key {
		case "$search":
			s.text, given, ok = text, true, isString
		case "$language":
			if ok = isString; ok {
				s.in, err = LanguageOf(text)
			}
		case "$caseSensitive":
			s.tell.letters, ok = flag, isBool
		case "$diacriticSensitive":
			s.tell.diacritics, ok = flag, isBool
		default:
			return nil, mongoerr.New(mongoerr.BadValue, "extra fields in $text")
		}
		if !ok {
			want := "bool"
			if f.Key == "$search" || f.Key == "$language" {
				want = "string"
			}
			return nil, mongoerr.New(mongoerr.TypeMismatch, "%q had the wrong type. Expected %s, found %s", f.Key, want,
				bsonval.TypeName(f.Value))
		}
		if err != nil {
			return nil, err
		}
	}
	if !given {
		return nil, mongoerr.New(mongoerr.NoSuchKey, "Missing expected field \"$search\"")
	}
	s.parseText()
	return s, nil
}

// parseText reads the text to search for: words, "phrases", and either with a - before it, which no document may
// have. Words of a phrase that may occur are searched for too.
func (s *Search) parseText() {
	var words, denied strings.Builder
	deny, quoted, spaced := false, false, true
	begin := 0
	for i := 0; i < len(s.text); {
		c := s.text[i]
		switch {
		case strings.IndexByte("\n\v\f\r ", c) >= 0:
			spaced = true
			i++
			continue
		case c == '-':
			if !quoted && spaced {
				deny = true
			}
			i++
		case c == '"' && quoted:
			phrase := s.text[begin:i]
			if deny {
				s.deniedPhrases = append(s.deniedPhrases, phrase)
			} else {
				s.phrases = append(s.phrases, phrase)
			}
			quoted = false
			i++
		case c == '"':
			deny = deny && !spaced
			quoted = true
			i++
			begin = i
		default:
			end := i
			for end < len(s.text) && strings.IndexByte("\n\v\f\r -\"", s.text[end]) < 0 {
				end++
			}
			if !quoted || !deny {
				deny = deny && !spaced
				into := &words
				if deny {
					into = &denied
				}
				into.WriteString(s.text[i:end])
				into.WriteByte(' ')
			}
			i = end
		}
		spaced = false
	}
	collect := func(text string, tell sensitivity, into map[string]bool) {
		s.in.walkTerms(text, tell, func(term string) bool { into[term] = true; return true })
	}
	collect(words.String(), sensitivity{}, s.terms)
	collect(words.String(), s.tell, s.wanted)
	collect(denied.String(), s.tell, s.denied)
}

// Terms returns the terms of which a document must have one, sorted.
func (s *Search) Terms() []string { return slices.Sorted(maps.Keys(s.terms)) }

// Describe shows the search as explain does.
func (s *Search) Describe() bson.D {
	list := func(terms []string) bson.A {
		a := bson.A{}
		for _, t := range terms {
			a = append(a, t)
		}
		return a
	}
	return bson.D{
		{Key: "terms", Value: list(slices.Sorted(maps.Keys(s.wanted)))},
		{Key: "negatedTerms", Value: list(slices.Sorted(maps.Keys(s.denied)))},
		{Key: "phrases", Value: list(s.phrases)},
		{Key: "negatedPhrases", Value: list(s.deniedPhrases)},
	}
}

// Score returns how well the document matches: the sum of its terms' scores. A document whose language field is wrong
// scores 0; a write would have refused it.
func (s *Search) Score(d bson.D) float64 {
	scores, err := s.index.Terms(d)
	if err != nil {
		return 0
	}
	sum := 0.0
	for _, term := range s.Terms() {
		sum += scores[term]
	}
	return sum
}

// Match reports whether the document matches. It reads the document's texts again only for what the terms of the
// index can't tell: cases, diacritics, phrases and denied words.
func (s *Search) Match(d bson.D) bool {
	if s.Score(d) == 0 {
		return false
	}
	found := s.tell == sensitivity{}
	left := slices.Clone(s.phrases)
	refused := false
	checkText := func(t text) bool {
		t.language.walkTerms(t.s, s.tell, func(term string) bool {
			found = found || s.wanted[term]
			refused = refused || s.denied[term]
			return !refused
		})
		left = slices.DeleteFunc(left, func(p string) bool { return s.containsPhrase(t.s, p) })
		refused = refused ||
			slices.ContainsFunc(s.deniedPhrases, func(p string) bool { return s.containsPhrase(t.s, p) })
		return !refused
	}
	err := s.index.walkTexts(d, checkText)
	return err == nil && found && !refused && len(left) == 0
}

// containsPhrase reports whether a phrase occurs in a text. Phrases aren't stemmed, and may begin or end within a
// word.
func (s *Search) containsPhrase(text, phrase string) bool {
	if !s.tell.letters {
		text, phrase = toLower(text), toLower(phrase)
	}
	if !s.tell.diacritics {
		text, phrase = stripDiacritics(text), stripDiacritics(phrase)
	}
	return strings.Contains(text, phrase)
}
