package checks

import (
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A ware has a field of each kind that schemas tell apart.
type ware struct {
	ID     string           `bson:"_id"`
	Name   string           `bson:"name"`
	State  *string          `bson:"state"`
	Price  bson.Decimal128  `bson:"price"`
	Count  int              `bson:"count"`
	Sold   int64            `bson:"sold"`
	Rating float64          `bson:"rating,omitempty"`
	At     time.Time        `bson:"at"`
	Tags   []string         `bson:"tags"`
	Sizes  []size           `bson:"sizes,omitempty"`
	Stock  map[string]int32 `bson:"stock,omitempty"`
	More   any              `bson:"more,omitempty"`
}

type size struct {
	Name string `bson:"name"`
	CM   uint16 `bson:"cm"`
}

type bookWare struct {
	Author string `bson:"author"`
}

var (
	wares     = model.NewCollection[ware, string]("wares")
	wareRules = []schema.Field{
		{Path: "name", MinLength: 1, MaxLength: 80, Pattern: "^[^<]*$"},
		{Path: "state", Enum: []any{"new", "sold"}},
		{Path: "count", Min: 0, Max: 1000, MultipleOf: 2},
		{Path: "sold", Above: -1, Optional: true},
		{Path: "tags", MinItems: 1, MaxItems: 5, Unique: true, NotNull: true},
		{Path: "sizes.name", Enum: []any{"S", "M"}},
		{Path: "stock.*", Min: 0},
		{Path: "more.since", Types: []string{"date", "null"}},
	}
	bareWares   = schema.Of(wares, schema.Spec{})
	ruledWares  = schema.Of(wares, schema.Spec{Fields: wareRules})
	closedWares = schema.Of(wares, schema.Spec{Fields: wareRules, Closed: true, Loose: true})
	mixedWares  = schema.Of(model.NewCollection[bson.Raw, string]("wares"), schema.Spec{
		Fields: []schema.Field{{Path: "name", Types: []string{"string"}}},
		Tag:    "kind", Variants: []schema.Variant{schema.As[bookWare]("book"), schema.As[size]("trousers")},
	})
	partWares = schema.Of(wares, schema.Spec{
		Fields: []schema.Field{{
			Path: "more", Tag: "kind",
			Variants: []schema.Variant{schema.As[bookWare]("book")},
		}}, Closed: true,
	})
)

func init() {
	register(
		Case{
			Method: "schema.Schema.JSONSchema", Reason: "of a type alone",
			Make: func(string) any { return bareWares.JSONSchema() },
		},
		Case{
			Method: "schema.Schema.JSONSchema", Reason: "with rules",
			Make: func(string) any { return ruledWares.JSONSchema() },
		},
		Case{
			Method: "schema.Schema.JSONSchema", Reason: "closed and loose",
			Make: func(string) any { return closedWares.JSONSchema() },
		},
		Case{
			Method: "schema.Schema.JSONSchema", Reason: "documents of two kinds",
			Make: func(string) any { return mixedWares.JSONSchema() },
		},
		Case{
			Method: "schema.Schema.JSONSchema", Reason: "a field of kinds, closed",
			Make: func(string) any { return partWares.JSONSchema() },
		},
		Case{
			Method: "schema.Schema.Validation", Reason: "a filter",
			Make: func(string) any { return mixedWares.Validation() },
		},
		Case{
			Method: "schema.Schema.Checks", Reason: "all that don't match it",
			Make: func(string) any { return mixedWares.Checks()[0] },
		},
		Case{
			Method: "schema.Schema.Validation",
			Reason: "that lets changes of what was wrong before pass, and warns",
			Make: func(string) any {
				v := mixedWares.Validation()
				v.Level, v.Action = "moderate", "warn"
				return v
			},
		},
		Case{Method: "model.Model.Validations", Reason: "of three collections", Make: func(string) any {
			return model.New("m", mixedWares, tops, mails).Validations()
		}},
	)
}
