package schema

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Spec adds rules that the documents' Go type can't express.
type Spec struct {
	// Fields are rules about values. Several rules can have the same path.
	Fields []Field

	// Variants are the allowed forms of a document. Tag names a string field. The field's
	// value selects a form. A document without a form is invalid. A form's rules add to
	// the rules of the collection's Go type (bson.Raw has no rules).
	Tag      string
	Variants []Variant

	// Closed refuses unknown fields at all levels, except a top-level _id. Inlined maps
	// and types with custom marshalers accept any field.
	Closed bool

	// Set Loose if mongosh or $inc writes numbers. Loose accepts int and long for a Go
	// integer. For a Go float, Loose accepts int, long and double.
	Loose bool
}

// A Field is a rule about the values at a path.
//
//	schema.Field{Path: "status", Enum: []any{"new", "paid"}}
//	schema.Field{Path: "items", MinItems: 1, MaxItems: 100}
//	schema.Field{Path: "items.qty", Min: 1}
//
// A path through an array means each element. In "prices.*", the * means each value of a
// map. Below a [Schema.Opaque] path, Path can name any field.
//
// If a path ends in an array, MinItems, MaxItems, Unique, Required, Optional and NotNull
// apply to the array. All remaining rules apply to the elements.
type Field struct {
	Path string

	// Types are aliases of the allowed BSON types, such as "null" or "number".
	Types []string

	// Enum lists the allowed scalar values. To refuse null, set NotNull.
	Enum []any

	Min, Max     any   // inclusive bounds of a number
	Above, Below any   // exclusive bounds of a number
	MultipleOf   int64 // allows only multiples of MultipleOf

	// Pattern is a regular expression that both RE2 (Go) and PCRE (MongoDB) accept. To
	// match whole strings, use ^ and $.
	Pattern string

	MinLength, MaxLength int // limits of a string's code points; 0 means no limit
	MinItems, MaxItems   int // limits of an array's elements; 0 means no limit

	// Unique refuses arrays with equal elements.
	Unique bool

	// By default, the Go type decides whether a field is required.
	Required, Optional bool

	// NotNull refuses null where the Go type, or Types, allows null.
	NotNull bool

	// Tag and Variants describe the documents at Path, as in [Spec].
	Tag      string
	Variants []Variant
}

// place is a described value and its parent.
type place struct {
	path   string
	name   string
	parent *node
	list   *node // the array, if the path ends in one
	node   *node // the value, or the array's elements
}

func (f Field) apply(b *builder, root *node) {
	at := b.find(root, f.Path)
	if f.Types != nil {
		b.narrow(at, f.Types)
	}
	if f.Tag != "" || f.Variants != nil {
		b.oneOf(at.node, at.path, f.Tag, f.Variants)
	}
	if f.Enum != nil {
		b.enum(at, f.Enum)
	}
	b.limits(at, f)
	b.text(at, f)
	b.items(at, f)
	b.presence(at, f)
}

func (b *builder) enum(at place, values []any) {
	at.node.enum = nil
	for _, v := range values {
		raw := b.scalarValue(at, v)
		for _, old := range at.node.enum {
			if sameValue(old, raw) {
				b.refuse(at.path, "Enum holds "+model.Shell(v)+" twice", "give each value once")
			}
		}
		at.node.enum = append(at.node.enum, raw)
	}
	if len(values) == 0 {
		b.refuse(at.path, "Enum is empty", "give the values that are allowed")
	}
	if slices.Contains(at.node.types, "null") || len(at.node.types) == 0 && at.node.nullable {
		at.node.enum = append(at.node.enum, bson.RawValue{Type: bson.TypeNull})
	}
}

