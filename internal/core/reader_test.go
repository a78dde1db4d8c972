package core_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"

	"github.com/docmodel/docmodel/internal/core"
)

// A document that holds what readers have to get right: arrays in arrays, nil pointers, custom marshalers, open values.
type order struct {
	ID    bson.ObjectID `bson:"_id"`
	Lines []*line       `bson:"lines"`
	Total *money        `bson:"total"`
	Prev  bson.ObjectID `bson:"prev,omitempty"`
	Any   any           `bson:"any"`
	Blob  []byte        `bson:"blob"`
}
type line struct {
	Part bson.ObjectID `bson:"part"`
	Qty  int32         `bson:"qty,omitempty"`
	Tags []string      `bson:"tags"`
}
type money struct{ Cents int64 }

func (m *money) MarshalBSONValue() (byte, []byte, error) {
	if m == nil {
		return byte(bson.TypeNull), nil, nil
	}
	t, b, err := bson.MarshalValue(m.Cents)
	return byte(t), b, err
}

func (m *money) UnmarshalBSONValue(t byte, b []byte) error {
	return bson.UnmarshalValue(bson.Type(t), b, &m.Cents)
}

var orders = model.NewCollection[order, bson.ObjectID]("orders").Docs()

func someOrder() order {
	return order{
		ID: oid(1),
		Lines: []*line{
			{Part: oid(7), Qty: 2, Tags: []string{"a", "b"}}, nil, {Part: oid(8)},
			{Part: oid(9), Qty: 1, Tags: []string{"c"}},
		},
		Any: bson.D{{
			Key:   "list",
			Value: bson.A{bson.D{{Key: "n", Value: int32(1)}}, bson.D{{Key: "n", Value: int64(2)}}, bson.D{}},
		}},
	}
}

