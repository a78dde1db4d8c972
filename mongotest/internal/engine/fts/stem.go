package fts

import (
	"slices"
	"strings"
)

// Stem returns the stem of an English word in lower case, as the Snowball project's English stemmer ("Porter2") defines
// it (https://snowballstem.org/algorithms/english/stemmer.html). MongoDB's text indexes use it.
func Stem(word string) string {
	if stem, ok := wholeWords[word]; ok {
		return stem
	}
	w := stemmer{r: []rune(word)}
	if len(w.r) <= 2 {
		return word
	}
	w.prepare()
	w.possessive()
	w.plural()
	if !slices.Contains(finished, string(w.r)) {
		w.past()
		w.finalY()
		w.derived()
		w.shorten()
		w.remove()
		w.finalE()
	}
	return strings.ReplaceAll(string(w.r), "Y", "y")
}

// wholeWords are the words with a stem of their own.
var wholeWords = map[string]string{
	"skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie",
	"idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
	"sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos", "bias": "bias", "andes": "andes",
}

// finished are the words that stay once they are singular.
var finished = []string{"inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"}

// stemmer holds the word, in which Y is a y that is a consonant. The regions r1 and r2 begin behind the first and the
// second consonant that follows a vowel.
type stemmer struct {
	r      []rune
	r1, r2 int
}

func isVowel(r rune) bool { return strings.ContainsRune("aeiouy", r) }

func (w *stemmer) prepare() {
	if w.r[0] == '\'' {
		w.r = w.r[1:]
	}
	for i, r := range w.r {
		if r == 'y' && (i == 0 || isVowel(w.r[i-1])) {
			w.r[i] = 'Y'
		}
	}
	w.r1 = w.region(0)
	for _, begin := range []string{"gener", "commun", "arsen"} {
		if strings.HasPrefix(string(w.r), begin) {
			w.r1 = len(begin)
		}
	}
	w.r2 = w.region(w.r1)
}

func (w *stemmer) region(from int) int {
	for i := from + 1; i < len(w.r); i++ {
		if !isVowel(w.r[i]) && isVowel(w.r[i-1]) {
			return i + 1
		}
	}
	return len(w.r)
}

func (w *stemmer) ends(suffix string) bool { return strings.HasSuffix(string(w.r), suffix) }

// longest returns the longest of the suffixes that the word ends with, and where that begins; "" if there is none.
func (w *stemmer) longest(suffixes ...string) (found string, at int) {
	for _, s := range suffixes {
		if len(s) > len(found) && w.ends(s) {
			found = s
		}
	}
	return found, len(w.r) - len(found)
}

func (w *stemmer) put(at int, end string) { w.r = append(w.r[:at:at], []rune(end)...) }

func (w *stemmer) hasVowel(before int) bool {
	return slices.ContainsFunc(w.r[:max(before, 0)], isVowel)
}

// endsShort reports whether the word ends with a short syllable.
func (w *stemmer) endsShort() bool {
	n := len(w.r)
	if n == 2 {
		return isVowel(w.r[0]) && !isVowel(w.r[1])
	}
	return n > 2 && !isVowel(w.r[n-3]) && isVowel(w.r[n-2]) && !isVowel(w.r[n-1]) && !strings.ContainsRune("wxY", w.r[n-1])
}

// possessive is step 0.
func (w *stemmer) possessive() {
	if s, at := w.longest("'", "'s", "'s'"); s != "" {
		w.put(at, "")
	}
}

// plural is step 1a.
func (w *stemmer) plural() {
	switch s, at := w.longest("sses", "ied", "ies", "us", "ss", "s"); s {
	case "sses":
		w.put(at, "ss")
	case "ied", "ies":
		if at > 1 {
			w.put(at, "i")
		} else {
			w.put(at, "ie")
		}
	case "s":
		if w.hasVowel(at - 1) {
			w.put(at, "")
		}
	}
}

// past is step 1b.
func (w *stemmer) past() {
	s, at := w.longest("eed", "eedly", "ed", "edly", "ing", "ingly")
	switch s {
	case "":
		return
	case "eed", "eedly":
		if at >= w.r1 {
			w.put(at, "ee")
		}
		return
	}
	if !w.hasVowel(at) {
		return
	}
	w.put(at, "")
	double, _ := w.longest("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")
	switch {
	case w.ends("at") || w.ends("bl") || w.ends("iz"):
		w.put(at, "e")
	case double != "":
		w.put(at-1, "")
	case w.r1 >= len(w.r) && w.endsShort():
		w.put(at, "e")
	}
}

// finalY is step 1c.
func (w *stemmer) finalY() {
	n := len(w.r)
	if n > 2 && (w.r[n-1] == 'y' || w.r[n-1] == 'Y') && !isVowel(w.r[n-2]) {
		w.r[n-1] = 'i'
	}
}

// replacement is a suffix with what takes its place.
type replacement struct{ suffix, by string }

func (w *stemmer) find(list []replacement) (found replacement, at int) {
	for _, x := range list {
		if len(x.suffix) > len(found.suffix) && w.ends(x.suffix) {
			found = x
		}
	}
	return found, len(w.r) - len(found.suffix)
}

var derivations = []replacement{
	{"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"abli", "able"}, {"entli", "ent"}, {"izer", "ize"},
	{"ization", "ize"}, {"ational", "ate"}, {"ation", "ate"}, {"ator", "ate"}, {"alism", "al"}, {"aliti", "al"},
	{"alli", "al"}, {"fulness", "ful"}, {"ousli", "ous"}, {"ousness", "ous"}, {"iveness", "ive"}, {"iviti", "ive"},
	{"biliti", "ble"}, {"bli", "ble"}, {"ogi", "og"}, {"fulli", "ful"}, {"lessli", "less"}, {"li", ""},
}

// derived is step 2.
func (w *stemmer) derived() {
	x, at := w.find(derivations)
	switch {
	case x.suffix == "" || at < w.r1:
	case x.suffix == "ogi" && (at == 0 || w.r[at-1] != 'l'):
	case x.suffix == "li" && (at == 0 || !strings.ContainsRune("cdeghkmnrt", w.r[at-1])):
	default:
		w.put(at, x.by)
	}
}

var endings = []replacement{
	{"tional", "tion"}, {"ational", "ate"}, {"alize", "al"}, {"icate", "ic"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""},
	{"ness", ""}, {"ative", ""},
}

// shorten is step 3.
func (w *stemmer) shorten() {
	x, at := w.find(endings)
	if x.suffix == "" || at < w.r1 || x.suffix == "ative" && at < w.r2 {
		return
	}
	w.put(at, x.by)
}

// remove is step 4.
func (w *stemmer) remove() {
	s, at := w.longest("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment",
		"ent", "ism", "ate", "iti",
		"ous", "ive", "ize", "ion")
	if s == "" || at < w.r2 || s == "ion" && (at == 0 || w.r[at-1] != 's' && w.r[at-1] != 't') {
		return
	}
	w.put(at, "")
}

// finalE is step 5.
func (w *stemmer) finalE() {
	at := len(w.r) - 1
	switch {
	case at < 0:
	case w.r[at] == 'e' && at >= w.r1:
		before := stemmer{r: w.r[:at]}
		if at >= w.r2 || !before.endsShort() {
			w.put(at, "")
		}
	case w.r[at] == 'l' && at >= w.r2 && at > 0 && w.r[at-1] == 'l':
		w.put(at, "")
	}
}
