package schema

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Rule says something about documents that their Go type doesn't: [Field], [OneOf], [Closed], [Loose].
type Rule interface{ rule() }

// option is a rule about how types are described.
type option struct{ set func(*builder) }

func (option) rule() {}

// applied is a rule about described values.
type applied interface {
	Rule
	apply(b *builder, root *node)
}

// Closed refuses fields that the types don't have, in the document and in the documents within: additionalProperties false. The
// _id is let through. A struct with an inlined map, and what is stored by other code, stay open. With it, code that writes a
// new field is refused until the schema that knows it is in place.
func Closed() Rule { return option{func(b *builder) { b.closed = true }} }

// Loose takes for integers of any size int and long, and for floating-point numbers int and long too: what the driver reads into
// the Go type rather than what it writes. Use it where others write as well: a $inc of an int makes an int of a field that
// isn't there, and mongosh writes 5 as an int.
func Loose() Rule { return option{func(b *builder) { b.loose = true }} }

// Field begins a rule about the value at a path. Its methods add to it and return it:
//
//	schema.Field("status").Enum("new", "paid")
//	schema.Field("items").Items(1, 100)
//	schema.Field("items.qty").Range(1, nil)
//
// A path crosses arrays, as MongoDB's paths do: the rule is about that field of each element. Where the path ends in an array,
// Items and Unique are about the array, and the other rules about each of its elements. A part * stands for each value of a
// map: "prices.*". Below what is [Opaque] any path may be named.
func Field(path string) *FieldRule { return &FieldRule{path: path} }

// A FieldRule is a rule about the values at a path. It is not changed by [Of], which can be handed it more than once.
type FieldRule struct {
	path  string
	steps []func(b *builder, at place)
}

// place is a described value, and the document that it is a field of.
type place struct {
	path   string
	name   string
	parent *node
	list   *node // the array, if the path ends in one
	node   *node // the value, or the array's elements
}

func (*FieldRule) rule() {}

func (f *FieldRule) add(step func(b *builder, at place)) *FieldRule {
	f.steps = append(f.steps, step)
	return f
}

// Enum lets through nothing but the values: strings, numbers, booleans, dates, ObjectIDs and the like. Numbers of one value are
// equal whatever their type. Null stays allowed where it was.
func (f *FieldRule) Enum(values ...any) *FieldRule {
	return f.add(func(b *builder, at place) {
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
			b.refuse(at.path, "Enum of nothing", "give the values that are allowed")
		}
		if slices.Contains(at.node.types, "null") || len(at.node.types) == 0 && at.node.nullable {
			at.node.enum = append(at.node.enum, bson.RawValue{Type: bson.TypeNull})
		}
	})
}

// Range bounds a number, ends included; nil is no end.
func (f *FieldRule) Range(min, max any) *FieldRule { return f.limits(min, max, false) }

// Between bounds a number, ends excluded; nil is no end.
func (f *FieldRule) Between(min, max any) *FieldRule { return f.limits(min, max, true) }

func (f *FieldRule) limits(min, max any, exclusive bool) *FieldRule {
	return f.add(func(b *builder, at place) {
		b.only(at, "Range and Between are", "number", "int", "long", "double", "decimal")
		if min != nil {
			at.node.min = limit{b.numberValue(at, min), exclusive}
		}
		if max != nil {
			at.node.max = limit{b.numberValue(at, max), exclusive}
		}
		low, high := at.node.min.value, at.node.max.value
		if low.Type != 0 && high.Type != 0 && bsonval.CompareRaw(low, high) > 0 {
			b.refuse(at.path, "a range that begins after its end", "give the lower end first")
		}
	})
}

// MultipleOf lets through whole multiples of n, which is at least 1.
func (f *FieldRule) MultipleOf(n int64) *FieldRule {
	return f.add(func(b *builder, at place) {
		b.only(at, "MultipleOf is", "number", "int", "long", "double", "decimal")
		if n < 1 {
			b.refuse(at.path, "MultipleOf of less than 1", "give a positive number")
		}
		at.node.multipleOf = n
	})
}

// Pattern lets through strings that a regular expression matches anywhere; anchor it by ^ and $ for the whole string. It is the
// server's syntax (PCRE) as far as Go's (RE2) has it too: no lookaround, no backreferences.
func (f *FieldRule) Pattern(pattern string) *FieldRule {
	return f.add(func(b *builder, at place) {
		b.only(at, "Pattern is", "string", "string")
		compiled, err := compile(pattern)
		if err != nil || pattern == "" || strings.ContainsRune(pattern, 0) {
			b.refuse(at.path, "the pattern "+strconv.Quote(pattern)+" is none that Go reads", "write it without what RE2 lacks")
		}
		at.node.pattern, at.node.compiled = pattern, compiled
	})
}

