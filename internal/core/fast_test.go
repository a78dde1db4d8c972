package core_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/core"
)

type (
	word   string
	number int64

	// A plain struct has a field of each type that is written without the driver.
	plain struct {
		Text     string  `bson:"text"`
		Word     word    `bson:"word,omitempty"`
		Yes      bool    `bson:"yes,omitempty"`
		Int      int     `bson:"int"`
		Small    int16   `bson:"small,omitempty"`
		Long     int64   `bson:"long"`
		Min      int64   `bson:"min,minsize"`
		Number   number  `bson:"number,omitempty"`
		Float    float64 `bson:"float"`
		Narrow   float32 `bson:"narrow,omitempty"`
		At       time.Time
		Later    time.Time       `bson:"later,omitempty"`
		Date     bson.DateTime   `bson:"date,omitempty"`
		ID       bson.ObjectID   `bson:"_id,omitempty"`
		Decimal  bson.Decimal128 `bson:"decimal,omitempty"`
		Stamp    bson.Timestamp  `bson:"stamp,omitempty"`
		Inner    within          `bson:"inner,omitempty"`
		Inlining `bson:",inline"`
		hidden   string
		Left     string `bson:"-"`
	}
	within struct {
		Name string `bson:"name"`
		N    int64  `bson:"n,omitempty"`
	}
	Inlining struct {
		Last string  `bson:"last,omitempty"`
		Deep Further `bson:",inline"`
	}
	Further struct {
		Deepest int32 `bson:"deepest"`
	}

	// These structs have a field that the driver writes by a rule of its own.
	ruled struct {
		Number json.Number `bson:"number"`
	}
	unsigned struct {
		N uint64 `bson:"n"`
	}
	minimal struct {
		Inner within `bson:"inner,minsize"`
	}
)

// A source makes values of bytes: every choice is a byte, and no bytes are zeros.
type source struct {
	data []byte
}

func (s *source) byte() byte {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return b
}

func (s *source) int() int64 {
	n := int64(0)
	for range s.byte() % 9 {
		n = n<<8 | int64(s.byte())
	}
	return n
}

func (s *source) text() string {
	n := min(int(s.byte()%8), len(s.data))
	out := s.data[:n]
	s.data = s.data[n:]
	return string(out)
}

func (s *source) id() (id bson.ObjectID) {
	for i := range s.byte() % 13 {
		id[i] = s.byte()
	}
	return id
}

func (s *source) time() time.Time { return time.Unix(s.int()>>8, s.int()%1e9) }

func (s *source) plain() plain {
	return plain{
		Text: s.text(), Word: word(s.text()), Yes: s.byte()%2 == 1, Int: int(s.int()), Small: int16(s.int()),
		Long: s.int(), Min: s.int(), Number: number(s.int()), Float: math.Float64frombits(uint64(s.int())),
		Narrow: float32(s.int()), At: s.time(), Later: s.time(), Date: bson.DateTime(s.int()), ID: s.id(),
		Decimal: bson.NewDecimal128(uint64(s.int()), uint64(s.int())),
		Stamp:   bson.Timestamp{T: uint32(s.int()), I: uint32(s.int())}, Inner: within{s.text(), s.int()},
		Inlining: Inlining{s.text(), Further{int32(s.int())}}, hidden: s.text(), Left: s.text(),
	}
}

// scalar is a value without others in it.
func (s *source) scalar(choice byte) any {
	scalars := []func() any{
		func() any { return s.text() }, func() any { return s.id() }, func() any { return s.int() },
		func() any { return int(s.int()) }, func() any { return int32(s.int()) }, func() any { return int8(s.int()) },
		func() any { return int16(s.int()) }, func() any { return s.byte()%2 == 1 },
		func() any { return math.Float64frombits(uint64(s.int())) }, func() any { return float32(s.int()) },
		func() any { return s.time() }, func() any { return bson.DateTime(s.int()) }, func() any { return bson.Null{} },
		func() any { return nil }, func() any { return bson.NewDecimal128(uint64(s.int()), uint64(s.int())) },
		func() any { return bson.Timestamp{T: uint32(s.int()), I: uint32(s.int())} }, func() any { return s.plain() },
		func() any { p := s.plain(); return &p }, func() any { return within{s.text(), s.int()} },
		func() any { return uint64(s.int()) }, func() any { return uint16(s.int()) },
		func() any { return word(s.text()) },
		func() any { return number(s.int()) }, func() any { return bson.Regex{Pattern: s.text(), Options: s.text()} },
		func() any { return bson.Binary{Subtype: s.byte(), Data: []byte(s.text())} },
		func() any { return []byte(s.text()) },
		func() any { return bson.Symbol(s.text()) }, func() any { return bson.JavaScript(s.text()) },
		func() any { return json.Number(s.text()) }, func() any { return ruled{json.Number("7")} },
		func() any { return unsigned{uint64(s.int())} }, func() any { return minimal{within{s.text(), s.int()}} },
		func() any { return outer{&Inlined{s.int()}} }, func() any { return outer{} },
		func() any { return bson.RawValue{Type: bson.Type(s.byte()), Value: []byte(s.text())} },
		func() any { return bson.MinKey{} },
	}
	return scalars[int(choice)%len(scalars)]()
}

