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

// matchCounter returns the filter of an owner's counter. It refuses an owner that can't be part of a key.
func (s *Sequence) matchCounter(owner any) (bson.D, error) {
	if _, err := s.encodeOwner(owner); err != nil {
		return nil, err
	}
	id, err := s.counters.Encode(owner)
	if err != nil {
		return nil, s.Refuse("owner", nil, err.Error())
	}
	return commands.MatchID(id), nil
}

// readLast reads a counter at the primary, given its filter. exists is false if there is no counter. A counter that
// can't give the next number is an error: it is damaged or exhausted.
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
	// AsInt64OK also converts doubles.
	case !ok || v.Type != bson.TypeInt32 && v.Type != bson.TypeInt64 || last < 0 || last > s.Max:
		return 0, true, s.counters.Refuse("last", is,
			fmt.Sprintf("must be a whole number from 0 to %d: the counter of %s is damaged", s.Max,
				showValue(raw.Lookup("_id"))))
	case last == s.Max:
		return 0, true, fmt.Errorf("%w: %s holds %d for %s", errExhausted, s.counters.Name(), last,
			showValue(raw.Lookup("_id")))
	}
	return last, true, nil
}

// matchNumbers matches an owner's keys between two numbers. low and high are operators, such as $gt and $lte. Both
// bounds have the owner's text, so no other owner's key is between them.
func (s *Sequence) matchNumbers(owner any, low string, from int64, high string, to int64) (bson.D, error) {
	text, err := s.encodeOwner(owner)
	for _, n := range []int64{from, to} {
		if err == nil {
			err = s.checkNumber(n)
		}
	}
	if err != nil {
		return nil, err
	}
	return matchRange(low, s.formatKey(text, from), high, s.formatKey(text, to)), nil
}

// MatchBetween matches an owner's keys from one number to another, both included.
func (s *Sequence) MatchBetween(owner any, from, to int64) (bson.D, error) {
	return s.matchNumbers(owner, "$gte", from, "$lte", to)
}

// MatchBefore matches an owner's keys below a number.
func (s *Sequence) MatchBefore(owner any, n int64) (bson.D, error) {
	return s.matchNumbers(owner, "$gte", 0, "$lt", n)
}

// MatchAfter matches an owner's keys above a number.
func (s *Sequence) MatchAfter(owner any, n int64) (bson.D, error) {
	return s.matchNumbers(owner, "$gt", n, "$lte", s.Max)
}

func matchRange(low, from, high, to string) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{{Key: low, Value: from}, {Key: high, Value: to}}}}
}

// makePattern returns the pattern of the sequence's keys. It allows only texts that encodeOwner returns, so that _ids
// of other code in the same collection aren't taken for keys.
func (s *Sequence) makePattern() bson.Regex {
	owner := `([^_%]|%25|%5F)[^_%]*((%25|%5F)[^_%]*)*`
	switch s.kind {
	case numberOwner:
		owner = `(0|-?[1-9][0-9]{0,18})`
	case objectOwner:
		owner = `[0-9a-f]{24}`
	}
	return bson.Regex{Pattern: fmt.Sprintf(`^%s_[0-9]{%d}\z`, owner, s.digits)}
}

// parseOwner returns the expression that decodes an owner's text as decodeOwner does, so that a pipeline can look up
// the counter. It gives null for digits that don't fit in an int64.
func (s *Sequence) parseOwner(text string) any {
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

// groupByOwner returns the stages that group the keys by owner, in the order of the owners' texts. more are further
// accumulators. Each result has the fields owner, in the type of the counter's _id, newest, the owner's greatest
// number, and those of more. The stages use only _id, so that the server reads only the index.
func (s *Sequence) groupByOwner(more ...bson.E) mongo.Pipeline {
	parts := mql.Op("$split", "$_id", "_")
	group := bson.D{
		{Key: "_id", Value: mql.Op("$arrayElemAt", parts, 0)},
		{Key: "newest", Value: mql.Op("$max", mql.Op("$arrayElemAt", parts, 1))},
	}
	fields := bson.D{{Key: "owner", Value: s.parseOwner("$_id")}, {Key: "newest", Value: mql.Op("$toLong", "$newest")}}
	for _, e := range more {
		fields = append(fields, bson.E{Key: e.Key, Value: 1})
	}
	out := mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "_id", Value: s.makePattern()}}}},
		{{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$group", Value: append(group, more...)}},
		{{Key: "$project", Value: fields}},
	}
	if s.kind == numberOwner {
		// An owner with digits beyond an int64 isn't one of the sequence's.
		out = append(out, bson.D{{Key: "$match", Value: bson.D{{Key: "owner",
			Value: bson.D{{Key: "$ne", Value: nil}}}}}})
	}
	return append(out, bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}})
}

// FindGaps returns the pipeline of owners who have fewer documents than numbers: documents {owner, newest, n}, with n
// documents from 1 to newest.
func (s *Sequence) FindGaps() mongo.Pipeline {
	// The number 0 isn't counted, because no counter gives it out.
	first := s.formatKey("", 0)[1:]
	counted := mql.Op("$cond",
		mql.Op("$ne", mql.Op("$arrayElemAt", mql.Op("$split", "$_id", "_"), 1), first), int64(1), int64(0))
	return append(s.groupByOwner(bson.E{Key: "n", Value: mql.Op("$sum", counted)}),
		bson.D{{Key: "$match", Value: mql.Op("$expr", mql.Op("$lt", "$n", "$newest"))}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}}}})
}