// Length bounds a string's length in characters (code points). A max of 0 is no bound.
func (f *FieldRule) Length(min, max int) *FieldRule {
	return f.add(func(b *builder, at place) {
		b.only(at, "Length is", "string", "string")
		if min < 0 || max < 0 || max > 0 && max < min {
			b.refuse(at.path, "a length that no string has", "give 0 <= min <= max")
		}
		at.node.minLength, at.node.maxLength = int64(min), int64(max)
	})
}

// Items bounds how many elements an array has, from min to max; a max of -1 is no bound.
func (f *FieldRule) Items(min, max int) *FieldRule {
	return f.add(func(b *builder, at place) {
		list := b.array(at, "Items")
		if min < 0 || max < -1 || max >= 0 && max < min {
			b.refuse(at.path, "a number of elements that no array has", "give 0 <= min <= max, or a max of -1")
		}
		list.minItems, list.maxItems = nil, nil
		if min > 0 {
			list.minItems = ptr(int64(min))
		}
		if max >= 0 {
			list.maxItems = ptr(int64(max))
		}
	})
}

// Unique refuses arrays that hold two equal elements: numbers by value, documents whatever the order of their fields.
func (f *FieldRule) Unique() *FieldRule {
	return f.add(func(b *builder, at place) { b.array(at, "Unique").unique = true })
}

// Required makes the field one that every document has, though an empty value isn't stored.
func (f *FieldRule) Required() *FieldRule { return f.presence(true) }

// Optional makes the field one that documents may lack, though every document that this type writes has it: while documents of
// older code are about.
func (f *FieldRule) Optional() *FieldRule { return f.presence(false) }

func (f *FieldRule) presence(required bool) *FieldRule {
	return f.add(func(b *builder, at place) {
		if at.parent == nil || at.name == "*" {
			b.refuse(at.path, "Required and Optional are for fields", "name a field")
		}
		if at.path == "_id" {
			b.refuse(at.path, "every document has an _id", "leave the rule out")
		}
		at.parent.require(at.name, required)
	})
}

// NotNull refuses null where the type would store it.
func (f *FieldRule) NotNull() *FieldRule {
	return f.add(func(b *builder, at place) {
		n := at.node
		if at.list != nil {
			n = at.list
		}
		if len(n.types) == 0 || !n.allows("null") || len(n.types) == 1 {
			b.refuse(at.path, "the field is never null", "leave NotNull out, or say its Type first")
		}
		n.types = slices.DeleteFunc(slices.Clone(n.types), func(t string) bool { return t == "null" })
		n.enum = slices.DeleteFunc(n.enum, func(v bson.RawValue) bool { return v.Type == bson.TypeNull })
	})
}

// Type says which types a value may have, by BSON's aliases ("string", "int", "null", …; "number" is any number), where the Go
// type doesn't say it: for what is [Opaque]. A described value can be narrowed by it, not widened.
func (f *FieldRule) Type(aliases ...string) *FieldRule {
	return f.add(func(b *builder, at place) {
		n := at.node
		for i, a := range aliases {
			switch {
			case typesOf(a) == nil:
				b.refuse(at.path, strconv.Quote(a)+" is no type of BSON", "use an alias as $type takes it")
			case !n.allows(a):
				b.refuse(at.path, "the Go type is never stored as "+a, "narrow it to what it can be")
			case slices.Contains(aliases[:i], a):
				b.refuse(at.path, "Type holds "+a+" twice", "give each type once")
			}
		}
		if len(aliases) == 0 {
			b.refuse(at.path, "Type of nothing", "give the types that are allowed")
		}
		n.types = slices.Clone(aliases)
	})
}

func (f *FieldRule) apply(b *builder, root *node) {
	at := b.find(root, f.path)
	for _, step := range f.steps {
		step(b, at)
	}
}

// find follows a path.
func (b *builder) find(root *node, path string) place {
	if err := model.CheckPath(path); err != nil {
		b.refuse(path, err.Error(), "name a field by its path")
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
	b.refuse(at.path, what+" is for arrays", "name one")
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
		b.refuse(at.path, rule+" for a "+want+", and the field is "+strings.Join(at.node.types, " or "), "name another field, or take the rule away")
	}
}

func (b *builder) value(at place, v any) bson.RawValue {
	encoded, err := b.encode(v)
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
		b.refuse(at.path, "Enum holds the "+alias+" "+model.Shell(raw)+", and the field is "+strings.Join(at.node.types, " or "), "give values of the field's type")
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
		b.refuse(at.path, "a range that ends at "+model.Shell(raw), "give numbers")
	}
	return raw
}

func ptr[T any](v T) *T { return &v }
