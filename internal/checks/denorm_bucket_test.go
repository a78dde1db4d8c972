package checks

import (
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// What is kept in buckets: the mail of a mailbox.
type mail struct {
	ID   string    `bson:"id"`
	Sent time.Time `bson:"sent"`
	Text string    `bson:"text"`
	Head struct {
		KB int64 `bson:"kb"`
	} `bson:"head"`
	Score *float64 `bson:"score,omitempty"`
}

var (
	mailBuckets = model.NewCollection[bucket.Doc[string, mail], string]("mail")
	mails       = bucket.New(mailBuckets, bucket.Spec{Max: 100})
	keyMails    = bucket.New(mailBuckets.Unchecked(), bucket.Spec{Max: 100, ElementKey: "id"})
	addedMails  = bucket.New(mailBuckets, bucket.Spec{Max: 100, Totals: []string{"head.kb", "score"}})
	largeMails  = bucket.New(mailBuckets, bucket.Spec{Max: 100, ElementKey: "id", MaxBytes: 2 << 20})
	dailyMails  = bucket.New(mailBuckets, bucket.Spec{
		Max: 100, ElementKey: "id", Period: denorm.Daily, At: "sent",
	})
	monthMails = bucket.New(mailBuckets, bucket.Spec{
		Max: 100, Period: denorm.Monthly, At: "sent", Location: time.FixedZone("", -3600),
	})
	countMails = bucket.New(
		model.NewCollection[bucket.Doc[int64, mail], string]("mail"), bucket.Spec{Max: 100, ElementKey: "id"})
)

func init() {
	register(bucketAppends()...)
	register(bucketReads()...)
	register(bucketChecks()...)
}

func mailOf(s string) mail {
	m := mail{ID: s, Sent: noon(0), Text: s}
	m.Head.KB = 3
	return m
}

func bucketAppends() []Case {
	add :=
		func(reason string, b *bucket.Bucket[string, mail], key func(s string) string, docs func(s string) testkit.Docs) Case {
			of := func(s string) model.Change { return b.Append(key(s), mailOf(s)) }
			return Case{
				Method: "bucket.Bucket.Append", Reason: reason, Make: func(s string) any { return of(s) }, State: asRead(of, docs),
			}
		}
	itself, toB := func(s string) string { return s }, func(string) string { return "b" }
	newest := func(n, bytes int64, closed bool, more ...func(s string) bson.D) func(s string) testkit.Docs {
		return func(s string) testkit.Docs {
			list := []any{
				bson.D{
					{Key: "_id", Value: "b#0000000004"}, {Key: "seq", Value: 4}, {Key: "n", Value: n}, {Key: "bytes", Value: bytes},
					{Key: "closed", Value: closed},
				},
			}
			for _, d := range more {
				list = append(list, d(s))
			}
			return testkit.Docs{"mail": list}
		}
	}
	none := func(string) testkit.Docs { return nil }
	large := add("the element doesn't fit: the bucket is closed", largeMails, toB, newest(2, 2<<20, false))
	large.MayRefuse = "it is too large for a bucket"
	return []Case{
		add("the first of a key", keyMails, itself, none),
		add("the newest bucket has room", mails, toB, newest(99, 9, false)),
		add("the newest bucket is full", mails, toB, newest(100, 9, false)),
		add("the newest bucket is closed", mails, toB, newest(2, 9, true)),
		large,
		add("the element is there: nothing is sent", keyMails, toB, newest(9, 9, false, func(s string) bson.D {
			return bson.D{
				{Key: "_id", Value: "b#0000000001"}, {Key: "key", Value: "b"},
				{Key: "items", Value: bson.A{bson.D{{Key: "id", Value: s}}}},
			}
		})),
		add("no key is refused", keyMails, func(string) string { return "" }, none),
		{Method: "bucket.Bucket.AppendTo", Reason: "by number",
			Make: func(s string) any { return mails.AppendTo(s, 7, mailOf(s)) }},
		{Method: "bucket.Bucket.AppendTo", Reason: "an element that is recognized",
			Make: func(s string) any { return keyMails.AppendTo("a#b%c", 0, mailOf(s)) }},
		{Method: "bucket.Bucket.AppendTo", Reason: "within bytes", MayRefuse: "it is too large for a bucket",
			Make: func(s string) any { m := mailOf(s); m.Text = ""; return largeMails.AppendTo(s, 0, m) }},
		{Method: "bucket.Bucket.AppendTo", Reason: "numbers are added up; one has no value",
			Make: func(s string) any { return addedMails.AppendTo(s, 0, mailOf(s)) }},
		{Method: "bucket.Bucket.AppendTo", Reason: "both numbers are added up; the pointer is not kept",
			From: func(s string) ([]any, func() any) {
				m, score := mailOf(s), 0.5
				m.Score = &score
				return []any{&score}, func() any { return addedMails.AppendTo(s, 0, m) }
			}},
		{Method: "bucket.Bucket.AppendTo", Reason: "by day",
			Make: func(s string) any { return dailyMails.AppendTo(s, 0, mailOf(s)) }},
		{Method: "bucket.Bucket.AppendTo", Reason: "by month, an hour behind UTC",
			Make: func(s string) any {
				m := mailOf(s)
				m.Sent = time.Date(2014, 4, 1, 0, 59, 0, 0, time.UTC)
				return monthMails.AppendTo(s, 0, m)
			}},
		{Method: "bucket.Bucket.AppendTo", Reason: "a key that is a number",
			Make: func(s string) any { return countMails.AppendTo(-5, 0, mailOf(s)) }},
		{Method: "bucket.Bucket.AppendTo", Reason: "a number below 0 is refused",
			Make: func(s string) any { return mails.AppendTo(s, -1, mailOf(s)) }},
		{Method: "bucket.Bucket.AppendTo", Reason: "an element without its key is refused",
			Make: func(s string) any {
				return bucket.New(mailBuckets, bucket.Spec{Max: 1, ElementKey: "score"}).AppendTo(s, 0, mailOf(s))
			}},
	}
}

func bucketReads() []Case {
	return []Case{
		{Method: "bucket.Bucket.Page", Reason: "by number",
			Make: func(s string) any { return mails.Page(s, 12) }},
		{Method: "bucket.Bucket.Page", Reason: "with a Period is refused",
			Make: func(s string) any { return dailyMails.Page(s, 0) }},
		{Method: "bucket.Bucket.Oldest", Reason: "of a key",
			Make: func(s string) any { return mails.Oldest(s) }},
		{Method: "bucket.Bucket.Oldest", Reason: "a key that holds what ends a key",
			Make: func(s string) any { return mails.Oldest("50%#" + s) }},
		{Method: "bucket.Bucket.Newest", Reason: "of a key",
			Make: func(s string) any { return mails.Newest(s) }},
		{Method: "bucket.Bucket.Newest", Reason: "the next two",
			Make: func(s string) any { return mails.Newest(s).Limited(2).After(s + "#0000000004") }},
		{Method: "bucket.Bucket.Between", Reason: "two days",
			Make: func(s string) any { return dailyMails.Between(s, noon(0), noon(24*60)) }},
		{Method: "bucket.Bucket.Between", Reason: "a month, up to its end an hour behind UTC",
			Make: func(s string) any {
				return monthMails.Between(s, noon(0), time.Date(2014, 4, 1, 1, 0, 0, 0, time.UTC))
			}},
		{Method: "bucket.Bucket.Between", Reason: "without a Period is refused",
			Make: func(s string) any { return mails.Between(s, noon(0), noon(1)) }},
		{Method: "bucket.Bucket.Elements", Reason: "of a key",
			Make: func(s string) any { return mails.Elements(s) }},
		{Method: "bucket.Bucket.Holding", Reason: "an element of a key",
			Make: func(s string) any { return keyMails.Holding(s, s) }},
		{Method: "bucket.Bucket.Holding", Reason: "a document as key is not kept",
			From: func(s string) ([]any, func() any) {
				key := map[string]string{"$gt": s}
				return []any{key}, func() any { return keyMails.Holding("b", key) }
			}},
		{Method: "bucket.Bucket.Holding", Reason: "nil is refused, for it would match elements without a key",
			Make: func(s string) any { return keyMails.Holding(s, nil) }},
		{Method: "bucket.Bucket.Totals", Reason: "counts alone",
			Make: func(s string) any { return mails.Totals(s) }},
		{Method: "bucket.Bucket.Totals", Reason: "two numbers",
			Make: func(s string) any { return addedMails.Totals(s) }},
	}
}

func bucketChecks() []Case {
	return []Case{
		{Method: "bucket.Bucket.Checks", Reason: "counts alone",
			Make: func(string) any { return mails.Checks()[0] }},
		{Method: "bucket.Bucket.Checks", Reason: "two numbers",
			Make: func(string) any { return addedMails.Checks()[0] }},
		{Method: "bucket.Bucket.Checks", Reason: "counted anew", From: func(s string) ([]any, func() any) {
			check := mails.Checks()[0]
			found := findings(check, bson.M{"_id": s}, bson.M{"_id": "b"})
			return []any{found}, func() any { return check.Mend(found) }
		}},
		{Method: "bucket.Bucket.Checks", Reason: "counted anew with two numbers", From: func(s string) ([]any, func() any) {
			check := addedMails.Checks()[0]
			found := findings(check, bson.M{"_id": s})
			return []any{found}, func() any { return check.Mend(found) }
		}},
		{Method: "bucket.Bucket.Checks", Reason: "an item after the last that fits",
			Make: func(string) any { return mails.Checks()[1] }},
		{Method: "bucket.Bucket.Checks", Reason: "or more bytes",
			Make: func(string) any { return largeMails.Checks()[1] }},
		{Method: "bucket.Bucket.Validation", Reason: "a hundred items",
			Make: func(string) any { return mails.Validation() }},
		{Method: "bucket.Bucket.Indexes", Reason: "buckets are found by _id",
			Make: func(string) any { return mails.Indexes() }},
		{Method: "bucket.Bucket.Indexes", Reason: "elements by their key",
			Make: func(string) any { return keyMails.Indexes() }},
	}
}
