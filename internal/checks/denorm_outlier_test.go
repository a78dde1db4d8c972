package checks

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/outlier"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// What has outliers: mailboxes that keep their first two mails.
type mailbox struct {
	ID    string `bson:"_id"`
	More  bool   `bson:"more,omitempty"`
	Mails []mail `bson:"mails,omitempty"`
}

var (
	mailboxes  = model.NewCollection[mailbox, string]("boxes")
	boxMails   = outlier.New(mailboxes, "mails", keyMails, outlier.Spec{Max: 2, Flag: "more"})
	plainBoxes = outlier.New(mailboxes, "mails", mails, outlier.Spec{Max: 2, Flag: "more"})
	largeBoxes = outlier.New(mailboxes, "mails", largeMails,
		outlier.Spec{Max: 2, MaxBytes: 1 << 20, Flag: "more"})
	addingBoxes = outlier.New(mailboxes, "mails",
		bucket.New(mailBuckets, bucket.Spec{Max: 1, ElementKey: "id", Totals: []string{"head.kb"}}),
		outlier.Spec{Max: 2, Flag: "more"})
)

func init() {
	register(outlierChanges()...)
	register(outlierReads()...)
	register(outlierRepairs()...)
}

type boxOutlier = outlier.Outlier[mailbox, string, mail]

func outlierChanges() []Case {
	change := func(method, reason string, of func(s string) model.Change, docs func(s string) testkit.Docs) Case {
		return Case{
			Method: "outlier.Outlier." + method, Reason: reason, Make: func(s string) any { return of(s) },
			State: asRead(of, docs),
		}
	}
	add := func(reason string, x *boxOutlier, docs func(s string) testkit.Docs) Case {
		c := change("Append", reason, func(s string) model.Change { return x.Append(s, mailOf(s)) }, docs)
		c.MayRefuse = "it is too large for a bucket"
		return c
	}
	remove := func(reason string, x *boxOutlier, docs func(s string) testkit.Docs) Case {
		return change("Remove", reason, func(s string) model.Change { return x.Remove(s, s) }, docs)
	}
	// box is a mailbox with some mails, and overflow documents.
	box := func(more bool, mails []any, pages ...func(s string) bson.D) func(s string) testkit.Docs {
		return func(s string) testkit.Docs {
			docs := testkit.Docs{
				"boxes": {bson.D{{Key: "_id", Value: s}, {Key: "more", Value: more}, {Key: "mails", Value: bson.A(mails)}}},
			}
			for _, page := range pages {
				docs["mail"] = append(docs["mail"], page(s))
			}
			return docs
		}
	}
	other := func(n int) []any { // mails
		list := []any{}
		for i := range n {
			list = append(list, bson.D{{Key: "id", Value: i}})
		}
		return list
	}
	newest := func(s string) bson.D {
		return bson.D{{Key: "_id", Value: rowText(s) + "#0000000004"}, {Key: "seq", Value: 4}, {Key: "n", Value: 9}}
	}
	holds := func(s string) bson.D {
		return bson.D{
			{Key: "_id", Value: "b#0000000001"}, {Key: "key", Value: s},
			{Key: "items", Value: bson.A{bson.D{{Key: "id", Value: s}}}},
		}
	}
	held := func(s string) testkit.Docs { return box(false, []any{bson.D{{Key: "id", Value: s}}})(s) }
	large := []any{bson.D{{Key: "text", Value: strings.Repeat("x", 1<<20)}}}
	return []Case{
		add("the array has room", boxMails, box(false, other(1))),
		add("without a Key", plainBoxes, box(false, other(0))),
		add("within bytes", largeBoxes, box(false, other(1))),
		add("over the bound: the flag, and then the overflow", boxMails, box(false, other(2))),
		add("over the bound without a Key", plainBoxes, box(false, other(2))),
		add("over the bytes", largeBoxes, box(false, large)),
		add("there is overflow", boxMails, box(true, other(2), newest)),
		add("there is overflow, though the array has room again", boxMails, box(true, other(1), newest)),
		add("the array holds it: nothing is sent", boxMails, held),
		change("Append", "to nobody is refused",
			func(s string) model.Change { return boxMails.Append("", mailOf(s)) }, held),
		remove("from the array", boxMails, held),
		remove("from the overflow, counted anew", addingBoxes, box(true, other(2), newest, holds)),
		remove("what isn't there: nothing is sent", boxMails, box(false, other(2))),
		{Method: "outlier.Outlier.Remove", Reason: "a document as key is not kept",
			State: asRead(func(s string) model.Change { return boxMails.Remove("b", map[string]string{"$gt": s}) },
				func(s string) testkit.Docs {
					mail := bson.D{{Key: "id", Value: bson.D{{Key: "$gt", Value: s}}}}
					return testkit.Docs{"boxes": {bson.D{{Key: "_id", Value: "b"}, {Key: "mails", Value: bson.A{mail}}}}}
				}),
			From: func(s string) ([]any, func() any) {
				key := map[string]string{"$gt": s}
				return []any{key}, func() any { return boxMails.Remove("b", key) }
			}},
		{
			Method: "outlier.Outlier.Delete", Reason: "with its overflow",
			Make: func(s string) any { return boxMails.Delete(s) },
		},
	}
}

