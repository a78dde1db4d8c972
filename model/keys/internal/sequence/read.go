package sequence

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// counterID is the filter of an owner's counter.
func (s *Sequence) counterID(owner any) (bson.D, error) {
	if _, err := s.text(owner); err != nil {
		return nil, err
	}
	id, err := s.counters.Encode(owner)
	if err != nil {
		return nil, s.Refuse("owner", nil, err.Error())
	}
	return commands.MatchID(id), nil
}

// readLast reads a counter, and says what is wrong with it if it gives no next number. It is false where there is no
// counter.
func (s *Sequence) readLast(ctx context.Context, db model.DB, id bson.D) (last int64, exists bool, err error) {
	raw, err := (&model.Find[bson.Raw]{Query: model.Query{
		Collection: s.counters.Name(), Filter: id, Index: model.IDIndex, Keyed: true,
		Options: model.ReadOptions{ReadPreference: readpref.Primary()},
	}}).One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	v := raw.Lookup("last")
	var is any
	if v.Type != 0 {
		is = v
	}
	last, ok := v.AsInt64OK()
	switch {
	case !ok || v.Type != bson.TypeInt32 && v.Type != bson.TypeInt64 || last < 0 || last > s.Max:
		return 0, true, s.counters.Refuse("last", is,
			fmt.Sprintf("must be a whole number from 0 to %d: the counter of %s is damaged", s.Max, show(raw.Lookup("_id"))))
	case last == s.Max:
		return 0, true, fmt.Errorf("%w: %s holds %d for %s", errExhausted, s.counters.Name(), last, show(raw.Lookup("_id")))
	}
	return last, true, nil
}

// from is a range of an owner's keys, with a number and the end of the owner's numbers as bounds.
func (s *Sequence) from(owner any, low string, from int64, high string, to int64) (bson.D, error) {
	text, err := s.text(owner)
	for _, n := range []int64{from, to} {
		if err == nil {
			err = s.checkNumber(n)
		}
	}
	if err != nil {
		return nil, err
	}
	return between(low, s.numbered(text, from), high, s.numbered(text, to)), nil
}

// Between matches an owner's keys from one number to another, both included.
func (s *Sequence) Between(owner any, from, to int64) (bson.D, error) {
	return s.from(owner, "$gte", from, "$lte", to)
}

// Before matches an owner's keys before a number.
func (s *Sequence) Before(owner any, n int64) (bson.D, error) {
	return s.from(owner, "$gte", 0, "$lt", n)
}

// After matches an owner's keys after a number.
func (s *Sequence) After(owner any, n int64) (bson.D, error) {
	return s.from(owner, "$gt", n, "$lte", s.Max)
}

func between(low, from, high, to string) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{{Key: low, Value: from}, {Key: high, Value: to}}}}
}

// DayRange matches an owner's buckets of a range of days.
func (s *Sequence) DayRange(owner any, low, from, high, to string) (bson.D, error) {
	first, err := s.DayKey(owner, from)
	if err != nil {
		return nil, err
	}
	last, err := s.DayKey(owner, to)
	return between(low, first, high, last), err
}

// Unpacked finds an owner's documents that no bucket lists.
func (s *Sequence) Unpacked(owner any) (mongo.Pipeline, error) {
	filter, err := s.Between(owner, 0, s.Max)
	if err == nil {
		err = s.NoDays()
	}
	return mongo.Pipeline{
		{{Key: "$match", Value: filter}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$replaceWith", Value: bson.D{{Key: "doc", Value: "$$ROOT"}}}}, // whose own fields are in nobody's way
		{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: s.days}, {Key: "localField", Value: "doc._id"}, {Key: "foreignField", Value: "keys"},
			{
				Key:   "pipeline",
				Value: mongo.Pipeline{{{Key: "$limit", Value: 1}}, {{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}}},
			},
			{Key: "as", Value: "day"},
		}}},
		{{Key: "$match", Value: bson.D{{Key: "day", Value: bson.D{{Key: "$size", Value: 0}}}}}},
		{{Key: "$replaceWith", Value: "$doc"}},
	}, err
}

// NoDays is the error of a sequence without day buckets, or nil.
func (s *Sequence) NoDays() error {
	if s.days != "" {
		return nil
	}
	return s.Refuse("Days", nil, "the sequence has no day buckets: declare Days in its spec")
}

// pattern matches the keys of the sequence. What makes the text of an owner is bounded, so that no key of other code is
// one.
func (s *Sequence) pattern() bson.Regex {
	owner := `([^_%]|%25|%5F)[^_%]*((%25|%5F)[^_%]*)*`
	switch s.kind {
	case numberOwner:
		owner = `(0|-?[1-9][0-9]{0,18})`
	case objectOwner:
		owner = `[0-9a-f]{24}`
	}
	return bson.Regex{Pattern: fmt.Sprintf(`^%s_[0-9]{%d}\z`, owner, s.digits)}
}

// ownerOf is the expression that reads the owner from its text.
func (s *Sequence) ownerOf(text string) any {
	switch s.kind {
	case numberOwner:
		return mql.Op("$convert", bson.D{
			{Key: "input", Value: text}, {Key: "to", Value: "long"}, {Key: "onError", Value: nil},
		})
	case objectOwner:
		return mql.Op("$toObjectId", text)
	}
	replace := func(input any, find, with string) bson.D {
		return mql.Op("$replaceAll", bson.D{
			{Key: "input", Value: input}, {Key: "find", Value: find}, {Key: "replacement", Value: with},
		})
	}
	return replace(replace(text, "%5F", "_"), "%25", "%")
}

// perOwner groups the keys by owner, in the order of keys.
func (s *Sequence) perOwner(more ...bson.E) mongo.Pipeline {
	parts := mql.Op("$split", "$_id", "_")
	group := bson.D{
		{Key: "_id", Value: mql.Op("$arrayElemAt", parts, 0)},
		{Key: "newest", Value: mql.Op("$max", mql.Op("$arrayElemAt", parts, 1))},
	}
	fields := bson.D{{Key: "owner", Value: s.ownerOf("$_id")}, {Key: "newest", Value: mql.Op("$toLong", "$newest")}}
	for _, e := range more {
		fields = append(fields, bson.E{Key: e.Key, Value: 1})
	}
	out := mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "_id", Value: s.pattern()}}}},
		{{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$group", Value: append(group, more...)}},
		{{Key: "$project", Value: fields}},
	}
	if s.kind == numberOwner { // digits beyond an int64 are no owner's
		out = append(out, bson.D{{Key: "$match", Value: bson.D{{Key: "owner", Value: bson.D{{Key: "$ne", Value: nil}}}}}})
	}
	return append(out, bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}})
}

// Gaps finds the owners who have fewer documents than numbers.
func (s *Sequence) Gaps() mongo.Pipeline {
	first := s.numbered("", 0)[1:] // which no counter gives
	counted := mql.Op("$cond",
		mql.Op("$ne", mql.Op("$arrayElemAt", mql.Op("$split", "$_id", "_"), 1), first), int64(1), int64(0))
	return append(s.perOwner(bson.E{Key: "n", Value: mql.Op("$sum", counted)}),
		bson.D{{Key: "$match", Value: mql.Op("$expr", mql.Op("$lt", "$n", "$newest"))}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}}}})
}
