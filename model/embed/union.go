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

// Union is a set of Go types that are stored under one interface type I, told apart by a field: the tag. A value is stored as the
// fields of its type after the tag; what is read becomes a value of the type that the tag names. Make it with [NewUnion].
//
// It is a declaration, not a global registry: it acts in the collections that are declared with its [Union.Options] (and where a
// caller hands their Registry to the driver). There, documents of type I, fields of type I and elements of []I go in and out
// as any other value does, by [model.Collection.Insert], a Find's All, or the driver's own cursor.
//
// Source: products of many kinds ("Aggregates", "NoSQL Data Modeling Techniques", seed 002, 2); books and reviews in one
// collection ("Distinguishing between different document types", seed 000);
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/polymorphic-data/polymorphic-schema-pattern/.
type Union[I any] struct {
	u        *union
	registry *bson.Registry
}

// A UnionCase is one type of a union: see [Case] and [UnknownCase].
type UnionCase struct {
	tag     string
	typ     reflect.Type
	unknown func(UnknownValue) reflect.Value // of the case for what no other case is; nil for the others
}

// Case declares that values of type T are stored with a tag. T is a struct, a pointer to one, or another type that is stored as a
// document. What is read is a T, as declared; a pointer to a declared struct, or a struct whose pointer is declared, is stored too.
func Case[T any](tag string) UnionCase { return UnionCase{tag: tag, typ: reflect.TypeFor[T]()} }

// UnknownCase declares what documents become whose tag is no case's, or which have none: wrap makes one a T. Without it they are
// an error. T embeds [UnknownValue], by which it is stored again as it was, byte for byte.
func UnknownCase[T any](wrap func(UnknownValue) T) UnionCase {
	c := UnionCase{typ: reflect.TypeFor[T]()}
	if wrap != nil {
		c.unknown = func(u UnknownValue) reflect.Value { return reflect.ValueOf(wrap(u)) }
	}
	return c
}

// UnknownValue is a value of a type that a union doesn't know, as it is stored. Embed it in a struct of your own for an [UnknownCase].
type UnknownValue struct {
	Tag string // "" when the value has none, or one that is no string
	Raw bson.Raw
}

// MarshalBSON returns the value as it was.
func (u UnknownValue) MarshalBSON() ([]byte, error) {
	if len(u.Raw) == 0 {
		return nil, &model.ValueError{Field: "Raw", Reason: "an unknown value is stored as it was read, but this value wasn't read from the database"}
	}
	return slices.Clone(u.Raw), nil
}

func (u UnknownValue) unknownValue() {}

// union is what of a Union doesn't depend on types.
type union struct {
	iface  reflect.Type
	tag    string
	cases  []UnionCase
	byTag  map[string]int
	byType map[reflect.Type]int // pointers taken off
	other  *UnionCase           // the case for what no other case is
}

// NewUnion declares a union of cases under the interface type I, which needs a method, for every Go type has those of any. It
// panics with a [*model.DeclarationError] when I is none; when the tag is no field's name, or _id; when a tag or a type is declared twice,
// a tag is empty, a type doesn't implement I, is not stored as a document, is the driver's own (bson.D, bson.M), implements
// [bson.Marshaler], which the driver asks before any registry, or stores a field by the name of the tag; when there is no case.
func NewUnion[I any](tag string, cases ...UnionCase) *Union[I] {
	u := newUnion(reflect.TypeFor[I](), tag, cases)
	r := bson.NewRegistry()
	u.register(r)
	return &Union[I]{u, r}
}

func newUnion(iface reflect.Type, tag string, cases []UnionCase) *union {
	u := &union{iface: iface, tag: tag, cases: slices.Clone(cases), byTag: map[string]int{}, byType: map[reflect.Type]int{}}
	place := core.Place(fmt.Sprintf("NewUnion[%s](%q)", iface, tag))
	switch {
	case iface.Kind() != reflect.Interface || iface.NumMethod() == 0:
		place.Fail(fmt.Sprintf("%s isn't an interface type with a method", iface), "declare an interface with a method, and give each type that method")
	case core.CheckKey(tag) != nil || tag == "_id":
		place.Fail(fmt.Sprintf("%q can't be the tag's name", tag), "name a field without dots, such as type")
	}
	known := 0
	for i, c := range u.cases {
		if c.typ == nil || !c.typ.Implements(iface) {
			place.Fail(fmt.Sprintf("case %d: %v doesn't implement %s", i, c.typ, iface), "give the type the interface's methods, or declare a pointer to it")
		}
		base := c.base()
		if _, twice := u.byType[base]; twice {
			place.Fail(fmt.Sprintf("%s is declared twice", base), "declare each type once, either the type or a pointer to it")
		}
		u.byType[base] = i
		if c.tag == "" && (c.unknown != nil || embedsUnknown(c.typ)) {
			if c.unknown == nil || !embedsUnknown(c.typ) || u.other != nil {
				place.Fail(fmt.Sprintf("%s can't be the case for unknown values", c.typ), "give one UnknownCase, with a function, whose type embeds UnknownValue")
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

// refuseCase says why a type can't be a case of the tag, or "".
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
	if l.Has(u.tag) || byJSON.Has(u.tag) {
		return fmt.Sprintf("%s itself stores a field %q", base, u.tag)
	}
	return ""
}

// base is the case's type, a pointer taken off.
func (c UnionCase) base() reflect.Type {
	if c.typ.Kind() == reflect.Pointer {
		return c.typ.Elem()
	}
	return c.typ
}

func embedsUnknown(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[interface{ unknownValue() }]())
}

// Options are the options of collections whose documents are, or hold, values of the union: NewCollection[Item, string]("items",
// union.Options()). For a collection of several unions, see [Union.Register].
//
// Their Registry knows this union and nothing else of anybody's. Driver code beside the model takes it by
// options.Collection().SetRegistry. It must not be changed. With it, a value of a declared type is written with its tag wherever it
// stands, also where its field is not of type I.
func (u *Union[I]) Options() model.CollectionOptions {
	return model.CollectionOptions{Registry: u.registry}
}

// Register adds the union to a registry, before that is used: to have several unions, or codecs of one's own, in one. Give the
// registry to NewCollection by [model.CollectionOptions]. It panics with a [*model.DeclarationError] when the registry has a union of I already, or
// one that declares one of the types too and by the same tag, or a type with fields of any name, which would take the other's tag for one.
func (u *Union[I]) Register(to *bson.Registry) {
	if to == nil {
		core.Fail("the registry is nil", fmt.Sprintf("Register of the union of %s", u.u.iface), "give a registry of bson.NewRegistry")
	}
	u.u.register(to)
}

// tags are the tags of the cases, in the order of declaration.
func (u *union) tags() (out []string) {
	for _, c := range u.cases {
		if c.unknown == nil {
			out = append(out, c.tag)
		}
	}
	return out
}

// Encode returns a value as it is stored: for what is kept elsewhere than in a collection.
func (u *Union[I]) Encode(v I) (bson.Raw, error) {
	return u.u.encode(u.registry, reflect.ValueOf(&v).Elem())
}

// Decode returns the value that is stored so.
func (u *Union[I]) Decode(raw bson.Raw) (v I, err error) {
	err = u.u.decode(u.registry, raw, reflect.ValueOf(&v).Elem())
	return v, err
}

// caseOf is the case of what an interface, or a value of a declared type, holds.
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

// names are the cases in words.
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
