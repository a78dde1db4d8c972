package collation

import (
	"slices"

	"golang.org/x/text/language"
)

// untailored are the locales of MongoDB that have Unicode's own order.
var untailored = []string{
	"de", "de_AT", "en", "en_US", "fr", "fr_CA", "ga", "id", "it", "lb", "ms", "nl", "pt", "sw", "zu",
}

// tailored are those for which x/text has ICU's rules, by their tags. Letters that the rules place
// have tertiary weights that don't tell their case.
var tailored = map[string]string{
	"cs": "cs", "de@collation=phonebook": "de-u-co-phonebk", "es": "es", "hr": "hr", "hu": "hu", "is": "is", "lt": "lt",
	"pl": "pl", "ro": "ro", "sk": "sk", "sl": "sl", "sv": "sv", "tr": "tr",
}

// known are the other locales that MongoDB has
// (https://www.mongodb.com/docs/manual/reference/collation-locales-defaults/). x/text has older
// rules for them, or none, or rules that need another order of scripts or of cases.
var known = []string{
	"af", "am", "ar", "ar@collation=compat", "as", "az", "az@collation=search", "be", "bg", "bn",
	"bn@collation=traditional", "bo", "bs", "bs@collation=search", "bs_Cyrl", "ca", "ca@collation=search", "chr", "cy",
	"da", "da@collation=search", "de@collation=eor", "de@collation=search",
	"de_AT@collation=phonebook", "dsb", "dz", "ee", "el", "en_US_POSIX", "eo", "es@collation=search",
	"es@collation=traditional", "et", "fa", "fa_AF", "fi", "fi@collation=search", "fi@collation=traditional", "fil",
	"fo", "fo@collation=search", "gl", "gl@collation=search", "gu", "ha", "haw", "he", "he@collation=search", "hi",
	"hsb", "hy", "ig", "is@collation=search", "ja", "ja@collation=unihan", "ka", "kk", "kl", "kl@collation=search",
	"km", "kn", "kn@collation=traditional", "ko", "ko@collation=search", "ko@collation=searchjl", "ko@collation=unihan",
	"kok", "ky", "lkt", "ln", "ln@collation=phonetic", "lo", "lv", "mk", "ml", "mn", "mr", "mt", "my", "nb",
	"nb@collation=search", "ne", "nn", "nn@collation=search", "om", "or", "pa", "ps", "ru", "se", "se@collation=search",
	"si", "si@collation=dictionary", "sk@collation=search", "smn", "smn@collation=search", "sq", "sr", "sr_Latn",
	"sr_Latn@collation=search", "sv@collation=search", "sv@collation=standard", "ta", "te", "th", "to",
	"tr@collation=search", "uk", "ur", "vi", "vi@collation=traditional", "wae", "wo", "yi", "yi@collation=search", "yo",
	"zh", "zh@collation=big5han", "zh@collation=gb2312han", "zh@collation=pinyin", "zh@collation=stroke",
	"zh@collation=unihan", "zh@collation=zhuyin", "zh_Hant", "zh_Hant@collation=pinyin",
}

// isUntailored reports whether a locale has Unicode's own order.
func isUntailored(locale string) bool { return slices.Contains(untailored, locale) }

// tag returns the tag of the table that makes the weights.
func (o *spec) tag() language.Tag {
	name, ok := tailored[o.locale]
	if !ok {
		name = "und"
	}
	tag := language.MustParse(name)
	if o.alternate == shifted {
		tag, _ = tag.SetTypeForKey("ka", "shifted")
		tag, _ = tag.SetTypeForKey("ks", "level4")
	}
	return tag
}
