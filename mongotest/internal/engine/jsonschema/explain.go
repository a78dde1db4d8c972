package jsonschema

// This file has the door of explanations, and the explanations of keywords about values and arrays.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Explain says why a document doesn't conform to a schema that [Parse] takes, as MongoDB does in the details of a
// validation error (https://www.mongodb.com/docs/manual/core/schema-validation/handle-invalid-documents/). A schema
// whose own type isn't that of a document matches none, and nothing else of it is explained then.
func Explain(schema, doc bson.D) bson.D {
	out := bson.D{{Key: "operatorName", Value: "$jsonSchema"}}
	for _, keyword := range []string{"bsonType", "type"} {
		if arg, ok := bsonval.Get(schema, keyword); ok && !fulfills(keyword, arg, schema, doc) {
			return append(out, bson.E{Key: "specifiedAs", Value: bson.D{{Key: "$jsonSchema", Value: schema}}},
				bson.E{Key: "reason", Value: "expression always evaluates to false"})
		}
	}
	return append(append(out, Annotations(schema)...), bson.E{
		Key: "schemaRulesNotSatisfied", Value: explainFailures(schema, doc),
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

// failure is a keyword that a value doesn't fulfill. Its methods make the explanation, one for each keyword or for
// several alike.
type failure struct {
	keyword string
	arg     any
	all     bson.D // the schema that the keyword stands in
	v       any
}

// explainers is filled in by init, since its entries explain schemas themselves. A keyword that values can't fail has
// no entry: titles, and the exclusive bounds, which the bounds explain.
var explainers map[string]func(f failure) bson.D

// reported is the order in which MongoDB reports keywords.
var reported = []string{
	"pattern", "maxLength", "minLength", "multipleOf", "maximum", "minimum",
	"minItems", "maxItems", "uniqueItems", "items", "additionalItems",
	"properties", "additionalProperties", "patternProperties", "required", "minProperties",
	"maxProperties", "dependencies", "allOf", "anyOf", "oneOf", "not", "enum", "bsonType", "type",
}

// init fills the table.
func init() {
	length := explainValue("specified string length was not satisfied")
	bound := explainValue("comparison failed")
	explainers = map[string]func(f failure) bson.D{
		"pattern": explainValue("regular expression did not match"), "maxLength": length, "minLength": length,
		"multipleOf": explainValue("considered value is not a multiple of the specified value"),
		"maximum":    bound, "minimum": bound, "minItems": failure.explainSize, "maxItems": failure.explainSize,
		"uniqueItems": failure.explainDuplicate, "items": failure.explainItems,
		"additionalItems": failure.explainAdditionalItems, "properties": failure.explainProperties,
		"additionalProperties": failure.explainAdditionalProperties,
		"patternProperties":    failure.explainPatternProperties, "required": failure.explainRequired,
		"minProperties": failure.explainCount, "maxProperties": failure.explainCount,
		"dependencies": failure.explainDependencies, "allOf": failure.explainSchemas, "anyOf": failure.explainSchemas,
		"oneOf": failure.explainOneOf,
		"not":   func(failure) bson.D { return giveReason("child expression matched") },
		"enum":  explainValue("value was not found in enum"), "bsonType": failure.explainTypes,
		"type": failure.explainTypes,
	}
}

// explainFailures explains each keyword of a schema that a value doesn't fulfill.
func explainFailures(schema bson.D, v any) bson.A {
	out := bson.A{}
	for _, keyword := range reported {
		arg, ok := bsonval.Get(schema, keyword)
		if !ok || fulfills(keyword, arg, schema, v) {
			continue
		}
		f := failure{keyword: keyword, arg: arg, all: schema, v: v}
		out = append(out, append(bson.D{{Key: "operatorName", Value: keyword}}, explainers[keyword](f)...))
	}
	return out
}

// fulfills reports whether a value fulfills one keyword of a schema that Parse takes.
func fulfills(keyword string, arg any, all bson.D, v any) bool {
	r, err := keywords[keyword](arg, all)
	return err != nil || r == nil || r(v)
}

// matchesSchema reports whether a value conforms to a schema within another one. Parse has taken the outer schema,
// and so this one: an error isn't possible here.
func matchesSchema(schema any, v any) bool {
	s, err := Parse(schema.(bson.D))
	return err != nil || s.Match(v)
}

// giveReason is the field "reason" of an explanation.
func giveReason(reason string) bson.D { return bson.D{{Key: "reason", Value: reason}} }

// describeRule begins an explanation by what the schema says, as MongoDB's "specifiedAs". exclusiveMinimum is shown
// with the minimum that it belongs to, exclusiveMaximum with the maximum.
func (f failure) describeRule(reason string) bson.D {
	as := bson.D{{Key: f.keyword, Value: f.arg}}
	if exclusive := exclusives[f.keyword]; exclusive != "" {
		if on, _ := bsonval.Get(f.all, exclusive); on == true {
			as = append(as, bson.E{Key: exclusive, Value: true})
		}
	}
	return append(bson.D{{Key: "specifiedAs", Value: as}}, giveReason(reason)...)
}

// exclusives are the keywords that make a bound exclusive.
var exclusives = map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}

// explainValue returns a function for keywords that compare the value with their argument: it adds the value.
func explainValue(reason string) func(f failure) bson.D {
	return func(f failure) bson.D {
		return append(f.describeRule(reason), bson.E{Key: "consideredValue", Value: f.v})
	}
}

// explainTypes explains bsonType and type: it adds the type that the value has.
func (f failure) explainTypes() bson.D {
	return append(explainValue("type did not match")(f), bson.E{Key: "consideredType", Value: bsonval.TypeName(f.v)})
}

// explainSize explains minItems and maxItems: it adds the number of elements.
func (f failure) explainSize() bson.D {
	return append(explainValue("array did not match specified length")(f),
		bson.E{Key: "numberOfItems", Value: int32(len(f.v.(bson.A)))})
}

// explainDuplicate explains uniqueItems: it adds the first element that equals an earlier one.
func (f failure) explainDuplicate() bson.D {
	a := f.v.(bson.A)
	out := explainValue("found a duplicate item")(f)
	// Compared in pairs: the explanation is made once, for one document that was refused.
	for i := range a {
		if slices.ContainsFunc(a[:i], func(x any) bool {
			return bsonval.Compare(sortFields(x), sortFields(a[i])) == 0
		}) {
			return append(out, bson.E{Key: "duplicatedValue", Value: a[i]})
		}
	}
	return out
}

// explainItems explains a schema of all elements by the first that doesn't match, and a list of schemas by each
// position that doesn't.
func (f failure) explainItems() bson.D {
	list, byPosition := f.arg.(bson.A)
	if !byPosition {
		return f.explainFirstItem(0, "At least one item did not match the sub-schema")
	}
	details := bson.A{}
	for i, x := range f.v.(bson.A)[:min(len(list), len(f.v.(bson.A)))] {
		if !matchesSchema(list[i], x) {
			details = append(details, bson.D{
				{Key: "itemIndex", Value: int32(i)},
				{Key: "details", Value: explainFailures(list[i].(bson.D), x)},
			})
		}
	}
	return bson.D{{Key: "details", Value: details}}
}

// explainFirstItem explains the first element, from a position on, that doesn't match the keyword's schema. Later
// ones aren't mentioned.
func (f failure) explainFirstItem(from int, reason string) bson.D {
	out := append(Annotations(f.arg.(bson.D)), giveReason(reason)...)
	for i, x := range f.v.(bson.A)[from:] {
		if !matchesSchema(f.arg, x) {
			return append(out, bson.E{Key: "itemIndex", Value: int32(from + i)},
				bson.E{Key: "details", Value: explainFailures(f.arg.(bson.D), x)})
		}
	}
	return out
}

// explainAdditionalItems explains additionalItems: false lists the elements too many, a schema the first that doesn't
// match.
func (f failure) explainAdditionalItems() bson.D {
	list, _ := bsonval.Get(f.all, "items")
	from := len(list.(bson.A))
	if f.arg != false {
		return f.explainFirstItem(from, "At least one additional item did not match the sub-schema")
	}
	return append(f.describeRule("found additional items"), bson.E{
		Key: "additionalItems", Value: slices.Clone(f.v.(bson.A)[from:]),
	})
}
