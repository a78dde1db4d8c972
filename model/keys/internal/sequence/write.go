package sequence

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/stored"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var (
	errExhausted   = fmt.Errorf("%w: the sequence has no number left", model.ErrFull)
	errNumberTaken = fmt.Errorf("%w: another document has this number", model.ErrTaken)
)

// Open returns the upsert that creates an owner's counter at 0.
func (s *Sequence) Open(owner any) model.Write {
	id, err := s.matchCounter(owner)
	if err != nil {
		return model.Refused(s.counters.Name(), err)
	}
	upsert := true
	return model.Write{
		// If two clients create it at once, one gets a duplicate key error, and Done finds the other's counter.
		Collection: s.counters.Name(), Index: model.IDIndex, Keyed: true, Done: id,
		Model: &mongo.UpdateOneModel{
			Filter: id, Update: bson.D{{Key: "$setOnInsert", Value: bson.D{{Key: "last", Value: int64(0)}}}},
			Upsert: &upsert,
		},
	}
}

// Take returns filter and update of the command that takes n numbers. The filter matches only a counter with n numbers
// left. The shell and the allocator make a findAndModify of them.
func (s *Sequence) Take(owner any, n int64) (filter, update bson.D, err error) {
	if filter, err = s.matchCounter(owner); err != nil {
		return nil, nil, err
	}
	if n < 1 || n > s.Max {
		return nil, nil, s.Refuse("n", n, "must be 1 or more, and not above the sequence's last number")
	}
	return append(filter, bson.E{Key: "last", Value: s.matchNumber(n)}), bson.D{{
		Key: "$inc", Value: bson.D{{Key: "last", Value: n}},
	}}, nil
}

// encodeUnderKey encodes a caller's document, checks it as Collection.Insert does, and puts the key in place of its
// _id.
func (s *Sequence) encodeUnderKey(owner any, n int64, doc any) (bson.Raw, string, error) {
	key, err := s.MakeKey(owner, n)
	if err != nil {
		return nil, "", err
	}
	held, err := stored.Document(s.Docs, doc)
	if err != nil {
		return nil, "", s.Refuse("document", nil, err.Error())
	}
	if path, err := core.CheckNames(held, ""); err != nil {
		return nil, "", s.Refuse(path, nil, err.Error())
	}
	out, err := stored.UnderKey(held, key)
	if err != nil {
		return nil, "", s.Refuse("document", nil, err.Error())
	}
	if len(out) > core.MaxDocument {
		return nil, "", s.Refuse("document", nil,
			fmt.Sprintf("has %d bytes, but MongoDB's limit for a document is 16 MiB", len(out)))
	}
	return out, key, nil
}

// insertNumbered returns the insert of a document under a number, with ErrTaken if another document has it.
func (s *Sequence) insertNumbered(owner any, n int64, doc any) model.Write {
	raw, key, err := s.encodeUnderKey(owner, n, doc)
	if err != nil {
		return model.Refused(s.Name(), err)
	}
	return model.Write{
		Collection: s.Name(), Index: model.IDIndex, Keyed: true, Model: &mongo.InsertOneModel{Document: raw},
		Reasons: []model.Reason{{If: bson.D{{Key: "_id", Value: key}}, Err: errNumberTaken}},
	}
}

// Append returns the change that stores a document under the owner's next number, in a transaction. The document is
// encoded and checked once, under the number 0. Each attempt only puts another _id into it.
func (s *Sequence) Append(owner, doc any) model.ChangeOf[int64] {
	id, err := s.matchCounter(owner)
	var raw any
	if err == nil {
		if raw, _, err = s.encodeUnderKey(owner, 0, doc); err != nil {
			raw = nil
		}
	}
	if err != nil {
		return commands.RefuseChangeOf[int64](s.Name(), err)
	}
	return model.ChangeOf[int64]{
		Name: "sequence " + s.Name(),
		Read: func(ctx context.Context, db model.DB) (int64, error) {
			last, _, err := s.readLast(ctx, db, id)
			if err != nil {
				return 0, err
			}
			return last + 1, nil
		},
		Decide:   func(n int64) (model.Plan, error) { return s.planAppend(owner, n, raw), nil },
		Attempts: 100, Tx: true,
	}
}

// planAppend counts n, and inserts the document under it. n must be the counter's next number: the filter has last =
// n-1. A missing counter counts as 0, so the first number is an upsert. If a counter exists with another last, the
// upsert's duplicate key makes the plan stale.
func (s *Sequence) planAppend(owner any, n int64, doc any) model.Plan {
	id, err := s.matchCounter(owner)
	switch {
	case err != nil:
		return model.NewPlan(model.Refused(s.counters.Name(), err))
	case n < 1 || n > s.Max:
		return model.NewPlan(model.Refused(s.counters.Name(),
			s.Refuse("n", n, fmt.Sprintf("must be from 1 to %d, the numbers of the sequence", s.Max))))
	}
	count := &mongo.UpdateOneModel{
		Filter: append(id[:1:1], bson.E{Key: "last", Value: n - 1}),
		Update: bson.D{{Key: "$set", Value: bson.D{{Key: "last", Value: n}}}},
	}
	if upsert := true; n == 1 {
		count.Upsert = &upsert
	}
	p := model.NewPlan(model.Write{
		Collection: s.counters.Name(), Index: model.IDIndex, Keyed: true, Model: count, Expect: model.One,
		Reasons: []model.Reason{{If: id, Err: model.ErrStale}},
	}, s.insertNumbered(owner, n, doc))
	p.Transactional = true
	p.Leaves = "a counted number without its document: a gap"
	return p
}

// Raise returns the upsert that sets an owner's counter to a number, unless it is higher already. A damaged counter
// gets the number too.
func (s *Sequence) Raise(owner any, to int64) model.Write {
	id, err := s.matchCounter(owner)
	if err == nil {
		err = s.checkNumber(to)
	}
	if err != nil {
		return model.Refused(s.counters.Name(), err)
	}
	upsert := true
	raised := mql.Op("$cond", s.isNumber("$last"), mql.Op("$max", mql.Op("$toLong", "$last"), to), to)
	return model.Write{
		Collection: s.counters.Name(), Index: model.IDIndex, Keyed: true, Idempotent: true,
		Model: &mongo.UpdateOneModel{
			Filter: id,
			Update: mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: "last", Value: raised}}}}},
			Upsert: &upsert,
		},
	}
}

// matchNumber returns the condition of a counter's last that leaves room for more numbers. A double is damage, because
// it isn't exact above 2^53.
func (s *Sequence) matchNumber(room int64) bson.D {
	return bson.D{
		{Key: "$type", Value: bson.A{"int", "long"}}, {Key: "$gte", Value: int64(0)},
		{Key: "$lte", Value: s.Max - room},
	}
}

// isNumber returns the expression of matchNumber(0).
func (s *Sequence) isNumber(field string) bson.D {
	return mql.Op("$and", mql.Op("$in", mql.Op("$type", field), bson.A{"int", "long"}), mql.Op("$gte", field, int64(0)),
		mql.Op("$lte", field, s.Max))
}
