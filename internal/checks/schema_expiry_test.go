package checks

import (
	"time"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Log messages that are kept for a time, and then for another.
var (
	expiryDeleted  = schema.NewExpiry(logmsgs, "time", schema.ExpirySpec{After: 30 * 24 * time.Hour})
	expiryEach     = schema.NewExpiry(anything, "meta.until", schema.ExpirySpec{Archive: "archive"})
	expiryArchived = schema.NewExpiry(logmsgs, "time", schema.ExpirySpec{
		After: 30 * 24 * time.Hour, Archive: "oldmsgs", Margin: 7 * 24 * time.Hour, ArchiveFor: 5 * 365 * 24 * time.Hour,
	})
	expiryVersion = schema.NewExpiry(anything, "meta.until", schema.ExpirySpec{Archive: "archive", Version: "meta.v"})
)

func init() {
	register(expiryReads()...)
	register(expiryWrites()...)
}

// expiryDoc is a document that holds s, as it is stored.
func expiryDoc(s string, n int) bson.Raw { return expiryDocOf(s, s, n) }

func expiryDocOf(id any, s string, n int) bson.Raw {
	raw, err := bson.Marshal(bson.D{
		{Key: "_id", Value: id}, {Key: "text", Value: s},
		{Key: "meta", Value: bson.D{{Key: "until", Value: noon(n)}, {Key: "v", Value: int64(n)}}},
	})
	if err != nil {
		panic(err)
	}
	return raw
}

// expiryBatch is what Archive reads of one that is archived, in another state and in the same, or isn't.
func expiryBatch(s string) any {
	var out []bson.Raw
	for i, cold := range []bson.A{{}, {expiryDoc(s+"1", 1)}, {expiryDoc(s+"2", 0)}} {
		raw, err := bson.Marshal(bson.D{
			{Key: "_id", Value: s},
			{Key: "doc", Value: expiryDoc(s+[]string{"0", "1", "2"}[i], 0)},
			{Key: "cold", Value: cold},
		})
		if err != nil {
			panic(err)
		}
		out = append(out, raw)
	}
	return out
}

func expiryReads() []Case {
	return []Case{
		{
			Method: "schema.Expiry.Expired", Reason: "thirty days after a time",
			Make: func(string) any { return expiryArchived.Expired(noon(0)) },
		},
		{
			Method: "schema.Expiry.Live", Reason: "those that never expire too",
			Make: func(string) any { return expiryEach.Live(noon(0)) },
		},
		{
			Method: "schema.Expiry.Archived", Reason: "by _id",
			Make: func(string) any { return expiryArchived.Archived(oid(1)) },
		},
		{Method: "schema.Expiry.Archived", Reason: "a document as _id is not kept",
			From: func(s string) ([]any, func() any) {
				id := bson.D{{Key: "a", Value: s}}
				return []any{id}, func() any { return expiryEach.Archived(id) }
			}},
		{
			Method: "schema.Expiry.Archived", Reason: "without an Archive is refused",
			Make: func(string) any { return expiryDeleted.Archived(oid(1)) },
		},
		{
			Method: "schema.Expiry.Both", Reason: "with the moment of expiry",
			Make: func(string) any { return expiryEach.Both(noon(0)) },
		},
		{
			Method: "schema.Expiry.Both", Reason: "without an Archive is refused",
			Make: func(string) any { return expiryDeleted.Both(noon(0)) },
		},
		{
			Method: "schema.Expiry.Indexes", Reason: "the server deletes",
			Make: func(string) any { return expiryDeleted.Indexes() },
		},
		{
			Method: "schema.Expiry.Indexes", Reason: "documents are archived, and stay there",
			Make: func(string) any { return expiryEach.Indexes() },
		},
		{
			Method: "schema.Expiry.Indexes", Reason: "a margin, and an end of the archive",
			Make: func(string) any { return expiryArchived.Indexes() },
		},
	}
}

func expiryWrites() []Case {
	op := oid(9)
	pair := func(s string) schema.ExpiryPair {
		doc := expiryDoc(s, 0)
		return schema.ExpiryPair{ID: doc.Lookup("_id"), Hot: expiryDoc(s, 1), Cold: doc}
	}

	archived := func(s string) testkit.Docs { return testkit.Docs{"archive": {expiryDoc(s, 0)}} }
	restore := func(reason string, change func(s string) model.Change, docs func(s string) testkit.Docs) Case {
		return Case{
			Method: "schema.Expiry.Restore", Reason: reason, Make: func(s string) any { return change(s) },
			State: asRead(change, docs),
		}
	}
	return []Case{
		{Method: "schema.Expiry.Until", Reason: "a moment",
			From: func(s string) ([]any, func() any) {
				id := bson.D{{Key: "a", Value: s}}
				return []any{id}, func() any { return expiryEach.Until(id, noon(0)) }
			}},
		{
			Method: "schema.Expiry.Until", Reason: "the version is counted up",
			Make: func(s string) any { return expiryVersion.Until(s, noon(0)) },
		},
		{
			Method: "schema.Expiry.Until", Reason: "with After is refused",
			Make: func(string) any { return expiryArchived.Until(oid(1), noon(0)) },
		},
		{Method: "schema.Expiry.Until", Reason: "never: the moment is taken off",
			From: func(s string) ([]any, func() any) {
				id := bson.D{{Key: "a", Value: s}}
				return []any{id}, func() any { return expiryEach.Until(id, time.Time{}) }
			}},
		{
			Method: "schema.Expiry.Until", Reason: "never: the version is counted up",
			Make: func(s string) any { return expiryVersion.Until(s, time.Time{}) },
		},
		{Method: "schema.Expiry.Archive", Reason: "not archived, archived in another state, and in the same",
			Make: func(string) any { return expiryEach.Archive(noon(0)) }, State: expiryBatch},
		{Method: "schema.Expiry.Archive", Reason: "guarded by the version",
			Make: func(string) any { return expiryVersion.Archive(noon(0)) }, State: expiryBatch},
		{Method: "schema.Expiry.Archive", Reason: "thirty days after a time",
			Make: func(string) any { return expiryArchived.Archive(noon(0)) }, State: expiryBatch},
		{Method: "schema.Expiry.Archive", Reason: "without an Archive is refused",
			Make: func(string) any { return expiryDeleted.Archive(noon(0)) }, State: expiryBatch},
		{Method: "schema.Expiry.Restore", Reason: "until a moment",
			From: func(s string) ([]any, func() any) {
				id := bson.D{{Key: "a", Value: s}}
				return []any{id}, func() any { return expiryEach.Restore(id, noon(5)) }
			},
			State: asRead(func(s string) model.Change { return expiryEach.Restore(bson.D{{Key: "a", Value: s}}, noon(5)) },
				func(s string) testkit.Docs {
					return testkit.Docs{"archive": {expiryDocOf(bson.D{{Key: "a", Value: s}}, s, 0)}}
				})},
		restore("for ever", func(s string) model.Change { return expiryEach.Restore(s, time.Time{}) }, archived),
		restore("in a version that no copy has",
			func(s string) model.Change { return expiryVersion.Restore(s, noon(5)) }, archived),
		restore("until the next run", func(string) model.Change { return expiryArchived.Restore(oid(1), time.Time{}) },
			func(s string) testkit.Docs {
				return testkit.Docs{"oldmsgs": {expiryDocOf(oid(1), s, 0)}}
			}),
		restore("one that is there: nothing is sent",
			func(s string) model.Change { return expiryEach.Restore(s, time.Time{}) }, func(s string) testkit.Docs {
				return testkit.Docs{"anything": {expiryDoc(s, 1)}, "archive": {expiryDoc(s, 0)}}
			}),
		{Method: "schema.Expiry.Discard", Reason: "the copy of a living document",
			From: func(s string) ([]any, func() any) {
				p := pair(s)
				return []any{p.Cold, p.Hot}, func() any { return expiryEach.Discard(p, op) }
			}},
		{
			Method: "schema.Expiry.Discard", Reason: "the version is counted up",
			Make: func(s string) any { return expiryVersion.Discard(pair(s), op) },
		},
		{Method: "schema.Expiry.Discard", Reason: "an expired one is refused",
			Make: func(s string) any { p := pair(s); p.Expired = true; return expiryEach.Discard(p, op) }},
	}
}
