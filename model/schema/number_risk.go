package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/rawdoc"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A NumberRisk is a field with numbers that some JSON readers change.
type NumberRisk struct {
	Path   string // stored path, without array indexes; "*" is any map key
	Type   string // Go type
	Reason string // which numbers change, and how
	Remedy string // what to declare instead

	// Silent means that readers lose digits without an error.
	Silent bool
}

// String returns the risk as one line of text.
func (r NumberRisk) String() string {
	return fmt.Sprintf("%s (%s): %s; %s", r.Path, r.Type, r.Reason, r.Remedy)
}

// NumberRisks returns each [NumberRisk] of a collection's Go type. Risks are:
//   - every float, uint, uint64 and bson.Decimal128
//   - every int and int64, unless JSON writes it as a string (json:",string")
//   - fields with unknown contents (bson.D, any): check documents with [DocumentJSON]
//
// Fields that JSON omits, and your own types with a JSON marshaler, aren't risks.
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
	within map[reflect.Type]bool // structs being walked
}

const useNumber = "declare a schema.Number, or an int64 with `json:\",string\"`"

// known are the types with a risk that their kind doesn't determine.
var known = map[reflect.Type]NumberRisk{
	reflect.TypeFor[time.Duration](): {
		Reason: "is stored as nanoseconds, which beyond 104 days are more than 2^53-1 and lose their last digits",
		Silent: true,
		Remedy: "store milliseconds or seconds, or declare a schema.Number",
	},
	reflect.TypeFor[bson.Decimal128](): {
		Reason: "encoding/json writes it as {\"$numberDecimal\": …}, which other readers don't know; as a number it has up to 34 digits, binary64 keeps 15",
		Remedy: "declare a schema.Number",
	},
	reflect.TypeFor[json.Number](): {
		Reason: "is written with all digits, of which readers keep those of binary64", Silent: true,
		Remedy: "declare a schema.Number",
	},
	reflect.TypeFor[big.Int](): {
		Reason: "is written with all digits, of which readers keep those of binary64; BSON has no such type", Silent: true,
		Remedy: "declare a schema.Number",
	},
	reflect.TypeFor[Number](): {}, reflect.TypeFor[time.Time](): {}, reflect.TypeFor[bson.DateTime](): {},
	reflect.TypeFor[bson.ObjectID](): {}, reflect.TypeFor[bson.Timestamp](): {}, reflect.TypeFor[bson.Binary](): {},
	reflect.TypeFor[bson.RawValue](): unknownRisk, reflect.TypeFor[bson.Raw](): unknownRisk,
	reflect.TypeFor[bson.D](): unknownRisk, reflect.TypeFor[bson.M](): unknownRisk, reflect.TypeFor[bson.A](): unknownRisk,
}

var unknownRisk = NumberRisk{
	Reason: "can hold any fields, so its numbers aren't known",
	Remedy: "look at documents with schema.DocumentJSON",
}

func (r *risks) add(path string, t reflect.Type, risk NumberRisk) {
	if risk.Reason != "" {
		risk.Path, risk.Type = path, t.String()
		r.found = append(r.found, risk)
	}
}

// walk examines values of a type. quoted means that JSON writes them as strings.
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
	if t.Implements(reflect.TypeFor[json.Marshaler]()) ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		return
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		if !quoted {
			r.add(path, t, NumberRisk{Reason: "integers above 2^53-1 lose their last digits", Remedy: useNumber, Silent: true})
		}
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		risk := NumberRisk{
			Reason: "integers above 2^53-1 lose their last digits, and integers above 2^63-1 can't be stored",
			Remedy: "declare a schema.Number", Silent: true,
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
		r.add(path, t, NumberRisk{
			Reason: "NaN and infinities aren't JSON, so encoding fails; -0 becomes 0 in JavaScript",
			Remedy: "don't store them, or declare a schema.Number",
		})
	case reflect.Interface:
		r.add(path, t, unknownRisk)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() != reflect.Uint8 {
			r.walk(path, s.As(t.Elem()), false)
		}
	case reflect.Map:
		r.walk(rawdoc.JoinPath(path, "*"), s.As(t.Elem()), false)
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
			r.walk(rawdoc.JoinPath(path, f.Name), f, quoted)
		}
	}
	if rest != nil {
		r.walk(rawdoc.JoinPath(path, "*"), *rest, false)
	}
}

// inJSON reports whether JSON contains a field, and whether as a string. index also
// includes the fields that inline it.
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
