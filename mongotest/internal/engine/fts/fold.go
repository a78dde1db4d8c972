package fts

import (
	"strings"
	"unicode"
)

// accents has letters with diacritics behind the letter that they count as.
const accents = `aàáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ bḃḅḇ cçćĉċčḉ dďḋḍḏḑḓ eèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ fḟ gĝğġģǧǵḡ hĥȟḣḥḧḩḫẖ
iìíîïĩīĭįǐȉȋḭḯỉị jĵǰ kķǩḱḳḵ lĺļľḷḹḻḽ mḿṁṃ nñńņňǹṅṇṉṋ oòóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ pṕṗ rŕŗřȑȓṙṛṝṟ
sśŝşšșṡṣṥṧṩ tţťțṫṭṯṱẗ uùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự vṽṿ wŵẁẃẅẇẉẘ xẋẍ yýÿŷȳẏẙỳỵỷỹ zźżžẑẓẕ
αάἀἁ εέ ηή ιίϊΐ οό υύϋΰ ωώ иѝй еѐё ії кќ гѓ уў`

// plainLetters has the letter without its diacritic for each letter of accents, in both cases.
var plainLetters = func() map[rune]rune {
	out := map[rune]rune{}
	for group := range strings.FieldsSeq(accents) {
		base := []rune(group)[0]
		for _, r := range []rune(group)[1:] {
			out[r] = base
			if u := unicode.ToUpper(r); u != r {
				out[u] = unicode.ToUpper(base)
			}
		}
	}
	return out
}()

// stripDiacritics removes the diacritics of Latin, Greek and Cyrillic letters, and combining ones of any.
func stripDiacritics(s string) string {
	if isASCII(s) {
		return s
	}
	fold := func(r rune) rune {
		if plain, ok := plainLetters[r]; ok {
			return plain
		}
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}
	return strings.Map(fold, s)
}

// isASCII reports whether s has no letter that could have a diacritic. Most texts need no copy then.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// toLower is s in lower case, as search without regard to case compares it.
func toLower(s string) string { return strings.ToLower(s) }
