package model

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A Collection names a collection and fixes the Go type D of its documents and K of their _id. Declare it once with
// [NewCollection], usually as a package variable; it is immutable, and safe to share. A nil or zero Collection is not
// valid: constructors that are handed one panic.
type Collection[D, K any] struct {
	decl *declaration
	id   *Reader[D, K]
}

// A declaration is what of a Collection doesn't depend on its types. Whatever can be is a method of it: methods of
// generic types, promoted ones too, are compiled for each document type of a program.
type declaration struct {
	name   string
	layout *layout
	codec  *codec
	typ    reflect.Type // of the documents
	older  *olderTypes

	emptyID func(doc any) (any, bool) // the _id of the document that doc points at, and whether it is empty
}

// CollectionOptions are the driver's options under which the collection's documents are written and read. They must
// be the client's own, where the client has any: they decide how fields are named.
type CollectionOptions struct {
	BSON     *options.BSONOptions // nil means the driver's defaults
	Registry *bson.Registry       // nil means the driver's default registry
}

// NewCollection declares a collection. It panics with a [*DeclarationError] when the name can't be a collection's, when
// D is not stored as a document, or when D's _id is missing or not a K. For a D whose fields are not known (bson.D,
// bson.M, bson.Raw, a custom marshaler) the checks are skipped. At most one CollectionOptions may be given.
func NewCollection[D, K any](name string, opts ...CollectionOptions) *Collection[D, K] {
	c := &Collection[D, K]{decl: declare(name, reflect.TypeFor[D](), reflect.TypeFor[K](), opts)}
	c.id = NewReader[K](c, "_id")
	c.decl.emptyID = func(doc any) (any, bool) {
		id, ok := first[K](c.id.r, doc)
		return id, ok && emptyID(id)
	}
	return c
}

func declare(name string, doc, id reflect.Type, opts []CollectionOptions) *declaration {
	checkCollectionName(name)
	c := &declaration{name: name, typ: doc, older: &olderTypes{}}
	if len(opts) > 1 {
		panic(&DeclarationError{"more than one CollectionOptions", "NewCollection(" + name + ")", "give one"})
	}
	jsonTags := false
	if len(opts) == 1 && (opts[0].BSON != nil || opts[0].Registry != nil) {
		c.codec = &codec{registry: opts[0].Registry}
		if opts[0].BSON != nil {
			o := *opts[0].BSON
			c.codec.options = &o
			jsonTags = o.UseJSONStructTags
		}
	}
	l, err := layoutOf(doc, jsonTags)
	if err != nil {
		panic(&DeclarationError{err.Error(), fmt.Sprintf("NewCollection[%s](%q)", doc, name), "use a struct, bson.D, bson.M or bson.Raw"})
	}
	c.layout = l
	if k, _ := kindOf(id); k == array || c.mustField("_id").Arrays > 0 {
		panic(&DeclarationError{"an _id can't be an array", c.place("_id"), "use a scalar or a document as _id"})
	}
	return c
}

// Name returns the collection's name.
func (c *Collection[D, K]) Name() string { return declOf(c).orZero().name }

// Named returns the same declaration under another name, for collections that come one per tenant or per month. It
// panics for a name that MongoDB refuses.
func (c *Collection[D, K]) Named(name string) *Collection[D, K] {
	if c == nil {
		panic(&DeclarationError{"the collection is nil", "Named " + name, "make it with NewCollection"})
	}
	return &Collection[D, K]{declOf(c).named(name), c.id}
}

func (c *declaration) named(name string) *declaration {
	checkCollectionName(name)
	if c == nil {
		return nil
	}
	out := *c
	out.name = name
	return &out
}

// declOf is what a collection declares; nil for a nil or zero one.
func declOf[D, K any](c *Collection[D, K]) *declaration {
	if c == nil {
		return nil
	}
	return c.decl
}

var zeroDeclaration declaration

// orZero is the declaration, or for a zero Collection one without a name.
func (c *declaration) orZero() *declaration {
	if c == nil {
		return &zeroDeclaration
	}
	return c
}

