package core

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// olderTypes holds the types of the older versions that a collection's documents are
// stored as, and the paths that techniques use. For example, of a collection of Part there may
// be documents of the older type PartV1:
//
//	{_id: 7, name: "bolt", shelf: "3"}                          version 1, without a number
//	{_id: 8, name: "nut", at: {shelf: 3}, schemaVersion: 2}     version 2, the newest
//
// A technique's commands read and write stored documents, which the steps between versions
// don't reach. So every path must exist in all types and be stored alike: name does, at.shelf
// doesn't. The order of the declarations doesn't matter, because techniques note their paths,
// and versions their types.
// The collections that WithName and WithoutChecks make of a collection share its olderTypes.
//
// Methods accept a nil olderTypes, which has no types: see [Docs.AsStored].
type olderTypes struct {
	mu       sync.Mutex
	types    []reflect.Type  // of the documents, oldest first
	paths    map[string]bool // that techniques use
	versions atomic.Pointer[versions]
}

// versions say how a collection with declared versions reads and stores documents. They never
// change once declared.
type versions struct {
	codec   *Codec                               // decodes a document of any version as the newest
	upgrade func(raw bson.Raw) (bson.Raw, error) // returns a stored document in the newest form
	field   string                               // the top-level field with the version, such as "schemaVersion"
	newest  int                                  // the number of the newest version
}

// SetVersions declares the versions of the collection's documents. After it, decode
// decodes whole documents that are read into a pointer of type into. It must not keep the
// bytes. Stored whole documents have the newest version in field. SetVersions panics if
// an earlier technique uses a path that the older types store differently, or if versions
// were declared before. upgrade returns a stored document in the newest form.
// schema.NewVersions calls it.
func (d *Docs) SetVersions(
	older []reflect.Type, into reflect.Type, decode func(raw bson.Raw, doc any) error,
	field string, newest int, upgrade func(raw bson.Raw) (bson.Raw, error),
) {
	place := Place("versions of " + d.name)
	if err := d.older.addTypes(older, d.layout, d.codec); err != nil {
		place.Fail("a technique uses a path that differs between versions: "+err.Error(), olderRemedy)
	}
	var own Codec
	if d.codec != nil {
		own = *d.codec
	}
	own.wholeAs, own.whole = into, decode
	declared := versions{codec: &own, upgrade: upgrade, field: field, newest: newest}
	if !d.older.versions.CompareAndSwap(nil, &declared) {
		place.Fail("the versions of this collection are declared already",
			"declare the versions once, or make another collection with NewCollection")
	}
}

// loadVersions returns the declared versions, or nil.
func (o *olderTypes) loadVersions() *versions {
	if o == nil {
		return nil
	}
	return o.versions.Load()
}

// StampVersion returns a whole document of the newest type with its version, if the collection
// has versions.
func (d *Docs) StampVersion(doc bson.Raw) (bson.Raw, error) {
	v := d.VersionField()
	if v == nil {
		return doc, nil
	}
	return SetFields(doc, v)
}

// UpgradeStored returns a stored document in the newest form, if the collection has versions.
// Stores call it for a document that they read, so that reactions see only the newest form.
func (d *Docs) UpgradeStored(stored bson.Raw) (bson.Raw, error) {
	if v := d.older.loadVersions(); v != nil {
		return v.upgrade(stored)
	}
	return stored, nil
}

// VersionField returns the field with the newest version, for documents that an upsert
// creates. It is nil without versions.
func (d *Docs) VersionField() bson.D {
	v := d.older.loadVersions()
	if v == nil {
		return nil
	}
	return bson.D{{Key: v.field, Value: int32(v.newest)}}
}

// olderRemedy is the remedy of a declaration with a path that isn't stored alike in all versions.
const olderRemedy = "use a path that has the same type and meaning in every version; " +
	"or migrate all documents with Versions.Migrate, and then leave the older versions' steps out"

// checkPath returns why a path of the newest type can't be used in documents of all types, or
// nil. f is the path's field in the newest type.
func (o *olderTypes) checkPath(path string, f Field, c *Codec) error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.findUnlike(o.types, path, f, c)
}

// notePath notes that a technique uses a path, for types that are added later.
func (o *olderTypes) notePath(path string) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.paths == nil {
		o.paths = map[string]bool{}
	}
	o.paths[path] = true
}

// addTypes adds types. It returns why a technique that was declared before can't use a path in
// them, and then adds nothing. l is the layout of the newest type.
func (o *olderTypes) addTypes(types []reflect.Type, l *Layout, c *Codec) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for path := range o.paths {
		f, err := l.Resolve(path, c)
		if err == nil {
			err = o.findUnlike(types, path, f, c)
		}
		if err != nil {
			return err
		}
	}
	o.types = append(o.types, types...)
	return nil
}

// hasTypes reports whether documents of older versions are stored.
func (o *olderTypes) hasTypes() bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.types) > 0
}

// hasPath reports whether documents of an older version have a path, as queries name it.
func (o *olderTypes) hasPath(path string, c *Codec) bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range o.types {
		if l, err := LayoutOf(t, c); err == nil {
			if _, err = l.lookUpTarget(path, c); err == nil {
				return true
			}
		}
	}
	return false
}

// findUnlike returns how one of the types stores a path differently from the field f of the newest
// type, or nil. It can't judge a path below an open value. Every version has the same _id, because
// a document keeps its _id when it is migrated.
func (o *olderTypes) findUnlike(types []reflect.Type, path string, f Field, c *Codec) error {
	if f.Untyped || path == "_id" || strings.HasPrefix(path, "_id.") {
		return nil
	}
	for _, t := range types {
		l, err := LayoutOf(t, c)
		if err != nil {
			return err
		}
		was, err := l.Resolve(path, c)
		switch {
		case err != nil:
			return fmt.Errorf("documents of the older version %s have no %q: %w", t, path, err)
		case !was.Untyped && (was.Arrays != f.Arrays || was.list != f.list || !areStoredAlike(was.Type, f.Type)):
			return fmt.Errorf("%q is %s in documents of the older version %s, but %s in the newest", path,
				was.kindName(), t, f.kindName())
		}
	}
	return nil
}

// kindName returns the field's Go type for texts, as a list if the field is an array.
func (f Field) kindName() string {
	if f.list {
		return "[]" + f.Type.String()
	}
	return f.Type.String()
}

// areStoredAlike reports whether values of two types are stored in the same way, as far as
// commands can tell: integers of all sizes are. Two structs are not, even with equal fields.
func areStoredAlike(a, b reflect.Type) bool {
	whole := func(t reflect.Type) bool { v := reflect.Zero(t); return v.CanInt() || v.CanUint() }
	switch {
	case a == b:
		return true
	case isMarshaler(a) || isMarshaler(b):
		return false
	case whole(a) && whole(b):
		return true
	}
	if a.Kind() != b.Kind() {
		return false
	}
	return a.Kind() == reflect.String || a.Kind() == reflect.Bool || reflect.Zero(a).CanFloat()
}
