package checks

import (
	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	copyFields = []copies.Field{{From: "name", To: "name"}, {From: "home.city", To: "place.city"}}
	elements   = []copies.Field{{From: "name", To: "items.name"}, {From: "home.city", To: "items.place.city"}}

	copyNames = copies.New(parts, portfolios, copies.Spec{
		KeyPath: "holdings.stockId",
		Fields:  []copies.Field{{From: "name", To: "holdings.note"}},
	})
	copyBeside = copies.New(anything, anything, copies.Spec{
		KeyPath: "owner.id",
		Fields:  []copies.Field{{From: "name", To: "owner.name"}},
		Version: "v", VersionTo: "owner.v",
	})
	copyBare  = copies.New(anything, anything.Named("copies"), copies.Spec{KeyPath: "owner", Fields: copyFields})
	copyItems = copies.New(anything, anything.Named("copies"), copies.Spec{
		KeyPath: "items.id", Fields: elements, Version: "v", VersionTo: "items.v", Lists: []string{"items"},
	})
	copyNested = copies.New(anything, anything.Named("copies"), copies.Spec{
		KeyPath: "groups.items.id", Fields: []copies.Field{{From: "name", To: "groups.items.name"}}, Version: "v",
		VersionTo: "groups.items.v",
		Lists:     []string{"groups", "groups.items"},
	})
	copyListed = copies.New(anything, anything.Named("copies"), copies.Spec{
		Listed: "docs", Fields: copyFields, Version: "v", VersionTo: "v",
	})

	copyCounted = copies.New(anything, anything.Named("copies"), copies.Spec{
		KeyPath: "owner", Fields: copyFields, CountUp: "version",
	})
	copyCountedIn = copies.New(anything, anything.Named("copies"), copies.Spec{
		KeyPath: "items.id", Fields: elements, CountUp: "version", Lists: []string{"items"},
	})
	copyCountedListed = copies.New(anything, anything.Named("copies"), copies.Spec{
		Listed: "docs", Fields: copyFields, CountUp: "version",
	})
)

func init() {
	register(copyWrites()...)
	register(copyJobs()...)
	register(copyChecks()...)
}

// sourceOf is a source of each copy, in version 4.
func sourceOf(s string) bson.D {
	return roomy(bson.D{
		{Key: "_id", Value: s}, {Key: "name", Value: s}, {Key: "home", Value: roomy(bson.D{{Key: "city", Value: s}})},
		{Key: "v", Value: int32(4)}, {Key: "docs", Value: roomy(bson.A{s, s + "2", s})},
	})
}

// ofSource is a case about a source.
func ofSource(method, reason string, call func(doc *bson.D, s string) any) Case {
	return Case{Method: "copies.Copy." + method, Reason: reason, From: func(s string) ([]any, func() any) {
		doc := sourceOf(s)
		return []any{doc}, func() any { return call(&doc, s) }
	}}
}

func copyWrites() []Case {
	return []Case{
		ofSource("Propagate", "to elements", func(doc *bson.D, _ string) any { return copyItems.Propagate(doc) }),
		ofSource("Propagate", "to elements of arrays within an array", func(doc *bson.D, _ string) any {
			return copyNested.Propagate(doc)
		}),
		ofSource("Propagate", "beside a key", func(doc *bson.D, _ string) any { return copyBeside.Propagate(doc) }),
		ofSource("Propagate", "without a version, where something differs", func(doc *bson.D, _ string) any {
			return copyBare.Propagate(doc)
		}),
		ofSource("Propagate", "to the documents that the source lists", func(doc *bson.D, _ string) any {
			return copyListed.Propagate(doc)
		}),
		ofSource("Propagate", "counts the documents' version up", func(doc *bson.D, _ string) any {
			return copyCountedIn.Propagate(doc)
		}),
		{Method: "copies.Copy.Propagate", Reason: "a value that is not there", From: func(s string) ([]any, func() any) {
			doc := roomy(bson.D{{Key: "_id", Value: s}, {Key: "name", Value: nil}})
			return []any{doc}, func() any { return copyBare.Propagate(&doc) }
		}},
		{Method: "copies.Copy.Propagate", Reason: "typed documents",
			Make: func(s string) any { return copyNames.Propagate(&sparePart{ID: s, Name: s}) }},
		{Method: "copies.Copy.Propagate", Reason: "no _id is refused",
			Make: func(string) any { return copyNames.Propagate(&sparePart{}) }},
		{Method: "copies.Copy.Refresh", Reason: "of named documents", From: func(s string) ([]any, func() any) {
			docs := roomy([]any{s + "2"})
			return []any{docs}, func() any { return copyItems.Refresh(s, docs...) }
		}, State: func(s string) any { return rawDoc(sourceOf(s)) }},
		{Method: "copies.Copy.Refresh", Reason: "as the source is now",
			Make: func(s string) any { return copyItems.Refresh(s) }, State: func(s string) any { return rawDoc(sourceOf(s)) }},
	}
}

func rawDoc(d bson.D) bson.Raw {
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	return raw
}

