package checks

import (
	"fmt"

	"github.com/docmodel/docmodel/denorm"
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
	mailboxes   = model.NewCollection[mailbox, string]("boxes")
	boxMails    = denorm.NewOutlier(mailboxes, "mails", keyMails, denorm.OutlierSpec{Max: 2, Flag: "more"})
	plainBoxes  = denorm.NewOutlier(mailboxes, "mails", mails, denorm.OutlierSpec{Max: 2, Flag: "more"})
	largeBoxes  = denorm.NewOutlier(mailboxes, "mails", largeMails, denorm.OutlierSpec{Max: 2, MaxBytes: 1 << 20, Flag: "more"})
	addingBoxes = denorm.NewOutlier(mailboxes, "mails", denorm.NewBucket(mailBuckets, denorm.BucketSpec{Max: 1, Key: "id", Totals: []string{"head.kb"}}),
		denorm.OutlierSpec{Max: 2, Flag: "more"})
)

func init() {
	register(outlierChanges()...)
	register(outlierReads()...)
	register(outlierRepairs()...)
}

type boxOutlier = denorm.Outlier[mailbox, string, mail]

func outlierChanges() []Case {
	add := func(reason string, x *boxOutlier, end denorm.OutlierEnd) Case {
		return Case{Method: "denorm.Outlier.Append", Reason: reason, MayRefuse: "it is too large for a bucket",
			Make: func(s string) any { return x.Append(s, mailOf(s)) }, State: func(string) any { return end }}
	}
	remove := func(reason string, x *boxOutlier, end denorm.OutlierEnd) Case {
		return Case{Method: "denorm.Outlier.Remove", Reason: reason,
			Make: func(s string) any { return x.Remove(s, s) }, State: func(string) any { return end }}
	}
	newest := denorm.BucketEnd{ID: "b#0000000004", Seq: 4, N: 9}
	held := denorm.BucketEnd{ID: "b#0000000004", Seq: 4, N: 9, Holds: "b#0000000001"}
	return []Case{
		add("the array has room", boxMails, denorm.OutlierEnd{N: 1, Type: "array"}),
		add("without a Key", plainBoxes, denorm.OutlierEnd{}),
		add("within bytes", largeBoxes, denorm.OutlierEnd{N: 1, Bytes: 100}),
		add("over the bound: the flag, and then the overflow", boxMails, denorm.OutlierEnd{N: 2}),
		add("over the bound without a Key", plainBoxes, denorm.OutlierEnd{N: 2}),
		add("over the bytes", largeBoxes, denorm.OutlierEnd{N: 1, Bytes: 1 << 20}),
		add("there is overflow", boxMails, denorm.OutlierEnd{N: 2, Flagged: true, Overflow: newest}),
		add("there is overflow, though the array has room again", boxMails, denorm.OutlierEnd{N: 1, Flagged: true, Overflow: newest}),
		add("the array holds it: nothing is sent", boxMails, denorm.OutlierEnd{N: 1, Holds: true}),
		{Method: "denorm.Outlier.Append", Reason: "to nobody is refused",
			Make: func(s string) any { return boxMails.Append("", mailOf(s)) }, State: func(string) any { return denorm.OutlierEnd{} }},
		remove("from the array", boxMails, denorm.OutlierEnd{N: 1, Holds: true}),
		remove("from the overflow, counted anew", addingBoxes, denorm.OutlierEnd{N: 2, Flagged: true, Overflow: held}),
		remove("what isn't there: nothing is sent", boxMails, denorm.OutlierEnd{N: 2}),
		{Method: "denorm.Outlier.Remove", Reason: "a document as key is not kept", State: func(string) any { return denorm.OutlierEnd{Holds: true} },
			From: func(s string) ([]any, func() any) {
				key := map[string]string{"$gt": s}
				return []any{key}, func() any { return boxMails.Remove("b", key) }
			}},
		{Method: "denorm.Outlier.Delete", Reason: "with its overflow", Make: func(s string) any { return boxMails.Delete(s) }},
	}
}

