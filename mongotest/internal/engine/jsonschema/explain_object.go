package jsonschema

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// explained is an entry of a list of schemas that aren't fulfilled: what tells the schema from others, and why it
// isn't.
func explained(head bson.D, schema any, v any) bson.D {
	head = append(head, Annotations(schema.(bson.D))...)
	return append(head, bson.E{Key: "details", Value: failures(schema.(bson.D), v)})
}

func (f failure) properties() bson.D {
	list := bson.A{}
	for _, p := range f.arg.(bson.D) {
		if v, ok := bsonval.Get(f.v.(bson.D), p.Key); ok && !matches(p.Value, v) {
			list = append(list, explained(bson.D{{Key: "propertyName", Value: p.Key}}, p.Value, v))
		}
	}
	return bson.D{{Key: "propertiesNotSatisfied", Value: list}}
}

func (f failure) additionalProperties() bson.D {
	known, _ := knownProperties(f.all)
	names := bson.A{}
	for _, e := range f.v.(bson.D) {
		switch {
		case slices.ContainsFunc(known, func(p property) bool { return p.is(e.Key) }):
		case f.arg == false:
			names = append(names, e.Key)
		case !matches(f.arg, e.Value):
			out := append(Annotations(f.arg.(bson.D)),
				because("at least one additional property did not match the subschema")...)
			return append(out, bson.E{Key: "failingProperty", Value: e.Key},
				bson.E{Key: "details", Value: failures(f.arg.(bson.D), e.Value)})
		}
	}
	return bson.D{
		{Key: "specifiedAs", Value: bson.D{{Key: f.keyword, Value: false}}},
		{Key: "additionalProperties", Value: names},
	}
}

// patternProperties explains the first field of each pattern that doesn't match the pattern's schema.
func (f failure) patternProperties() bson.D {
	list := bson.A{}
	patterns, _ := readProperties(f.keyword, f.arg)
	for i, p := range f.arg.(bson.D) {
		for _, e := range f.v.(bson.D) {
			if !patterns[i].is(e.Key) || matches(p.Value, e.Value) {
				continue
			}
			head := append(bson.D{{Key: "propertyName", Value: e.Key}}, Annotations(p.Value.(bson.D))...)
			list = append(list, append(head, bson.E{Key: "regexMatched", Value: p.Key},
				bson.E{Key: "details", Value: failures(p.Value.(bson.D), e.Value)}))
			break
		}
	}
	return bson.D{{Key: "details", Value: list}}
}

// absentOf returns the names, as texts has them, that a document has no field of.
func absentOf(names any, v any) []string {
	list, _ := texts("", names)
	return slices.DeleteFunc(list, func(name string) bool { return bsonval.Index(v.(bson.D), name) >= 0 })
}

func array(names []string) bson.A {
	out := make(bson.A, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}

func (f failure) required() bson.D {
	absent := absentOf(f.arg, f.v)
	slices.Sort(absent)
	return bson.D{
		{Key: "specifiedAs", Value: bson.D{{Key: f.keyword, Value: f.arg}}},
		{Key: "missingProperties", Value: array(absent)},
	}
}

func (f failure) count() bson.D {
	return append(f.specified("specified number of properties was not satisfied"),
		bson.E{Key: "numberOfProperties", Value: int32(len(f.v.(bson.D)))})
}

func (f failure) dependencies() bson.D {
	list := bson.A{}
	for _, x := range f.arg.(bson.D) {
		if bsonval.Index(f.v.(bson.D), x.Key) < 0 {
			continue
		}
		head := bson.D{{Key: "conditionalProperty", Value: x.Key}}
		if schema, ok := x.Value.(bson.D); ok {
			if !matches(schema, f.v) {
				list = append(list, append(head, bson.E{Key: "details", Value: failures(schema, f.v)}))
			}
		} else if absent := absentOf(x.Value, f.v); len(absent) > 0 {
			list = append(list, append(head, bson.E{Key: "missingProperties", Value: array(absent)}))
		}
	}
	return bson.D{{Key: "failingDependencies", Value: list}}
}

// schemas explains those of a list that don't match.
func (f failure) schemas() bson.D {
	list := bson.A{}
	for i, schema := range f.arg.(bson.A) {
		if !matches(schema, f.v) {
			list = append(list, explained(bson.D{{Key: "index", Value: int32(i)}}, schema, f.v))
		}
	}
	return bson.D{{Key: "schemasNotSatisfied", Value: list}}
}

// one explains that none of a list matches, or that several do.
func (f failure) one() bson.D {
	matching := bson.A{}
	for i, schema := range f.arg.(bson.A) {
		if matches(schema, f.v) {
			matching = append(matching, int32(i))
		}
	}
	if len(matching) == 0 {
		return f.schemas()
	}
	return append(because("more than one subschema matched"), bson.E{Key: "matchingSchemaIndexes", Value: matching})
}
