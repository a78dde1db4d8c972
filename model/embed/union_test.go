package embed_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
)

// Media of several kinds: by value, by pointer, as a map, by a method of the pointer, and what is not known.
type (
	uniMedium interface{ medium() }
	uniBook   struct {
		ID     string `bson:"_id"`
		Author string `bson:"author,omitempty"`
		ISBN   string `bson:"isbn,omitempty"`
	}
	uniDisc struct {
		ID     string    `bson:"_id"`
		Tracks []string  `bson:"tracks,omitempty"`
		With   uniMedium `bson:"with,omitempty"`
	}
	uniMap  map[string]any
	uniCode struct{ id string }
	uniRest struct{ embed.UnknownValue }
	uniOpen struct {
		ID   string         `bson:"_id"`
		Rest map[string]any `bson:",inline"`
	}
	uniForeign struct{ ID string }
	// uniShelf holds media.
	uniShelf struct {
		ID    string      `bson:"_id"`
		Main  uniMedium   `bson:"main,omitempty"`
		Media []uniMedium `bson:"media,omitempty"`
	}
)

func (uniBook) medium()    {}
func (*uniDisc) medium()   {}
func (uniMap) medium()     {}
func (uniCode) medium()    {}
func (uniRest) medium()    {}
func (uniOpen) medium()    {}
func (uniForeign) medium() {}

func (c *uniCode) MarshalBSONValue() (byte, []byte, error) {
	t, b, err := bson.MarshalValue(bson.D{{Key: "_id", Value: c.id}, {Key: "n", Value: int32(len(c.id))}})
	return byte(t), b, err
}

func (c *uniCode) UnmarshalBSONValue(_ byte, b []byte) error {
	c.id = bson.Raw(b).Lookup("_id").StringValue()
	return nil
}

var (
	uniCases = []embed.UnionCase{
		embed.Case[uniBook]("book"), embed.Case[*uniDisc]("disc"), embed.Case[uniMap]("map"), embed.Case[uniCode]("code"),
		embed.Case[uniOpen]("open"),
	}
	uniStrict  = embed.NewUnion[uniMedium]("type", uniCases...)
	uniLenient = embed.NewUnion[uniMedium]("type",
		append(uniCases[:5:5], embed.UnknownCase(func(u embed.UnknownValue) uniRest { return uniRest{u} }))...)

	uniMedia = model.NewCollectionWith[uniMedium, string]("media", uniLenient.Options())
	uniKinds = embed.NewKinds(uniMedia, uniLenient, embed.KindsSpec{Indexes: []embed.KindIndex{
		{Tag: "book", Keys: bson.D{{Key: "author", Value: 1}}},
		{Tag: "book", Keys: bson.D{{Key: "isbn", Value: 1}}, Unique: true},
		{Keys: bson.D{{Key: "tracks", Value: 1}}},
	}})
	uniTyped   = embed.NewKinds(uniMedia.Named("typed"), uniLenient, embed.KindsSpec{ByTag: true})
	uniShelves = model.NewCollectionWith[uniShelf, string]("shelves", uniStrict.Options())
	uniMain    = embed.NewKinds(uniShelves, uniStrict, embed.KindsSpec{
		Path:    "main",
		Indexes: []embed.KindIndex{{Tag: "book", Keys: bson.D{{Key: "author", Value: 1}}}},
	})
	uniListed = embed.NewKinds(uniShelves, uniStrict, embed.KindsSpec{
		Path:    "media",
		Indexes: []embed.KindIndex{{Tag: "book", Keys: bson.D{{Key: "author", Value: 1}}}},
	})
)