// Of opens the driver's collection, with the declaration's [CollectionOptions].
func (c *Collection[D, K]) Of(db *mongo.Database) *mongo.Collection { return declOf(c).of(db) }

func (c *declaration) of(db *mongo.Database) *mongo.Collection {
	c = c.orZero()
	if db == nil {
		panic(&DeclarationError{"the database is nil", "Collection.Of of " + c.name, "give the database that the collection is in"})
	}
	return collectionOf(context.Background(), db, c.codec, c.name)
}

// ID reads the document's _id. It returns a [*ValueError] when there is none or it is empty (see [Collection.CheckID]).
func (c *Collection[D, K]) ID(doc *D) (id K, err error) {
	found := false
	if doc != nil && declOf(c) != nil {
		id, found = c.id.First(doc)
	}
	return id, declOf(c).checkFound(id, found, doc == nil)
}

func (c *declaration) checkFound(id any, found, nilDocument bool) error {
	switch {
	case nilDocument:
		return c.refuse("_id", nil, "the document is nil")
	case !found:
		return c.refuse("_id", nil, "the document has none")
	}
	return c.checkID("_id", id)
}

func (c *declaration) refuse(field string, v any, reason string) error {
	return &ValueError{Collection: c.orZero().name, Field: field, Value: v, Reason: reason}
}

// CheckID returns a [*ValueError] that names the field when id can't be the _id of a document: nil, the zero value of
// its type unless that is a number or a boolean (a zero ObjectID is stored without complaint, once), or a value that
// MongoDB refuses. Every technique applies it to each id that it is handed.
func (c *Collection[D, K]) CheckID(field string, id K) error { return declOf(c).checkID(field, id) }

func (c *declaration) checkID(field string, id any) error {
	c = c.orZero()
	if emptyID(id) {
		return &ValueError{Collection: c.name, Field: field, Value: id, Reason: "the id is empty"}
	}
	switch id.(type) {
	case bson.ObjectID, string, int, int32, int64:
		return nil
	}
	doc, err := c.codec.document(bson.D{{Key: "id", Value: id}})
	if err != nil {
		return &ValueError{Collection: c.name, Field: field, Reason: err.Error()}
	}
	held := doc.Lookup("id") // a copy: the caller's may change
	if below, reason := refusedID(held); reason != "" {
		return &ValueError{Collection: c.name, Field: field + below, Value: held, Reason: reason}
	}
	return nil
}

// refusedID says what is wrong with an encoded _id, and below which path of it, or "".
func refusedID(id bson.RawValue) (below, reason string) {
	switch id.Type {
	case 0:
		return "", "the document has none"
	case bson.TypeArray, bson.TypeRegex, bson.TypeUndefined:
		return "", "MongoDB takes no array, regular expression or undefined as _id"
	case bson.TypeNull:
		return "", "the id is empty"
	case bson.TypeObjectID:
		return "", pick(id.ObjectID().IsZero(), "the id is empty", "")
	case bson.TypeString:
		return "", pick(id.StringValue() == "", "the id is empty", "")
	case bson.TypeBinary:
		_, data := id.Binary()
		return "", pick(len(data) == 0, "the id is empty", "")
	case bson.TypeEmbeddedDocument:
		if len(id.Value) <= 5 {
			return "", "the id is empty"
		}
		if path, err := checkKeys(bson.Raw(id.Value), "", 2); err != nil {
			return "." + path, err.Error()
		}
	}
	return "", ""
}

func emptyID(id any) bool {
	switch id := id.(type) {
	case nil:
		return true
	case bson.ObjectID:
		return id.IsZero()
	case string:
		return id == ""
	case int, int32, int64, bson.Decimal128:
		return false
	case bson.RawValue:
		return id.Type == 0
	}
	v := reflect.ValueOf(id)
	switch {
	case v.CanInt(), v.CanUint(), v.CanFloat(), v.Kind() == reflect.Bool:
		return false
	}
	return v.IsZero()
}

