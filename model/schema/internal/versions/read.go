package versions

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// readVersion reads and checks a document's version. A double without a fraction counts, because JavaScript stores
// numbers so.
func (x *Versions) readVersion(raw bson.Raw) (int, error) {
	v := raw.Lookup(x.field)
	n, whole := int64(x.missing), true
	switch v.Type {
	case 0, bson.TypeNull: // 0: the field is missing
		if x.missing < 0 {
			return 0, x.failDocument(raw, errors.New("the document has no version"))
		}
	case bson.TypeInt32, bson.TypeInt64:
		n = v.AsInt64()
	case bson.TypeDouble:
		f := v.Double()
		n, whole = int64(f), f == math.Trunc(f) && math.Abs(f) < 1<<53
	default:
		whole = false
	}
	switch {
	case !whole:
		return 0, x.failDocument(raw, errors.New("the version isn't an integer"))
	case n > int64(x.newest):
		return 0, x.failDocument(raw, fmt.Errorf("%w: the newest version is %d", ErrNewer, x.newest))
	case n < int64(x.first):
		return 0, x.failDocument(raw, fmt.Errorf("the first version is %d", x.first))
	}
	return int(n), nil
}

// failDocument makes the error of a document that can't be read or upgraded. It copies what it takes from raw, because
// the error outlives the bytes.
func (x *Versions) failDocument(raw bson.Raw, err error) error {
	return x.fault(bsonval.Clone(raw.Lookup("_id")), bsonval.Clone(raw.Lookup(x.field)), err)
}

// Decode decodes a document of any version. doc is a pointer to the newest type.
func (x *Versions) Decode(raw bson.Raw, doc any) error {
	n, err := x.readVersion(raw)
	if err != nil {
		return err
	}
	if n == x.newest {
		if err := x.Docs.Decode(raw, doc); err != nil {
			return x.failDocument(raw, err)
		}
		return nil
	}
	return x.upcastDocument(raw, n, doc)
}

// upcastDocument decodes a document of the version n as its own type, and assigns the result of the steps to doc. n is
// older than the newest version.
func (x *Versions) upcastDocument(raw bson.Raw, n int, doc any) error {
	steps := x.steps[n-x.first:]
	next, err := steps[0].Down(func(into any) error { return x.Docs.Decode(raw, into) })
	if err != nil {
		return x.failDocument(raw, err)
	}
	for i, s := range steps {
		if next, err = s.Up(next); err != nil {
			return x.failDocument(raw, fmt.Errorf("step to version %d: %w", n+i+1, err))
		}
	}
	assignDocument(doc, next)
	return nil
}

// assignDocument copies a document. Both arguments are pointers to the same type.
func assignDocument(to, from any) { reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem()) }
