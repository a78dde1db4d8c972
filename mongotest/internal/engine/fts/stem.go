package fts

import (
	"slices"
	"strings"
)

// Stem returns the stem of an English word in lower case, as the Snowball project's English stemmer ("Porter2")
// defines it (https://snowballstem.org/algorithms/english/stemmer.html). MongoDB's text indexes use it.
func Stem(word string) string {
	if stem, ok := wholeWords[word]; ok {
		return stem
	}
	w := stemmer{r: []rune(word)}
	if len(w.r) <= 2 {
		return word
	}
	w.prepare()
	w.removePossessive()
	w.removePlural()
	if !slices.Contains(finished, string(w.r)) {
		w.removePast()
		w.replaceFinalY()
		w.replaceDerivation()
		w.shortenEnding()
		w.removeEnding()
		w.removeFinalE()
	}
	return strings.ReplaceAll(string(w.r), "Y", "y")
}

// wholeWords are the words with a stem of their own.
var wholeWords = map[string]string{
	"skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie",
	"idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
	"sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos",
	"bias": "bias", "andes": "andes",
}

// finished are the words that stay once they are singular.
var finished = []string{"inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"}

// stemmer holds the word, in which Y is a y that is a consonant. The regions r1 and r2 begin behind the first and the
// second consonant that follows a vowel.
type stemmer struct {
	r      []rune
	r1, r2 int
}

// isVowel reports whether a letter is a vowel. A y that is a consonant has been written Y before.
func isVowel(r rune) bool { return strings.ContainsRune("aeiouy", r) }

// prepare marks each y that is a consonant, at the beginning and after a vowel, and finds the two regions. Three
// beginnings have a region of their own, as the algorithm's page says.
func (w *stemmer) prepare() {
	if w.r[0] == '\'' {
		w.r = w.r[1:]
	}
	for i, r := range w.r {
		if r == 'y' && (i == 0 || isVowel(w.r[i-1])) {
			w.r[i] = 'Y'
		}
	}
	w.r1 = w.findRegion(0)
	for _, begin := range []string{"gener", "commun", "arsen"} {
		if strings.HasPrefix(string(w.r), begin) {
			w.r1 = len(begin)
		}
	}
	w.r2 = w.findRegion(w.r1)
}

// findRegion returns where a region begins: behind the first consonant that follows a vowel, from an index on.
func (w *stemmer) findRegion(from int) int {
	for i := from + 1; i < len(w.r); i++ {
		if !isVowel(w.r[i]) && isVowel(w.r[i-1]) {
			return i + 1
		}
	}
	return len(w.r)
}

// ends reports whether the word ends with a suffix.
func (w *stemmer) ends(suffix string) bool { return strings.HasSuffix(string(w.r), suffix) }

// findLongest returns the longest of the suffixes that the word ends with, and where that begins; "" if there is
// none.
func (w *stemmer) findLongest(suffixes ...string) (found string, at int) {
	for _, s := range suffixes {
		if len(s) > len(found) && w.ends(s) {
			found = s
		}
	}
	return found, len(w.r) - len(found)
}

// replaceEnd cuts the word off at an index and appends an end.
func (w *stemmer) replaceEnd(at int, end string) { w.r = append(w.r[:at:at], []rune(end)...) }

// hasVowel reports whether a vowel is among the letters before an index.
func (w *stemmer) hasVowel(before int) bool {
	return slices.ContainsFunc(w.r[:max(before, 0)], isVowel)
}

// endsShort reports whether the word ends with a short syllable: a vowel between consonants of which the last isn't
// w, x or Y, or a vowel and a consonant that are the whole word.
func (w *stemmer) endsShort() bool {
	n := len(w.r)
	if n == 2 {
		return isVowel(w.r[0]) && !isVowel(w.r[1])
	}
	return n > 2 && !isVowel(w.r[n-3]) && isVowel(w.r[n-2]) && !isVowel(w.r[n-1]) &&
		!strings.ContainsRune("wxY", w.r[n-1])
}

// removePossessive is step 0 of the algorithm's page.
func (w *stemmer) removePossessive() {
	if s, at := w.findLongest("'", "'s", "'s'"); s != "" {
		w.replaceEnd(at, "")
	}
}

// removePlural is step 1a: "sses" becomes "ss", "ties" "tie", "cries" "cri", and an s goes if there is a vowel before
// the letter in front of it.
func (w *stemmer) removePlural() {
	switch s, at := w.findLongest("sses", "ied", "ies", "us", "ss", "s"); s {
	case "sses":
		w.replaceEnd(at, "ss")
	case "ied", "ies":
		if at > 1 {
			w.replaceEnd(at, "i")
		} else {
			w.replaceEnd(at, "ie")
		}
	case "s":
		if w.hasVowel(at - 1) {
			w.replaceEnd(at, "")
		}
	}
}

