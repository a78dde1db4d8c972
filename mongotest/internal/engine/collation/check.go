package collation

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// checkLocale refuses a locale that MongoDB doesn't have, and one that this package can't serve.
func (o *spec) checkLocale(d bson.D) error {
	switch {
	case isUntailored(o.locale) || tailored[o.locale] != "":
		return nil
	case slices.Contains(known, o.locale):
		return mongoerr.New(mongoerr.NotImplemented,
			"the collation's locale '%s' isn't implemented by the embedded engine", o.locale)
	case o.locale == "":
		return mongoerr.New(mongoerr.BadValue, "Field 'locale' cannot be the empty string in: %s", bsonval.Show(d))
	case strings.Contains(o.locale, "\x00"):
		return mongoerr.New(mongoerr.BadValue,
			"Field 'locale' cannot contain null byte. Collation spec: %s", bsonval.Show(d))
	}
	hint := ""
	if near := suggestLocale(o.locale); near != "" {
		hint = ". Did you mean '" + near + "'?"
	}
	return mongoerr.New(mongoerr.BadValue, "Field 'locale' is invalid in: %s%s", bsonval.Show(d), hint)
}

// suggestLocale returns the locale that ICU has in the place of one that it hasn't: without the country.
func suggestLocale(locale string) string {
	language, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(locale, "-", "_")), "_")
	if isUntailored(language) || tailored[language] != "" || slices.Contains(known, language) {
		return language
	}
	return ""
}

// checkCombinations refuses options that have no effect together, as MongoDB does.
func (o *spec) checkCombinations() error {
	if o.backwards && o.strength == 1 {
		return mongoerr.New(mongoerr.BadValue, "'backwards' is invalid with 'strength' of 1 in: %s",
			bsonval.Show(o.document()))
	}
	if o.caseFirst != off && !o.caseLevel && o.strength < 3 {
		return mongoerr.New(mongoerr.BadValue,
			"'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2 in: %s",
			bsonval.Show(o.document()))
	}
	return nil
}

// checkServed refuses the options that x/text's tables can't do as ICU does them. The error names the option, so that
// a test doesn't pass with another order than production has.
func (o *spec) checkServed() error {
	refused := func(what string) error {
		return mongoerr.New(mongoerr.NotImplemented,
			"the collation's %s isn't implemented by the embedded engine", what)
	}
	switch {
	case o.caseLevel && !isUntailored(o.locale):
		return refused("'caseLevel' of the locale '" + o.locale + "'")
	case o.caseFirst != off && !isUntailored(o.locale):
		return refused("'caseFirst' of the locale '" + o.locale + "'")
	case o.alternate == shifted && o.maxVariable == "space":
		return refused("'maxVariable' of 'space'")
	}
	return nil
}
