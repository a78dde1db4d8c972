package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type (
	lodger struct {
		ID     string     `bson:"_id"`
		Places []dwelling `bson:"places,omitempty"`
		Home   *dwelling  `bson:"home,omitempty"`
	}
	dwelling struct {
		Label string     `bson:"label"`
		City  string     `bson:"city"`
		Note  any        `bson:"note,omitempty"`
		Rooms []dwelling `bson:"rooms,omitempty"`
	}
)

var (
	lodgers      = model.NewCollection[lodger, string]("lodgers")
	lodgerPlaces = embed.NewEmbedded[dwelling](lodgers, "places", embed.EmbeddedSpec{
		Key: "label", Max: 5, Indexes: []bson.D{{{Key: "city", Value: 1}}},
	})
	lodgerRooms = embed.NewNested[dwelling](lodgerPlaces, "rooms", embed.EmbeddedSpec{
		Key: "label", Max: 3, Indexes: []bson.D{{{Key: "city", Value: 1}}},
	})
	lodgerHome    = embed.NewOne[dwelling](lodgers, "home", embed.OneSpec{Indexes: []bson.D{{{Key: "city", Value: 1}}}})
	lodgerUnbound = embed.NewEmbedded[dwelling](lodgers, "places", embed.EmbeddedSpec{Key: "label"})
)

func init() {
	register(embeddedWrites()...)
	register(embeddedReads()...)
	register(embeddedRepairs()...)
	register(nestedCases()...)
	register(nestedWrites()...)
	register(embeddedOneCases()...)
}

func setOf(s string) bson.D {
	return roomy(bson.D{{Key: "city", Value: s}, {Key: "note", Value: bson.A{s, bson.D{{Key: "x", Value: s}}}}})
}

