package collation

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Simple is the locale of the simple collation.
const Simple = "simple"

// Version is that of MongoDB's ICU, which a collation document names.
const Version = "57.1"

const (
	off        = "off"
	upperFirst = "upper"
	shifted    = "shifted"
)

// spec is a complete collation document. It is comparable, because it is the key of the map of collators.
type spec struct {
	locale    string
	caseLevel bool
	caseFirst string
	// strength says how many levels are compared: 1 base letters, 2 accents too, 3 cases too, 4 punctuation too if it
	// is shifted, 5 code points too.
	strength        int32
	numericOrdering bool
	// alternate says whether spaces and punctuation are compared as letters are, or only at strength 4 ("shifted").
	alternate     string
	maxVariable   string
	normalization bool
	// backwards says whether accents are compared from the end of the string, as French in Canada does.
	backwards bool
}

// document returns the spec with all its fields, in MongoDB's order.
func (o *spec) document() bson.D {
	return bson.D{
		{Key: "locale", Value: o.locale}, {Key: "caseLevel", Value: o.caseLevel},
		{Key: "caseFirst", Value: o.caseFirst}, {Key: "strength", Value: o.strength},
		{Key: "numericOrdering", Value: o.numericOrdering}, {Key: "alternate", Value: o.alternate},
		{Key: "maxVariable", Value: o.maxVariable}, {Key: "normalization", Value: o.normalization},
		{Key: "backwards", Value: o.backwards},
		{Key: "version", Value: Version},
	}
}

// Parse returns the collator of a collation document, nil for the simple one. Errors call the
// document by the name of its place, such as "collation" or "create.collation".
func Parse(d bson.D, place string) (*Collator, error) {
	r := reader{doc: d, place: place}
	o := r.readSpec()
	if r.err != nil {
		return nil, r.err
	}
	if o.locale == Simple {
		if len(d) > 1 {
			return nil, mongoerr.New(mongoerr.FailedToParse,
				"If locale=simple, no other fields should be present in: %s", bsonval.Show(d))
		}
		return nil, nil
	}
	if err := o.checkLocale(d); err != nil {
		return nil, err
	}
	if err := o.checkCombinations(); err != nil {
		return nil, err
	}
	if err := o.checkServed(); err != nil {
		return nil, err
	}
	return findCollator(o), nil
}

// reader reads a collation document, and keeps its first error.
type reader struct {
	doc   bson.D
	place string
	err   error
}

// fields are those that a collation document may have.
var fields = []string{
	"locale", "caseLevel", "caseFirst", "strength", "numericOrdering", "alternate", "maxVariable", "normalization",

	"backwards", "version",
}

// readSpec reads all fields. It looks for unknown and repeated fields first.
func (r *reader) readSpec() spec {
	for i, e := range r.doc {
		switch {
		case !slices.Contains(fields, e.Key):
			r.fail(mongoerr.New(mongoerr.IDLUnknownField, "BSON field '%s.%s' is an unknown field.", r.place, e.Key))
		case bsonval.Index(r.doc, e.Key) != i:
			r.fail(mongoerr.New(40413, "BSON field '%s.%s' is a duplicate field", r.place, e.Key))
		}
	}
	o := spec{locale: r.readText("locale", ""), caseLevel: r.readBool("caseLevel", false)}
	if _, ok := r.getValue("locale"); !ok {
		r.fail(mongoerr.New(mongoerr.IDLFailedToParse,
			"BSON field '%s.locale' is missing but a required field", r.place))
	}
	o.caseFirst = r.readWord("caseFirst", off, upperFirst, "lower")
	o.strength = r.readStrength()
	o.numericOrdering = r.readBool("numericOrdering", false)
	o.alternate = r.readWord("alternate", "non-ignorable", shifted)
	o.maxVariable = r.readWord("maxVariable", "punct", "space")
	o.normalization = r.readBool("normalization", false)
	if v, ok := bsonval.Get(r.doc, "backwards"); ok {
		if _, isBool := v.(bool); !isBool {
			r.fail(mongoerr.New(mongoerr.TypeMismatch,
				"Field 'backwards' should be a boolean value, but found: %s", bsonval.TypeName(v)))
		}
	}
	o.backwards = r.readBool("backwards", o.locale == "fr_CA")
	if v := r.readText("version", Version); v != Version {
		r.fail(mongoerr.New(mongoerr.IncompatibleCollationVersion,
			"Requested collation version %s but the only available collator "+
				"version was %s. Requested collation spec: %s", v, Version, bsonval.Show(r.doc)))
	}
	return o
}

// fail keeps the first error. Reading goes on with defaults, so that callers needn't look after each field.
func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// getValue returns a field's value. Null stands for a field that isn't there.
func (r *reader) getValue(name string) (any, bool) {
	v, ok := bsonval.Get(r.doc, name)
	return v, ok && !bsonval.IsNullish(v)
}

// failType keeps an error of a field that has the wrong type.
func (r *reader) failType(name string, v any, want string) {
	r.fail(mongoerr.New(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type%s",
		r.place, name, bsonval.TypeName(v), want))
}

// readText reads a string, or returns absent for a field that isn't there.
func (r *reader) readText(name, absent string) string {
	v, ok := r.getValue(name)
	if !ok {
		return absent
	}
	s, ok := v.(string)
	if !ok {
		r.failType(name, v, " 'string'")
	}
	return s
}

// readBool reads a boolean, or returns absent for a field that isn't there.
func (r *reader) readBool(name string, absent bool) bool {
	v, ok := r.getValue(name)
	if !ok {
		return absent
	}
	b, ok := v.(bool)
	if !ok {
		r.failType(name, v, " 'bool'")
	}
	return b
}

// readWord reads one of several words. The first is the default.
func (r *reader) readWord(name string, words ...string) string {
	s := r.readText(name, words[0])
	if r.err == nil && !slices.Contains(words, s) {
		r.fail(mongoerr.New(mongoerr.BadValue,
			"Enumeration value '%s' for field '%s.%s' is not a valid value.", s, r.place, name))
	}
	return s
}

// readStrength reads a number from 1 to 5; 3 by default. MongoDB takes doubles and cuts them off. 0 is refused with
// another code than numbers out of range.
func (r *reader) readStrength() int32 {
	v, ok := r.getValue("strength")
	if !ok {
		return 3
	}
	if !bsonval.IsNumber(v) {
		r.failType("strength", v, "s '[long, int, decimal, double]'")
		return 0
	}
	f, _ := bsonval.Float(v)
	n := int32(max(min(f, 1<<31-1), -1<<31))
	switch {
	case n < 0:
		r.fail(mongoerr.New(51024, "BSON field 'strength' value must be >= 0, actual value '%d'", n))
	case n > 5:
		r.fail(mongoerr.New(51024, "BSON field 'strength' value must be <= 5, actual value '%d'", n))
	case n == 0:
		r.fail(mongoerr.New(mongoerr.FailedToParse, "Field 'strength' must be an integer 1 through 5. Got: 0"))
	}
	return n
}
