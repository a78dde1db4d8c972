package checks

import (
	"time"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// resident lives in a city of a state.
type resident struct {
	ID    string `bson:"_id"`
	State string `bson:"state"`
	City  string `bson:"city"`
	User  int    `bson:"user"`
}

var (
	residents  = model.NewCollection[resident, string]("residents")
	byPlace    = keys.NewComposite(residents, keys.Text("state"), keys.Text("city"), keys.Int("user"))
	anyKeyed   = model.NewCollection[bson.D, string]("readings")
	byDevice   = keys.NewComposite(anyKeyed, keys.Text("device"), keys.Time("at"), keys.ID("op"))
	docKeyed   = model.NewCollection[bson.D, bson.D]("documents")
	placeInDoc = keys.NewDocumentKey(docKeyed, keys.Text("state"), keys.Text("city"), keys.Int("user"))
)

// down is the order of the last keys first.
var down = bson.D{{Key: "_id", Value: -1}}

func init() {
	register(compositeWrites()...)
	register(compositeReads()...)
	register(documentKeyCases()...)
}

// ofValues is a case of a method that is handed a list of values.
func ofValues(method, reason string, call func(values []any) any, values func(s string) []any) Case {
	return Case{Method: method, Reason: reason, From: func(s string) ([]any, func() any) {
		list := roomy(values(s))
		return []any{list}, func() any { return call(list) }
	}}
}

func compositeWrites() []Case {
	return []Case{
		{
			Method: "keys.Composite.Rekey",
			Reason: "what has another key or none; one stays",
			State:  drifted,
			Make:   func(string) any { return byPlace.Rekey() },
		},
		{Method: "keys.Composite.Move", Reason: "to another city", From: func(s string) ([]any, func() any) {
			was := &resident{State: s, City: "San", User: 1}
			return []any{was}, func() any { return byPlace.Move(was, resident{State: s, City: "Oakland", User: 1}) }
		}},
		{
			Method: "keys.Composite.Move",
			Reason: "under the same key is a guarded replacement",
			From: func(s string) ([]any, func() any) {
				was := roomy(bson.D{
					{Key: "device", Value: s}, {Key: "at", Value: noon(0)}, {Key: "op", Value: oid(1)}, {Key: "note", Value: "old"},
				})
				now := bson.D{
					{Key: "device", Value: s}, {Key: "at", Value: noon(0)}, {Key: "op", Value: oid(1)}, {Key: "note", Value: s},
				}
				return []any{was, now}, func() any { return byDevice.Move(&was, now) }
			},
		},
	}
}

// drifted are documents under the _id that they had before.
func drifted(s string) any {
	var out []bson.Raw
	for _, doc := range []bson.D{
		{{Key: "_id", Value: oid(1)}, {Key: "state", Value: s}, {Key: "city", Value: "San"}, {Key: "user", Value: 1}},
		{
			{Key: "_id", Value: "NV :Reno :b42"}, {Key: "state", Value: "NV"}, {Key: "city", Value: "Reno"},
			{Key: "user", Value: 42},
		},
		{
			{Key: "_id", Value: "old"}, {Key: "state", Value: "NV"}, {Key: "city", Value: "Reno"}, {Key: "user", Value: 7},
			{Key: "more", Value: bson.A{s}},
		},
	} {
		raw, err := bson.Marshal(doc)
		if err != nil {
			panic(err)
		}
		out = append(out, raw)
	}
	return out
}

func compositeReads() []Case {
	prefixed := func(method, reason string, values func(s string) []any, call func(prefix []any) any) Case {
		return ofValues("keys.Composite."+method, reason, call, values)
	}
	prefix := func(values []any) any { return byPlace.Prefix(values...) }
	one := func(s string) []any { return []any{s} }
	two := func(s string) []any { return []any{s, s} }
	return []Case{
		prefixed("Prefix", "one document", func(s string) []any { return []any{s, s, 42} }, prefix),
		prefixed("Prefix", "a state", one, prefix),
		prefixed("Prefix", "a city", two, prefix),
		prefixed("Prefix", "a number for a text is refused", func(string) []any { return []any{"CA", 1} }, prefix),
		{Method: "keys.Composite.Prefix", Reason: "all", Make: func(string) any { return byPlace.Prefix() }},
		prefixed("Range", "numbers of a city", two, func(v []any) any { return byPlace.Range(v, -1, 42) }),
		prefixed("Range", "cities of a state", one, func(v []any) any { return byPlace.Range(v, v[0], nil) }),
		prefixed("Range", "of a device since a time", one, func(v []any) any { return byDevice.Range(v, noon(0), nil) }),
		prefixed("Range", "of a device until a time", one, func(v []any) any {
			return byDevice.Range(v, nil, noon(0).Add(time.Hour))
		}),
		prefixed("Range", "backwards is refused", two, func(v []any) any { return byPlace.Range(v, 2, 1) }),
		prefixed("StartingWith", "cities of a state", one, func(v []any) any { return byPlace.StartingWith(v, "San") }),
		prefixed("StartingWith", "a space at the end", one, func(v []any) any { return byPlace.StartingWith(v, "San ") }),
		prefixed("Range", "the newest of a device", one, func(v []any) any {
			return byDevice.Range(v, noon(0), nil).Sorted(down).Limited(10)
		}),
		prefixed("Prefix", "the one after in the city", two, func(v []any) any {
			return byPlace.Prefix(v...).After("CA :San :b42").Limited(1)
		}),
		{
			Method: "keys.Composite.Prefix", Reason: "the one after anywhere",
			Make: func(string) any { return byPlace.Prefix().After("CA :San :b42").Limited(1) },
		},
		prefixed("Prefix", "the one before in the state", one, func(v []any) any {
			return byPlace.Prefix(v...).Sorted(down).After("CA :San :b42").Limited(1)
		}),
		prefixed("Counts", "by city", one, func(v []any) any { return byPlace.Counts(v...) }),
		prefixed("Counts", "by time", one, func(v []any) any { return byDevice.Counts(v...) }),
		{Method: "keys.Composite.Counts", Reason: "by state", Make: func(string) any { return byPlace.Counts() }},
		prefixed("Counts", "by the last part is refused", two, func(v []any) any { return byPlace.Counts(v...) }),
		{
			Method: "keys.Composite.Indexes", Reason: "the index on _id serves all",
			Make: func(string) any { return byPlace.Indexes() },
		},
	}
}

func documentKeyCases() []Case {
	of := func(method, reason string, values func(s string) []any, call func(values []any) any) Case {
		return ofValues("keys.DocumentKey."+method, reason, call, values)
	}
	whole := func(s string) []any { return []any{s, s, 42} }
	one := func(s string) []any { return []any{s} }
	id := func(v []any) any {
		id, err := placeInDoc.ID(v...)
		if err != nil {
			return model.NewPlan(model.Refused("documents", err))
		}
		return bson.D{{Key: "_id", Value: mql.Eq(id)}}
	}
	return []Case{
		of("ID", "in the declared order", whole, id),
		of("Prefix", "one document", whole, func(v []any) any { return placeInDoc.Prefix(v...) }),
		of("Prefix", "a state", one, func(v []any) any { return placeInDoc.Prefix(v...) }),
		of("Prefix", "a number for a text is refused", func(string) []any { return []any{1} }, func(v []any) any {
			return placeInDoc.Prefix(v...)
		}),
		of("Range", "cities of a state", one, func(v []any) any { return placeInDoc.Range(v, "", v[0]) }),
		of("Range", "since one", one, func(v []any) any { return placeInDoc.Range(v, v[0], nil) }),
		{
			Method: "keys.DocumentKey.Indexes", Reason: "the index on _id serves all",
			Make: func(string) any { return placeInDoc.Indexes() },
		},
		of("Prefix", "the last first", one, func(v []any) any { return placeInDoc.Prefix(v...).Sorted(down) }),
	}
}
