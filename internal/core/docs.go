// Package core has the parts of collections and techniques that don't depend on Go types:
// layout, encoding, checks and errors of documents. It imports neither package model nor
// any technique.
package core

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Docs is a collection without its Go types: its name and the form of its documents.
// Techniques base their logic on Docs, because Go compiles methods of a generic type for
// each document type. The fields of the zero Docs are unknown, and declaring a technique
// over it panics.
type Docs struct {
	name   string
	typ    reflect.Type // of the documents
	key    reflect.Type // of the _ids
	layout *Layout
	codec  *Codec
	older  *olderTypes
	added  *addedFields
	keyed  *atomic.Bool                       // the _ids are made of keys; copies of the collection share it, except WithName
	id     func(doc any) (id any, found bool) // of the document that doc points at

	unchecked bool // a user's filters, sorts and updates pass as they are

	storeField StoreField // "" means the default
}

// Declare declares a collection of documents of type D with _id type K. It panics if the
// name, D or K can't be a collection's. The nil Codec means the driver's defaults.
func Declare[D, K any](name string, c *Codec) *Docs {
	d := declare(name, reflect.TypeFor[D](), reflect.TypeFor[K](), c)
	r := NewReader[K](d, "_id")
	d.id = func(doc any) (any, bool) { return r.First(doc) }
	return d
}

func declare(name string, doc, id reflect.Type, c *Codec) *Docs {
	checkCollectionName(name)
	d := &Docs{name: name, typ: doc, key: id, codec: c, older: &olderTypes{}, added: &addedFields{}, keyed: &atomic.Bool{}}
	var err error
	if d.layout, err = LayoutOf(doc, c); err != nil {
		Fail(err.Error(), fmt.Sprintf("NewCollection[%s](%q)", doc, name), "use a struct, bson.D, bson.M or bson.Raw")
	}
	if k, _ := kindOf(id); k == array || d.MustField("_id").Arrays > 0 {
		Fail("an _id can't be an array", d.place("_id"), "use a scalar or a document as _id")
	}
	return d
}

// Name returns the collection's name.
func (d *Docs) Name() string { return d.name }

// Type returns the documents' Go type. It is nil for a zero collection.
func (d *Docs) Type() reflect.Type { return d.typ }

// Layout returns the documents' layout. It is nil for a zero collection.
func (d *Docs) Layout() *Layout { return d.layout }

// Codec encodes the documents, and reads them through the collection's versions. It is
// nil for the driver's defaults.
func (d *Docs) Codec() *Codec {
	if v := d.older.loadVersions(); v != nil {
		return v.codec
	}
	return d.codec
}

// IsZero reports whether the collection is zero or nil.
func (d *Docs) IsZero() bool { return d.layout == nil }

// WithName returns the same declaration under another name. It panics if MongoDB refuses the
// name.
func (d *Docs) WithName(name string) *Docs {
	checkCollectionName(name)
	out := *d
	if !d.IsZero() {
		out.name, out.keyed = name, &atomic.Bool{}
	}
	return &out
}

// MakeKeyed records that a technique makes the documents' _ids of keys, so that they
// carry the tenant under a scope. Constructors call it.
func (d *Docs) MakeKeyed() {
	if d.keyed != nil {
		d.keyed.Store(true)
		NoteKeyed(d.name)
	}
}

// ShareKeyed is MakeKeyed for documents that other techniques use too. Their commands name
// only the collection. So under a tenant the collection needs the handle of a model.
func (d *Docs) ShareKeyed() {
	if d.keyed != nil {
		d.keyed.Store(true)
		NoteShared(d.name)
	}
}

// IsKeyed reports whether [Docs.MakeKeyed] was called.
func (d *Docs) IsKeyed() bool { return d.keyed != nil && d.keyed.Load() }

// WithoutChecks returns the declaration without checks of filters, sorts and updates against
// the documents' type.
func (d *Docs) WithoutChecks() *Docs {
	out := *d
	out.unchecked = true
	return &out
}

