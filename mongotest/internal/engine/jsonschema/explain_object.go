package jsonschema

// This file has the explanations of keywords about documents, and of those that combine schemas.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// explainSchema is an entry of a list of schemas that aren't fulfilled: what tells the schema from others, and why it
// isn't.
func explainSchema(head bson.D, schema any, v any) bson.D {
	head = append(head, Annotations(schema.(bson.D))...)
	return append(head, bson.E{Key: "details", Value: explainFailures(schema.(bson.D), v)})
}

// explainProperties explains each field whose schema it doesn't match. A field that is missing isn't among them.
func (f failure) explainProperties() bson.D {
	list := bson.A{}
	for _, p := range f.arg.(bson.D) {
		if v, ok := bsonval.Get(f.v.(bson.D), p.Key); ok && !matchesSchema(p.Value, v) {
			list = append(list, explainSchema(bson.D{{Key: "propertyName", Value: p.Key}}, p.Value, v))
		}
	}
	return bson.D{{Key: "propertiesNotSatisfied", Value: list}}
}

// explainAdditionalProperties explains fields that neither properties nor patternProperties name: all of them if none
// is allowed, the first that doesn't match a schema otherwise.
func (f failure) explainAdditionalProperties() bson.D {
	known, _ := knownProperties(f.all)
	names := bson.A{}
	for _, e := range f.v.(bson.D) {
		switch {
		case slices.ContainsFunc(known, func(p property) bool { return p.matchesName(e.Key) }):
		case f.arg == false:
			names = append(names, e.Key)
		case !matchesSchema(f.arg, e.Value):
			out := append(Annotations(f.arg.(bson.D)),
				giveReason("at least one additional property did not match the subschema")...)
			return append(out, bson.E{Key: "failingProperty", Value: e.Key},
				bson.E{Key: "details", Value: explainFailures(f.arg.(bson.D), e.Value)})
		}
	}
	return bson.D{
		{Key: "specifiedAs", Value: bson.D{{Key: f.keyword, Value: false}}},
		{Key: "additionalProperties", Value: names},
	}
}

// explainPatternProperties explains the first field of each pattern that doesn't match the pattern's schema. The
// pattern tells which.
func (f failure) explainPatternProperties() bson.D {
	list := bson.A{}
	patterns, _ := readProperties(f.keyword, f.arg)
	for i, p := range f.arg.(bson.D) {
		for _, e := range f.v.(bson.D) {
			if !patterns[i].matchesName(e.Key) || matchesSchema(p.Value, e.Value) {
				continue
			}
			head := append(bson.D{{Key: "propertyName", Value: e.Key}}, Annotations(p.Value.(bson.D))...)
			list = append(list, append(head, bson.E{Key: "regexMatched", Value: p.Key},
				bson.E{Key: "details", Value: explainFailures(p.Value.(bson.D), e.Value)}))
			break
		}
	}
	return bson.D{{Key: "details", Value: list}}
}

// listAbsent returns the names, as readNames has them, that a document has no field of. A field that is null is
// there.
func listAbsent(names any, v any) []string {
	list, _ := readNames("", names)
	return slices.DeleteFunc(list, func(name string) bool { return bsonval.Index(v.(bson.D), name) >= 0 })
}

// makeArray returns names as a BSON array.
func makeArray(names []string) bson.A {
	out := make(bson.A, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}

// explainRequired lists the missing fields, sorted.
func (f failure) explainRequired() bson.D {
	absent := listAbsent(f.arg, f.v)
	slices.Sort(absent)
	return bson.D{
		{Key: "specifiedAs", Value: bson.D{{Key: f.keyword, Value: f.arg}}},
		{Key: "missingProperties", Value: makeArray(absent)},
	}
}

// explainCount explains minProperties and maxProperties: it adds the number of fields.
func (f failure) explainCount() bson.D {
	return append(f.describeRule("specified number of properties was not satisfied"),
		bson.E{Key: "numberOfProperties", Value: int32(len(f.v.(bson.D)))})
}

// explainDependencies explains each field that is there and whose dependency isn't fulfilled: a schema, or other
// fields.
func (f failure) explainDependencies() bson.D {
	list := bson.A{}
	for _, x := range f.arg.(bson.D) {
		if bsonval.Index(f.v.(bson.D), x.Key) < 0 {
			continue
		}
		// A dependency on a schema is explained by the schema, one on fields by those that are missing.
		head := bson.D{{Key: "conditionalProperty", Value: x.Key}}
		if schema, ok := x.Value.(bson.D); ok {
			if !matchesSchema(schema, f.v) {
				list = append(list, append(head, bson.E{Key: "details", Value: explainFailures(schema, f.v)}))
			}
		} else if absent := listAbsent(x.Value, f.v); len(absent) > 0 {
			list = append(list, append(head, bson.E{Key: "missingProperties", Value: makeArray(absent)}))
		}
	}
	return bson.D{{Key: "failingDependencies", Value: list}}
}

// explainSchemas explains those of a list that don't match: for allOf, for anyOf, and for oneOf if none does.
func (f failure) explainSchemas() bson.D {
	list := bson.A{}
	for i, schema := range f.arg.(bson.A) {
		if !matchesSchema(schema, f.v) {
			list = append(list, explainSchema(bson.D{{Key: "index", Value: int32(i)}}, schema, f.v))
		}
	}
	return bson.D{{Key: "schemasNotSatisfied", Value: list}}
}

// explainOneOf explains that none of a list matches, or that several do. In the second case there is nothing to
// explain about the schemas, only their positions.
func (f failure) explainOneOf() bson.D {
	matching := bson.A{}
	for i, schema := range f.arg.(bson.A) {
		if matchesSchema(schema, f.v) {
			matching = append(matching, int32(i))
		}
	}
	if len(matching) == 0 {
		return f.explainSchemas()
	}
	return append(giveReason("more than one subschema matched"), bson.E{Key: "matchingSchemaIndexes", Value: matching})
}