func TestReaderReadsWhatIsStored(t *testing.T) {
	doc := someOrder()
	check := func(got, want any, reason string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	check(core.NewReader[bson.ObjectID](orders, "lines.part").Append(nil, &doc),
		[]bson.ObjectID{oid(7), oid(8), oid(9)},
		"through pointers, past a nil one")
	check(core.NewReader[string](orders, "lines.tags").Append([]string{"x"}, &doc), []string{"x", "a", "b", "c"},
		"an array in an array, appended")
	check(core.NewReader[int32](orders, "lines.qty").Append(nil, &doc), []int32{2, 1},
		"an empty field that is tagged omitempty is not stored")
	check(core.NewReader[*money](orders, "total").Append(nil, &doc), []*money(nil), "a nil pointer is stored as null")
	check(core.NewReader[bson.ObjectID](orders, "prev").Append(nil, &doc), []bson.ObjectID(nil),
		"a zero ObjectID that is not stored")
	check(core.NewReader[[]byte](orders, "blob").Append(nil, &doc), [][]byte(nil), "nil bytes are stored as null")
	check(core.NewReader[int64](orders, "any.list.n").Append(nil, &doc), []int64{1, 2},
		"below an interface; numbers are converted as decoding does")
	check(core.NewReader[string](orders, "any.list.n").Append(nil, &doc), []string(nil), "another type is passed over")
	doc.Total, doc.Prev, doc.Blob = &money{5}, oid(3), []byte{}
	check(core.NewReader[*money](orders, "total").Append(nil, &doc), []*money{{5}}, "a pointer that marshals itself")
	check(core.NewReader[bson.ObjectID](orders, "prev").Append(nil, &doc), []bson.ObjectID{oid(3)},
		"a field that is stored")
	check(core.NewReader[[]byte](orders, "blob").Append(nil, &doc), [][]byte{{}}, "empty bytes are stored")
	if id, ok := core.NewReader[bson.ObjectID](orders, "lines.part").First(&doc); !ok || id != oid(7) {
		t.Errorf("First = %v, %v", id, ok)
	}
	if _, ok := core.NewReader[string](orders, "lines.tags").First(&order{}); ok {
		t.Error("First of nothing found something")
	}
}

// TestReaderOpenDocuments reads one document in each form in which an open one may be held.
func TestReaderOpenDocuments(t *testing.T) {
	in := someOrder()
	raw, err := bson.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	want := []bson.ObjectID{oid(7), oid(8), oid(9)}
	var asD bson.D
	var asM bson.M
	if err := bson.Unmarshal(raw, &asD); err != nil {
		t.Fatal(err)
	}
	if err := bson.Unmarshal(raw, &asM); err != nil {
		t.Fatal(err)
	}
	byHand := bson.M{"lines": []bson.M{{"part": oid(7)}, nil, {"part": oid(8)}, {"part": oid(9)}}}
	structs := bson.M{"lines": []line{{Part: oid(7)}, {Part: oid(8)}, {Part: oid(9)}}}
	readOpen(t, bson.Raw(raw), want, "raw")
	readOpen(t, asD, want, "a bson.D")
	readOpen(t, asM, want, "a bson.M")
	readOpen(t, map[string]any(asM), want, "a map")
	readOpen(t, byHand, want, "a slice of maps")
	readOpen(t, structs, want, "a slice of structs")
	readOpen[any](t, asD, want, "an interface")
	readOpen(t,
		bson.D{{Key: "lines", Value: &[]*line{{Part: oid(7)}, nil, {Part: oid(8)}, {Part: oid(9)}}}}, want, "pointers")
	readOpen(t, bson.D{}, nil, "nothing")
	readOpen(t, bson.D(nil), nil, "a nil document")
	readOpen(t, bson.D{{Key: "lines", Value: "no document"}}, nil, "a scalar on the way")
	readOpen(t, bson.Raw{1, 2, 3}, nil, "no BSON at all")
	endless := bson.A{nil}
	endless[0] = endless
	readOpen(t, bson.D{{Key: "lines", Value: endless}}, nil, "a list that contains itself")
}

func readOpen[D any](t *testing.T, doc D, want []bson.ObjectID, reason string) {
	t.Helper()
	c := model.NewCollection[D, bson.ObjectID]("open").Docs()
	if got := core.NewReader[bson.ObjectID](c, "lines.part").Append(nil, &doc); !slices.Equal(got, want) {
		t.Errorf("%s: read %v, want %v", reason, got, want)
	}
}

func TestReaderUsesTheOptions(t *testing.T) {
	type doc struct {
		ID   string   `json:"_id"`
		List []string `json:"my_list"`
	}
	c := model.NewCollectionWith[doc, string]("docs", model.CollectionOptions{
		BSON: &options.BSONOptions{UseJSONStructTags: true},
	}).Docs()
	if got := core.NewReader[string](c, "my_list").
		Append(nil, &doc{"a", []string{"x"}}); !slices.Equal(got, []string{"x"}) {
		t.Errorf("read %v", got)
	}
}

// TestOneTypeUnderTwoOptions: the driver's registry keeps the names of the first encoding of a type.
func TestOneTypeUnderTwoOptions(t *testing.T) {
	type doc struct {
		ID    string `bson:"_id"`
		Value string `json:"json_value"`
	}
	plain := model.NewCollection[doc, string]("plain")
	json := model.NewCollectionWith[doc, string]("json", model.CollectionOptions{
		BSON: &options.BSONOptions{UseJSONStructTags: true},
	})
	for range 2 {
		for name, w := range map[string]string{
			"value":      plain.Insert(doc{"a", "v"}).String(),
			"json_value": json.Insert(doc{"a", "v"}).String(),
		} {
			want := ".insertOne({_id: 'a', " + name + ": 'v'})"
			if !cmp.Equal(w[len(w)-len(want):], want) {
				t.Errorf("%s, want %s", w, want)
			}
		}
	}
}

func TestReaderDoesNotAllocate(t *testing.T) {
	doc := someOrder()
	for path, read := range map[string]func() int{
		"_id":        readInto[bson.ObjectID](&doc, "_id"),
		"prev":       readInto[bson.ObjectID](&doc, "prev"),
		"lines.part": readInto[bson.ObjectID](&doc, "lines.part"),
		"lines.tags": readInto[string](&doc, "lines.tags"),
		"lines.qty":  readInto[int32](&doc, "lines.qty"),
	} {
		if n := testing.AllocsPerRun(100, func() { read() }); n != 0 {
			t.Errorf("%s: %v allocations, want none", path, n)
		}
	}
}

func readInto[V any](doc *order, path string) func() int {
	r := core.NewReader[V](orders, path)
	buf := make([]V, 0, 16)
	return func() int { return len(r.Append(buf[:0], doc)) }
}

func BenchmarkReader(b *testing.B) {
	doc := someOrder()
	for _, path := range []string{"_id", "lines.part"} {
		b.Run(path, func(b *testing.B) {
			read := readInto[bson.ObjectID](&doc, path)
			b.ReportAllocs()
			for b.Loop() {
				read()
			}
		})
	}
	raw, _ := bson.Marshal(doc)
	r := core.NewReader[bson.ObjectID](model.NewCollection[bson.Raw, bson.ObjectID]("raw").Docs(), "lines.part")
	b.Run("raw lines.part", func(b *testing.B) {
		open, buf := bson.Raw(raw), make([]bson.ObjectID, 0, 16)
		b.ReportAllocs()
		for b.Loop() {
			r.Append(buf[:0], &open)
		}
	})
}
