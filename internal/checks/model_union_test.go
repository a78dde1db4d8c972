package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type (
	medium     interface{ medium() }
	mediumBook struct {
		ID     string `bson:"_id"`
		Author string `bson:"author"`
	}
	mediumTape struct {
		ID  string `bson:"_id"`
		Min int32  `bson:"min"`
	}
	mediumBox struct {
		ID   string   `bson:"_id"`
		Top  medium   `bson:"top,omitempty"`
		List []medium `bson:"list,omitempty"`
	}
)

func (mediumBook) medium()  {}
func (*mediumTape) medium() {}

var (
	mediumTypes = embed.NewUnion[medium]("type", embed.Case[mediumBook]("book"), embed.Case[*mediumTape]("tape"))
	mediums     = model.NewCollectionWith[medium, string]("mediums", mediumTypes.Options())
	boxes       = model.NewCollectionWith[mediumBox, string]("boxes", mediumTypes.Options())
	bookIndexes = []embed.KindIndex{
		{Tag: "book", Keys: bson.D{{Key: "author", Value: 1}}, Unique: true},
		{Keys: bson.D{{Key: "min", Value: -1}}},
	}
	mediumKinds = embed.NewKinds(mediums, mediumTypes, embed.KindsSpec{ByTag: true, Indexes: bookIndexes})
	topKinds    = embed.NewKinds(boxes, mediumTypes, embed.KindsSpec{Path: "top", Indexes: bookIndexes})
	listKinds   = embed.NewKinds(boxes, mediumTypes, embed.KindsSpec{Path: "list", Indexes: bookIndexes[1:]})
)

func init() { register(kindsCases()...) }

func kindsCases() []Case {
	having := func(k interface {
		Having(string, bson.D) *model.Find[mediumBox]
	}) func(s string) ([]any, func() any) {
		return func(s string) ([]any, func() any) {
			c := roomy(bson.D{
				{Key: "author", Value: s},
				{
					Key:   "$or",
					Value: bson.A{bson.D{{Key: "author", Value: s}}, bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: s}}}}},
				},
			})
			return []any{c}, func() any { return k.Having("book", c) }
		}
	}
	of := func(tags ...string) func(string) ([]any, func() any) {
		return func(string) ([]any, func() any) {
			in := roomy(append([]string{}, tags...))
			return []any{in}, func() any { return mediumKinds.Of(in...) }
		}
	}
	return []Case{
		{
			Method: "model.Collection.Insert", Reason: "a value of a union, with its tag",
			Make: func(s string) any { return mediums.Insert(mediumBook{s, s}) },
		},
		{
			Method: "model.Collection.Insert",
			Reason: "a document that holds values of a union",
			From: func(s string) ([]any, func() any) {
				list := roomy([]medium{mediumBook{s, s}, &mediumTape{ID: s}})
				return []any{list}, func() any { return boxes.Insert(mediumBox{ID: s, Top: &mediumTape{ID: s}, List: list}) }
			},
		},
		{Method: "embed.Kinds.Of", Reason: "one type", From: of("book")},
		{Method: "embed.Kinds.Of", Reason: "either of two", From: of("book", "tape")},
		{Method: "embed.Kinds.Of", Reason: "an unknown tag is refused", From: of("scroll")},
		{Method: "embed.Kinds.Having", Reason: "documents of one type", From: func(s string) ([]any, func() any) {
			c := roomy(bson.D{{Key: "author", Value: s}})
			return []any{c}, func() any { return mediumKinds.Having("book", c) }
		}},
		{
			Method: "embed.Kinds.Having", Reason: "a field of another type is refused",
			Make: func(s string) any { return mediumKinds.Having("book", bson.D{{Key: "min", Value: s}}) },
		},
		{Method: "embed.Kinds.Having", Reason: "a field of one type", From: having(topKinds)},
		{Method: "embed.Kinds.Having", Reason: "an element of one type", From: having(listKinds)},
		{
			Method: "embed.Only", Reason: "decoded as it is",
			Make: func(string) any { return embed.Only[mediumBook](mediumKinds) },
		},
		{
			Method: "embed.Only", Reason: "within documents is refused",
			Make: func(string) any { return embed.Only[mediumBook](topKinds) },
		},
		{
			Method: "embed.Kinds.Checks", Reason: "documents of no type",
			Make: func(string) any { return mediumKinds.Checks()[0] },
		},
		{Method: "embed.Kinds.Checks", Reason: "fields of no type", Make: func(string) any { return topKinds.Checks()[0] }},
		{
			Method: "embed.Kinds.Checks", Reason: "elements of no type",
			Make: func(string) any { return listKinds.Checks()[0] },
		},
		{Method: "embed.Kinds.Retag", Reason: "a tag to those without", From: func(s string) ([]any, func() any) {
			f := roomy(bson.D{{Key: "author", Value: s}})
			return []any{f}, func() any { return mediumKinds.Retag(f, "book") }
		}},
		{Method: "embed.Kinds.Retag", Reason: "to fields without", From: func(s string) ([]any, func() any) {
			f := roomy(bson.D{{Key: "_id", Value: s}})
			return []any{f}, func() any { return topKinds.Retag(f, "book") }
		}},
		{Method: "embed.Kinds.Retag", Reason: "in arrays is refused", From: func(s string) ([]any, func() any) {
			f := roomy(bson.D{{Key: "_id", Value: s}})
			return []any{f}, func() any { return listKinds.Retag(f, "book") }
		}},
		{
			Method: "embed.Kinds.Counts", Reason: "documents of each type",
			Make: func(string) any { return mediumKinds.Counts() },
		},
		{Method: "embed.Kinds.Counts", Reason: "elements of each type", Make: func(string) any { return listKinds.Counts() }},
		{
			Method: "embed.Kinds.Indexes", Reason: "of documents, one of them partial",
			Make: func(string) any { return mediumKinds.Indexes() },
		},
		{Method: "embed.Kinds.Indexes", Reason: "of elements", Make: func(string) any { return listKinds.Indexes() }},
	}
}
