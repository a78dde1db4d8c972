package embed

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Union stores values of several Go types in one collection, field or array. The types
// implement the interface I. Each stored value begins with a tag for the value's type.
// Declare collections with [Union.Options].
//
// Source: "Aggregates", "NoSQL Data Modeling Techniques", 2; "Distinguishing between
// different document types", data modeling for Azure Cosmos DB;
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/polymorphic-data/polymorphic-schema-pattern/.
type Union[I any] struct {
	u        *union
	registry *bson.Registry
}

// A UnionCase is one type of a [Union]. Make it with [Case] or [UnknownCase].
type UnionCase struct {
	tag     string
	typ     reflect.Type
	unknown func(UnknownValue) reflect.Value // set only for the case of unknown tags
}

// Case declares the tag of stored values of type T. T is a struct, a pointer to a struct,
// or another type that is stored as a document. Reading returns a T. Writing accepts T, a
// pointer to T, or what T points to.
func Case[T any](tag string) UnionCase { return UnionCase{tag: tag, typ: reflect.TypeFor[T]()} }

// UnknownCase declares how to decode a document with an unknown tag or no tag. The
// function wrap converts the document to a T. Without an UnknownCase, decoding the
// document is an error. T must embed [UnknownValue], so that writing a T stores the
// document unchanged.
func UnknownCase[T any](wrap func(UnknownValue) T) UnionCase {
	c := UnionCase{typ: reflect.TypeFor[T]()}
	if wrap != nil {
		c.unknown = func(u UnknownValue) reflect.Value { return reflect.ValueOf(wrap(u)) }
	}
	return c
}

// UnknownValue is a stored value with an unknown tag: see [UnknownCase].
type UnknownValue struct {
	Tag string // the stored tag; "" if it is missing or isn't a string
	Raw bson.Raw
}

// MarshalBSON returns the stored document unchanged.
func (u UnknownValue) MarshalBSON() ([]byte, error) {
	if len(u.Raw) == 0 {
		return nil, &model.ValueError{
			Field:  "Raw",
			Reason: "an unknown value is stored as it was read, but this value wasn't read from the database",
		}
	}
	return slices.Clone(u.Raw), nil
}

func (u UnknownValue) unknownValue() {}

// union is the non-generic core of a Union.
type union struct {
	iface  reflect.Type
	tag    string
	cases  []UnionCase
	byTag  map[string]int
	byType map[reflect.Type]int // without pointers
	other  *UnionCase           // the case for unknown tags, or nil
}

// NewUnion declares a union of the types in cases. Each type must implement I, an
// interface with methods. The parameter tag is the name of the stored field that contains
// a case's tag. No type can have its own field with this name. A [Case] can't have an
// unnamed type, a type of package bson, or a [bson.Marshaler]. Invalid arguments panic
// with a [*model.DeclarationError].
func NewUnion[I any](tag string, cases ...UnionCase) *Union[I] {
	u := newUnion(reflect.TypeFor[I](), tag, cases)
	r := bson.NewRegistry()
	u.register(r)
	return &Union[I]{u, r}
}

func newUnion(iface reflect.Type, tag string, cases []UnionCase) *union {
	u := &union{
		iface: iface, tag: tag, cases: slices.Clone(cases), byTag: map[string]int{}, byType: map[reflect.Type]int{},
	}
	place := core.Place(fmt.Sprintf("NewUnion[%s](%q)", iface, tag))
	switch {
	case iface.Kind() != reflect.Interface || iface.NumMethod() == 0:
		place.Fail(fmt.Sprintf("%s isn't an interface type with a method", iface),
			"declare an interface with a method, and give each type that method")
	case core.CheckKey(tag) != nil || tag == "_id":
		place.Fail(fmt.Sprintf("%q can't be the tag's name", tag), "name a field without dots, such as type")
	}
	known := 0
	for i, c := range u.cases {
		if c.typ == nil || !c.typ.Implements(iface) {
			place.Fail(fmt.Sprintf("case %d: %v doesn't implement %s", i, c.typ, iface),
				"give the type the interface's methods, or declare a pointer to it")
		}
		base := c.base()
		if _, twice := u.byType[base]; twice {
			place.Fail(fmt.Sprintf("%s is declared twice", base), "declare each type once, either the type or a pointer to it")
		}
		u.byType[base] = i
		if c.tag == "" && (c.unknown != nil || embedsUnknown(c.typ)) {
			if c.unknown == nil || !embedsUnknown(c.typ) || u.other != nil {
				place.Fail(fmt.Sprintf("%s can't be the case for unknown values", c.typ),
					"give one UnknownCase, with a function, whose type embeds UnknownValue")
			}
			u.other = &u.cases[i]
			continue
		}
		if problem := u.refuseCase(c, base); problem != "" {
			place.Fail(problem, "declare structs, each with a tag of its own, and leave the tag's field to the union")
		}
		u.byTag[c.tag] = i
		known++
	}
	if known == 0 {
		place.Fail("there is no case", "declare each type with embed.Case")
	}
	return u
}

