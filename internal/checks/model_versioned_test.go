package checks

import (
	"math"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type ledger struct {
	ID      string          `bson:"_id"`
	Owner   string          `bson:"owner"`
	Qty     int64           `bson:"qty"`
	Version int64           `bson:"version"`
	Ops     []bson.ObjectID `bson:"ops,omitempty"`
}

var (
	ledgers     = model.NewCollection[ledger, string]("ledgers")
	versioned   = embed.NewVersioned(ledgers, embed.VersionedSpec{})
	versionedBy = embed.NewVersioned(ledgers, embed.VersionedSpec{Tokens: "ops", Keep: 2})
)

func init() {
	register(versionedWrites()...)
}

func versionedWrites() []Case {
	update := func(s string) bson.D {
		return roomy(bson.D{
			{Key: "$set", Value: roomy(bson.D{{Key: "owner", Value: s}})},
			{Key: "$inc", Value: roomy(bson.D{{Key: "qty", Value: int64(1)}})},
		})
	}
	return []Case{
		{Method: "embed.Versioned.Update", Reason: "by operators", From: func(s string) ([]any, func() any) {
			u := update(s)
			return []any{u}, func() any { return versioned.Update(s, 7, u, bson.ObjectID{}) }
		}},
		{Method: "embed.Versioned.Update", Reason: "by operators, with a token", From: func(s string) ([]any, func() any) {
			u := update(s)
			return []any{u}, func() any { return versionedBy.Update(s, 7, u, oid(9)) }
		}},
		{Method: "embed.Versioned.Update", Reason: "the last version is refused", Make: func(s string) any {
			return versioned.Update(s, math.MaxInt64, update(s), bson.ObjectID{})
		}},
		{Method: "embed.Versioned.Update", Reason: "the version itself is refused", Make: func(s string) any {
			return versioned.Update(s, 7, bson.D{{Key: "$inc", Value: bson.D{{Key: "version", Value: 1}}}}, bson.ObjectID{})
		}},
		{
			Method: "embed.Versioned.Update", Reason: "counted up, and nothing else",
			Make: func(s string) any { return versioned.Update(s, 7, nil, bson.ObjectID{}) },
		},
		{
			Method: "embed.Versioned.Update", Reason: "counted up, with a token",
			Make: func(s string) any { return versionedBy.Update(s, 7, nil, oid(9)) },
		},
		{Method: "embed.Versioned.Guarded", Reason: "while the guard holds", From: func(s string) ([]any, func() any) {
			guard, u := roomy(bson.D{{Key: "owner", Value: s}, {Key: "qty", Value: bson.D{{Key: "$gte", Value: 3}}}}), update(s)
			return []any{guard, u}, func() any { return versioned.Guarded(s, guard, u, bson.ObjectID{}) }
		}},
		{Method: "embed.Versioned.Guarded", Reason: "with a token", From: func(s string) ([]any, func() any) {
			guard, u := roomy(bson.D{{Key: "owner", Value: s}}), update(s)
			return []any{guard, u}, func() any { return versionedBy.Guarded(s, guard, u, oid(9)) }
		}},
		{Method: "embed.Versioned.Guarded", Reason: "no guard is refused", From: func(s string) ([]any, func() any) {
			u := update(s)
			return []any{u}, func() any { return versioned.Guarded(s, nil, u, bson.ObjectID{}) }
		}},
		{
			Method: "embed.Versioned.Take", Reason: "if there is as much",
			Make: func(s string) any { return versionedBy.Take(s, "qty", 3, oid(9)) },
		},
		{
			Method: "embed.Versioned.Take", Reason: "from no number is refused",
			Make: func(s string) any { return versionedBy.Take(s, "owner", 3, oid(9)) },
		},
		{Method: "embed.Versioned.Checks", Reason: "no number", Make: func(string) any { return versioned.Checks()[0] }},
		mendsOf("embed.Versioned.Checks", "a version that nobody read", versioned.Checks()[0], wholeDocuments),
		{
			Method: "embed.Versioned.Indexes", Reason: "documents are found by _id",
			Make: func(string) any { return versioned.Indexes() },
		},
	}
}