func copyJobs() []Case {
	sources := func(s string) any { return []bson.Raw{rawDoc(sourceOf(s)), rawDoc(sourceOf(s + "2"))} }
	holders := func(s string) any {
		return []bson.Raw{rawDoc(bson.D{{Key: "_id", Value: s}}), rawDoc(bson.D{{Key: "_id", Value: s + "2"}})}
	}
	rows := func(s string) any {
		row := func(copied, stale bool, extra bson.A) bson.Raw {
			return rawDoc(bson.D{
				{Key: "source", Value: sourceOf(s)}, {Key: "copied", Value: copied}, {Key: "stale", Value: stale},
				{Key: "extra", Value: extra},
			})
		}
		return []bson.Raw{
			row(true, false, bson.A{}), row(false, false, bson.A{}), row(true, true, bson.A{}), row(true, false, bson.A{"x"}),
		}
	}
	job := func(c Case, state func(string) any) Case {
		c.State = state
		return c
	}
	return []Case{
		job(ofSource("PropagateJob", "a batch of documents", func(doc *bson.D, _ string) any {
			return copyNested.PropagateJob(doc)
		}), holders),
		ofSource("PropagateJob", "of listed documents is refused", func(doc *bson.D, _ string) any {
			return copyListed.PropagateJob(doc)
		}),
		{
			Method: "copies.Copy.Rebuild", Reason: "a batch of sources",
			Make:  func(string) any { return copyItems.Rebuild() },
			State: sources,
		},
		{
			Method: "copies.Copy.Rebuild", Reason: "without versions",
			Make:  func(string) any { return copyBare.Rebuild() },
			State: sources,
		},
		{
			Method: "copies.Copy.Rebuild", Reason: "listed documents",
			Make:  func(string) any { return copyListed.Rebuild() },
			State: sources,
		},
		{
			Method: "copies.Copy.Fold", Reason: "of four sources one can go", State: rows,
			From: func(string) ([]any, func() any) {
				drop := []string{"docs", "note"}
				return []any{drop}, func() any { return copyItems.Fold(drop...) }
			},
		},
		{
			Method: "copies.Copy.Fold", Reason: "a field that can't be one is refused",
			Make: func(string) any { return copyItems.Fold("$x") },
		},
	}
}

func copyChecks() []Case {
	repair := func(reason string, c *copies.Copy[bson.D, any, any], ahead bool, version any) Case {
		return Case{Method: "copies.Copy.Checks", Reason: reason, From: func(s string) ([]any, func() any) {
			found := findings(c.Checks()[0], bson.D{
				{Key: "doc", Value: s}, {Key: "src", Value: s + "2"}, {Key: "ahead", Value: ahead}, {Key: "v", Value: version},
				{Key: "wv", Value: int32(4)},
				{Key: "found", Value: bson.D{{Key: "name", Value: s}}},
				{Key: "want", Value: bson.D{{Key: "name", Value: s + "2"}, {Key: "place", Value: bson.D{{Key: "city", Value: s}}}}},
			})
			return []any{found}, func() any { return c.Checks()[0].Mend(found) }
		}}
	}
	return []Case{
		{Method: "copies.Copy.Checks", Reason: "of elements", Make: func(string) any { return copyItems.Checks()[0] }},
		{
			Method: "copies.Copy.Checks", Reason: "of elements, sources that are missing",
			Make: func(string) any { return copyItems.Checks()[1] },
		},
		{
			Method: "copies.Copy.Checks",
			Reason: "of elements within elements, of some documents",
			From: func(s string) ([]any, func() any) {
				filter := roomy(bson.D{{Key: "_id", Value: s}})
				return []any{filter}, func() any { return copyNested.Checks()[0].In(filter) }
			},
		},
		{Method: "copies.Copy.Checks", Reason: "beside a key", Make: func(string) any { return copyBare.Checks()[0] }},
		{
			Method: "copies.Copy.Checks", Reason: "beside a key, sources that are missing",
			Make: func(string) any { return copyBare.Checks()[1] },
		},
		{
			Method: "copies.Copy.Checks", Reason: "of listed documents",
			Make: func(string) any { return copyListed.Checks()[0] },
		},
		repair("mend an element, as it was found", copyItems, false, int32(4)),
		repair("mend a version that is ahead", copyItems, true, int32(9)),
		repair("mend beside a key", copyBare, false, int32(4)),
		{Method: "copies.Copy.Unfolded", Reason: "of elements", From: func(string) ([]any, func() any) {
			drop := []string{"docs", "note"}
			return []any{drop}, func() any { return copyItems.Unfolded(drop...) }
		}},
		{
			Method: "copies.Copy.Unfolded", Reason: "of listed documents",
			Make: func(string) any { return copyListed.Unfolded() },
		},
		{Method: "copies.Copy.Indexes", Reason: "copies by source", Make: func(string) any { return copyItems.Indexes() }},
		{
			Method: "copies.Copy.Indexes", Reason: "sources by what they list",
			Make: func(string) any { return copyListed.Indexes() },
		},
	}
}

var _ model.Technique = copyItems