// removePast is step 1b: "ed" and "ing" go if a vowel is left. What is left may need an e or lose a doubled letter.
func (w *stemmer) removePast() {
	s, at := w.findLongest("eed", "eedly", "ed", "edly", "ing", "ingly")
	switch s {
	case "":
		return
	case "eed", "eedly":
		if at >= w.r1 {
			w.replaceEnd(at, "ee")
		}
		return
	}
	if !w.hasVowel(at) {
		return
	}
	w.replaceEnd(at, "")
	double, _ := w.findLongest("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")
	switch {
	case w.ends("at") || w.ends("bl") || w.ends("iz"):
		w.replaceEnd(at, "e")
	case double != "":
		w.replaceEnd(at-1, "")
	case w.r1 >= len(w.r) && w.endsShort():
		w.replaceEnd(at, "e")
	}
}

// replaceFinalY is step 1c: a y after a consonant becomes i, but not in words of two letters.
func (w *stemmer) replaceFinalY() {
	n := len(w.r)
	if n > 2 && (w.r[n-1] == 'y' || w.r[n-1] == 'Y') && !isVowel(w.r[n-2]) {
		w.r[n-1] = 'i'
	}
}

// replacement is a suffix with what takes its place.
type replacement struct{ suffix, by string }

// findReplacement returns the longest suffix of the list that the word ends with, and where that begins.
func (w *stemmer) findReplacement(list []replacement) (found replacement, at int) {
	for _, x := range list {
		if len(x.suffix) > len(found.suffix) && w.ends(x.suffix) {
			found = x
		}
	}
	return found, len(w.r) - len(found.suffix)
}

// derivations are the suffixes of step 2.
var derivations = []replacement{
	{"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"abli", "able"}, {"entli", "ent"}, {"izer", "ize"},
	{"ization", "ize"}, {"ational", "ate"}, {"ation", "ate"}, {"ator", "ate"}, {"alism", "al"}, {"aliti", "al"},
	{"alli", "al"}, {"fulness", "ful"}, {"ousli", "ous"}, {"ousness", "ous"}, {"iveness", "ive"}, {"iviti", "ive"},
	{"biliti", "ble"}, {"bli", "ble"}, {"ogi", "og"}, {"fulli", "ful"}, {"lessli", "less"}, {"li", ""},
}

// replaceDerivation is step 2. The suffix must lie in r1; "ogi" needs an l before it, and "li" one of the letters
// that the algorithm lists.
func (w *stemmer) replaceDerivation() {
	x, at := w.findReplacement(derivations)
	switch {
	case x.suffix == "" || at < w.r1:
	case x.suffix == "ogi" && (at == 0 || w.r[at-1] != 'l'):
	case x.suffix == "li" && (at == 0 || !strings.ContainsRune("cdeghkmnrt", w.r[at-1])):
	default:
		w.replaceEnd(at, x.by)
	}
}

// endings are the suffixes of step 3.
var endings = []replacement{
	{"tional", "tion"}, {"ational", "ate"}, {"alize", "al"}, {"icate", "ic"}, {"iciti", "ic"},
	{"ical", "ic"}, {"ful", ""}, {"ness", ""}, {"ative", ""},
}

// shortenEnding is step 3. The suffix must lie in r1, and "ative" in r2.
func (w *stemmer) shortenEnding() {
	x, at := w.findReplacement(endings)
	if x.suffix == "" || at < w.r1 || x.suffix == "ative" && at < w.r2 {
		return
	}
	w.replaceEnd(at, x.by)
}

// removeEnding is step 4. The suffix must lie in r2; "ion" needs an s or t before it.
func (w *stemmer) removeEnding() {
	s, at := w.findLongest("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment",
		"ent", "ism", "ate", "iti",
		"ous", "ive", "ize", "ion")
	if s == "" || at < w.r2 || s == "ion" && (at == 0 || w.r[at-1] != 's' && w.r[at-1] != 't') {
		return
	}
	w.replaceEnd(at, "")
}

// removeFinalE is step 5: an e goes from r2, or from r1 unless a short syllable is before it, and one of two l from
// r2.
func (w *stemmer) removeFinalE() {
	at := len(w.r) - 1
	switch {
	case at < 0:
	case w.r[at] == 'e' && at >= w.r1:
		before := stemmer{r: w.r[:at]}
		if at >= w.r2 || !before.endsShort() {
			w.replaceEnd(at, "")
		}
	case w.r[at] == 'l' && at >= w.r2 && at > 0 && w.r[at-1] == 'l':
		w.replaceEnd(at, "")
	}
}