func embeddedWrites() []Case {
	return []Case{
		{
			Method: "embed.Embedded.Add",
			Reason: "one, if the key is new and there is room",
			From: func(s string) ([]any, func() any) {
				list := roomy([]dwelling{{Label: s, City: s}})
				return []any{list}, func() any { return lodgerPlaces.Add(s, list...) }
			},
		},
		{Method: "embed.Embedded.Add", Reason: "two, all or none", From: func(s string) ([]any, func() any) {
			list := roomy([]dwelling{{Label: s, Note: bson.A{s}}, {Label: s + "2"}})
			return []any{list}, func() any { return lodgerPlaces.Add("d", list...) }
		}},
		{Method: "embed.Embedded.Add", Reason: "without a bound", From: func(s string) ([]any, func() any) {
			list := roomy([]dwelling{{Label: s}})
			return []any{list}, func() any { return lodgerUnbound.Add("d", list...) }
		}},
		{
			Method: "embed.Embedded.Add", Reason: "one key twice is refused",
			Make: func(s string) any { return lodgerPlaces.Add("d", dwelling{Label: s}, dwelling{Label: s}) },
		},
		{
			Method: "embed.Embedded.Put", Reason: "where it stands, or at the end",
			Make: func(s string) any { return lodgerPlaces.Put(s, dwelling{Label: s, City: s}) },
		},
		{
			Method: "embed.Embedded.Replace", Reason: "where it stands",
			Make: func(s string) any { return lodgerPlaces.Replace("d", dwelling{Label: s, City: s}) },
		},
		{Method: "embed.Embedded.Update", Reason: "fields, without reading", From: func(s string) ([]any, func() any) {
			set := setOf(s)
			return []any{set}, func() any { return lodgerPlaces.Update("d", s, bson.D{{Key: "$set", Value: set}}) }
		}},
		{Method: "embed.Embedded.Update", Reason: "by a key that is a document", From: func(s string) ([]any, func() any) {
			key := roomy(bson.D{{Key: "no", Value: s}})
			return []any{key}, func() any {
				return lodgerPlaces.Update("d", key, bson.D{{Key: "$set", Value: bson.D{{Key: "city", Value: s}}}})
			}
		}},
		{Method: "embed.Embedded.Update", Reason: "the key is refused", Make: func(s string) any {
			return lodgerPlaces.Update("d", "home", bson.D{{Key: "$set", Value: bson.D{{Key: "label", Value: s}}}})
		}},
		{Method: "embed.Embedded.Update", Reason: "by operators", From: func(s string) ([]any, func() any) {
			u := roomy(bson.D{
				{Key: "$set", Value: setOf(s)},
				{Key: "$push", Value: bson.D{{Key: "rooms", Value: bson.D{{Key: "label", Value: s}}}}},
			})
			return []any{u}, func() any { return lodgerPlaces.Update("d", s, u) }
		}},
		{
			Method: "embed.Embedded.Update",
			Reason: "an operator that can't reach into arrays is refused",
			Make: func(s string) any {
				return lodgerPlaces.Update("d", s, bson.D{{Key: "$rename", Value: bson.D{{Key: "city", Value: "note"}}}})
			},
		},
		{Method: "embed.Embedded.Remove", Reason: "by keys", From: func(s string) ([]any, func() any) {
			keys := roomy([]any{s, s + "2"})
			return []any{keys}, func() any { return lodgerPlaces.Remove(s, keys...) }
		}},
		{
			Method: "embed.Embedded.Remove", Reason: "by null is refused",
			Make: func(string) any { return lodgerPlaces.Remove("d", nil) },
		},
		{
			Method: "embed.Embedded.Reorder", Reason: "one to a place",
			Make: func(s string) any { return lodgerPlaces.Reorder(s, 2, s) },
		},
		{Method: "embed.Embedded.Reorder", Reason: "two to the front", From: func(s string) ([]any, func() any) {
			keys := roomy([]any{s, s + "2"})
			return []any{keys}, func() any { return lodgerPlaces.Reorder(s, 0, keys...) }
		}},
		{
			Method: "embed.Embedded.Reorder", Reason: "to the end",
			Make: func(s string) any { return lodgerPlaces.Reorder("d", -1, s) },
		},
		{
			Method: "embed.Embedded.Reorder", Reason: "a key twice is refused",
			Make: func(s string) any { return lodgerPlaces.Reorder("d", 0, s, s) },
		},
		{
			Method: "embed.Embedded.Move", Reason: "to another parent, as it was read",
			Make: func(s string) any { return lodgerPlaces.Move("a", "b", dwelling{Label: s, City: s}) },
		},
		{
			Method: "embed.Embedded.Move", Reason: "to itself is refused",
			Make: func(s string) any { return lodgerPlaces.Move(s, s, dwelling{Label: s}) },
		},
	}
}

func embeddedReads() []Case {
	cond := func(s string) bson.D {
		return roomy(bson.D{
			{Key: "city", Value: s},
			{
				Key:   "$or",
				Value: bson.A{bson.D{{Key: "label", Value: bson.D{{Key: "$gt", Value: s}}}}, bson.D{{Key: "note", Value: nil}}},
			},
		})
	}
	return []Case{
		{Method: "embed.Embedded.Having", Reason: "parents by key", Make: func(s string) any {
			return lodgerPlaces.Having(bson.D{{Key: "label", Value: s}})
		}},
		{Method: "embed.Embedded.Having", Reason: "parents by one element", From: func(s string) ([]any, func() any) {
			c := cond(s)
			return []any{c}, func() any { return lodgerPlaces.Having(c) }
		}},
		{
			Method: "embed.Embedded.Having", Reason: "an unknown field is refused",
			Make: func(s string) any { return lodgerPlaces.Having(bson.D{{Key: "cty", Value: s}}) },
		},
		{Method: "embed.Embedded.Elements", Reason: "of one parent, in an order", From: func(s string) ([]any, func() any) {
			c, order := cond(s), roomy(bson.D{{Key: "city", Value: -1}})
			return []any{c, order}, func() any { return lodgerPlaces.Elements(c, order, s) }
		}},
		{Method: "embed.Embedded.Elements", Reason: "of all parents", From: func(s string) ([]any, func() any) {
			c, order := cond(s), roomy(bson.D{{Key: "city", Value: 1}, {Key: "label", Value: -1}})
			return []any{c, order}, func() any { return lodgerPlaces.Elements(c, order) }
		}},
		{Method: "embed.Embedded.Elements", Reason: "of two parents", From: func(s string) ([]any, func() any) {
			list := roomy([]string{s, s + "2"})
			return []any{list}, func() any { return lodgerPlaces.Elements(nil, nil, list...) }
		}},
		{
			Method: "embed.Embedded.Elements", Reason: "all of them",
			Make: func(string) any { return lodgerPlaces.Elements(nil, nil) },
		},
		{
			Method: "embed.Embedded.Indexes", Reason: "on the key, and what is asked for",
			Make: func(string) any { return lodgerPlaces.Indexes() },
		},
	}
}

