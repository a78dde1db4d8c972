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
	register(versionedChanges()...)
}

func versionedWrites() []Case {
	update := func(s string) bson.D {
		return roomy(bson.D{{Key: "$set", Value: roomy(bson.D{{Key: "owner", Value: s}})}, {Key: "$inc", Value: roomy(bson.D{{Key: "qty", Value: int64(1)}})}})
	}
	tokens := func() []bson.ObjectID { return roomy([]bson.ObjectID{oid(1), oid(2)}) }
	return []Case{
		{Method: "embed.Versioned.Insert", Reason: "in a version made from the token", Make: func(s string) any { return versioned.Insert(ledger{ID: s, Owner: s}, oid(9)) }},
		{Method: "embed.Versioned.Insert", Reason: "with its token", Make: func(s string) any { return versionedBy.Insert(ledger{ID: s, Owner: s}, oid(9)) }},
		{Method: "embed.Versioned.Insert", Reason: "a version is refused", Make: func(s string) any { return versioned.Insert(ledger{ID: s, Version: 2}, oid(9)) }},
		{Method: "embed.Versioned.Replace", Reason: "in the version that was read", Make: func(s string) any { return versioned.Replace(ledger{ID: s, Owner: s, Version: 7}, bson.ObjectID{}) }},
		{Method: "embed.Versioned.Replace", Reason: "from before versions", Make: func(s string) any { return versioned.Replace(ledger{ID: s, Owner: s}, bson.ObjectID{}) }},
		{Method: "embed.Versioned.Replace", Reason: "with the latest tokens", From: func(s string) ([]any, func() any) {
			ops := tokens()
			return []any{ops}, func() any { return versionedBy.Replace(ledger{ID: s, Owner: s, Version: 7, Ops: ops}, oid(9)) }
		}},
		{Method: "embed.Versioned.Replace", Reason: "without a token is refused", Make: func(s string) any { return versionedBy.Replace(ledger{ID: s, Version: 7}, bson.ObjectID{}) }},
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
		{Method: "embed.Versioned.Update", Reason: "counted up, and nothing else", Make: func(s string) any { return versioned.Update(s, 7, nil, bson.ObjectID{}) }},
		{Method: "embed.Versioned.Update", Reason: "counted up, with a token", Make: func(s string) any { return versionedBy.Update(s, 7, nil, oid(9)) }},
		{Method: "embed.Versioned.Delete", Reason: "in a version", Make: func(s string) any { return versioned.Delete(s, 7) }},
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
		{Method: "embed.Versioned.Take", Reason: "if there is as much", Make: func(s string) any { return versionedBy.Take(s, "qty", 3, oid(9)) }},
		{Method: "embed.Versioned.Take", Reason: "from no number is refused", Make: func(s string) any { return versionedBy.Take(s, "owner", 3, oid(9)) }},
		{Method: "embed.Versioned.Checks", Reason: "no number", Make: func(string) any { return versioned.Checks()[0] }},
		mendsOf("embed.Versioned.Checks", "a version that nobody read", versioned.Checks()[0], wholeDocuments),
		{Method: "embed.Versioned.Indexes", Reason: "documents are found by _id", Make: func(string) any { return versioned.Indexes() }},
	}
}

func versionedChanges() []Case {
	state := func(ops ...bson.ObjectID) func(s string) any {
		return func(s string) any { return ledger{ID: s, Owner: s, Qty: 3, Version: 7, Ops: ops} }
	}
	replace := func(l ledger) (ledger, error) { l.Qty--; return l, nil }
	return []Case{
		{Method: "embed.Versioned.Change", Reason: "what was read, one less", State: state(),
			Make: func(s string) any { return versioned.Change(s, bson.ObjectID{}, replace) }},
		{Method: "embed.Versioned.Change", Reason: "with a token", State: state(oid(1), oid(2)),
			Make: func(s string) any { return versionedBy.Change(s, oid(9), replace) }},
		{Method: "embed.Versioned.Change", Reason: "its token is there", State: state(oid(1), oid(9)),
			Make: func(s string) any { return versionedBy.Change(s, oid(9), replace) }},
		{Method: "embed.Versioned.ChangeBy", Reason: "by operators", State: state(oid(1)),
			Make: func(s string) any {
				return versionedBy.ChangeBy(s, oid(9), func(l ledger) (bson.D, error) {
					return bson.D{{Key: "$set", Value: bson.D{{Key: "owner", Value: l.Owner + s}}}}, nil
				})
			}},
	}
}