// refuseCase says why a type can't be a case, or returns "".
func (u *union) refuseCase(c UnionCase, base reflect.Type) string {
	if _, twice := u.byTag[c.tag]; twice || c.tag == "" {
		return fmt.Sprintf("the tag %q of %s is empty, or declared twice", c.tag, c.typ)
	}
	switch base.PkgPath() {
	case "", reflect.TypeFor[bson.D]().PkgPath():
		return fmt.Sprintf("%s isn't a type of your program", base)
	}
	if m := reflect.TypeFor[bson.Marshaler](); base.Implements(m) || reflect.PointerTo(base).Implements(m) {
		return fmt.Sprintf("%s implements bson.Marshaler, which the driver prefers to the union", base)
	}
	l, err := core.LayoutOf(base, nil)
	if err != nil {
		return err.Error()
	}
	byJSON, err := core.LayoutOf(base, core.NewCodec(&options.BSONOptions{UseJSONStructTags: true}, nil))
	if err != nil {
		return err.Error()
	}
	if l.HasField(u.tag) || byJSON.HasField(u.tag) {
		return fmt.Sprintf("%s itself stores a field %q", base, u.tag)
	}
	return ""
}

// base returns the case's type without its pointer.
func (c UnionCase) base() reflect.Type {
	if c.typ.Kind() == reflect.Pointer {
		return c.typ.Elem()
	}
	return c.typ
}

func embedsUnknown(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[interface{ unknownValue() }]())
}

// Options returns options for a collection of the union's values, as in
// NewCollectionWith[Item, string]("items", union.Options()). To combine unions or add your
// own codecs, use [Union.Register].
//
// Values of the union's types are stored with their tag, also in fields whose Go type
// isn't I.
func (u *Union[I]) Options() model.CollectionOptions {
	return model.CollectionOptions{Registry: u.registry}
}

// Register adds the union to a registry that can contain other unions and codecs. Call
// Register before the first use of the registry. Pass the registry to NewCollection in
// [model.CollectionOptions].
//
// Register panics with a [*model.DeclarationError] if the registry already has a union of
// I. It also panics if another union has the same tag field and one of u's types.
func (u *Union[I]) Register(to *bson.Registry) {
	if to == nil {
		core.Fail("the registry is nil", fmt.Sprintf("Register of the union of %s", u.u.iface),
			"give a registry of bson.NewRegistry")
	}
	u.u.register(to)
}

// tags returns the tags of the cases, in the order of declaration.
func (u *union) tags() (out []string) {
	for _, c := range u.cases {
		if c.unknown == nil {
			out = append(out, c.tag)
		}
	}
	return out
}

// caseOf returns the case of v, an interface or a value of a declared type.
func (u *union) caseOf(v reflect.Value) (*UnionCase, error) {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, u.refused(nil, fmt.Sprintf("a nil %s isn't a value of the union", v.Type()))
		}
		v = v.Elem()
	}
	i, ok := u.byType[v.Type()]
	if !ok {
		return nil, u.refused(nil, fmt.Sprintf("%s isn't a declared type; the types are %s", v.Type(), u.names()))
	}
	return &u.cases[i], nil
}

// names lists the cases for error texts.
func (u *union) names() string {
	var b strings.Builder
	for i, c := range u.cases {
		if i > 0 {
			b.WriteString(", ")
		}
		tag := c.tag
		if c.unknown != nil {
			tag = "unknown tags"
		}
		fmt.Fprintf(&b, "%s (%s)", c.typ, tag)
	}
	return b.String()
}

func (u *union) refused(v any, reason string) error {
	return &model.ValueError{Field: u.tag, Value: v, Reason: reason}
}