// lodgerPlacesBy and lodgerRoomsBy mend by keeping these.
func lodgerPlacesBy(keep embed.KeepElement) []model.Check {
	return embed.NewEmbedded[dwelling](lodgers, "places", embed.EmbeddedSpec{Key: "label", Max: 5, Keep: keep}).Checks()
}

func lodgerRoomsBy(keep embed.KeepElement) []model.Check {
	return embed.NewNested[dwelling](lodgerPlaces, "rooms", embed.EmbeddedSpec{Key: "label", Max: 3, Keep: keep}).Checks()
}

// mendsOf is the case of what a check mends.
func mendsOf(method, reason string, check model.Check, details func(s string) []any) Case {
	return Case{Method: method, Reason: reason, From: func(s string) ([]any, func() any) {
		found := findings(check, details(s)...)
		return []any{found}, func() any { return check.Mend(found) }
	}}
}

// wholeDocuments are the details of two documents.
func wholeDocuments(s string) []any { return []any{bson.M{"_id": s}, bson.M{"_id": "b"}} }

func embeddedRepairs() (out []Case) {
	const method = "embed.Embedded.Checks"
	repeated := func(s string) []any {
		return []any{bson.M{"id": s, "key": s, "times": 2}, bson.M{"id": "b", "key": s, "times": 3}}
	}
	for i, reason := range []string{"keys that stand twice", "more than may be", "null", "no array, no document, no key"} {
		out = append(out, Case{Method: method, Reason: reason, Make: func(string) any { return lodgerPlaces.Checks()[i] }})
	}
	return append(out,
		mendsOf(method, "exact copies go", lodgerPlacesBy(embed.KeepDistinct)[0], repeated),
		mendsOf(method, "the first stays", lodgerPlacesBy(embed.KeepFirst)[0], repeated),
		mendsOf(method, "the last stays", lodgerPlacesBy(embed.KeepLast)[0], repeated),
		mendsOf(method, "of too many the last stay", lodgerPlacesBy(embed.KeepLast)[1], wholeDocuments),
		mendsOf(method, "null becomes empty", lodgerPlaces.Checks()[2], wholeDocuments),
		Case{Method: method, Reason: "that differ stay", Make: func(string) any { return lodgerPlaces.Checks()[1].Job() }},
		mendsOf(method, "a finding without an _id is refused", lodgerUnbound.Checks()[1], func(s string) []any {
			return []any{bson.M{"id": s}}
		}),
	)
}

