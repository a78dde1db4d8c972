package bucket

import (
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// MatchBetween matches the buckets of the periods from one time to another. The end is
// excluded, so a period that begins at the end doesn't match.
func (b *Buckets) MatchBetween(key any, from, to time.Time) (bson.D, error) {
	switch {
	case b.Spec.Period == 0:
		return nil, b.Docs.Refuse("start", nil, "the spec has no Period: use Page, Oldest or Newest")
	case !from.Before(to):
		return nil, b.Docs.Refuse("end", to, "isn't after start: give a later time")
	}
	first, err := b.formatPeriod("start", from)
	if err != nil {
		return nil, err
	}
	last, err := b.formatPeriod("end", to.Add(-time.Nanosecond))
	if err != nil {
		return nil, err
	}
	return b.matchPeriods(key, first, last)
}

// FindElements is the pipeline of a key's elements, in the order of appending.
func (b *Buckets) FindElements(key any) (mongo.Pipeline, error) {
	filter, err := b.MatchKey(key)
	return mongo.Pipeline{
		mql.Match(filter...),
		mql.SortID(),
		mql.Unwind("$items"),
		mql.ReplaceRoot("$items"),
	}, err
}

// ListIndexes returns the index that finds an element, if elements have keys.
func (b *Buckets) ListIndexes() []model.Index {
	if b.Spec.ElementKey == "" {
		return nil
	}
	return []model.Index{b.MakeKeyIndex()}
}

// MakeKeyIndex returns the index that finds an element. Without ElementKey it is zero.
func (b *Buckets) MakeKeyIndex() model.Index {
	if b.Spec.ElementKey == "" {
		return model.Index{}
	}
	return commands.MakeIndex(b.Docs.Name(), "the bucket that holds an element", mql.E("key", 1),
		mql.E("items."+b.Spec.ElementKey, 1))
}

// MatchHolding matches the buckets of a key that have an element.
func (b *Buckets) MatchHolding(key, element any) (bson.D, error) {
	e, err := b.EncodeElementKey(key, element)
	if err != nil {
		return nil, err
	}
	return b.MatchHolder(e), nil
}

// EncodeElementKey returns an Element of which only the key is known.
func (b *Buckets) EncodeElementKey(key, element any) (e Element, err error) {
	if b.Spec.ElementKey == "" {
		return e, b.Docs.Refuse("items", nil, "needs bucket.Spec.ElementKey: give it in the declaration")
	}
	if _, err = b.encodeKey(key); err != nil {
		return e, err
	}
	e.key = key
	if e.stored, err = b.Docs.Encode(key); err != nil {
		return e, b.Docs.Refuse("key", nil, err.Error())
	}
	field := "items[]." + b.Spec.ElementKey
	if e.ID, err = b.Docs.Raw(element); err != nil {
		return e, b.Docs.Refuse(field, nil, err.Error())
	}
	if !stored.IsKey(e.ID) {
		return e, b.Docs.Refuse(field, e.ID, commands.NotAKey)
	}
	return e, nil
}

// MatchHolder matches the bucket that has an element.
func (b *Buckets) MatchHolder(e Element) bson.D {
	return bson.D{{Key: "key", Value: mql.Eq(e.stored)}, {Key: "items." + b.Spec.ElementKey, Value: mql.Eq(e.ID)}}
}

// SumBuckets is the pipeline that adds up the buckets of a key. It groups the totals by
// their number (sum0, min0, …), because a name with "/" is fine as a field but a "." is
// not.
func (b *Buckets) SumBuckets(key any) (mongo.Pipeline, error) {
	filter, err := b.MatchKey(key)
	group := bson.D{
		mql.E("buckets", mql.Op("$sum", 1)), mql.E("n", mql.Op("$sum", "$n")), mql.E("bytes", mql.Op("$sum", "$bytes")),
	}
	kept := bson.D{}
	for i, t := range b.totals {
		names, total := []string{"sum", "min", "max"}, bson.D{}
		for _, name := range names {
			field := fmt.Sprintf("%s%d", name, i)
			group = append(group, bson.E{
				Key:   field,
				Value: bson.D{{Key: "$" + name, Value: "$totals." + t.name + "." + name}},
			})
			total = append(total, bson.E{Key: name, Value: "$" + field})
		}
		kept = append(kept, bson.E{Key: t.name, Value: total})
	}
	out := bson.D{{Key: "_id", Value: 0}, {Key: "buckets", Value: 1}, {Key: "n", Value: 1}, {Key: "bytes", Value: 1}}
	if len(kept) > 0 {
		out = append(out, bson.E{Key: "totals", Value: kept})
	}
	return mongo.Pipeline{
		mql.Match(filter...),
		mql.Group(nil, group...),
		mql.Project(out...),
	}, err
}