// value is any value.
func (s *source) value(level int) any {
	choice := s.byte()
	if level > 4 || choice >= 100 {
		return s.scalar(choice)
	}
	n := int(s.byte() % 5)
	switch choice % 9 {
	case 0, 1:
		return s.document(n, level)
	case 2:
		a := make(bson.A, n)
		for i := range a {
			a[i] = s.value(level + 1)
		}
		return a
	case 3:
		ids := make([]bson.ObjectID, 3*n)
		for i := range ids {
			ids[i] = s.id()
		}
		return ids
	case 4:
		list := make([]string, 3*n)
		for i := range list {
			list[i] = s.text()
		}
		return list
	case 5:
		return []bson.D{s.document(n, level+1), s.document(n, level+1)}
	case 6:
		return mongo.Pipeline{s.document(n, level+1)}
	case 7:
		raw, err := bson.Marshal(s.document(n, level+1))
		if err != nil {
			return bson.D(nil)
		}
		return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw}
	}
	return []any{bson.A(nil), []string(nil), []bson.ObjectID(nil), mongo.Pipeline(nil), []plain{s.plain()}}[n]
}

func (s *source) document(n, level int) bson.D {
	d := make(bson.D, n)
	for i := range d {
		d[i] = bson.E{Key: s.text(), Value: s.value(level + 1)}
	}
	return d
}

// outer is not plain: what it inlines can change.
type outer struct {
	*Inlined `bson:",inline"`
}

// What is written without the driver is what the driver writes, and so are the errors.
func FuzzAppendElement(f *testing.F) {
	f.Add([]byte(nil))
	for i := range 100 {
		seed := make([]byte, 400)
		for n := range seed {
			seed[n] = byte(n*n*(2*i+1) + i*37 + n>>3)
		}
		seed[0], seed[1], seed[2] = 0, byte(i), byte(i*53)
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &source{data: data}
		name, v := s.text(), s.value(0)
		for option, o := range map[string]model.CollectionOptions{
			"":             {},
			"nil as empty": {BSON: &options.BSONOptions{NilByteSliceAsEmpty: true}},
		} {
			c := model.NewCollectionWith[bson.D, string]("c", o).Docs()
			got, err := c.AppendElement(make([]byte, 4), name, v)
			enc, errEnc := c.Encode(v)
			want, errWant := bson.Marshal(bson.D{{Key: name, Value: enc}})
			if errEnc != nil || errWant != nil {
				if err == nil {
					t.Fatalf("%s: %T %v is written; the driver says %v, %v", option, v, v, errEnc, errWant)
				}
				continue
			}
			if got = core.EndDocument(got, 0); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s: %T %v: %v\n got %x\nwant %x", option, v, v, err, got, want)
			}
			if option == "" { // and what Encode makes of it isn't another value
				plainly, err := bson.Marshal(bson.D{{Key: name, Value: v}})
				if err != nil || !bytes.Equal(got, plainly) {
					t.Fatalf("%T %v: %v\n got %x\nthe driver %x", v, v, err, got, plainly)
				}
			}
		}
	})
}

// What filters and updates mostly consist of is written without the driver: that would allocate.
func TestAppendElementAllocates(t *testing.T) {
	docs := model.NewCollection[bson.D, string]("c").Docs()
	buf := make([]byte, 0, 1<<12)
	raw, err := bson.Marshal(bson.D{{Key: "a", Value: 1}})
	if err != nil {
		t.Fatal(err)
	}
	s := &source{data: bytes.Repeat([]byte{3, 7, 11}, 100)}
	for _, v := range []any{
		"text", 7, int64(7), int32(7), 1.5, true, nil, time.Now(), bson.NewObjectID(), bson.DateTime(7),
		s.plain(), within{"a", 1}, []bson.ObjectID{bson.NewObjectID(), bson.NewObjectID()}, []string{"a", "b"},
		bson.A{1, "a", bson.D{}}, bson.D{{Key: "a", Value: bson.D{{Key: "$in", Value: []string{"a"}}}}},
		bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw},
	} {
		if n := testing.AllocsPerRun(100, func() { _, err = docs.AppendElement(buf, "v", v) }); n > 0 || err != nil {
			t.Errorf("%T: %v allocations, %v", v, n, err)
		}
	}
}