func nestedCases() (out []Case) {
	const method = "embed.Nested.Checks"
	repeated := func(s string) []any { return []any{bson.M{"id": s, "in": s, "key": s, "times": 2}} }
	for i, reason := range []string{"keys that stand twice", "more than may be", "null", "no array, no document, no key"} {
		out = append(out, Case{Method: method, Reason: reason, Make: func(string) any { return lodgerRooms.Checks()[i] }})
	}
	return append(out,
		mendsOf(method, "exact copies go", lodgerRoomsBy(embed.KeepDistinct)[0], repeated),
		mendsOf(method, "the last stays", lodgerRoomsBy(embed.KeepLast)[0], repeated),
		mendsOf(method, "of too many the first stay", lodgerRoomsBy(embed.KeepFirst)[1], wholeDocuments),
		mendsOf(method, "null becomes empty", lodgerRooms.Checks()[2], wholeDocuments),
	)
}

func nestedWrites() []Case {
	return []Case{
		{Method: "embed.Nested.Add", Reason: "to one element", From: func(s string) ([]any, func() any) {
			list, key := roomy([]dwelling{{Label: s}, {Label: s + "2", Note: s}}), roomy(bson.D{{Key: "no", Value: s}})
			return []any{list, key}, func() any { return lodgerRooms.Add("d", key, list...) }
		}},
		{Method: "embed.Nested.Update", Reason: "by two keys", From: func(s string) ([]any, func() any) {
			set, key := setOf(s), roomy(bson.D{{Key: "no", Value: s}})
			return []any{set, key}, func() any { return lodgerRooms.Update(s, key, s, bson.D{{Key: "$set", Value: set}}) }
		}},
		{Method: "embed.Nested.Update", Reason: "by operators", From: func(s string) ([]any, func() any) {
			u := roomy(bson.D{{Key: "$unset", Value: bson.D{{Key: "note", Value: s}}}})
			return []any{u}, func() any { return lodgerRooms.Update("d", s, s, u) }
		}},
		{Method: "embed.Nested.Remove", Reason: "from one element", From: func(s string) ([]any, func() any) {
			keys := roomy([]any{s, s + "2"})
			return []any{keys}, func() any { return lodgerRooms.Remove("d", s, keys...) }
		}},
		{
			Method: "embed.Nested.Remove", Reason: "nothing is refused",
			Make: func(s string) any { return lodgerRooms.Remove("d", s) },
		},
		{
			Method: "embed.Nested.Indexes", Reason: "those that were asked for",
			Make: func(string) any { return lodgerRooms.Indexes() },
		},
	}
}

func embeddedOneCases() []Case {
	return []Case{
		{
			Method: "embed.One.Put", Reason: "whether there was one or not",
			Make: func(s string) any { return lodgerHome.Put(s, dwelling{Label: s, City: s}) },
		},
		{
			Method: "embed.One.Create", Reason: "where there is none",
			Make: func(s string) any { return lodgerHome.Create(s, dwelling{Label: s, City: s}) },
		},
		{Method: "embed.One.Update", Reason: "where there is one", From: func(s string) ([]any, func() any) {
			set := setOf(s)
			return []any{set}, func() any { return lodgerHome.Update(s, bson.D{{Key: "$set", Value: set}}) }
		}},
		{Method: "embed.One.Update", Reason: "by operators", From: func(s string) ([]any, func() any) {
			u := roomy(bson.D{{Key: "$set", Value: setOf(s)}, {Key: "$unset", Value: bson.D{{Key: "label", Value: ""}}}})
			return []any{u}, func() any { return lodgerHome.Update("d", u) }
		}},
		{Method: "embed.One.Having", Reason: "by its fields", From: func(s string) ([]any, func() any) {
			c := roomy(bson.D{
				{Key: "city", Value: s},
				{Key: "$or", Value: bson.A{bson.D{{Key: "label", Value: s}}, bson.D{{Key: "note", Value: nil}}}},
			})
			return []any{c}, func() any { return lodgerHome.Having(c) }
		}},
		{Method: "embed.One.Checks", Reason: "no document", Make: func(string) any { return lodgerHome.Checks()[0] }},
		{
			Method: "embed.One.Indexes", Reason: "those that were asked for",
			Make: func(string) any { return lodgerHome.Indexes() },
		},
	}
}