func outlierReads() []Case {
	return []Case{
		{
			Method: "outlier.Outlier.Elements", Reason: "the array, and then the pages",
			Make: func(s string) any { return boxMails.Elements(s) },
		},
		{Method: "outlier.Outlier.Holding", Reason: "by key", Make: func(s string) any { return boxMails.Holding(s, s) }},
		{Method: "outlier.Outlier.Holding", Reason: "a document as key is not kept", From: func(s string) ([]any, func() any) {
			key := map[string]string{"$gt": s}
			return []any{key}, func() any { return boxMails.Holding("b", key) }
		}},
		{
			Method: "outlier.Outlier.Holding", Reason: "without a Key is refused",
			Make: func(s string) any { return plainBoxes.Holding(s, s) },
		},
		{Method: "outlier.Outlier.Count", Reason: "both", Make: func(s string) any { return boxMails.Count(s) }},
		{
			Method: "outlier.Outlier.Checks", Reason: "overflow without the flag",
			Make: func(string) any { return boxMails.Checks()[0] },
		},
		{
			Method: "outlier.Outlier.Checks", Reason: "arrays over the bound",
			Make: func(string) any { return boxMails.Checks()[1] },
		},
		{
			Method: "outlier.Outlier.Checks", Reason: "overflow of nobody",
			Make: func(string) any { return boxMails.Checks()[2] },
		},
		{
			Method: "outlier.Outlier.Indexes", Reason: "the Bucket's own finds overflow",
			Make: func(string) any { return boxMails.Indexes() },
		},
		{Method: "outlier.Outlier.Indexes", Reason: "without a Key", Make: func(string) any { return plainBoxes.Indexes() }},
	}
}

func outlierRepairs() []Case {
	four := func(s string) any {
		var list []mail
		for _, id := range []string{"1", "2", "3", "4"} {
			m := mailOf(s)
			m.ID += id
			list = append(list, m)
		}
		return []bson.Raw{rawDocs(mailbox{ID: s, Mails: list})[0]}
	}
	crowd := func(s string) any { // four in the array, of which the third is in the overflow's last document
		doc := four(s).([]bson.Raw)[0]
		list := doc.Lookup("mails")
		third := list.Array().Index(2)
		page := bson.D{{Key: "seq", Value: int64(4)}, {Key: "items", Value: bson.A{third}}}
		return []bson.Raw{
			rawDoc(bson.D{{Key: "_id", Value: s}, {Key: "kept", Value: list}, {Key: "pages", Value: bson.A{page}}}),
		}
	}
	left := func(s string, number int, held bool) bson.M {
		page := bson.M{"_id": fmt.Sprintf("%s#%010d", s, number), "split": 7, "held": held}
		return bson.M{"_id": s, "fault": "leftover", "n": 1, "pages": bson.A{page}}
	}
	mend := func(reason string, x *boxOutlier, details ...func(s string) any) Case {
		return Case{Method: "outlier.Outlier.Checks", Reason: reason, From: func(s string) ([]any, func() any) {
			check := x.Checks()[0]
			found := findings(check, bson.M{"_id": s, "fault": "unflagged"}, left(s, 0, true), left(s, 1, false))
			for _, of := range details {
				found = append(found, findings(check, of(s))...)
			}
			return []any{found}, func() any { return check.Mend(found) }
		}}
	}
	return []Case{
		{
			Method: "outlier.Outlier.Split", Reason: "what is over, and then the array",
			Make:  func(string) any { return addingBoxes.Split() },
			State: four,
		},
		{
			Method: "outlier.Outlier.Split", Reason: "within bytes", MayRefuse: "it is too large for a bucket",
			Make:  func(string) any { return largeBoxes.Split() },
			State: four,
		},
		{
			Method: "outlier.Outlier.Settle",
			Reason: "what the overflow doesn't hold yet, and then the array",
			Make:   func(string) any { return boxMails.Settle() },
			State:  crowd,
		},
		{
			Method: "outlier.Outlier.Settle", Reason: "without a Key is refused",
			Make:  func(string) any { return plainBoxes.Settle() },
			State: crowd,
		},
		mend("flags that are missing, and what a Split left that is in the array", boxMails),
		mend("without a Key only flags", plainBoxes),
		mend("what no check returned is refused", boxMails, func(s string) any { return bson.M{"_id": s, "fault": s} }),
		{Method: "outlier.Outlier.Checks", Reason: "orphans as they were found", From: func(s string) ([]any, func() any) {
			check := boxMails.Checks()[2]
			found := findings(check, bson.M{"_id": s + "#0000000000", "key": s, "n": int64(3), "bytes": int64(300)})
			return []any{found}, func() any { return check.Mend(found) }
		}},
	}
}
