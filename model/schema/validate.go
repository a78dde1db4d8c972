package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/rawdoc"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Violation says which rule of a [Schema] a document breaks.
type Violation struct {
	Collection string
	Path       string        // dotted path, with positions of array elements; "" for the document
	Rule       string        // the violated keyword of $jsonSchema: bsonType, required, enum, maximum, …
	Want       any           // Rule's value in the schema; true for required
	Value      bson.RawValue // the stored value; zero if missing
}

// bad converts the violation to the library's error for bad input.
func (v Violation) bad() error {
	e := &model.ValueError{
		Collection: v.Collection, Field: cmp.Or(v.Path, "document"), Reason: v.Rule + " " + model.Shell(v.Want),
	}
	switch v.Rule {
	case "required":
		e.Reason = "is required"
	case "additionalProperties":
		e.Reason = "isn't a field of the schema"
	}
	if v.Value.Type != 0 {
		e.Value = v.Value
	}
	return e
}

// Violations are all rules that a document breaks. As an error, they wrap a
// [*model.ValueError] per rule.
type Violations []Violation

func (v Violations) Error() string {
	switch len(v) {
	case 0:
		return "docmodel: there is no violation"
	case 1:
		return v[0].bad().Error()
	}
	return fmt.Sprintf("%v; and %d more", v[0].bad(), len(v)-1)
}

// Unwrap returns a [*model.ValueError] for each violation.
func (v Violations) Unwrap() []error {
	out := make([]error, len(v))
	for i, x := range v {
		out[i] = x.bad()
	}
	return out
}

// validator collects the violations of one document.
type validator struct {
	collection string
	found      Violations
}

func (c *validator) fail(path, rule string, want any, value bson.RawValue) {
	if value.Type != 0 {
		value = bsonval.Clone(value)
	}
	c.found = append(c.found, Violation{c.collection, path, rule, want, value})
}

func (c *validator) check(n *node, path string, v bson.RawValue) {
	if len(n.types) > 0 &&
		!slices.ContainsFunc(n.types, func(t string) bool { return slices.Contains(typesOf(t), v.Type) }) {
		var want any = n.types[0]
		if len(n.types) > 1 {
			want = array(n.types)
		}
		c.fail(path, "bsonType", want, v)
		return // further violations would only follow from this one
	}
	if len(n.enum) > 0 && !slices.ContainsFunc(n.enum, func(e bson.RawValue) bool { return sameValue(e, v) }) {
		c.fail(path, "enum", array(n.enum), v)
	}
	switch {
	case bsonval.IsNumberType(v.Type):
		c.number(n, path, v)
	case v.Type == bson.TypeString:
		c.text(n, path, v)
	case v.Type == bson.TypeArray:
		c.list(n, path, v)
	case v.Type == bson.TypeEmbeddedDocument:
		c.fields(n, path, v)
	}
}

func (c *validator) number(n *node, path string, v bson.RawValue) {
	outside := func(l limit, sign int) bool {
		if l.value.Type == 0 {
			return false
		}
		order, ordered := orderNumbers(v, l.value)
		return !ordered || order*sign < 0 || order == 0 && l.exclusive
	}
	if outside(n.min, 1) {
		c.fail(path, "minimum", n.min.value, v)
	}
	if outside(n.max, -1) {
		c.fail(path, "maximum", n.max.value, v)
	}
	if n.multipleOf != 0 && !isMultiple(v, n.multipleOf) {
		c.fail(path, "multipleOf", rawInteger(n.multipleOf), v)
	}
}

func (c *validator) text(n *node, path string, v bson.RawValue) {
	s := v.StringValue()
	length := int64(utf8.RuneCountInString(s))
	if length < n.minLength {
		c.fail(path, "minLength", rawInteger(n.minLength), v)
	}
	if n.maxLength > 0 && length > n.maxLength {
		c.fail(path, "maxLength", rawInteger(n.maxLength), v)
	}
	if n.compiled != nil && !n.compiled.MatchString(s) {
		c.fail(path, "pattern", n.pattern, v)
	}
}