func (b *builder) limits(at place, f Field) {
	if f.Min != nil && f.Above != nil || f.Max != nil && f.Below != nil {
		b.refuse(at.path, "the field has two bounds at the same end", "give Min or Above, and Max or Below")
	}
	end := func(to *limit, bound any, exclusive bool) {
		if bound != nil {
			b.only(at, "a bound is", "number", "int", "long", "double", "decimal")
			*to = limit{b.numberValue(at, bound), exclusive}
		}
	}
	end(&at.node.min, f.Min, false)
	end(&at.node.min, f.Above, true)
	end(&at.node.max, f.Max, false)
	end(&at.node.max, f.Below, true)
	low, high := at.node.min.value, at.node.max.value
	if low.Type != 0 && high.Type != 0 && bsonval.CompareRaw(low, high) > 0 {
		b.refuse(at.path, "the range begins after its end", "give the lower end first")
	}
	if f.MultipleOf == 0 {
		return
	}
	b.only(at, "MultipleOf is", "number", "int", "long", "double", "decimal")
	if f.MultipleOf < 1 {
		b.refuse(at.path, "MultipleOf is less than 1", "give a positive number")
	}
	at.node.multipleOf = f.MultipleOf
}

func (b *builder) text(at place, f Field) {
	if f.Pattern != "" {
		b.only(at, "Pattern is", "string", "string")
		compiled, err := compile(f.Pattern)
		if err != nil || strings.ContainsRune(f.Pattern, 0) {
			b.refuse(at.path, "the pattern "+strconv.Quote(f.Pattern)+" isn't one that Go accepts",
				"write it in the syntax of Go's package regexp (RE2)")
		}
		at.node.pattern, at.node.compiled = f.Pattern, compiled
	}
	if f.MinLength != 0 || f.MaxLength != 0 {
		b.only(at, "a length is", "string", "string")
		if f.MinLength < 0 || f.MaxLength < 0 || f.MaxLength > 0 && f.MaxLength < f.MinLength {
			b.refuse(at.path, "MinLength and MaxLength allow no string", "give 0 <= MinLength <= MaxLength")
		}
		at.node.minLength, at.node.maxLength = int64(f.MinLength), int64(f.MaxLength)
	}
}

func (b *builder) items(at place, f Field) {
	if f.MinItems != 0 || f.MaxItems != 0 {
		list := b.array(at, "a number of items")
		if f.MinItems < 0 || f.MaxItems < 0 || f.MaxItems > 0 && f.MaxItems < f.MinItems {
			b.refuse(at.path, "MinItems and MaxItems allow no array", "give 0 <= MinItems <= MaxItems")
		}
		list.minItems, list.maxItems = nil, nil
		if f.MinItems > 0 {
			list.minItems = ptr(int64(f.MinItems))
		}
		if f.MaxItems > 0 {
			list.maxItems = ptr(int64(f.MaxItems))
		}
	}
	if f.Unique {
		b.array(at, "Unique").unique = true
	}
}

// presence applies Required, Optional and NotNull.
func (b *builder) presence(at place, f Field) {
	if f.Required || f.Optional {
		switch {
		case f.Required && f.Optional:
			b.refuse(at.path, "the field is both Required and Optional", "choose one of the two")
		case at.parent == nil || at.name == "*":
			b.refuse(at.path, "Required and Optional are only for fields", "name a field")
		case at.path == "_id":
			b.refuse(at.path, "every document has an _id", "leave the rule out")
		}
		at.parent.require(at.name, f.Required)
	}
	if !f.NotNull {
		return
	}
	n := at.node
	if at.list != nil {
		n = at.list
	}
	if len(n.types) == 0 || !n.allows("null") || len(n.types) == 1 {
		b.refuse(at.path, "the field is never null", "leave NotNull out, or give the field's Types")
	}
	n.types = slices.DeleteFunc(slices.Clone(n.types), func(t string) bool { return t == "null" })
	n.enum = slices.DeleteFunc(n.enum, func(v bson.RawValue) bool { return v.Type == bson.TypeNull })
}

