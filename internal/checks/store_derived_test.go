package checks

import (
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func init() {
	register(versionedStoreCases()...)
}

// storeCase is a case of a store's change, with what it reads where documents are stored.
func storeCase[D any](method, reason string, stored func(s string) testkit.Docs, call func(s string) model.Change[model.Stored[D]]) Case {
	return Case{
		Method: "model.Store." + method, Reason: reason,
		Make:  func(s string) any { return call(s) },
		State: asRead(func(s string) model.Change[any] { return call(s).Change() }, stored),
	}
}

func versionedStoreCases() []Case {
	plain, tokens := model.NewStore(model.New("ledgers", versioned), ledgers), model.NewStore(model.New("ledgers", versionedBy), ledgers)
	stored := func(s string) testkit.Docs {
		return testkit.Docs{"ledgers": {ledger{ID: s, Owner: s, Qty: 3, Version: 7, Ops: []bson.ObjectID{oid(1), oid(2)}}}}
	}
	type change = model.Change[model.Stored[ledger]]
	return []Case{
		storeCase("Insert", "in a version made from the token", stored, func(s string) change { return plain.Insert(ledger{ID: s + "2", Owner: s}) }),
		storeCase("Set", "in the next version", stored, func(s string) change { return plain.Set(s, bson.D{{Key: "owner", Value: s + "!"}}) }),
		storeCase("Set", "in the next version, with the latest tokens", stored, func(s string) change { return tokens.Set(s, bson.D{{Key: "owner", Value: s + "!"}}) }),
	}
}
