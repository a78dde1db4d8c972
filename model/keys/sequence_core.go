package keys

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// sequence is what of a Sequence doesn't depend on its types.
type sequence struct {
	docs, counters, days string // collections
	kind                 ownerKind
	digits               int
	max                  int64 // the greatest number
	location             *time.Location

	encodeDoc, encodeOwner func(any) (any, error)
}

func declareSequence(docs, counters string, owner any, spec []SequenceSpec) *sequence {
	bad := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: "NewSequence of " + docs, Remedy: remedy})
	}
	if len(spec) > 1 {
		bad("more than one SequenceSpec", "give one")
	}
	var given SequenceSpec
	if len(spec) == 1 {
		given = spec[0]
	}
	s := &sequence{docs: docs, counters: counters, digits: given.Digits, location: given.Location}
	if s.digits == 0 {
		s.digits = maxDigits
	}
	if given.Days != nil {
		s.days = given.Days.Name()
	}
	var ok bool
	s.kind, ok = ownerKindOf(owner)
	switch {
	case s.digits < 1 || s.digits > maxDigits:
		bad(fmt.Sprintf("Digits is %d", given.Digits), "give 1 to 18, or 0 for 18")
	case !ok:
		bad(fmt.Sprintf("owners are a %T, which can't be written into a key", owner), "use a kind of string or integer, or bson.ObjectID")
	case docs == counters || docs == s.days || counters == s.days:
		bad("documents, counters and days share a collection", "give each a collection of its own")
	case given.Location != nil && given.Days == nil:
		bad("a Location without Days", "a Location says where a day begins: give Days too")
	}
	if s.location == nil {
		s.location = time.UTC
	}
	s.max = greatest(s.digits)
	return s
}

func (s *sequence) refused(field string, v any, reason string) error {
	return &model.ValueError{Collection: s.docs, Field: field, Value: v, Reason: reason}
}

// counterID is the filter of an owner's counter.
func (s *sequence) counterID(owner any) (bson.D, error) {
	if _, err := s.text(owner); err != nil {
		return nil, err
	}
	id, err := s.encodeOwner(owner)
	if err != nil {
		return nil, s.refused("owner", nil, err.Error())
	}
	return bson.D{{Key: "_id", Value: model.Eq(id)}}, nil
}

func (s *sequence) open(owner any) model.Write {
	id, err := s.counterID(owner)
	if err != nil {
		return model.Refused(s.counters, err)
	}
	upsert := true
	return model.Write{
		Collection: s.counters, Index: model.IDIndex, Done: id, // of two who create it, one meets the other's
		Model: &mongo.UpdateOneModel{
			Filter: id, Update: bson.D{{Key: "$setOnInsert", Value: bson.D{{Key: "last", Value: int64(0)}}}}, Upsert: &upsert,
		},
	}
}

func (s *sequence) take(owner any, n int64) (filter, update bson.D, err error) {
	if filter, err = s.counterID(owner); err != nil {
		return nil, nil, err
	}
	if n < 1 || n > s.max {
		return nil, nil, s.refused("n", n, "take at least one number, and no more than there are")
	}
	return append(filter, bson.E{Key: "last", Value: s.whole(n)}), bson.D{{Key: "$inc", Value: bson.D{{Key: "last", Value: n}}}}, nil
}

// keyed is a document under an owner's number.
func (s *sequence) keyed(owner any, n int64, doc any) (bson.Raw, string, error) {
	key, err := s.key(owner, n)
	if err != nil {
		return nil, "", err
	}
	held, err := storedDocument(s.encodeDoc, doc)
	if err != nil {
		return nil, "", s.refused("document", nil, err.Error())
	}
	if path, err := model.CheckNames(held, ""); err != nil {
		return nil, "", s.refused(path, nil, err.Error())
	}
	out, err := underKey(held, key)
	if err != nil {
		return nil, "", s.refused("document", nil, err.Error())
	}
	if len(out) > model.MaxDocument {
		return nil, "", s.refused("document", nil, fmt.Sprintf("is %d bytes, more than MongoDB's 16 MiB for a document", len(out)))
	}
	return out, key, nil
}

func (s *sequence) insert(owner any, n int64, doc any) model.Write {
	raw, key, err := s.keyed(owner, n, doc)
	if err != nil {
		return model.Refused(s.docs, err)
	}
	return model.Write{
		Collection: s.docs, Index: model.IDIndex, Model: &mongo.InsertOneModel{Document: raw},
		Reasons: []model.Reason{{If: bson.D{{Key: "_id", Value: key}}, Err: ErrNumberTaken}},
	}
}

func (s *sequence) append(owner, doc any) model.Change[SequenceEnd] {
	id, err := s.counterID(owner)
	var raw any
	if err == nil {
		if raw, _, err = s.keyed(owner, 0, doc); err != nil {
			raw = nil
		}
	}
	refuse := func(SequenceEnd) (model.Plan, error) { return model.RefusedPlan(s.docs, err), nil }
	if err != nil {
		return model.Change[SequenceEnd]{Err: err, Decide: refuse}
	}
	return model.Change[SequenceEnd]{
		Read:     func(ctx context.Context, db *mongo.Database) (SequenceEnd, error) { return s.readEnd(ctx, db, id) },
		Decide:   func(end SequenceEnd) (model.Plan, error) { return s.appendTo(owner, end, raw), nil },
		Attempts: 100, Tx: true,
	}
}

// readEnd reads a counter, and says what is wrong with it if it gives no next number.
func (s *sequence) readEnd(ctx context.Context, db *mongo.Database, id bson.D) (SequenceEnd, error) {
	raw, err := model.Find[bson.Raw]{Query: model.Query{
		Collection: s.counters, Filter: id, Index: model.IDIndex, Options: model.ReadOptions{ReadPreference: readpref.Primary()},
	}}.One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return SequenceEnd{}, nil
	}
	if err != nil {
		return SequenceEnd{}, err
	}
	held := raw.Lookup("last")
	last, ok := held.AsInt64OK()
	switch {
	case !ok || held.Type != bson.TypeInt32 && held.Type != bson.TypeInt64 || last < 0 || last > s.max:
		return SequenceEnd{}, &CounterError{s.counters, raw.Lookup("_id"), held, ErrCounter}
	case last == s.max:
		return SequenceEnd{}, &CounterError{s.counters, raw.Lookup("_id"), held, ErrExhausted}
	}
	return SequenceEnd{Last: last, Exists: true}, nil
}

func (s *sequence) appendTo(owner any, end SequenceEnd, doc any) model.Plan {
	id, err := s.counterID(owner)
	switch {
	case err != nil:
		return model.RefusedPlan(s.counters, err)
	case end.Last < 0 || end.Last >= s.max:
		return model.RefusedPlan(s.counters, s.refused("last", end.Last, "no number of the sequence comes after it"))
	}
	upsert := !end.Exists
	count := &mongo.UpdateOneModel{
		Filter: append(id[:1:1], bson.E{Key: "last", Value: end.Last}),
		Update: bson.D{{Key: "$set", Value: bson.D{{Key: "last", Value: end.Last + 1}}}},
	}
	if upsert {
		count.Upsert = &upsert
	}
	p := model.NewPlan(model.Write{
		Collection: s.counters, Index: model.IDIndex, Model: count, Expect: model.One, Reasons: []model.Reason{{If: id, Err: model.ErrStale}},
	}, s.insert(owner, end.Last+1, doc))
	p.Transactional = true
	p.Leaves = "a number that was counted, and a document that is not there: a gap"
	return p
}
