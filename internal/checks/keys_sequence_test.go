package checks

import (
	"time"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Messages under enumerable keys, and the bags of each day's.
var (
	seqCounters = model.NewCollection[keys.SequenceCounter[string], string]("counters")
	seqBags     = model.NewCollection[keys.DayBucket, string]("bags")
	letterBox   = keys.NewSequence(products.Named("accounts"), seqCounters, keys.SequenceSpec{})
	bagBox      = keys.NewSequence(products.Named("accounts"), seqCounters, keys.SequenceSpec{
		Digits: 6, Days: seqBags, Location: time.FixedZone("", 3600),
	})
	accountBox = keys.NewSequence(products.Named("accounts"),
		model.NewCollection[keys.SequenceCounter[int64], int64]("counters"), keys.SequenceSpec{})
)

func init() {
	register(sequenceWrites()...)
	register(sequenceStores()...)
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
		{Method: "keys.Sequence.Append", Reason: "the owner's first",
			Make:  func(s string) any { return letterBox.Append(s, product{Name: s}) },
			State: func(string) any { return int64(1) }},
		{Method: "keys.Sequence.Append", Reason: "the next",
			From: func(s string) ([]any, func() any) {
				parts, d := doc(s)
				return []any{parts}, func() any { return letterBox.Append(s, d) }
			},
			State: func(string) any { return int64(42) }},
		{Method: "keys.Sequence.Append", Reason: "no owner is refused",
			Make:  func(s string) any { return letterBox.Append("", product{Name: s}) },
			State: func(string) any { return int64(1) }},
		{Method: "keys.Sequence.Append", Reason: "after the last there can be is refused",
			Make:  func(s string) any { return bagBox.Append(s, product{Name: s}) },
			State: func(string) any { return int64(1_000_000) }},
	}
}

// sequenceStores are what a store of numbered documents sends.
func sequenceStores() []Case {
	insert := func(technique model.Technique, key string, err error, s string) model.ChangeOf[model.Stored[product]] {
		if err != nil {
			panic(err)
		}
		return model.NewStore(model.New("accounts", technique), products.Named("accounts")).Insert(product{ID: key, Name: s})
	}
	stored := func(string) testkit.Docs { return testkit.Docs{"accounts": nil} }
	return []Case{
		storeCase("Insert", "under an owner's number", stored, func(s string) model.ChangeOf[model.Stored[product]] {
			key, err := letterBox.Key("50%_a", 1)
			return insert(letterBox, key, err, s)
		}),
		storeCase("Insert", "under the number of an owner that is a number", stored,
			func(s string) model.ChangeOf[model.Stored[product]] {
				key, err := accountBox.Key(42, 1)
				return insert(accountBox, key, err, s)
			}),
	}
}

func sequenceReads() []Case {
	return []Case{
		{Method: "keys.Sequence.At", Reason: "by number", Make: func(s string) any { return letterBox.At(s, 42) }},
		{
			Method: "keys.Sequence.Previous", Reason: "the one before",
			Make: func(s string) any { return letterBox.Previous(s, 42).Limited(1) },
		},
		{
			Method: "keys.Sequence.Previous", Reason: "an owner that holds what ends one",
			Make: func(s string) any { return letterBox.Previous("50%_"+s, 42) },
		},
		{
			Method: "keys.Sequence.Following", Reason: "the one after",
			Make: func(s string) any { return letterBox.Following(s, 42).Limited(1) },
		},
		{Method: "keys.Sequence.Range", Reason: "ten", Make: func(s string) any { return letterBox.Range(s, 41, 50) }},
		{
			Method: "keys.Sequence.Range", Reason: "of an owner that is a number",
			Make: func(string) any { return accountBox.Range(-5, 41, 50) },
		},
		{
			Method: "keys.Sequence.Range", Reason: "below 0 is refused",
			Make: func(s string) any { return letterBox.Range(s, -1, 50) },
		},
		{Method: "keys.Sequence.Newest", Reason: "ten", Make: func(s string) any { return letterBox.Newest(s).Limited(10) }},
		{Method: "keys.Sequence.Following", Reason: "all", Make: func(s string) any { return letterBox.Following(s, 0) }},
	}
}

func sequenceDays() []Case {
	first, last := "2014-03-28", "2014-04-03"
	late := time.Date(2014, 3, 28, 23, 30, 0, 0, time.UTC)
	return []Case{
		{Method: "keys.Days.Pack", Reason: "half past eleven in UTC is the next day an hour east",
			Make: func(s string) any { return bagBox.Days.Pack(s, 42, late) }},
		{Method: "keys.Days.Pack", Reason: "without day buckets is refused",
			Make: func(s string) any { return letterBox.Days.Pack(s, 42, late) }},
		{Method: "keys.Days.Unpack", Reason: "from the same day",
			Make: func(s string) any { return bagBox.Days.Unpack(s, 42, late) }},
		{
			Method: "keys.Days.Range", Reason: "one day",
			Make: func(s string) any { return bagBox.Days.Range(s, first, first) },
		},
		{Method: "keys.Days.Range", Reason: "a day that no calendar has is refused",
			Make: func(s string) any { return bagBox.Days.Range(s, "2014-02-30", last) }},
		{
			Method: "keys.Days.Range", Reason: "a week",
			Make: func(s string) any { return bagBox.Days.Range(s, first, last) },
		},
		{
			Method: "keys.Days.Before", Reason: "the previous day that has any",
			Make: func(s string) any { return bagBox.Days.Before(s, first).Limited(1) },
		},
		{
			Method: "keys.Days.After", Reason: "the next day that has any",
			Make: func(s string) any { return bagBox.Days.After(s, first).Limited(1) },
		},
		{Method: "keys.Days.Packed", Reason: "the documents of a bucket",
			From: func(s string) ([]any, func() any) {
				list := []string{s, "a_000042"}
				return []any{list}, func() any { return bagBox.Days.Packed(keys.DayBucket{Keys: list}) }
			}},
		{
			Method: "keys.Days.Unpacked", Reason: "of an owner",
			Make: func(s string) any { return bagBox.Days.Unpacked(s) },
		},
		{
			Method: "keys.Sequence.Indexes", Reason: "none without day buckets",
			Make: func(string) any { return letterBox.Indexes() },
		},
		{
			Method: "keys.Sequence.Indexes", Reason: "the keys of day buckets",
			Make: func(string) any { return bagBox.Indexes() },
		},
	}
}

func sequenceChecks() []Case {
	byObject := keys.NewSequence(products.Named("accounts"),
		model.NewCollection[keys.SequenceCounter[bson.ObjectID], bson.ObjectID]("counters"), keys.SequenceSpec{})
	return []Case{
		{
			Method: "keys.Sequence.Checks", Reason: "owners that are text",
			Make: func(string) any { return letterBox.Checks()[0] },
		},
		{
			Method: "keys.Sequence.Checks", Reason: "owners that are numbers",
			Make: func(string) any { return accountBox.Checks()[0] },
		},
		{
			Method: "keys.Sequence.Checks", Reason: "owners that are ObjectIDs",
			Make: func(string) any { return byObject.Checks()[0] },
		},
		{Method: "keys.Sequence.Checks", Reason: "damaged counters", Make: func(string) any { return bagBox.Checks()[1] }},
		{
			Method: "keys.Sequence.Checks", Reason: "foreign keys of six digits",
			Make: func(string) any { return bagBox.Checks()[2] },
		},
		{Method: "keys.Sequence.Raise", Reason: "to a number", Make: func(s string) any { return letterBox.Raise(s, 42) }},
		{
			Method: "keys.Sequence.Raise", Reason: "below 0 is refused",
			Make: func(s string) any { return letterBox.Raise(s, -1) },
		},
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