// Field looks a path up in D. The error, a [*ValueError], says which part of it doesn't exist and what the nearest name is.
func (c *Collection[D, K]) Field(path string) (Field, error) {
	decl := declOf(c)
	f, err := decl.field(path)
	if err != nil && decl != nil {
		err = decl.refuse("path", path, err.Error())
	}
	return f, err
}

func (c *declaration) field(path string) (Field, error) {
	if c == nil {
		return Field{}, c.refuse("path", path, "the zero Collection: declare it with NewCollection")
	}
	f, err := c.layout.resolve(path, c.codec)
	if err == nil {
		if older := c.older.check(path, f, c.codec); older != nil {
			err = fmt.Errorf("%w: bring the document up, and change it, by schema.Versions.Edit", older)
		}
	}
	return f, err
}

// MustField looks a path up in D, and panics with a [*DeclarationError] when D doesn't have it: for constructors.
func MustField[D, K any](c *Collection[D, K], path string) Field { return declOf(c).mustField(path) }

func (c *declaration) mustField(path string) Field {
	if c == nil {
		panic(&DeclarationError{"the zero Collection", fmt.Sprintf("path %q", path), "declare the collection with model.NewCollection"})
	}
	f, err := c.layout.resolve(path, c.codec)
	if err == nil {
		if older := c.older.check(path, f, c.codec); older != nil {
			panic(&DeclarationError{older.Error(), c.place(path), olderRemedy})
		}
	}
	if err != nil {
		panic(&DeclarationError{err.Error(), c.place(path), "name a path that the documents have; names are those of the bson tags, or the lowercased field names"})
	}
	c.older.use(path)
	return f
}

// Encode returns v as the collection's options store it, so that it no longer changes with the caller's value. Scalars
// that can't change are returned as they are. Techniques pass every value of the caller's through it.
func (c *Collection[D, K]) Encode(v any) (any, error) { return declOf(c).orZero().codec.value(v) }

// CheckArray panics with a [*DeclarationError] unless the path is an array that $push and $addToSet can grow: an array
// that is not inside another, and whose nil slice isn't stored as null. For constructors.
func CheckArray[D, K any](c *Collection[D, K], path string) Field { return declOf(c).checkArray(path) }

func (c *declaration) checkArray(path string) Field {
	f := c.mustField(path)
	switch {
	case f.nullParent != "":
		panic(&DeclarationError{
			fmt.Sprintf("a nil value at %q is stored as null, below which $push and $addToSet fail", f.nullParent), c.place(path),
			"tag that field omitempty, or declare it as a struct",
		})
	case f.Open && !f.list:
	case !f.IsArray():
		panic(&DeclarationError{fmt.Sprintf("path %q is a %s, not an array", path, f.Type), c.place(path), "name a slice field"})
	case f.Arrays > 1:
		panic(&DeclarationError{fmt.Sprintf("path %q crosses %d arrays", path, f.Arrays), c.place(path), "name an array that is not inside another"})
	case f.StoresNull():
		panic(&DeclarationError{
			fmt.Sprintf("a nil slice at %q is stored as null, on which $push and $addToSet fail", path), c.place(path),
			"tag the field `bson:\"" + lastPart(path) + ",omitempty\"`, or give the collection BSONOptions{NilSliceAsEmpty: true}",
		})
	}
	return f
}

func lastPart(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

func (c *declaration) place(path string) string {
	return fmt.Sprintf("%s (%s), path %q", c.name, c.typ, path)
}

// Decode decodes a document as the collection's options read it.
func (c *Collection[D, K]) Decode(raw bson.Raw, doc *D) error {
	return declOf(c).orZero().codec.decode(raw, doc)
}

// DecodeAs decodes a document that is a part of one of the collection's, an element of a list, as the collection's options read
// it. into is a pointer to a value of its type.
func (c *Collection[D, K]) DecodeAs(raw bson.Raw, into any) error {
	if err := checkDepth(into); err != nil {
		return err
	}
	return declOf(c).orZero().codec.decode(raw, into)
}
