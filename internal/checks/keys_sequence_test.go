package checks

import (
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Messages under enumerable keys, and the bags of each day's.
var (
	seqCounters = model.NewCollection[keys.SequenceCounter[string], string]("counters")
	seqBags     = model.NewCollection[keys.DayBucket, string]("bags")
	letterBox   = keys.NewSequence(products, seqCounters)
	bagBox      = keys.NewSequence(products, seqCounters, keys.SequenceSpec{Digits: 6, Days: seqBags, Location: time.FixedZone("", 3600)})
	accountBox  = keys.NewSequence(products, model.NewCollection[keys.SequenceCounter[int64], int64]("counters"))
)

func init() {
	register(sequenceWrites()...)
	register(sequenceReads()...)
	register(sequenceDays()...)
	register(sequenceChecks()...)
}

func sequenceWrites() []Case {
	doc := func(s string) ([]string, product) {
		parts := []string{s}
		return parts, product{Name: s, Parts: parts}
	}
	return []Case{
		{Method: "keys.Sequence.Open", Reason: "a new owner's counter",
			Make: func(s string) any { return letterBox.Open(s) }},
		{Method: "keys.Sequence.Open", Reason: "an owner that is a number",
			Make: func(string) any { return accountBox.Open(-5) }},
		{Method: "keys.Sequence.Take", Reason: "one number",
			Make: func(s string) any { return letterBox.Take(s, 1) }},
		{Method: "keys.Sequence.Take", Reason: "a hundred, of numbers with six digits",
			Make: func(s string) any { return bagBox.Take(s, 100) }},
		{Method: "keys.Sequence.Take", Reason: "none is refused",
			Make: func(s string) any { return letterBox.Take(s, 0) }},
		{Method: "keys.Sequence.Insert", Reason: "under a number; the document's own _id is not kept",
			From: func(s string) ([]any, func() any) {
				parts, d := doc(s)
				return []any{parts}, func() any { return letterBox.Insert("a_b", 10, d) }
			}},
		{Method: "keys.Sequence.Insert", Reason: "an owner that holds what ends one",
			Make: func(s string) any { return letterBox.Insert("50%_"+s, 1, product{Name: s}) }},
		{Method: "keys.Sequence.Insert", Reason: "an owner that is a number",
			Make: func(s string) any { return accountBox.Insert(42, 1, product{Name: s}) }},
		{Method: "keys.Sequence.Insert", Reason: "a number with too many digits is refused",
			Make: func(s string) any { return bagBox.Insert(s, 1_000_000, product{}) }},
		{Method: "keys.Sequence.Append", Reason: "the owner's first",
			Make:  func(s string) any { return letterBox.Append(s, product{Name: s}) },
			State: func(string) any { return keys.SequenceEnd{} }},
		{Method: "keys.Sequence.Append", Reason: "the next",
			From: func(s string) ([]any, func() any) {
				parts, d := doc(s)
				return []any{parts}, func() any { return letterBox.Append(s, d) }
			},
			State: func(string) any { return keys.SequenceEnd{Last: 41, Exists: true} }},
		{Method: "keys.Sequence.Append", Reason: "the first of a counter that is there",
			Make:  func(s string) any { return letterBox.Append(s, product{Name: s}) },
			State: func(string) any { return keys.SequenceEnd{Exists: true} }},
		{Method: "keys.Sequence.Append", Reason: "no owner is refused",
			Make:  func(s string) any { return letterBox.Append("", product{Name: s}) },
			State: func(string) any { return keys.SequenceEnd{} }},
		{Method: "keys.Sequence.AppendTo", Reason: "after the 41st",
			Make: func(s string) any { return letterBox.AppendTo(s, 41, product{Name: s}) }},
		{Method: "keys.Sequence.AppendTo", Reason: "after the last there can be is refused",
			Make: func(s string) any { return bagBox.AppendTo(s, 999_999, product{Name: s}) }},
	}
}

func sequenceReads() []Case {
	return []Case{
		{Method: "keys.Sequence.Counter", Reason: "of an owner", Make: func(s string) any { return letterBox.Counter(s) }},
		{Method: "keys.Sequence.At", Reason: "by number", Make: func(s string) any { return letterBox.At(s, 42) }},
		{Method: "keys.Sequence.Previous", Reason: "the one before", Make: func(s string) any { return letterBox.Previous(s, 42).Limited(1) }},
		{Method: "keys.Sequence.Previous", Reason: "an owner that holds what ends one", Make: func(s string) any { return letterBox.Previous("50%_"+s, 42) }},
		{Method: "keys.Sequence.Following", Reason: "the one after", Make: func(s string) any { return letterBox.Following(s, 42).Limited(1) }},
		{Method: "keys.Sequence.Range", Reason: "ten", Make: func(s string) any { return letterBox.Range(s, 41, 50) }},
		{Method: "keys.Sequence.Range", Reason: "of an owner that is a number", Make: func(string) any { return accountBox.Range(-5, 41, 50) }},
		{Method: "keys.Sequence.Range", Reason: "below 0 is refused", Make: func(s string) any { return letterBox.Range(s, -1, 50) }},
		{Method: "keys.Sequence.Newest", Reason: "ten", Make: func(s string) any { return letterBox.Newest(s).Limited(10) }},
		{Method: "keys.Sequence.Oldest", Reason: "all", Make: func(s string) any { return letterBox.Oldest(s) }},
	}
}

func sequenceDays() []Case {
	first, last := keys.Day{Year: 2014, Month: 3, Day: 28}, keys.Day{Year: 2014, Month: 4, Day: 3}
	late := time.Date(2014, 3, 28, 23, 30, 0, 0, time.UTC)
	return []Case{
		{Method: "keys.Sequence.Pack", Reason: "half past eleven in UTC is the next day an hour east",
			Make: func(s string) any { return bagBox.Pack(s, 42, late) }},
		{Method: "keys.Sequence.Pack", Reason: "without day buckets is refused",
			Make: func(s string) any { return letterBox.Pack(s, 42, late) }},
		{Method: "keys.Sequence.Unpack", Reason: "from the same day",
			Make: func(s string) any { return bagBox.Unpack(s, 42, late) }},
		{Method: "keys.Sequence.Day", Reason: "one", Make: func(s string) any { return bagBox.Day(s, first) }},
		{Method: "keys.Sequence.Day", Reason: "a day that no calendar has is refused",
			Make: func(s string) any { return bagBox.Day(s, keys.Day{Year: 2014, Month: 2, Day: 30}) }},
		{Method: "keys.Sequence.Days", Reason: "a week", Make: func(s string) any { return bagBox.Days(s, first, last) }},
		{Method: "keys.Sequence.DaysBefore", Reason: "the previous day that has any", Make: func(s string) any { return bagBox.DaysBefore(s, first).Limited(1) }},
		{Method: "keys.Sequence.DaysAfter", Reason: "the next day that has any", Make: func(s string) any { return bagBox.DaysAfter(s, first).Limited(1) }},
		{Method: "keys.Sequence.Packed", Reason: "the documents of a bucket",
			From: func(s string) ([]any, func() any) {
				list := []string{s, "a_000042"}
				return []any{list}, func() any { return bagBox.Packed(keys.DayBucket{Keys: list}) }
			}},
		{Method: "keys.Sequence.Unpacked", Reason: "of an owner", Make: func(s string) any { return bagBox.Unpacked(s) }},
		{Method: "keys.Sequence.Indexes", Reason: "none without day buckets", Make: func(string) any { return letterBox.Indexes() }},
		{Method: "keys.Sequence.Indexes", Reason: "the keys of day buckets", Make: func(string) any { return bagBox.Indexes() }},
	}
}

func sequenceChecks() []Case {
	byObject := keys.NewSequence(products, model.NewCollection[keys.SequenceCounter[bson.ObjectID], bson.ObjectID]("counters"))
	return []Case{
		{Method: "keys.Sequence.Checks", Reason: "owners that are text", Make: func(string) any { return letterBox.Checks()[0] }},
		{Method: "keys.Sequence.Checks", Reason: "owners that are numbers", Make: func(string) any { return accountBox.Checks()[0] }},
		{Method: "keys.Sequence.Checks", Reason: "owners that are ObjectIDs", Make: func(string) any { return byObject.Checks()[0] }},
		{Method: "keys.Sequence.Checks", Reason: "damaged counters", Make: func(string) any { return bagBox.Checks()[1] }},
		{Method: "keys.Sequence.Checks", Reason: "foreign keys of six digits", Make: func(string) any { return bagBox.Checks()[2] }},
		{Method: "keys.Sequence.Raise", Reason: "to a number", Make: func(s string) any { return letterBox.Raise(s, 42) }},
		{Method: "keys.Sequence.Raise", Reason: "below 0 is refused", Make: func(s string) any { return letterBox.Raise(s, -1) }},
		mendsOf("keys.Sequence.Checks", "two counters", letterBox.Checks()[0], func(s string) []any {
			key, err := letterBox.Key(s, 42)
			if err != nil {
				panic(err)
			}
			return []any{bson.M{"id": key}, bson.M{"id": "a%5Fb_000000000000000007"}}
		}),
		{Method: "keys.Sequence.Gaps", Reason: "of all owners", Make: func(string) any { return letterBox.Gaps() }},
	}
}