// AsStored returns the declaration without versions: documents are read and encoded as
// they are stored.
func (d *Docs) AsStored() *Docs {
	out := *d
	out.older = nil
	return &out
}

// AsRaw returns the declaration for documents that are given and read as bson.Raw. Paths
// and their values are still checked against the declared type.
func (d *Docs) AsRaw() *Docs {
	raw := Declare[bson.Raw, any](d.name, d.codec)
	out := *d
	out.key, out.id = raw.key, raw.id
	return &out
}

// Refuse returns a *model.ValueError of the collection. It leaves out a missing value:
// nil, or a RawValue of type 0.
func (d *Docs) Refuse(field string, v any, reason string) error {
	if x, ok := v.(bson.RawValue); ok && x.Type == 0 {
		v = nil
	}
	return ValueError(d.name, field, v, reason)
}

// Fail panics with a *model.DeclarationError whose place is a path of the collection.
func (d *Docs) Fail(problem, path, remedy string) { Fail(problem, d.place(path), remedy) }

func (d *Docs) place(path string) string { return fmt.Sprintf("%s (%s), path %q", d.name, d.typ, path) }

// Field looks up a path. The error, a *model.ValueError, names the missing part and the
// nearest name.
func (d *Docs) Field(path string) (Field, error) {
	f, err := d.Lookup(path)
	if err != nil {
		err = d.Refuse("path", path, err.Error())
	}
	return f, err
}

// Lookup is Field with only the reason as its error.
func (d *Docs) Lookup(path string) (Field, error) {
	if d.IsZero() {
		return Field{}, errors.New("the collection is the zero Collection: declare it with NewCollection")
	}
	f, err := d.layout.Resolve(path, d.codec)
	if err == nil {
		if older := d.older.checkPath(path, f, d.codec); older != nil {
			err = fmt.Errorf("%w: migrate and change the document with schema.Versions.Edit", older)
		}
	}
	return f, err
}

// MustField looks up a path for a constructor. It panics with a *model.DeclarationError
// if the path doesn't exist.
func (d *Docs) MustField(path string) Field {
	if d.IsZero() {
		Fail("the collection is the zero Collection", fmt.Sprintf("path %q", path),
			"declare the collection with model.NewCollection")
	}
	f, err := d.layout.Resolve(path, d.codec)
	if err == nil {
		if older := d.older.checkPath(path, f, d.codec); older != nil {
			d.Fail(older.Error(), path, olderRemedy)
		}
	}
	if err != nil {
		d.Fail(err.Error(), path,
			"name a path of the documents; the names in it are the bson tags or the lowercased field names")
	}
	d.older.notePath(path)
	return f
}

// CheckArray panics with a *model.DeclarationError unless $push and $addToSet can grow
// the array at the path: it isn't inside another array, and nil isn't stored as null. It
// is for constructors.
func (d *Docs) CheckArray(path string) Field {
	f := d.MustField(path)
	switch {
	case f.nullParent != "":
		d.Fail(fmt.Sprintf("a nil value at %q is stored as null, below which $push and $addToSet fail", f.nullParent), path,
			"tag that field omitempty, or declare it as a struct")
	case f.Untyped && !f.list:
	case !f.IsArray():
		d.Fail(fmt.Sprintf("path %q is of type %s, not an array", path, f.Type), path, "name a slice field")
	case f.Arrays > 1:
		d.Fail(fmt.Sprintf("path %q crosses %d arrays", path, f.Arrays), path, "name an array that isn't in another array")
	case f.StoresNull():
		d.Fail(fmt.Sprintf("a nil slice at %q is stored as null, on which $push and $addToSet fail", path), path,
			"tag the field `bson:\""+lastPart(path)+",omitempty\"`, or give the collection BSONOptions{NilSliceAsEmpty: true}")
	}
	return f
}

func lastPart(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }
