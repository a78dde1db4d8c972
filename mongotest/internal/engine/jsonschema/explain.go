package jsonschema

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Explain says why a document doesn't conform to a schema that [Parse] takes, as MongoDB does in the details of a
// validation error (https://www.mongodb.com/docs/manual/core/schema-validation/handle-invalid-documents/).
func Explain(schema, doc bson.D) bson.D {
	out := bson.D{{Key: "operatorName", Value: "$jsonSchema"}}
	for _, keyword := range []string{"bsonType", "type"} {
		if arg, ok := bsonval.Get(schema, keyword); ok && !conforms(keyword, arg, schema, doc) {
			return append(out, bson.E{Key: "specifiedAs", Value: bson.D{{Key: "$jsonSchema", Value: schema}}},
				bson.E{Key: "reason", Value: "expression always evaluates to false"})
		}
	}
	return append(append(out, Annotations(schema)...), bson.E{
		Key: "schemaRulesNotSatisfied", Value: failures(schema, doc),
	})
}

// Annotations returns the title and the description of a schema, which MongoDB repeats in its errors.
func Annotations(schema bson.D) (out bson.D) {
	for _, name := range []string{"title", "description"} {
		if s, ok := bsonval.Get(schema, name); ok {
			out = append(out, bson.E{Key: name, Value: s})
		}
	}
	return out
}

// failure is a keyword that a value doesn't fulfill.
type failure struct {
	keyword string
	arg     any
	all     bson.D // the schema that the keyword stands in
	v       any
}

// explainers is filled in by init, since its entries explain schemas themselves.
var explainers map[string]func(f failure) bson.D

// reported is the order in which MongoDB reports keywords.
var reported = []string{
	"pattern", "maxLength", "minLength", "multipleOf", "maximum", "minimum",
	"minItems", "maxItems", "uniqueItems", "items", "additionalItems",
	"properties", "additionalProperties", "patternProperties", "required", "minProperties",
	"maxProperties", "dependencies", "allOf", "anyOf", "oneOf", "not", "enum", "bsonType", "type",
}

func init() {
	length := considered("specified string length was not satisfied")
	bound := considered("comparison failed")
	explainers = map[string]func(f failure) bson.D{
		"pattern": considered("regular expression did not match"), "maxLength": length, "minLength": length,
		"multipleOf": considered("considered value is not a multiple of the specified value"),
		"maximum":    bound, "minimum": bound, "minItems": failure.size, "maxItems": failure.size,
		"uniqueItems": failure.duplicate, "items": failure.items, "additionalItems": failure.additionalItems,
		"properties": failure.properties, "additionalProperties": failure.additionalProperties,
		"patternProperties": failure.patternProperties, "required": failure.required, "minProperties": failure.count,
		"maxProperties": failure.count, "dependencies": failure.dependencies, "allOf": failure.schemas,
		"anyOf": failure.schemas, "oneOf": failure.one,
		"not":  func(failure) bson.D { return because("child expression matched") },
		"enum": considered("value was not found in enum"), "bsonType": failure.types, "type": failure.types,
	}
}

// failures explains each keyword of a schema that a value doesn't fulfill.
func failures(schema bson.D, v any) bson.A {
	out := bson.A{}
	for _, keyword := range reported {
		arg, ok := bsonval.Get(schema, keyword)
		if !ok || conforms(keyword, arg, schema, v) {
			continue
		}
		f := failure{keyword, arg, schema, v}
		out = append(out, append(bson.D{{Key: "operatorName", Value: keyword}}, explainers[keyword](f)...))
	}
	return out
}

// conforms reports whether a value fulfills one keyword of a schema that Parse takes.
func conforms(keyword string, arg any, all bson.D, v any) bool {
	r, err := keywords[keyword](arg, all)
	return err != nil || r == nil || r(v)
}

func matches(schema any, v any) bool {
	s, err := Parse(schema.(bson.D))
	return err != nil || s.Match(v)
}

func because(reason string) bson.D { return bson.D{{Key: "reason", Value: reason}} }

// specified begins an explanation by what the schema says.
func (f failure) specified(reason string) bson.D {
	as := bson.D{{Key: f.keyword, Value: f.arg}}
	if exclusive := exclusives[f.keyword]; exclusive != "" {
		if on, _ := bsonval.Get(f.all, exclusive); on == true {
			as = append(as, bson.E{Key: exclusive, Value: true})
		}
	}
	return append(bson.D{{Key: "specifiedAs", Value: as}}, because(reason)...)
}

var exclusives = map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}

// considered explains the keywords that compare the value with their argument.
func considered(reason string) func(f failure) bson.D {
	return func(f failure) bson.D { return append(f.specified(reason), bson.E{Key: "consideredValue", Value: f.v}) }
}

func (f failure) types() bson.D {
	return append(considered("type did not match")(f), bson.E{Key: "consideredType", Value: bsonval.TypeName(f.v)})
}

func (f failure) size() bson.D {
	return append(considered("array did not match specified length")(f),
		bson.E{Key: "numberOfItems", Value: int32(len(f.v.(bson.A)))})
}

func (f failure) duplicate() bson.D {
	a := f.v.(bson.A)
	out := considered("found a duplicate item")(f)
	for i := range a {
		if slices.ContainsFunc(a[:i], func(x any) bool { return bsonval.Compare(unordered(x), unordered(a[i])) == 0 }) {
			return append(out, bson.E{Key: "duplicatedValue", Value: a[i]})
		}
	}
	return out
}

// items explains a schema of all elements, or of each by its position.
func (f failure) items() bson.D {
	list, byPosition := f.arg.(bson.A)
	if !byPosition {
		return f.item(0, "At least one item did not match the sub-schema")
	}
	details := bson.A{}
	for i, x := range f.v.(bson.A)[:min(len(list), len(f.v.(bson.A)))] {
		if !matches(list[i], x) {
			details = append(details, bson.D{
				{Key: "itemIndex", Value: int32(i)},
				{Key: "details", Value: failures(list[i].(bson.D), x)},
			})
		}
	}
	return bson.D{{Key: "details", Value: details}}
}

// item explains the first element, from a position on, that doesn't match the keyword's schema.
func (f failure) item(from int, reason string) bson.D {
	out := append(Annotations(f.arg.(bson.D)), because(reason)...)
	for i, x := range f.v.(bson.A)[from:] {
		if !matches(f.arg, x) {
			return append(out, bson.E{Key: "itemIndex", Value: int32(from + i)},
				bson.E{Key: "details", Value: failures(f.arg.(bson.D), x)})
		}
	}
	return out
}

func (f failure) additionalItems() bson.D {
	list, _ := bsonval.Get(f.all, "items")
	from := len(list.(bson.A))
	if f.arg != false {
		return f.item(from, "At least one additional item did not match the sub-schema")
	}
	return append(f.specified("found additional items"), bson.E{
		Key: "additionalItems", Value: slices.Clone(f.v.(bson.A)[from:]),
	})
}
