package bsonval_test

import (
	"bytes"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	. "github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// everyType has a field of each BSON type.
func everyType() bson.D {
	d := valuetest.Doc(`{double: 1.5, string: 'é', object: {a: 1}, array: [1, [2], {b: 3}], bool: true, null: null,
		date: {$date: '2020-01-02T03:04:05.678Z'}, id: {$oid: '0102030405060708090a0b0c'}, int: -7,
		long: {$numberLong: '9007199254740993'},
		decimal: {$numberDecimal: '1.50'}, regex: {$regularExpression: {pattern: '^a', options: 'i'}},
		min: {$minKey: 1}, max: {$maxKey: 1},
		timestamp: {$timestamp: {t: 4000000000, i: 2}}, code: {$code: 'f()'}, symbol: {$symbol: 's'},
		undefined: {$undefined: true},
		binary: {$binary: {base64: 'AQID', subType: '80'}}, old: {$binary: {base64: 'AQID', subType: '02'}},
		pointer: {$dbPointer: {$ref: 'c', $id: {$oid: '0102030405060708090a0b0c'}}},
		scoped: {$code: 'g()', $scope: {x: 1}}}`)
	return d
}

func TestRoundTrip(t *testing.T) {
	d := everyType()
	b, err := Append(nil, d)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) != Size(d) {
		t.Errorf("Size is %d, the encoding has %d bytes", Size(d), len(b))
	}
	want, err := bson.Marshal(d)
	if err != nil || !bytes.Equal(b, want) {
		t.Errorf("the driver encodes otherwise (%v):\n%x\n%x", err, b, want)
	}
	back, err := Decode(b)
	if err != nil || !Equal(back, d) {
		t.Errorf("decoded (%v): %v", err, back)
	}
	for _, e := range d {
		if Type(e.Value) == 0 || TypeName(e.Value) == "invalid" {
			t.Errorf("%s has no type", e.Key)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	nested := bson.D{}
	for range 200 {
		nested = bson.D{{Key: "a", Value: nested}}
	}
	deep, err := Append(nil, nested)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason string
		b      []byte
		code   int32
	}{
		{"nothing", nil, mongoerr.InvalidBSON},
		{"length too long", []byte{6, 0, 0, 0, 0}, mongoerr.InvalidBSON},
		{"bytes left over", []byte{5, 0, 0, 0, 0, 0}, mongoerr.InvalidBSON},
		{"no terminator", []byte{5, 0, 0, 0, 1}, mongoerr.InvalidBSON},
		{"unknown type", []byte{8, 0, 0, 0, 0x20, 'a', 0, 0}, mongoerr.InvalidBSON},
		{"name without end", []byte{8, 0, 0, 0, 10, 'a', 'b', 0}, mongoerr.InvalidBSON},
		{"boolean 2", []byte{9, 0, 0, 0, 8, 'a', 0, 2, 0}, mongoerr.InvalidBSON},
		{"string of length 0", []byte{12, 0, 0, 0, 2, 'a', 0, 0, 0, 0, 0, 0}, mongoerr.InvalidBSON},
		{"negative binary", []byte{13, 0, 0, 0, 5, 'a', 0, 255, 255, 255, 255, 0, 0}, mongoerr.InvalidBSON},
		{"nested too deep", deep, mongoerr.Overflow},
	} {
		if _, err := Decode(c.b); mongoerr.CodeOf(err) != c.code {
			t.Errorf("%s: got %v", c.reason, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	b, _ := Append(nil, everyType())
	f.Add(b)
	f.Add([]byte{5, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Append(nil, d)
		if err != nil {
			return // a regular expression's or a code's text may hold what can't be written
		}
		if len(again) != Size(d) {
			t.Fatalf("Size is %d, the encoding has %d bytes", Size(d), len(again))
		}
		back, err := Decode(again)
		if err != nil || !Equal(d, back) || Compare(d, back) != 0 {
			t.Fatalf("%v: %x came back as %v, not %v", err, b, back, d)
		}
		if !bytes.Equal(AppendKey(nil, d), AppendKey(nil, back)) {
			t.Fatal("equal documents have different keys")
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	raw, _ := Append(nil,
		valuetest.Doc(`{_id: {$oid: '0102030405060708090a0b0c'}, name: 'Ada Lovelace', n: 7, tags: ['a', 'b', 'c'],
			address: {street: 'Main', zip: '12345'}}`))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(raw); err != nil {
			b.Fatal(err)
		}
	}
}
