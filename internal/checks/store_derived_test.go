package checks

import (
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func init() {
	register(versionedStoreCases()...)
	register(derivedStoreCases()...)
}

// storeCase is a case of a store's change, with what it reads where documents are stored.
func storeCase[D any](
	method, reason string, stored func(s string) testkit.Docs, call func(s string) model.ChangeOf[model.Stored[D]],
) Case {
	return Case{
		Method: "model.Store." + method, Reason: reason,
		Make:  func(s string) any { return call(s) },
		State: asRead(func(s string) model.Change { return call(s).Change() }, stored),
	}
}

func versionedStoreCases() []Case {
	plain, tokens := model.NewStore(model.New("ledgers", versioned), ledgers),
		model.NewStore(model.New("ledgers", versionedBy), ledgers)
	stored := func(s string) testkit.Docs {
		return testkit.Docs{"ledgers": {ledger{ID: s, Owner: s, Qty: 3, Version: 7, Ops: []bson.ObjectID{oid(1), oid(2)}}}}
	}
	type change = model.ChangeOf[model.Stored[ledger]]
	return []Case{
		storeCase("Insert", "in a version made from the token", stored, func(s string) change {
			return plain.Insert(ledger{ID: s + "2", Owner: s})
		}),
		storeCase("Set", "in the next version", stored, func(s string) change {
			return plain.Set(s, bson.D{{Key: "owner", Value: s + "!"}})
		}),
		storeCase("Set", "in the next version, with the latest tokens", stored, func(s string) change {
			return tokens.Set(s, bson.D{{Key: "owner", Value: s + "!"}})
		}),
	}
}

func derivedStoreCases() []Case {
	store := func(technique model.Technique) *model.Store[bson.D, any] {
		return model.NewStore(model.New("derived", technique), anything)
	}
	places, named, texts, langs := store(keyedPlaces), store(namedPlaces), store(skillText), store(langText)
	lived := model.NewStore(model.New("residents", byPlace), residents)
	upgraded := model.NewStore(model.New("readers", readerVersions), readers)
	skills := func(s string) bson.A {
		return bson.A{bson.D{{Key: "skill", Value: s}, {Key: "level", Value: "Good"}}}
	}
	point := func(lat float64) bson.D {
		return bson.D{{Key: "type", Value: "Point"}, {Key: "coordinates", Value: bson.A{2.0, lat}}}
	}
	stored := func(s string) testkit.Docs {
		return testkit.Docs{
			anything.Name(): {bson.D{{Key: "_id", Value: s}, {Key: "title", Value: s}}},
			"residents":     {resident{ID: "CA :San :a1", State: "CA", City: "San", User: 1}},
			"spread":        {bson.D{{Key: "_id", Value: s}, {Key: "day", Value: "monday#001"}, {Key: "user", Value: s}}},
			"readers":       {storedReader(s)},
		}
	}
	type change = model.ChangeOf[model.Stored[bson.D]]
	return []Case{
		storeCase("Insert", "with the key of its point", stored, func(s string) change {
			return places.Insert(bson.D{{Key: "_id", Value: s + "2"}, {Key: "loc", Value: point(48)}})
		}),
		storeCase("Set", "a point with its key", stored, func(s string) change {
			return places.Set(s, bson.D{{Key: "loc", Value: point(49)}})
		}),
		storeCase("Set", "a point with its key as a text", stored, func(s string) change {
			return named.Set(s, bson.D{{Key: "loc", Value: point(49)}})
		}),
		storeCase("Set", "no point, and no key", stored, func(s string) change {
			return places.Set(s, bson.D{{Key: "loc", Value: bson.RawValue{}}})
		}),
		storeCase("Set", "a latitude beyond the pole is refused", stored, func(s string) change {
			return places.Set(s, bson.D{{Key: "loc", Value: point(90.5)}})
		}),
		storeCase("Set", "a coordinate, which reads the document", stored, func(s string) change {
			return places.Set(s, bson.D{{Key: "loc.coordinates", Value: bson.A{2.0, 49.0}}, {Key: "loc.type", Value: "Point"}})
		}),
		storeCase("Insert", "with the text of its list", stored, func(s string) change {
			return texts.Insert(bson.D{{Key: "_id", Value: s + "2"}, {Key: "skills", Value: skills(s)}})
		}),
		storeCase("Set", "an empty list with its text", stored, func(s string) change {
			return texts.Set(s, bson.D{{Key: "skills", Value: bson.A{}}})
		}),
		storeCase("Set", "a list of strings with its text", stored, func(s string) change {
			return langs.Set(s, bson.D{{Key: "cv.langs", Value: bson.A{s, nil}}})
		}),
		storeCase("Set", "a list with its text", stored, func(s string) change {
			return texts.Set(s, bson.D{{Key: "skills", Value: skills(s)}})
		}),
		storeCase("Insert", "under the key of its fields", stored, func(s string) model.ChangeOf[model.Stored[resident]] {
			return lived.Insert(resident{State: s, City: "Reno", User: 7})
		}),
		storeCase("Edit", "an older document", stored, func(s string) model.ChangeOf[model.Stored[reader]] {
			return upgraded.Edit(s, func(r *reader) error { r.First = s + "2"; return nil })
		}),
	}
}