// narrow applies Types.
func (b *builder) narrow(at place, aliases []string) {
	n := at.node
	for i, a := range aliases {
		switch {
		case typesOf(a) == nil:
			b.refuse(at.path, strconv.Quote(a)+" isn't a BSON type", "use an alias of $type, such as int")
		case !n.allows(a):
			b.refuse(at.path, "the Go type is never stored as "+a, "give types in which the Go type can be stored")
		case slices.Contains(aliases[:i], a):
			b.refuse(at.path, "Types holds "+a+" twice", "give each type once")
		}
	}
	if len(aliases) == 0 {
		b.refuse(at.path, "Types is empty", "give the types that are allowed")
	}
	n.types = slices.Clone(aliases)
}

// find follows a path.
func (b *builder) find(root *node, path string) place {
	if err := core.CheckPath(path); err != nil {
		b.refuse(path, err.Error(), "give the path of a field")
	}
	at := place{path: path, node: root}
	for _, part := range strings.Split(path, ".") {
		n := at.node
		at.parent, at.name, at.list = n, part, nil
		switch next := n.property(part); {
		case part == "*" && n.rest != nil:
			at.node = n.rest
		case next != nil:
			at.node = next
		default:
			b.field(path) // panics if the type is known
			at.node = &node{}
			n.fields = append(n.fields, &property{part, at.node})
		}
		for at.node.items != nil {
			at.list, at.node = at.node, at.node.items
		}
	}
	return at
}

// array returns the node of the array at a place. An opaque value becomes an array.
func (b *builder) array(at place, what string) *node {
	switch {
	case at.list != nil:
		return at.list
	case len(at.node.types) == 0 || slices.Contains(at.node.types, "array"):
		return at.node
	}
	b.refuse(at.path, what+" is only for arrays", "name an array")
	return nil
}

// only refuses rules that don't apply to the place's types.
func (b *builder) only(at place, rule, want string, aliases ...string) {
	for _, t := range at.node.types {
		if slices.Contains(aliases, t) || t == "number" && want == "number" {
			return
		}
	}
	if len(at.node.types) > 0 {
		b.refuse(at.path, rule+" for a "+want+", but the field is of type "+strings.Join(at.node.types, " or "),
			"name another field, or remove the rule")
	}
}

func (b *builder) value(at place, v any) bson.RawValue {
	encoded, err := b.docs.Encode(v)
	if err != nil {
		b.refuse(at.path, err.Error(), "give values that can be stored")
	}
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: encoded}})
	if err != nil {
		b.refuse(at.path, err.Error(), "give values that can be stored")
	}
	return bson.Raw(raw).Lookup("v")
}

// scalarValue encodes a value of an Enum.
func (b *builder) scalarValue(at place, v any) bson.RawValue {
	raw := b.value(at, v)
	switch alias := aliasOf(raw.Type); {
	case raw.Type == bson.TypeEmbeddedDocument, raw.Type == bson.TypeArray, raw.Type == bson.TypeNull:
		b.refuse(at.path, "Enum holds "+model.Shell(raw), "give scalars; null is allowed where a nil value is stored as null")
	case !at.node.allows(alias) && !(bsonval.IsNumberType(raw.Type) && at.node.allowsNumbers()):
		b.refuse(at.path,
			"Enum holds the "+alias+" "+model.Shell(raw)+", but the field is of type "+strings.Join(at.node.types, " or "),
			"give values of the field's type")
	}
	return raw
}

func (n *node) allowsNumbers() bool {
	return n.allows("int") || n.allows("long") || n.allows("double") || n.allows("decimal") || n.allows("number")
}

func (b *builder) numberValue(at place, v any) bson.RawValue {
	raw := b.value(at, v)
	f, isDouble := raw.DoubleOK()
	if !bsonval.IsNumberType(raw.Type) || isDouble && math.IsNaN(f) {
		b.refuse(at.path, "the range has the bound "+model.Shell(raw), "give numbers")
	}
	return raw
}

func ptr[T any](v T) *T { return &v }