func uniRaw(t testing.TB, v any) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestUnionRoundTrip(t *testing.T) {
	for _, c := range []struct {
		reason string
		value  uniMedium
		stored string
	}{
		{"a struct", uniBook{ID: "b", Author: "$type"}, "{type: 'book', _id: 'b', author: '$type'}"},
		{"a pointer", &uniDisc{ID: "d", Tracks: []string{"x"}}, "{type: 'disc', _id: 'd', tracks: ['x']}"},
		{
			reason: "one in another", value: &uniDisc{ID: "d", With: uniBook{ID: "b"}},
			stored: "{type: 'disc', _id: 'd', with: {type: 'book', _id: 'b'}}",
		},
		{"a map", uniMap{"_id": "m"}, "{type: 'map', _id: 'm'}"},
		{
			reason: "a map, in the order of names",
			value:  uniMap{"z": "1", "b": "2", "_id": "m", "c": "3", "a": "4"},
			stored: "{type: 'map', _id: 'm', a: '4', b: '2', c: '3', z: '1'}",
		},
		{"by a method of the pointer", uniCode{"abc"}, "{type: 'code', _id: 'abc', n: 3}"},
		{"with fields of any name", uniOpen{"o", map[string]any{"x": int32(1)}}, "{type: 'open', _id: 'o', x: 1}"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			raw, err := encodeMedium(uniStrict, c.value)
			if err != nil || model.Shell(raw) != c.stored {
				t.Fatalf("stored %s, want %s, %v", model.Shell(raw), c.stored, err)
			}
			back, err := decodeMedium(uniStrict, raw)
			if err != nil || !reflect.DeepEqual(back, c.value) {
				t.Errorf("back %#v, %v", back, err)
			}
			// The same within a document, by the driver's own encoder and decoder.
			type box struct {
				One  uniMedium
				List []uniMedium
				Map  map[string]uniMedium
				None uniMedium `bson:"none,omitempty"`
			}
			held := box{One: c.value, List: []uniMedium{c.value, c.value}, Map: map[string]uniMedium{"k": c.value}}
			var buf bytes.Buffer
			enc := bson.NewEncoder(bson.NewDocumentWriter(&buf))
			enc.SetRegistry(uniStrict.Options().Registry)
			if err := enc.Encode(held); err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("{one: %[1]s, list: [%[1]s, %[1]s], map: {k: %[1]s}}",
				c.stored); model.Shell(bson.Raw(buf.Bytes())) != want {
				t.Errorf("in a document %s", model.Shell(bson.Raw(buf.Bytes())))
			}
			var got box
			dec := bson.NewDecoder(bson.NewDocumentReader(&buf))
			dec.SetRegistry(uniStrict.Options().Registry)
			if err := dec.Decode(&got); err != nil || !reflect.DeepEqual(got, held) {
				t.Errorf("back in a document %+v, %v", got, err)
			}
		})
	}
}

func TestUnionRefuses(t *testing.T) {
	for reason, v := range map[string]uniMedium{
		"nothing": nil, "a nil pointer": (*uniDisc)(nil), "a type that isn't declared": uniForeign{},
		"a field by the tag's name":                uniMap{"type": "x"},
		"an inlined field by the tag's name":       uniOpen{"o", map[string]any{"type": "x"}},
		"what isn't known, where that is an error": uniRest{},
	} {
		_, err := encodeMedium(uniStrict, v)
		embErr(t, err, errEmbRefused)
		if err != nil && strings.Contains(reason, "declared") && !strings.Contains(err.Error(), "book") {
			t.Errorf("%s: %v doesn't say what there is", reason, err)
		}
		if _, ok := v.(uniMap); !ok && v != (uniMedium)(nil) {
			continue
		}
		if w := uniMedia.Insert(v); w.Err == nil {
			t.Errorf("%s is inserted: %s", reason, w)
		}
	}
	if _, err := encodeMedium(uniLenient, uniRest{}); err == nil {
		t.Error("an unknown value that was never read is stored")
	}
	odd := []bson.D{d("_id", "x"), d("type", "tape", "_id", "x"), d("type", int32(1)), d("type", nil), d("type", "Book")}
	for _, doc := range odd {
		raw := uniRaw(t, doc)
		if v, err := decodeMedium(uniStrict, raw); err == nil {
			t.Errorf("%v becomes %v", doc, v)
		} else {
			embErr(t, err, errEmbRefused)
		}
		v, err := decodeMedium(uniLenient, raw)
		rest, ok := v.(uniRest)
		if err != nil || !ok || !bytes.Equal(rest.Raw, raw) {
			t.Fatalf("%v becomes %v, %v", doc, v, err)
		}
		if want, _ := raw.Lookup("type").StringValueOK(); rest.Tag != want {
			t.Errorf("the tag of %v is %q", doc, rest.Tag)
		}
		again, err := encodeMedium(uniLenient, v)
		if err != nil || !bytes.Equal(again, raw) {
			t.Errorf("%v is stored as %v, %v", doc, again, err)
		}
	}
	if _, err := decodeMedium(uniStrict, bson.Raw{1, 2}); err == nil {
		t.Error("what is no document is decoded")
	}
	var one struct{ One, Two uniMedium }
	for doc, ok := range map[*bson.D]bool{
		{{Key: "one", Value: nil}, {Key: "two", Value: d("type", "book")}}: true,
		{{Key: "one", Value: "x"}}: false,
	} {
		one.One = uniBook{}
		dec := bson.NewDecoder(bson.NewDocumentReader(bytes.NewReader(uniRaw(t, *doc))))
		dec.SetRegistry(uniStrict.Options().Registry)
		if err := dec.Decode(&one); (err == nil) != ok || ok && (one.One != nil || one.Two != uniBook{}) {
			t.Errorf("%v becomes %v, %v", *doc, one, err)
		}
	}
}

