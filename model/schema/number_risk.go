package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema/internal/rawdoc"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A NumberRisk is a field whose numbers JSON may not carry to every reader.
type NumberRisk struct {
	Path   string // dotted, as documents store it; "*" for a map's keys, nothing for the elements of an array
	Type   string // in Go
	Reason string // what happens to which numbers
	Remedy string // what to declare

	// Silent says that digits are lost without an error: false means that encoding fails, or that nothing is known.
	Silent bool
}

// String is the risk for a reader.
func (r NumberRisk) String() string {
	return fmt.Sprintf("%s (%s): %s; %s", r.Path, r.Type, r.Reason, r.Remedy)
}

// NumberRisks reports the fields of a collection's documents whose numbers are at risk as JSON, in the order in which they are stored,
// through structs, pointers, arrays and maps. A type that holds itself is looked into once. Fields that JSON leaves out (json:"-") or
// writes as strings (json:",string") are not at risk, nor are types that marshal themselves to JSON and aren't known here. For
// documents whose fields aren't known (bson.D, any) it says so: [DocumentJSON] tells what is at risk in one document.
//
// Fields are named as the collection's options have it. Of a struct that its own marshaler stores, or which the collection's
// Registry stores otherwise than the driver, as a whole or in a field, it says that the fields aren't known. It looks at types alone: a
// field with int64 is at risk whatever is stored. Nothing is sent.
func NumberRisks[D, K any](c *model.Collection[D, K]) []NumberRisk {
	return risksOf(c.Docs().Shape().As(reflect.TypeFor[D]()))
}

func risksOf(s core.Shape) []NumberRisk {
	r := &risks{within: map[reflect.Type]bool{}}
	r.walk("", s, false)
	return r.found
}

type risks struct {
	found  []NumberRisk
	within map[reflect.Type]bool // structs that are being looked into
}

const useNumber = "declare a schema.Number, or an int64 with `json:\",string\"`"

// known are the types whose risk doesn't follow from their kind.
var known = map[reflect.Type]NumberRisk{
	reflect.TypeFor[time.Duration](): {
		Reason: "is stored as nanoseconds, which beyond 104 days are more than 2^53-1 and lose their last digits", Silent: true,
		Remedy: "store milliseconds or seconds, or declare a schema.Number",
	},
	reflect.TypeFor[bson.Decimal128](): {
		Reason: "encoding/json writes it as {\"$numberDecimal\": …}, which other readers don't know; as a number it has up to 34 digits, binary64 keeps 15",
		Remedy: "declare a schema.Number",
	},
	reflect.TypeFor[json.Number](): {
		Reason: "is written with all digits, of which readers keep those of binary64", Silent: true, Remedy: "declare a schema.Number",
	},
	reflect.TypeFor[big.Int](): {
		Reason: "is written with all digits, of which readers keep those of binary64; BSON has no such type", Silent: true,
		Remedy: "declare a schema.Number",
	},
	reflect.TypeFor[Number](): {}, reflect.TypeFor[time.Time](): {}, reflect.TypeFor[bson.DateTime](): {}, reflect.TypeFor[bson.ObjectID](): {},
	reflect.TypeFor[bson.Timestamp](): {}, reflect.TypeFor[bson.Binary](): {},
	reflect.TypeFor[bson.RawValue](): unknownRisk, reflect.TypeFor[bson.Raw](): unknownRisk,
	reflect.TypeFor[bson.D](): unknownRisk, reflect.TypeFor[bson.M](): unknownRisk, reflect.TypeFor[bson.A](): unknownRisk,
}

var unknownRisk = NumberRisk{Reason: "can hold any fields, so its numbers aren't known", Remedy: "look at documents with schema.DocumentJSON"}

func (r *risks) add(path string, t reflect.Type, risk NumberRisk) {
	if risk.Reason != "" {
		risk.Path, risk.Type = path, t.String()
		r.found = append(r.found, risk)
	}
}

// walk looks at a value of a type; quoted says that JSON writes it as a string.
func (r *risks) walk(path string, s core.Shape, quoted bool) {
	t := s.Type
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if risk, ok := known[t]; ok {
		if !quoted || t.Kind() != reflect.Int64 && t.Kind() != reflect.String {
			r.add(path, t, risk)
		}
		return
	}
	if t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		return
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		if !quoted {
			r.add(path, t, NumberRisk{Reason: "integers above 2^53-1 lose their last digits", Remedy: useNumber, Silent: true})
		}
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		risk := NumberRisk{
			Reason: "integers above 2^53-1 lose their last digits, and integers above 2^63-1 can't be stored", Remedy: "declare a schema.Number", Silent: true,
		}
		if quoted {
			risk.Reason, risk.Silent = "integers above 2^63-1 can't be stored", false
		}
		if s.Kind == core.OpenShape { // a marshaler of its own, or a Registry, may store them
			risk = NumberRisk{Reason: "integers above 2^53-1 lose their last digits", Remedy: useNumber, Silent: true}
		}
		if s.Kind != core.OpenShape || !quoted {
			r.add(path, t, risk)
		}
	case reflect.Float32, reflect.Float64:
		r.add(path, t, NumberRisk{Reason: "NaN and infinities aren't JSON, so encoding fails; -0 becomes 0 in JavaScript", Remedy: "don't store them, or declare a schema.Number"})
	case reflect.Interface:
		r.add(path, t, unknownRisk)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() != reflect.Uint8 {
			r.walk(path, s.As(t.Elem()), false)
		}
	case reflect.Map:
		r.walk(rawdoc.Join(path, "*"), s.As(t.Elem()), false)
	case reflect.Struct:
		if s.Kind == core.OpenShape {
			r.add(path, t, unknownRisk)
			return
		}
		r.fields(path, s)
	}
}

func (r *risks) fields(path string, s core.Shape) {
	if r.within[s.Type] {
		return
	}
	r.within[s.Type] = true
	defer delete(r.within, s.Type)
	fields, rest := s.Fields()
	for _, f := range fields {
		if written, quoted := inJSON(s.Type, f.Index); written {
			r.walk(rawdoc.Join(path, f.Name), f, quoted)
		}
	}
	if rest != nil {
		r.walk(rawdoc.Join(path, "*"), *rest, false)
	}
}

// inJSON reports whether a field, and what it is inlined by, is written as JSON, and whether as a string.
func inJSON(t reflect.Type, index []int) (written, quoted bool) {
	for i := range index {
		name, options, _ := strings.Cut(t.FieldByIndex(index[:i+1]).Tag.Get("json"), ",")
		if name == "-" && options == "" {
			return false, false
		}
		quoted = hasOption(options, "string")
	}
	return true, quoted
}

func hasOption(options, name string) bool {
	for o := range strings.SplitSeq(options, ",") {
		if o == name {
			return true
		}
	}
	return false
}