func outlierReads() []Case {
	return []Case{
		{Method: "denorm.Outlier.Elements", Reason: "the array, and then the pages", Make: func(s string) any { return boxMails.Elements(s) }},
		{Method: "denorm.Outlier.Holding", Reason: "by key", Make: func(s string) any { return boxMails.Holding(s, s) }},
		{Method: "denorm.Outlier.Holding", Reason: "a document as key is not kept", From: func(s string) ([]any, func() any) {
			key := map[string]string{"$gt": s}
			return []any{key}, func() any { return boxMails.Holding("b", key) }
		}},
		{Method: "denorm.Outlier.Holding", Reason: "without a Key is refused", Make: func(s string) any { return plainBoxes.Holding(s, s) }},
		{Method: "denorm.Outlier.Count", Reason: "both", Make: func(s string) any { return boxMails.Count(s) }},
		{Method: "denorm.Outlier.Overflow", Reason: "the next two pages", Make: func(s string) any { return boxMails.Overflow(s).Limited(2).After(s + "#0000000004") }},
		{Method: "denorm.Outlier.Outliers", Reason: "those with the flag", Make: func(string) any { return boxMails.Outliers() }},
		{Method: "denorm.Outlier.Checks", Reason: "overflow without the flag", Make: func(string) any { return boxMails.Checks()[0] }},
		{Method: "denorm.Outlier.Checks", Reason: "arrays over the bound", Make: func(string) any { return boxMails.Checks()[1] }},
		{Method: "denorm.Outlier.Checks", Reason: "overflow of nobody", Make: func(string) any { return boxMails.Checks()[2] }},
		{Method: "denorm.Outlier.Indexes", Reason: "the Bucket's own finds overflow", Make: func(string) any { return boxMails.Indexes() }},
		{Method: "denorm.Outlier.Indexes", Reason: "without a Key", Make: func(string) any { return plainBoxes.Indexes() }},
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
		return []bson.Raw{rawDoc(bson.D{{Key: "_id", Value: s}, {Key: "kept", Value: list}, {Key: "pages", Value: bson.A{page}}})}
	}
	left := func(s string, number int, held bool) bson.M {
		page := bson.M{"_id": fmt.Sprintf("%s#%010d", s, number), "split": 7, "held": held}
		return bson.M{"_id": s, "fault": "leftover", "n": 1, "pages": bson.A{page}}
	}
	mend := func(reason string, x *boxOutlier, details ...func(s string) any) Case {
		return Case{Method: "denorm.Outlier.Checks", Reason: reason, From: func(s string) ([]any, func() any) {
			check := x.Checks()[0]
			found := findings(check, bson.M{"_id": s, "fault": "unflagged"}, left(s, 0, true), left(s, 1, false))
			for _, of := range details {
				found = append(found, findings(check, of(s))...)
			}
			return []any{found}, func() any { return check.Mend(found) }
		}}
	}
	return []Case{
		{Method: "denorm.Outlier.Split", Reason: "what is over, and then the array", Make: func(string) any { return addingBoxes.Split() }, State: four},
		{Method: "denorm.Outlier.Split", Reason: "within bytes", MayRefuse: "it is too large for a bucket", Make: func(string) any { return largeBoxes.Split() }, State: four},
		{Method: "denorm.Outlier.Settle", Reason: "what the overflow doesn't hold yet, and then the array", Make: func(string) any { return boxMails.Settle() }, State: crowd},
		{Method: "denorm.Outlier.Settle", Reason: "without a Key is refused", Make: func(string) any { return plainBoxes.Settle() }, State: crowd},
		mend("flags that are missing, and what a Split left that is in the array", boxMails),
		mend("without a Key only flags", plainBoxes),
		mend("what no check returned is refused", boxMails, func(s string) any { return bson.M{"_id": s, "fault": s} }),
		{Method: "denorm.Outlier.Checks", Reason: "orphans as they were found", From: func(s string) ([]any, func() any) {
			check := boxMails.Checks()[2]
			found := findings(check, bson.M{"_id": s + "#0000000000", "key": s, "n": int64(3), "bytes": int64(300)})
			return []any{found}, func() any { return check.Mend(found) }
		}},
	}
}
