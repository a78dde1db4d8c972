package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

const doubleType = bson.TypeDouble

// MarshalJSON writes a JSON number if the number is [Number.Safe], else a string.
func (n Number) MarshalJSON() ([]byte, error) {
	if n.Safe() {
		return []byte(n.String()), nil
	}
	return []byte(`"` + n.String() + `"`), nil
}

// UnmarshalJSON reads a JSON number, or a string in a form that [NumberOf] accepts. A
// JSON null leaves the Number unchanged.
func (n *Number) UnmarshalJSON(data []byte) error {
	text := string(data)
	if text == "null" {
		return nil
	}
	if len(text) > 0 && text[0] == '"' {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
	}
	read, err := parseNumber(text)
	if err == nil {
		*n = read
	}
	return err
}

// stored returns the number in its BSON form.
func (n Number) stored() any {
	switch n.as {
	case bson.TypeInt32:
		i, _ := n.Int64()
		return int32(i)
	case bson.TypeInt64:
		i, _ := n.Int64()
		return i
	case bson.TypeDouble:
		f, _ := n.Float64()
		return f
	case bson.TypeDecimal128:
		d, _ := n.Decimal128()
		return d
	}
	text := n.String()
	if i, err := strconv.ParseInt(text, 10, 64); err == nil && text != "-0" {
		return i
	}
	if f, _ := n.Float64(); ofFloat(f).text == text {
		return f
	}
	if d, ok := n.Decimal128(); ok {
		return d
	}
	return text
}

// MarshalBSONValue stores a number, or a string if no numeric BSON type can represent it.
func (n Number) MarshalBSONValue() (typ byte, data []byte, err error) {
	t, data, err := bson.MarshalValue(n.stored())
	return byte(t), data, err
}

// UnmarshalBSONValue reads a BSON number, or a string as [NumberOf] does. null gives the
// zero Number. Other types are an error.
func (n *Number) UnmarshalBSONValue(typ byte, data []byte) error {
	if bson.Type(typ) == bson.TypeNull {
		*n = Number{}
		return nil
	}
	read, err := ofRaw(bson.RawValue{Type: bson.Type(typ), Value: data})
	if err == nil {
		*n = read
	}
	return err
}

func ofRaw(v bson.RawValue) (Number, error) {
	if err := v.Validate(); err != nil {
		return Number{}, &model.ValueError{Field: "number", Reason: err.Error()}
	}
	switch v.Type {
	case bson.TypeInt32:
		return Number{strconv.Itoa(int(v.Int32())), v.Type}, nil
	case bson.TypeInt64:
		return Number{strconv.FormatInt(v.Int64(), 10), v.Type}, nil
	case bson.TypeDouble:
		return ofFloat(v.Double()), nil
	case bson.TypeDecimal128:
		return ofDecimal128(v.Decimal128())
	case bson.TypeString:
		return parseNumber(v.StringValue())
	}
	return Number{}, &model.ValueError{Field: "number", Value: v, Reason: fmt.Sprintf("a %s isn't a number", v.Type)}
}

func ofDecimal128(d bson.Decimal128) (Number, error) {
	n, err := parseNumber(d.String())
	// IEEE 754 calls it non-canonical, and reads it as 0
	if x, ok := scanDecimal(n.text); err == nil && ok && len(x.digits) > 34 {
		return Number{}, &model.ValueError{
			Field: "number", Value: d.String(),
			Reason: "isn't a canonical Decimal128: it has more than 34 digits",
		}
	}
	n.as = bson.TypeDecimal128
	return n, err
}

func numberOf(v any) (Number, error) {
	switch v := v.(type) {
	case Number:
		return v, nil
	case *big.Int:
		if v != nil {
			return parseNumber(v.String())
		}
	case bson.Decimal128:
		return ofDecimal128(v)
	case bson.RawValue:
		if v.Type != bson.TypeString {
			return ofRaw(v)
		}
	case float32:
		if f := float64(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
			f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64)
			return ofFloat(f), nil
		}
		return ofFloat(float64(v)), nil
	}
	switch r := reflect.ValueOf(v); {
	case !r.IsValid():
	case r.Kind() == reflect.Int32:
		return Number{strconv.FormatInt(r.Int(), 10), bson.TypeInt32}, nil
	case r.CanInt():
		return Number{strconv.FormatInt(r.Int(), 10), 0}, nil
	case r.CanUint():
		return Number{strconv.FormatUint(r.Uint(), 10), 0}, nil
	case r.CanFloat():
		return ofFloat(r.Float()), nil
	case r.Kind() == reflect.String:
		return parseNumber(r.String())
	}
	return Number{}, &model.ValueError{Field: "number", Reason: fmt.Sprintf("a %T isn't a number", v)}
}