func (c *validator) list(n *node, path string, v bson.RawValue) {
	values, _ := v.Array().Values() // the document is known to be valid
	length := int64(len(values))
	if n.minItems != nil && length < *n.minItems {
		c.fail(path, "minItems", rawInteger(*n.minItems), v)
	}
	if n.maxItems != nil && length > *n.maxItems {
		c.fail(path, "maxItems", rawInteger(*n.maxItems), v)
	}
	if n.unique {
		seen := map[string]bool{}
		for i, x := range values {
			key := canonical(x)
			if seen[key] {
				c.fail(rawdoc.JoinPath(path, strconv.Itoa(i)), "uniqueItems", true, x)
				break
			}
			seen[key] = true
		}
	}
	if n.items != nil {
		for i, x := range values {
			c.check(n.items, rawdoc.JoinPath(path, strconv.Itoa(i)), x)
		}
	}
}

func (c *validator) fields(n *node, path string, v bson.RawValue) {
	elements, _ := bson.Raw(v.Value).Elements() // the document is known to be valid
	for _, name := range n.required {
		if !slices.ContainsFunc(elements, func(e bson.RawElement) bool { return e.Key() == name }) {
			c.fail(rawdoc.JoinPath(path, name), "required", true, bson.RawValue{})
		}
	}
	checked := map[string]bool{}
	for _, e := range elements {
		name := e.Key()
		switch inner := n.property(name); {
		case inner != nil:
			if !checked[name] { // of a duplicate field, $jsonSchema checks the first
				c.check(inner, rawdoc.JoinPath(path, name), e.Value())
			}
			checked[name] = true
		case n.closed:
			c.fail(rawdoc.JoinPath(path, name), "additionalProperties", false, e.Value())
		case n.rest != nil:
			c.check(n.rest, rawdoc.JoinPath(path, name), e.Value())
		}
	}
	if len(n.variants) > 0 {
		c.variant(n, path, v)
	}
}

// variant checks a document against the variant that its tag names.
func (c *validator) variant(n *node, path string, v bson.RawValue) {
	tag, _ := bson.Raw(v.Value).LookupErr(n.tag)
	var tags bson.A
	for _, x := range n.variants {
		if s, ok := tag.StringValueOK(); ok && s == x.tag {
			c.check(x.node, path, v)
			return
		}
		tags = append(tags, x.tag)
	}
	c.fail(rawdoc.JoinPath(path, n.tag), "oneOf", tags, tag)
}

// typesOf returns the types of an alias, or nil.
func typesOf(alias string) []bson.Type {
	if alias == "number" {
		return numberTypes
	}
	for i, a := range typeAliases {
		if a.name == alias {
			return []bson.Type{typeAliases[i].typ}
		}
	}
	return nil
}

func aliasOf(t bson.Type) string {
	for _, a := range typeAliases {
		if a.typ == t {
			return a.name
		}
	}
	return strings.ToLower(t.String())
}

var numberTypes = []bson.Type{bson.TypeDouble, bson.TypeInt32, bson.TypeInt64, bson.TypeDecimal128}

// typeAliases are the names of types for $type and bsonType
// (https://www.mongodb.com/docs/manual/reference/bson-types/).
var typeAliases = []struct {
	name string
	typ  bson.Type
}{
	{"string", bson.TypeString}, {"int", bson.TypeInt32}, {"long", bson.TypeInt64}, {"double", bson.TypeDouble},
	{"decimal", bson.TypeDecimal128}, {"object", bson.TypeEmbeddedDocument}, {"array", bson.TypeArray},
	{"objectId", bson.TypeObjectID}, {"date", bson.TypeDateTime}, {"bool", bson.TypeBoolean}, {"null", bson.TypeNull},
	{"binData", bson.TypeBinary}, {"regex", bson.TypeRegex}, {"timestamp", bson.TypeTimestamp},
	{"javascript", bson.TypeJavaScript}, {"javascriptWithScope", bson.TypeCodeWithScope}, {"symbol", bson.TypeSymbol},
	{"dbPointer", bson.TypeDBPointer}, {"undefined", bson.TypeUndefined}, {"minKey", bson.TypeMinKey},
	{"maxKey", bson.TypeMaxKey},
}
