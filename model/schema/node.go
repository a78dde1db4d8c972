package schema

import (
	"regexp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// node is the schema of one value. The zero node accepts anything.
type node struct {
	types    []string // aliases; none means any
	nullable bool     // the Go type stores a nil value as null

	enum       []bson.RawValue
	min, max   limit
	multipleOf int64 // 0 means no rule

	minLength, maxLength int64 // as given, 0 means no rule
	pattern              string
	compiled             *regexp.Regexp

	items              *node // of an array
	minItems, maxItems *int64
	unique             bool

	fields   []*property // of a document
	required []string
	rest     *node // for fields of other names
	closed   bool  // there are no other fields

	tag      string // the field that names the document's variant
	variants []*variant
}

// limit is one end of a range.
type limit struct {
	value     bson.RawValue // type 0 means no end
	exclusive bool
}

type property struct {
	name string
	node *node
}

// variant is one form of a document, with its tag.
type variant struct {
	tag  string
	node *node
}

func (n *node) property(name string) *node {
	for _, p := range n.fields {
		if p.name == name {
			return p.node
		}
	}
	return nil
}

// allows reports whether the schema accepts values of a type, given by its alias.
func (n *node) allows(alias string) bool { return len(n.types) == 0 || slices.Contains(n.types, alias) }

// require makes a field required, or optional.
func (n *node) require(name string, required bool) {
	i := slices.Index(n.required, name)
	switch {
	case required && i < 0:
		n.required = append(n.required, name)
	case !required && i >= 0:
		n.required = slices.Delete(n.required, i, i+1)
	}
}

// document returns the node in the form of $jsonSchema.
func (n *node) document() bson.D {
	d := bson.D{}
	add := func(key string, v any) { d = append(d, bson.E{Key: key, Value: v}) }
	switch len(n.types) {
	case 0:
	case 1:
		add("bsonType", n.types[0])
	default:
		add("bsonType", array(n.types))
	}
	if len(n.enum) > 0 {
		add("enum", array(n.enum))
	}
	for _, x := range []struct {
		limit
		key, exclusive string
	}{{n.min, "minimum", "exclusiveMinimum"}, {n.max, "maximum", "exclusiveMaximum"}} {
		if x.value.Type != 0 {
			add(x.key, x.value)
			if x.limit.exclusive {
				add(x.exclusive, true)
			}
		}
	}
	if n.multipleOf != 0 {
		add("multipleOf", rawInteger(n.multipleOf))
	}
	if n.minLength > 0 {
		add("minLength", rawInteger(n.minLength))
	}
	if n.maxLength > 0 {
		add("maxLength", rawInteger(n.maxLength))
	}
	if n.pattern != "" {
		add("pattern", n.pattern)
	}
	if n.minItems != nil {
		add("minItems", rawInteger(*n.minItems))
	}
	if n.maxItems != nil {
		add("maxItems", rawInteger(*n.maxItems))
	}
	if n.unique {
		add("uniqueItems", true)
	}
	if n.items != nil {
		if items := n.items.document(); len(items) > 0 {
			add("items", items)
		}
	}
	return n.appendFields(d)
}

// appendFields appends the keywords about a document's fields.
func (n *node) appendFields(d bson.D) bson.D {
	if len(n.required) > 0 {
		d = append(d, bson.E{Key: "required", Value: array(n.required)})
	}
	fields := bson.D{}
	for _, p := range n.fields {
		if inner := p.node.document(); len(inner) > 0 || n.closed || n.rest != nil {
			fields = append(fields, bson.E{Key: p.name, Value: inner})
		}
	}
	if len(fields) > 0 || n.closed {
		d = append(d, bson.E{Key: "properties", Value: fields})
	}
	if n.closed {
		d = append(d, bson.E{Key: "additionalProperties", Value: false})
	} else if n.rest != nil {
		if rest := n.rest.document(); len(rest) > 0 {
			d = append(d, bson.E{Key: "additionalProperties", Value: rest})
		}
	}
	if len(n.variants) > 0 {
		list := make(bson.A, len(n.variants))
		for i, v := range n.variants {
			list[i] = v.node.document()
		}
		if slices.Contains(n.types, "null") {
			list = append(list, bson.D{{Key: "bsonType", Value: "null"}})
		}
		d = append(d, bson.E{Key: "oneOf", Value: list})
	}
	return d
}

func array[T any](list []T) bson.A {
	out := make(bson.A, len(list))
	for i, x := range list {
		out[i] = x
	}
	return out
}
