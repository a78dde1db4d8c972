package fts

import (
	"slices"
	"strings"
	"unicode"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Language is one of the languages of a text search.
type Language string

// The languages that the engine has. None has no stop words and no stemmer.
const (
	English Language = "english"
	None    Language = "none"
)

// otherLanguages are what else MongoDB has, by its names and codes.
var otherLanguages = []string{
	"da", "danish", "nl", "dutch", "fi", "finnish", "fr", "french", "de", "german", "hu",
	"hungarian", "it", "italian", "nb", "norwegian", "pt", "portuguese", "ro", "romanian", "ru", "russian", "es",
	"spanish", "sv", "swedish", "tr", "turkish",
}

// LanguageOf returns the language of a name. An error of code BadValue says that MongoDB has none of that name.
func LanguageOf(name string) (Language, error) {
	switch n := strings.ToLower(name); {
	case n == "english" || n == "en":
		return English, nil
	case n == "none":
		return None, nil
	case slices.Contains(otherLanguages, n):
		return "", mongoerr.New(mongoerr.NotImplemented,
			"the text search language %q isn't implemented by the embedded engine", name)
	}
	return "", mongoerr.New(mongoerr.BadValue, "unsupported language: %q for text index version 3", name)
}

// sensitivity says what a search tells apart.
type sensitivity struct{ letters, diacritics bool }

// walkTerms calls yield with the terms of a text: its words without the stop words, stemmed.
func (l Language) walkTerms(text string, s sensitivity, yield func(term string) bool) {
	for word := range strings.FieldsFuncSeq(text, l.isSeparator) {
		small := toLower(word)
		if l == English && stopWords[small] {
			continue
		}
		if s.letters {
			small = word
		}
		if l == English {
			small = Stem(small) // which tells diacritics apart
		}
		if !s.diacritics {
			small = stripDiacritics(small)
		}
		if !yield(small) {
			return
		}
	}
}

// separators are the classes of characters that end a word.
var separators = []*unicode.RangeTable{
	unicode.White_Space, unicode.Pattern_Syntax, unicode.Terminal_Punctuation, unicode.Quotation_Mark,
	unicode.Dash, unicode.Hyphen,
}

// isSeparator reports whether a character ends a word. In English an apostrophe doesn't: the stemmer removes it.
func (l Language) isSeparator(r rune) bool {
	return (r != '\'' || l != English) && unicode.IsOneOf(separators, r)
}

// stopWords are the words of English that no index has.
var stopWords = func() map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(`
		i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
		herself it its itself they them their theirs themselves what which who whom this that these those am is are
		was were be been being have has had having do does did doing would should could ought i'm you're he's she's
		it's we're they're i've you've we've they've i'd you'd he'd she'd we'd they'd i'll you'll he'll she'll we'll
		they'll isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't won't wouldn't shan't
		shouldn't can't cannot couldn't mustn't let's that's who's what's here's there's when's where's why's how's
		a an the and but if or because as until while of at by for with about against between into through during
		before after above below to from up down in out on off over under again further then once here there when
		where why how all any both each few more most other some such no nor not only own same so than too very`) {
		out[word] = true
	}
	return out
}()
