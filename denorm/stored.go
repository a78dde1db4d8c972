package denorm

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// stored is a collection whose documents come encoded: what of a declaration the techniques' cores need.
type stored struct {
	docs   string // the collection
	encode func(any) (any, error)
	lookup func(path string) (model.Field, error)
	decode func(raw bson.Raw, into any) error
}

func storedIn[D, K any](c *model.Collection[D, K]) stored {
	return stored{c.Name(), c.Encode, c.Field, c.DecodeAs}
}

// encodedID is an _id of the caller's, checked and encoded.
func encodedID[D, K any](c *model.Collection[D, K], id K) (bson.RawValue, error) {
	if err := c.CheckID("_id", id); err != nil {
		return bson.RawValue{}, err
	}
	v, err := c.Encode(id)
	if err != nil {
		return bson.RawValue{}, err
	}
	return raw(v)
}

// raw is an encoded value in bytes.
func raw(v any) (bson.RawValue, error) {
	doc, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	return bson.Raw(doc).Lookup("v"), err
}

func (s stored) refused(field string, v any, reason string) error {
	e := &model.ValueError{Collection: s.docs, Field: field, Reason: reason}
	if x, ok := v.(bson.RawValue); v != nil && (!ok || x.Type != 0) {
		e.Value = v
	}
	return e
}

// rawDocument is an encoded value that is a document, in bytes of its own.
func rawDocument(v any) (bson.Raw, error) {
	value, err := raw(v)
	if err != nil {
		return nil, err
	}
	doc, ok := value.DocumentOK()
	if !ok {
		return nil, fmt.Errorf("docmodel: a %T is not a document", v)
	}
	return doc, nil
}

// encoded is a document of the caller's, in bytes of its own.
func (s stored) encoded(doc any) (bson.Raw, error) {
	v, err := s.encode(doc)
	if err != nil {
		return nil, s.refused("document", nil, err.Error())
	}
	return rawDocument(v)
}

// rawValue encodes a value of the caller's, of the type of a field; a bson.RawValue is
// one that the type can be read from.
func (s stored) rawValue(f model.Field, v any, element bool) (bson.RawValue, error) {
	held, isRaw := v.(bson.RawValue)
	if isRaw && !f.Open && !s.readable(f, held, element) || !isRaw && !fits(f, reflect.TypeOf(v), element) {
		have := fmt.Sprintf("%T", v)
		if isRaw {
			have = "BSON " + held.Type.String()
		}
		return bson.RawValue{}, s.refused(f.Path, nil, fmt.Sprintf("is a %s, not a %s", have, f.Type))
	}
	enc, err := s.encode(v)
	if err != nil {
		return bson.RawValue{}, s.refused(f.Path, nil, err.Error())
	}
	out, err := raw(enc)
	if err != nil {
		return bson.RawValue{}, s.refused(f.Path, nil, err.Error())
	}
	if path, err := model.CheckNames(out, f.Path); err != nil {
		return bson.RawValue{}, s.refused(path, nil, err.Error())
	}
	return out, nil
}

// readable reports whether a stored value can be read as what a field holds.
func (s stored) readable(f model.Field, v bson.RawValue, element bool) bool {
	t := f.Type
	if f.IsArray() && !element {
		t = reflect.SliceOf(t)
	}
	doc, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	field := reflect.StructField{Name: "V", Type: t, Tag: `bson:"v" json:"v"`}
	return err == nil && s.decode(doc, reflect.New(reflect.StructOf([]reflect.StructField{field})).Interface()) == nil
}

// fits reports whether values of a type can be stored in a field; element asks for an element where it is an array.
func fits(f model.Field, have reflect.Type, element bool) bool {
	if have == nil || f.Open {
		return true
	}
	if have.Kind() == reflect.Pointer {
		have = have.Elem()
	}
	if !f.IsArray() || element {
		return have == f.Type
	}
	if have.Kind() != reflect.Slice && have.Kind() != reflect.Array {
		return false
	}
	have = have.Elem()
	return have == f.Type || have.Kind() == reflect.Pointer && have.Elem() == f.Type || have.Kind() == reflect.Interface
}

// at returns what a document holds at a path; type 0 for nothing.
func (s stored) at(doc bson.Raw, path string) (bson.RawValue, error) {
	v, inArray := model.ValueAt(doc, path)
	if inArray {
		return v, s.refused(path, nil, "lies inside an array in this document")
	}
	return v, nil
}

// fields checks what is to be set, and encodes it.
func (s stored) fields(fields bson.D, whole []string) (bson.D, error) {
	if len(fields) == 0 {
		return nil, s.refused("fields", nil, "no field was given")
	}
	out := make(bson.D, len(fields))
	for i, e := range fields {
		f, err := s.lookup(e.Key)
		switch {
		case err != nil:
			return nil, err
		case model.Overlap(e.Key, "_id"):
			return nil, s.refused(e.Key, nil, "an _id can't be set")
		case f.Array != "" && f.Array != e.Key:
			return nil, s.refused(e.Key, nil, "lies inside an array: set the array whole")
		}
		for _, path := range whole {
			if e.Key != path && strings.HasPrefix(e.Key, path+".") {
				return nil, s.refused(e.Key, nil, fmt.Sprintf("is below %q, which is kept elsewhere too: set that whole", path))
			}
		}
		for _, other := range fields[:i] {
			if model.Overlap(e.Key, other.Key) {
				return nil, s.refused(e.Key, nil, fmt.Sprintf("is set by %q too", other.Key))
			}
		}
		v, err := s.rawValue(f, e.Value, false)
		if err != nil {
			return nil, err
		}
		out[i] = bson.E{Key: e.Key, Value: v}
	}
	return out, nil
}

// afterSet is what a path that held old holds once encoded fields are set.
func (s stored) afterSet(set bson.D, path string, old bson.RawValue) (bson.RawValue, error) {
	if v, given, err := s.givenBy(set, path); given {
		return v, err
	}
	return old, nil
}

// givenBy is what encoded fields set a path to, if they do.
func (s stored) givenBy(set bson.D, path string) (v bson.RawValue, given bool, err error) {
	for _, e := range set {
		v := e.Value.(bson.RawValue)
		if e.Key == path {
			return v, true, nil
		}
		if below, ok := strings.CutPrefix(path, e.Key+"."); ok {
			inner, isDoc := v.DocumentOK()
			if !isDoc {
				return bson.RawValue{}, true, nil
			}
			v, err := s.at(inner, below)
			return v, true, err
		}
	}
	return v, false, nil
}

// holdsAt is the condition that a path holds just this.
func holdsAt(path string, v bson.RawValue) bson.E {
	if v.Type == 0 {
		return bson.E{Key: path, Value: bson.D{{Key: "$exists", Value: false}}}
	}
	return bson.E{Key: path, Value: model.Eq(v)}
}

func clone(v bson.RawValue) bson.RawValue {
	return bson.RawValue{Type: v.Type, Value: slices.Clone(v.Value)}
}
