package embed_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
)

type (
	uniTagged struct{ Type string }
	uniByJSON struct {
		T string `json:"type"`
	}
	uniSelf struct{ X int }
	uniText string
)

func (uniTagged) medium() {}

func (uniByJSON) medium() {}

func (uniSelf) medium() {}

func (uniText) medium() {}

func (uniSelf) MarshalBSON() ([]byte, error) { return nil, errors.New("never") }

func TestUnionDeclarations(t *testing.T) {
	book := embed.Case[uniBook]("book")
	union := func(cases ...embed.UnionCase) func() { return func() { embed.NewUnion[uniMedium]("type", cases...) } }
	rest := func(u embed.UnknownValue) uniRest { return uniRest{u} }
	kinds := func(s embed.KindsSpec) func() { return func() { embed.NewKinds(uniMedia, uniLenient, s) } }
	index := func(tag string, keys bson.D) func() {
		return kinds(embed.KindsSpec{Indexes: []embed.KindIndex{{Tag: tag, Keys: keys}}})
	}
	at := func(path string) func() {
		return func() { embed.NewKinds(uniShelves, uniStrict, embed.KindsSpec{Path: path}) }
	}
	for reason, f := range map[string]func(){
		"no case": union(), "a tag twice": union(book, embed.Case[*uniDisc]("book")),
		"a type twice": union(book, embed.Case[*uniBook]("B")), "an empty tag": union(embed.Case[uniBook]("")),
		"a type without the methods":      union(book, embed.Case[string]("s")),
		"a struct whose pointer has them": union(embed.Case[uniDisc]("d")),
		"the tag as a field":              union(embed.Case[uniTagged]("t")),
		"the tag as a field by JSON tags": union(embed.Case[uniByJSON]("t")),
		"a bson.Marshaler":                union(embed.Case[uniSelf]("s")), "a string": union(embed.Case[uniText]("s")),
		"two unknown cases": union(book, embed.UnknownCase(rest),
			embed.UnknownCase(func(embed.UnknownValue) *uniRest { return nil })),
		"an unknown case without a function": union(book, embed.UnknownCase[uniRest](nil)),
		"an unknown case that keeps nothing": union(book,
			embed.UnknownCase(func(embed.UnknownValue) uniForeign { return uniForeign{} })),
		"an unknown case by tag": union(book, embed.Case[uniRest]("rest")),
		"only an unknown case":   union(embed.UnknownCase(rest)),
		"isn't an interface":     func() { embed.NewUnion[uniBook]("type", book) },
		"any":                    func() { embed.NewUnion[any]("type", book) },
		"the _id as tag":         func() { embed.NewUnion[uniMedium]("_id", book) },
		"a path as tag":          func() { embed.NewUnion[uniMedium]("a.b", book) },
		"kinds: an unknown tag":  index("tape", d("author", 1)), "kinds: no key": index("book", nil),
		"kinds: another type's field": index("book", d("tracks", 1)), "kinds: nobody's field": index("disc", d("trax", 1)),
		"kinds: sideways": index("book", d("author", 2)), "kinds: no such path": at("man"), "kinds: another type": at("_id"),
		"kinds: documents of another type": at(""),
		"kinds: within the elements of an array": func() {
			type item struct {
				Payload uniMedium `bson:"payload"`
			}
			type parcel struct {
				ID    string `bson:"_id"`
				Items []item `bson:"items"`
			}
			embed.NewKinds(model.NewCollectionWith[parcel, string]("parcels", uniStrict.Options()), uniStrict,
				embed.KindsSpec{Path: "items.payload"})
		},
		"kinds: a collection that doesn't know the union": func() {
			embed.NewKinds(model.NewCollection[uniMedium, string]("x"), uniStrict, embed.KindsSpec{})
		},
		"kinds: a collection of another union": func() { embed.NewKinds(uniMedia, uniStrict, embed.KindsSpec{}) },
		"kinds: unique in an array": func() {
			embed.NewKinds(uniShelves, uniStrict, embed.KindsSpec{
				Path:    "media",
				Indexes: []embed.KindIndex{{Tag: "book", Keys: d("isbn", 1), Unique: true}},
			})
		},
		"the same union twice": func() { uniStrict.Register(uniStrict.Options().Registry) },
		"two unions of one interface": func() {
			r := bson.NewRegistry()
			uniStrict.Register(r)
			embed.NewUnion[uniMedium]("kind", embed.Case[uniForeign]("f")).Register(r)
		},
		"one type by one tag in two unions": func() { uniBoth("type", embed.Case[uniBook]("b")) },
		"the same, with a third between":    func() { uniBoth("kind", embed.Case[uniBook]("b")) },
		"one type of any fields in two":     func() { uniBoth("other", embed.Case[uniMap]("m")) },
		"kinds: nothing": func() {
			embed.NewKinds[uniMedium, string, uniMedium](nil, nil, embed.KindsSpec{})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			if e := catch(t, f); e == nil || e.Remedy == "" {
				t.Errorf("panicked with %v", e)
			}
		})
	}
	if len(uniKinds.Relations()) != 0 {
		t.Error("relations")
	}
}
