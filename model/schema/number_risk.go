package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/docmodel/docmodel/model"
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

// NumberRisks reports the fields of a collection's documents whose numbers are at risk as JSON, in the order of their declaration, through
// structs, pointers, arrays and maps. A type that holds itself is looked into once. Fields that JSON leaves out (json:"-") or writes as
// strings (json:",string") are not at risk, nor are types that marshal themselves to JSON and aren't known here. For documents whose
// fields aren't known (bson.D, any) it says so: [DocumentJSON] tells what is at risk in one document.
//
// It looks at types alone: a field with int64 is at risk whatever is stored. Nothing is sent.
func NumberRisks[D, K any](_ *model.Collection[D, K]) []NumberRisk {
	return risksOf(reflect.TypeFor[D]())
}

func risksOf(t reflect.Type) []NumberRisk {
	r := &risks{within: map[reflect.Type]bool{}}
	r.walk("", t, false)
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

var unknownRisk = NumberRisk{Reason: "holds any fields: what numbers there are isn't known", Remedy: "look at documents with schema.DocumentJSON"}

func (r *risks) add(path string, t reflect.Type, risk NumberRisk) {
	if risk.Reason != "" {
		risk.Path, risk.Type = path, t.String()
		r.found = append(r.found, risk)
	}
}

// walk looks at a value of a type; quoted says that JSON writes it as a string.
func (r *risks) walk(path string, t reflect.Type, quoted bool) {
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
			r.add(path, t, NumberRisk{Reason: "integers beyond 2^53-1 lose their last digits", Remedy: useNumber, Silent: true})
		}
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		risk := NumberRisk{
			Reason: "integers beyond 2^53-1 lose their last digits, and those beyond 2^63-1 can't be stored", Remedy: "declare a schema.Number", Silent: true,
		}
		if quoted {
			risk.Reason, risk.Silent = "integers beyond 2^63-1 can't be stored", false
		}
		r.add(path, t, risk)
	case reflect.Float32, reflect.Float64:
		r.add(path, t, NumberRisk{Reason: "NaN and infinities are no JSON: encoding fails; -0 becomes 0 in JavaScript", Remedy: "keep them out, or declare a schema.Number"})
	case reflect.Interface:
		r.add(path, t, unknownRisk)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() != reflect.Uint8 {
			r.walk(path, t.Elem(), false)
		}
	case reflect.Map:
		r.walk(join(path, "*"), t.Elem(), false)
	case reflect.Struct:
		r.fields(path, t)
	}
}

func (r *risks) fields(path string, t reflect.Type) {
	if r.within[t] {
		return
	}
	r.within[t] = true
	defer delete(r.within, t)
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() && (!f.Anonymous || f.Type.Kind() != reflect.Struct) {
			continue
		}
		name, inline, stored := bsonName(f)
		jsonName, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !stored || jsonName == "-" && options == "" {
			continue
		}
		if inline {
			at := f.Type
			for at.Kind() == reflect.Pointer {
				at = at.Elem()
			}
			switch at.Kind() {
			case reflect.Struct:
				r.fields(path, at)
			case reflect.Map:
				r.walk(join(path, "*"), at.Elem(), false)
			}
			continue
		}
		r.walk(join(path, name), f.Type, hasOption(options, "string"))
	}
}

// bsonName is the name that a field is stored under.
func bsonName(f reflect.StructField) (name string, inline, stored bool) {
	tag, tagged := f.Tag.Lookup("bson")
	if !tagged && !strings.Contains(string(f.Tag), ":") {
		tag = string(f.Tag) // the driver takes a tag without a key as its own
	}
	if tag == "-" {
		return "", false, false
	}
	name, options, _ := strings.Cut(tag, ",")
	if name == "" {
		name = strings.ToLower(f.Name)
	}
	return name, hasOption(options, "inline"), f.IsExported() || hasOption(options, "inline")
}

func hasOption(options, name string) bool {
	for o := range strings.SplitSeq(options, ",") {
		if o == name {
			return true
		}
	}
	return false
}