// A union is a value: what one declares, no other and no default registry knows.
func TestUnionIsNotGlobal(t *testing.T) {
	before := uniRaw(t, uniBook{ID: "b"})
	other := embed.NewUnion[uniMedium]("kind", embed.Case[*uniBook]("B"), embed.Case[uniDiscAlone]("D"))
	raw, err := encodeMedium(other, uniBook{ID: "b"})
	if err != nil || model.Shell(raw) != "{kind: 'B', _id: 'b'}" {
		t.Errorf("another union stores %s, %v", model.Shell(raw), err)
	}
	if back, err := decodeMedium(other, raw); err != nil || *back.(*uniBook) != (uniBook{ID: "b"}) {
		t.Errorf("%v, %v", back, err)
	}
	if got := uniRaw(t, uniBook{ID: "b"}); !bytes.Equal(got, before) || model.Shell(got) != "{_id: 'b'}" {
		t.Errorf("the default registry stores %s", model.Shell(got))
	}
	both := bson.NewRegistry()
	songs := embed.NewUnion[uniSong]("song", embed.Case[uniTune]("tune"))
	uniStrict.Register(both)
	songs.Register(both)
	var buf bytes.Buffer
	enc := bson.NewEncoder(bson.NewDocumentWriter(&buf))
	enc.SetRegistry(both)
	if err := enc.Encode(struct {
		A uniMedium
		B uniSong
	}{uniBook{ID: "b"}, uniTune{"x"}}); err != nil ||
		model.Shell(bson.Raw(buf.Bytes())) != "{a: {type: 'book', _id: 'b'}, b: {song: 'tune', name: 'x'}}" {
		t.Errorf("two unions in one registry: %s, %v", model.Shell(bson.Raw(buf.Bytes())), err)
	}
}

type (
	uniDiscAlone struct{ N int32 }
	uniSong      interface{ song() }
	uniTune      struct{ Name string }
)

func (uniDiscAlone) medium() {}
func (uniTune) song()        {}

// Random values go in and come out the same, nested in each other.
func TestUnionRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var random func(depth int) uniMedium
	random = func(depth int) uniMedium {
		id := fmt.Sprint(r.IntN(1000))
		switch r.IntN(5) {
		case 0:
			return uniBook{ID: id, Author: []string{"", "$set", "a.b", "type"}[r.IntN(4)]}
		case 1:
			return uniMap{"_id": id, "n": r.Int32()}
		case 2:
			return uniCode{id}
		case 3:
			return uniOpen{ID: id, Rest: map[string]any{"a": id}}
		}
		disc := &uniDisc{ID: id, Tracks: []string{id, "type"}}
		if depth > 0 {
			disc.With = random(depth - 1)
		}
		return disc
	}
	for range 500 {
		v := random(4)
		raw, err := encodeMedium(uniStrict, v)
		if err != nil {
			t.Fatal(err)
		}
		if first, err := raw.IndexErr(0); err != nil || first.Key() != "type" {
			t.Fatalf("%s doesn't begin with its tag", model.Shell(raw))
		}
		back, err := decodeMedium(uniStrict, raw)
		if err != nil || !reflect.DeepEqual(back, v) {
			t.Fatalf("%s becomes %#v, %v", model.Shell(raw), back, err)
		}
	}
}

// encodeMedium stores a value as a document of a union's collection.
func encodeMedium(u *embed.Union[uniMedium], v uniMedium) (bson.Raw, error) {
	registry := u.Options().Registry
	enc, err := registry.LookupEncoder(reflect.TypeFor[uniMedium]())
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	doc := bson.NewDocumentWriter(&buf)
	err = enc.EncodeValue(bson.EncodeContext{Registry: registry}, doc, reflect.ValueOf(&v).Elem())
	return buf.Bytes(), err
}

// decodeMedium reads a document of a union's collection.
func decodeMedium(u *embed.Union[uniMedium], raw bson.Raw) (v uniMedium, err error) {
	registry := u.Options().Registry
	dec, err := registry.LookupDecoder(reflect.TypeFor[uniMedium]())
	if err != nil {
		return nil, err
	}
	doc := bson.NewDocumentReader(bytes.NewReader(raw))
	err = dec.DecodeValue(bson.DecodeContext{Registry: registry}, doc, reflect.ValueOf(&v).Elem())
	return v, err
}
