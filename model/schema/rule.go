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

// A Spec says about documents what their Go type doesn't. The zero value says nothing more.
type Spec struct {
	// Fields are rules about the values of fields. One path may have several.
	Fields []Field

	// Tag and Variants say that the collection's documents come in several forms, told by the string at Tag, a field of the document:
	// products of many kinds. What the collection's own type says holds for all of them; each variant adds what its type says. A
	// document whose tag is none of the variants', or missing, doesn't conform. The collection's type may be bson.Raw.
	Tag      string
	Variants []Variant

	// Closed refuses fields that the types don't have, in the document and in the documents within: additionalProperties false. The
	// _id is let through. A struct with an inlined map, and what is stored by other code, stay open. With it, code that writes a new
	// field is refused until the schema that knows it is in place. By default other fields are let through.
	Closed bool

	// Loose takes for integers of any size int and long, and for floating-point numbers int and long too: what the driver reads into
	// the Go type rather than what it writes, which is the default. Use it where others write as well: a $inc of an int makes an int
	// of a field that isn't there, and mongosh writes 5 as an int.
	Loose bool
}

// A Field is a rule about the values at a path. What is left out says nothing.
//
//	schema.Field{Path: "status", Enum: []any{"new", "paid"}}
//	schema.Field{Path: "items", MinItems: 1, MaxItems: 100}
//	schema.Field{Path: "items.qty", Min: 1}
//
// A path crosses arrays, as MongoDB's paths do: the rule is about that field of each element. Where the path ends in an array,
// MinItems, MaxItems, Unique and NotNull are about the array, and the others about each of its elements. A part * stands for each
// value of a map: "prices.*". Below what is [Schema.Opaque] any path may be named.
type Field struct {
	Path string

	// Types are those that a value may have, by BSON's aliases ("string", "int", "null", …; "number" is any number), where the Go type
	// doesn't say it: for what is opaque. A described value can be narrowed by them, not widened.
	Types []string

	// Enum are the values that are let through: strings, numbers, booleans, dates, ObjectIDs and the like. Numbers of one value are
	// equal whatever their type. Null stays allowed where it was.
	Enum []any

	Min, Max     any   // bounds of a number, which may be reached
	Above, Below any   // bounds of a number, which may not be reached
	MultipleOf   int64 // of which a number is a whole multiple

	// Pattern is a regular expression that matches strings anywhere; anchor it by ^ and $ for the whole string. It is the server's
	// syntax (PCRE) as far as Go's (RE2) has it too: no lookaround, no backreferences.
	Pattern string

	MinLength, MaxLength int // of a string, in characters (code points); a maximum of 0 is none
	MinItems, MaxItems   int // how many elements an array has; a maximum of 0 is none

	// Unique refuses arrays that hold two equal elements: numbers by value, documents whatever the order of their fields.
	Unique bool

	// Required makes the field one that every document has, though an empty value isn't stored. Optional makes it one that documents
	// may lack, though every document that this type writes has it: while documents of older code are about.
	Required, Optional bool

	// NotNull refuses null where the type would store it.
	NotNull bool

	// Tag and Variants are those of [Spec], for a document within a field, or for the documents of an array: the tag is a field of
	// those.
	Tag      string
	Variants []Variant
}

// place is a described value, and the document that it is a field of.
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
			b.refuse(at.path, "the pattern "+strconv.Quote(f.Pattern)+" isn't one that Go accepts", "write it in the syntax of Go's package regexp (RE2)")
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

// presence says whether the field may be missing, or null.
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

// narrow says which types a value may have.
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
			b.field(path) // panics where the type is known
			at.node = &node{}
			n.fields = append(n.fields, &property{part, at.node})
		}
		for at.node.items != nil {
			at.list, at.node = at.node, at.node.items
		}
	}
	return at
}

// array is the array at a place, which is made one where nothing is known.
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

// only refuses rules that say nothing about values of the place's types.
func (b *builder) only(at place, rule, want string, aliases ...string) {
	for _, t := range at.node.types {
		if slices.Contains(aliases, t) || t == "number" && want == "number" {
			return
		}
	}
	if len(at.node.types) > 0 {
		b.refuse(at.path, rule+" for a "+want+", but the field is of type "+strings.Join(at.node.types, " or "), "name another field, or remove the rule")
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

// scalarValue encodes a value of an enumeration.
func (b *builder) scalarValue(at place, v any) bson.RawValue {
	raw := b.value(at, v)
	switch alias := aliasOf(raw.Type); {
	case raw.Type == bson.TypeEmbeddedDocument, raw.Type == bson.TypeArray, raw.Type == bson.TypeNull:
		b.refuse(at.path, "Enum holds "+model.Shell(raw), "give scalars; null is allowed where a nil value is stored as null")
	case !at.node.allows(alias) && !(bsonval.IsNumberType(raw.Type) && at.node.allowsNumbers()):
		b.refuse(at.path, "Enum holds the "+alias+" "+model.Shell(raw)+", but the field is of type "+strings.Join(at.node.types, " or "), "give values of the field's type")
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
