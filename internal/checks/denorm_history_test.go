package checks

import (
	"github.com/docmodel/docmodel/denorm/history"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type contract struct {
	ID      string           `bson:"_id"`
	Client  string           `bson:"client"`
	Phone   string           `bson:"phone,omitempty"`
	Price   int64            `bson:"price"`
	Version int64            `bson:"version"`
	Revised *history.Revised `bson:"revised,omitempty"`
}

var (
	contracts         = model.NewCollection[contract, string]("contracts")
	contractRevisions = model.NewCollection[history.Revision[contract, string], history.RevisionID[string]]("contracts_revisions")
	contractHistory   = history.New(contracts, contractRevisions, history.Spec{
		Subject: "client", Personal: []string{"phone"},
	})
)

func init() {
	register(historyChanges()...)
	register(historyReads()...)
}

func revisedBy(s string) history.Revised {
	return history.Revised{At: noon(9), By: s, Reason: s}
}

// contractOf is the contract s, in version 7.
func contractOf(s string) testkit.Docs {
	c := contract{
		ID: s, Client: s, Phone: s, Price: 3, Version: 7,
		Revised: &history.Revised{At: noon(1), By: s, Op: oid(1)},
	}
	old := c
	old.Version, old.Revised = 6, nil
	return testkit.Docs{"contracts": {c}, "contracts_revisions": {
		history.Revision[contract, string]{ID: history.RevisionID[string]{ID: s, Version: 6}, Token: oid(3), Doc: old},
	}}
}

func historyChanges() []Case {
	nothing := func(string) testkit.Docs { return nil }
	change := func(method, reason string, docs func(s string) testkit.Docs, call func(s string) model.Change) Case {
		return Case{
			Method: "history.History." + method, Reason: reason, Make: func(s string) any { return call(s) },
			State: asRead(call, docs),
		}
	}
	price := func(s string) bson.D { return roomy(bson.D{{Key: "price", Value: int64(4)}, {Key: "phone", Value: s}}) }
	set := func(s string) model.Change { return contractHistory.Set(s, price(s), revisedBy(s), oid(2)) }
	return []Case{
		change("Insert", "in version 1", nothing, func(s string) model.Change {
			return contractHistory.Insert(contract{ID: s, Client: s}, revisedBy(s), oid(2))
		}),
		{
			Method: "history.History.Set", Reason: "the old version, and then the new one", State: asRead(set, contractOf),
			From: func(s string) ([]any, func() any) {
				d := price(s)
				return []any{d}, func() any { return contractHistory.Set(s, d, revisedBy(s), oid(2)) }
			},
		},
		change("Set", "an operation that was applied does nothing", contractOf, func(s string) model.Change {
			return contractHistory.Set(s, price(s), revisedBy(s), oid(1))
		}),
		change("Change", "whole", contractOf, func(s string) model.Change {
			return contractHistory.Change(s, revisedBy(s), oid(2), func(c contract) (contract, error) {
				c.Price++
				return c, nil
			})
		}),
		change("Delete", "the old version, a mark, its revision, and then the document", contractOf,
			func(s string) model.Change {
				return contractHistory.Delete(s, revisedBy(s), oid(2))
			}),
		change("Restore", "as a new version", contractOf, func(s string) model.Change {
			return contractHistory.Restore(s, 6, revisedBy(s), oid(2))
		}),
		{Method: "history.History.Erase", Reason: "documents, revisions and actors", From: func(s string) ([]any, func() any) {
			subject := &s
			return []any{subject}, func() any { return contractHistory.Erase(subject, revisedBy(*subject), oid(2)) }
		}, State: func(s string) any {
			return []bson.Raw{testkit.Marshal(bson.D{{Key: "_id", Value: s}, {Key: "phone", Value: s}})}
		}},
	}
}

func historyReads() []Case {
	one := func(method, reason string, call func(s string) any) Case {
		return Case{Method: "history.History." + method, Reason: reason, Make: call}
	}
	traces := func(reason string, i int) Case {
		return Case{Method: "history.History.Traces", Reason: reason, From: func(s string) ([]any, func() any) {
			subject := &s
			return []any{subject}, func() any { return contractHistory.Traces(subject)[i] }
		}}
	}
	mark := bson.D{{Key: "at", Value: noon(0)}, {Key: "gone", Value: true}}
	return []Case{
		one("AsOf", "a time", func(s string) any { return contractHistory.AsOf(s, noon(5)) }),
		one("Version", "one", func(s string) any { return contractHistory.Version(s, 3) }),
		one("Revisions", "all", func(s string) any { return contractHistory.Revisions(s, 0, 0) }),
		one("Revisions", "a page", func(s string) any { return contractHistory.Revisions(s, 9, 5) }),
		one("Between", "two times", func(s string) any { return contractHistory.Between(s, noon(1), noon(5)) }),
		traces("in documents", 0), traces("in revisions", 1),
		one("Checks", "deletions under way", func(string) any { return contractHistory.Checks()[0] }),
		one("Checks", "versions behind", func(string) any { return contractHistory.Checks()[1] }),
		one("Checks", "missing revisions", func(string) any { return contractHistory.Checks()[2] }),
		{Method: "history.History.Checks", Reason: "finish a deletion", From: func(s string) ([]any, func() any) {
			check := contractHistory.Checks()[0]
			found := findings(check, bson.D{
				{Key: "_id", Value: s}, {Key: "at", Value: noon(0)}, {Key: "v", Value: int64(7)}, {Key: "mark", Value: mark},
			})
			return []any{found}, func() any { return check.Mend(found) }
		}},
		{Method: "history.History.Checks", Reason: "raise a version", From: func(s string) ([]any, func() any) {
			check := contractHistory.Checks()[1]
			found := findings(check, bson.D{
				{Key: "_id", Value: s}, {Key: "v", Value: int64(2)}, {Key: "newest", Value: int64(7)},
			})
			return []any{found}, func() any { return check.Mend(found) }
		}},
		one("Indexes", "by time, operation and subject", func(string) any { return contractHistory.Indexes() }),
	}
}
