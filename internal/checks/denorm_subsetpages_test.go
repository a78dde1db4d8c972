package checks

import (
	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/subsetpages"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var newestMails = subsetpages.New(mailboxes, "mails", keyMails, subsetpages.Spec{
	Max: 2, By: bson.D{{Key: "head.kb", Value: -1}},
})

func init() { register(subsetPagesCases()...) }

// pagedBox is a mailbox whose array holds a mail, and the page that holds it and another.
func pagedBox(s string) testkit.Docs {
	one, other := mailOf(s), mailOf(s+"2")
	return testkit.Docs{
		"boxes": {mailbox{ID: s, Mails: []mail{one}}},
		"mail": {bucket.Doc[string, mail]{
			ID: rowText(s) + "#0000000004", Key: s, Seq: 4, N: 2, Bytes: 9, Items: []mail{one, other},
		}},
	}
}

func subsetPagesCases() []Case {
	change := func(method, reason string, of func(s string) model.Change, docs func(s string) testkit.Docs) Case {
		return Case{
			Method: "subsetpages.SubsetPages." + method, Reason: reason, Make: func(s string) any { return of(s) },
			State: asRead(of, docs),
		}
	}
	none := func(string) testkit.Docs { return nil }
	add := func(s string) model.Change { return newestMails.Append(s, mailOf(s)) }
	remove := func(s string) model.Change { return newestMails.Remove(s, s) }
	set := func(s string) model.Change { return newestMails.Set(s, s, bson.D{{Key: "text", Value: s + "x"}}) }
	refresh := func(s string) model.Change { return newestMails.Refresh(s) }
	check := func(reason string, n int, detail func(s string) bson.M) Case {
		return Case{Method: "subsetpages.SubsetPages.Checks", Reason: reason, From: func(s string) ([]any, func() any) {
			check := newestMails.Checks()[n]
			found := findings(check, detail(s))
			return []any{found}, func() any { return check.Mend(found) }
		}}
	}
	return []Case{
		change("Append", "the first page, then the parent", add, func(s string) testkit.Docs {
			return testkit.Docs{"boxes": {mailbox{ID: s}}}
		}),
		change("Append", "an element that is there", add, pagedBox),
		{
			Method: "subsetpages.SubsetPages.Set", Reason: "in its page", State: asRead(set, pagedBox),
			From: func(s string) ([]any, func() any) {
				fields := roomy(bson.D{{Key: "text", Value: s + "x"}})
				return []any{fields}, func() any { return newestMails.Set(s, s, fields) }
			},
		},
		{
			Method: "subsetpages.SubsetPages.Remove", Reason: "from its page", State: asRead(remove, pagedBox),
			From: func(s string) ([]any, func() any) {
				key := roomy(bson.D{{Key: "a", Value: s}})
				return []any{key}, func() any { return newestMails.Remove(s, key) }
			},
		},
		change("Remove", "an element that isn't there", remove, none),
		change("Refresh", "what the pages say", refresh, pagedBox),
		change("Refresh", "without a parent", refresh, none),
		{
			Method: "subsetpages.SubsetPages.Set", Reason: "the key is refused",
			Make: func(s string) any { return newestMails.Set(s, s, bson.D{{Key: "id", Value: s}}) },

			State: func(string) any { return nil },
		},
		{
			Method: "subsetpages.SubsetPages.Rest", Reason: "without what the parent holds",
			From: func(s string) ([]any, func() any) {
				box := &mailbox{ID: s, Mails: roomy([]mail{mailOf(s)})}
				return []any{box}, func() any { return newestMails.Rest(box, "", 2) }
			},
		},
		{Method: "subsetpages.SubsetPages.Rest", Reason: "after a page", From: func(s string) ([]any, func() any) {
			box := &mailbox{ID: s}
			return []any{box}, func() any { return newestMails.Rest(box, rowText(s)+"#0000000004", 0) }
		}},
		{
			Method: "subsetpages.SubsetPages.Checks", Reason: "of all parents",
			Make: func(string) any { return newestMails.Checks()[0] },
		},
		{
			Method: "subsetpages.SubsetPages.Checks", Reason: "of all pages",
			Make: func(string) any { return newestMails.Checks()[1] },
		},
		check("an array as it was found", 0, func(s string) bson.M {
			return bson.M{
				"_id": s, "found": bson.A{bson.D{{Key: "id", Value: s}}},
				"want": bson.A{bson.D{{Key: "id", Value: s + "2"}}},
			}
		}),
		check("orphans as they were found", 1, func(s string) bson.M {
			return bson.M{"_id": s + "#0000000000", "key": s, "n": int64(3), "bytes": int64(300)}
		}),
		{
			Method: "subsetpages.SubsetPages.Indexes", Reason: "the pages' own",
			Make: func(string) any { return newestMails.Indexes() },
		},
	}
}
