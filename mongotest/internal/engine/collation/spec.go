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

// spec is a complete collation document.
type spec struct {
	locale          string
	caseLevel       bool
	caseFirst       string
	strength        int32
	numericOrdering bool
	alternate       string
	maxVariable     string
	normalization   bool
	backwards       bool
}

func (o *spec) document() bson.D {
	return bson.D{
		{Key: "locale", Value: o.locale}, {Key: "caseLevel", Value: o.caseLevel}, {Key: "caseFirst", Value: o.caseFirst},
		{Key: "strength", Value: o.strength}, {Key: "numericOrdering", Value: o.numericOrdering},
		{Key: "alternate", Value: o.alternate}, {Key: "maxVariable", Value: o.maxVariable},
		{Key: "normalization", Value: o.normalization}, {Key: "backwards", Value: o.backwards},
		{Key: "version", Value: Version},
	}
}

// Parse returns the collator of a collation document, nil for the simple one. Errors call the
// document by the name of its place, such as "collation" or "create.collation".
func Parse(d bson.D, place string) (*Collator, error) {
	r := reader{doc: d, place: place}
	o := r.read()
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
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := o.checkServed(); err != nil {
		return nil, err
	}
	return of(o), nil
}

// reader reads a collation document, and keeps its first error.
type reader struct {
	doc   bson.D
	place string
	err   error
}

var fields = []string{
	"locale", "caseLevel", "caseFirst", "strength", "numericOrdering", "alternate", "maxVariable", "normalization",

	"backwards", "version",
}

func (r *reader) read() spec {
	for i, e := range r.doc {
		switch {
		case !slices.Contains(fields, e.Key):
			r.fail(mongoerr.New(mongoerr.IDLUnknownField, "BSON field '%s.%s' is an unknown field.", r.place, e.Key))
		case bsonval.Index(r.doc, e.Key) != i:
			r.fail(mongoerr.New(40413, "BSON field '%s.%s' is a duplicate field", r.place, e.Key))
		}
	}
	o := spec{locale: r.text("locale", ""), caseLevel: r.boolean("caseLevel", false)}
	if _, ok := r.get("locale"); !ok {
		r.fail(mongoerr.New(mongoerr.IDLFailedToParse, "BSON field '%s.locale' is missing but a required field", r.place))
	}
	o.caseFirst = r.among("caseFirst", off, upperFirst, "lower")
	o.strength = r.strength()
	o.numericOrdering = r.boolean("numericOrdering", false)
	o.alternate = r.among("alternate", "non-ignorable", shifted)
	o.maxVariable = r.among("maxVariable", "punct", "space")
	o.normalization = r.boolean("normalization", false)
	if v, ok := bsonval.Get(r.doc, "backwards"); ok {
		if _, isBool := v.(bool); !isBool {
			r.fail(mongoerr.New(mongoerr.TypeMismatch,
				"Field 'backwards' should be a boolean value, but found: %s", bsonval.TypeName(v)))
		}
	}
	o.backwards = r.boolean("backwards", o.locale == "fr_CA")
	if v := r.text("version", Version); v != Version {
		r.fail(mongoerr.New(mongoerr.IncompatibleCollationVersion,
			"Requested collation version %s but the only available collator "+
				"version was %s. Requested collation spec: %s", v, Version, bsonval.Show(r.doc)))
	}
	return o
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) get(name string) (any, bool) {
	v, ok := bsonval.Get(r.doc, name)
	return v, ok && !bsonval.IsNullish(v)
}

func (r *reader) wrong(name string, v any, want string) {
	r.fail(mongoerr.New(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type%s",
		r.place, name, bsonval.TypeName(v), want))
}

func (r *reader) text(name, absent string) string {
	v, ok := r.get(name)
	if !ok {
		return absent
	}
	s, ok := v.(string)
	if !ok {
		r.wrong(name, v, " 'string'")
	}
	return s
}

func (r *reader) boolean(name string, absent bool) bool {
	v, ok := r.get(name)
	if !ok {
		return absent
	}
	b, ok := v.(bool)
	if !ok {
		r.wrong(name, v, " 'bool'")
	}
	return b
}

// among reads one of several words. The first is the default.
func (r *reader) among(name string, words ...string) string {
	s := r.text(name, words[0])
	if r.err == nil && !slices.Contains(words, s) {
		r.fail(mongoerr.New(mongoerr.BadValue,
			"Enumeration value '%s' for field '%s.%s' is not a valid value.", s, r.place, name))
	}
	return s
}

func (r *reader) strength() int32 {
	v, ok := r.get("strength")
	if !ok {
		return 3
	}
	if !bsonval.IsNumber(v) {
		r.wrong("strength", v, "s '[long, int, decimal, double]'")
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
