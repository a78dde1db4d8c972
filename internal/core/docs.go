// Package core is a collection without the Go type of its documents: how the type is stored, how a caller's values
// become BSON, and which paths, _ids, filters and updates are refused before a command is sent.
//
// Package model calls it for collections, queries, writes, scopes and stores. The techniques (relate, denorm, paths,
// model/embed, model/keys, model/schema) call it for their logic. core imports none of them. It sends no command.
//
// # What it works on
//
//	type Part struct {
//		ID   bson.ObjectID `bson:"_id"`
//		Name string        `bson:"name"`
//		Tags []string      `bson:"tags,omitempty"`
//		At   struct{ Shelf int } `bson:"at"`
//	}
//
//	{_id: ObjectId("…"), name: "bolt", tags: ["m4"], at: {shelf: 3}}   a document, as it is stored
//	{"at.shelf": {$gt: 2}, tags: "m4"}                                 a filter
//	{$push: {tags: "steel"}, $set: {"at.shelf": 4}}                    an update
//
// # Words
//
//   - A path is a dotted name such as "at.shelf". It crosses arrays silently, as MongoDB's paths do.
//   - The layout of a Go type has the names of the stored fields, and the Go types of their values.
//   - An open value can store fields or elements that its Go type doesn't name: an interface, a map, bson.D, bson.Raw,
//     or a type with its own marshaler. Below an open value nothing is known, and nothing is refused.
//   - A plain type has only values that can't change once copied, and that the driver stores by their kind: numbers,
//     strings, times, ids, and structs of plain types.
//   - A scope is what a database handle of package model adds to each command: a tenant, a mark of deleted documents,
//     fields of every write. Techniques don't know the scopes.
//   - A keyed collection has _ids that a technique computes from keys. Under a scope they carry the tenant.
//   - A version is one of the forms in which the documents of a collection are stored (schema.Versions). Only the
//     newest form is the collection's Go type. The other forms are the older types.
//
// # From a declaration to a command
//
//  1. model.NewCollection calls [Declare], which computes the layout of the type (layout.go) and makes a [Docs].
//  2. The constructor of a technique looks its paths up: [Docs.MustField] returns a [Field], or panics (field.go).
//     [NewReader] compiles a path, so that values of Go documents are read without encoding the document (reader.go).
//  3. A method encodes the caller's values at once, so that later changes of the values have no effect: [Docs.Encode]
//     and [Docs.Raw] encode a value, [Docs.EncodeChecked] a whole document, [Docs.Set] the fields of an update.
//  4. A caller's filter, sort or update is compared with the layout (filter.go, update.go). A path that the type
//     doesn't have, and a value that the field can't contain, are a *model.ValueError.
//  5. Package model sends the command on a [DB]. Under a scope it first adds the scope's fields: [WithAdditions] adds
//     them to documents inside filters and updates (as_stored.go). In a keyed collection it stores a [KeyID] in place
//     of the _id (key_id.go).
//  6. A write that follows from a read has the document that was read in its filter: [AsRead] (as_read.go).
//
// # Files
//
//   - Docs: docs.go, docs_compare.go (two declarations of one collection), older.go (versions), added.go, id.go,
//     keyed_names.go, store_field.go (the field that stores write), errors.go.
//   - Types: layout.go, plain.go, field.go, target.go (paths of filters and updates), types.go (sets of BSON types),
//     shape.go (a type's form, for schemas), reader.go.
//   - Values to BSON: encode.go is called by others. It uses codec.go (the driver's options) and, for frequent types,
//     fast.go and structs.go, which write the driver's bytes without the driver. append.go and raw.go build and read
//     encoded documents. depth.go and names.go refuse values that MongoDB or the driver can't store.
//   - Commands: filter.go, update.go, set.go check them. as_read.go and as_stored.go make filters.
//   - Databases: run.go (handles), collations.go (what is remembered of a client), test_handle.go.
//   - Small parts of package model: final.go, first_version.go, inner.go.
//
// # Invariants
//
//   - Bytes are the driver's bytes. FuzzAppendElement compares fast.go and structs.go with the driver,
//     TestLayoutAgreesWithDriver the layout, TestReaderAgreesWithDriver the readers.
//   - An encoded value shares no memory with the caller's value (TestEncodeDoesNotAlias).
//   - A caller's value is only walked or encoded after [CheckDepth], because a value that contains itself would never
//     end.
//   - A function refuses only what is certainly wrong. What the layout doesn't know, such as an open value or an
//     operator that this package doesn't know, passes, and the server decides.
//   - A Docs never changes once it is declared, except its older types, its added fields and its mark of keyed _ids.
//     Constructors fill these three, and copies of the Docs share them.
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
//
// The methods that return a Docs (WithName, WithoutChecks, AsStored, AsRaw, WithStoreField)
// return a copy with the same pointers. So a technique over a copy notes its paths and fields
// in the original too. WithName gives the copy its own keyed, and AsStored removes older.
type Docs struct {
	name   string
	typ    reflect.Type                       // of the documents
	key    reflect.Type                       // of the _ids
	layout *Layout                            // nil for the zero Docs
	codec  *Codec                             // encodes, and decodes where there are no versions
	older  *olderTypes                        // nil where documents are read as they are stored
	added  *addedFields                       // fields that the type doesn't tell
	keyed  *atomic.Bool                       // whether the _ids are made of keys
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

// declare is Declare without the function that reads an _id, which needs the type K.
func declare(name string, doc, id reflect.Type, c *Codec) *Docs {
	checkCollectionName(name)
	d := &Docs{
		name: name, typ: doc, key: id, codec: c, older: &olderTypes{}, added: &addedFields{}, keyed: &atomic.Bool{},
	}
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

// WithName returns the same declaration under another name, such as one for each month. It
// panics if MongoDB refuses the name. The other collection is keyed only if a technique is
// declared over it.
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
// the documents' type. Collection.Unchecked calls it, for queries of fields that the type
// lacks.
func (d *Docs) WithoutChecks() *Docs {
	out := *d
	out.unchecked = true
	return &out
}

// AsStored returns the declaration without versions: documents are read and encoded as
// they are stored. The code of schema.Versions needs it, and techniques for parts of
// documents, which have no version.
func (d *Docs) AsStored() *Docs {
	out := *d
	out.older = nil
	return &out
}

// AsRaw returns the declaration for documents that are given and read as bson.Raw. Paths
// and their values are still checked against the declared type. Model.Stores calls it,
// because a model doesn't know the Go types of its techniques.
func (d *Docs) AsRaw() *Docs {
	raw := Declare[bson.Raw, any](d.name, d.codec)
	out := *d
	out.key, out.id = raw.key, raw.id
	return &out
}

// Refuse returns a *model.ValueError of the collection: field is the path or the argument
// that is wrong, reason goes on after it ("is empty: give an id"). It leaves out a missing
// value: nil, or a RawValue of type 0.
func (d *Docs) Refuse(field string, v any, reason string) error {
	if x, ok := v.(bson.RawValue); ok && x.Type == 0 {
		v = nil
	}
	return ValueError(d.name, field, v, reason)
}

// Fail panics with a *model.DeclarationError whose place is a path of the collection.
func (d *Docs) Fail(problem, path, remedy string) { Fail(problem, d.place(path), remedy) }

// place names a path in the text of a declaration's error.
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

// Lookup is Field with only the reason as its error. A path that isn't stored alike in all
// versions is an error, because a command on it would miss the documents of older versions.
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
// if the path doesn't exist. It notes the path, so that versions that are declared later
// are compared with it.
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
		d.Fail(fmt.Sprintf("a nil value at %q is stored as null, below which $push and $addToSet fail", f.nullParent),
			path, "tag that field omitempty, or declare it as a struct")
	case f.Untyped && !f.list: // open: the server finds out whether it is an array
	case !f.IsArray():
		d.Fail(fmt.Sprintf("path %q is of type %s, not an array", path, f.Type), path, "name a slice field")
	case f.Arrays > 1:
		d.Fail(fmt.Sprintf("path %q crosses %d arrays", path, f.Arrays), path,
			"name an array that isn't in another array")
	case f.StoresNull():
		d.Fail(fmt.Sprintf("a nil slice at %q is stored as null, on which $push and $addToSet fail", path), path,
			"tag the field `bson:\""+lastPart(path)+
				",omitempty\"`, or give the collection BSONOptions{NilSliceAsEmpty: true}")
	}
	return f
}

// lastPart returns the name after the last dot of a path: its bson tag.
func lastPart(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }
