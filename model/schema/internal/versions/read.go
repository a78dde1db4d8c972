package versions

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// versionOf reads and checks a document's version.
func (x *Versions) versionOf(raw bson.Raw) (int, error) {
	v := raw.Lookup(x.field)
	n, whole := int64(x.missing), true
	switch v.Type {
	case 0, bson.TypeNull:
		if x.missing < 0 {
			return 0, x.fail(raw, errors.New("the document has no version"))
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
		return 0, x.fail(raw, errors.New("the version isn't an integer"))
	case n > int64(x.newest):
		return 0, x.fail(raw, fmt.Errorf("%w: the newest version is %d", ErrNewer, x.newest))
	case n < int64(x.first):
		return 0, x.fail(raw, fmt.Errorf("the first version is %d", x.first))
	}
	return int(n), nil
}

func (x *Versions) fail(raw bson.Raw, err error) error {
	return x.fault(bsonval.Clone(raw.Lookup("_id")), bsonval.Clone(raw.Lookup(x.field)), err)
}

// Decode reads a document of any version into what doc, a pointer to the newest type, points at.
func (x *Versions) Decode(raw bson.Raw, doc any) error {
	n, err := x.versionOf(raw)
	if err != nil {
		return err
	}
	if n == x.newest {
		if err := x.Docs.Decode(raw, doc); err != nil {
			return x.fail(raw, err)
		}
		return nil
	}
	_, err = x.upcast(raw, n, doc)
	return err
}

// upcast reads a document of the n-th version as its own type, which it returns, and puts what the steps make of it
// into doc.
func (x *Versions) upcast(raw bson.Raw, n int, doc any) (own any, err error) {
	steps := x.steps[n-x.first:]
	own, err = steps[0].Down(func(into any) error { return x.Docs.Decode(raw, into) })
	if err != nil {
		return nil, x.fail(raw, err)
	}
	next := own
	for i, s := range steps {
		if next, err = s.Up(next); err != nil {
			return nil, x.fail(raw, fmt.Errorf("step to version %d: %w", n+i+1, err))
		}
	}
	assign(doc, next)
	return own, nil
}

// assign puts what from points at into what to points at.
func assign(to, from any) { reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem()) }
