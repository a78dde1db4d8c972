package sequence

import (
	"context"
	"fmt"
	"time"

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

// Open creates an owner's counter.
func (s *Sequence) Open(owner any) model.Write {
	id, err := s.counterID(owner)
	if err != nil {
		return model.Refused(s.counters.Name(), err)
	}
	upsert := true
	return model.Write{
		// of two who create it, one meets the other's
		Collection: s.counters.Name(), Index: model.IDIndex, Keyed: true, Done: id,
		Model: &mongo.UpdateOneModel{
			Filter: id, Update: bson.D{{Key: "$setOnInsert", Value: bson.D{{Key: "last", Value: int64(0)}}}}, Upsert: &upsert,
		},
	}
}

// Take takes the next n numbers.
func (s *Sequence) Take(owner any, n int64) (filter, update bson.D, err error) {
	if filter, err = s.counterID(owner); err != nil {
		return nil, nil, err
	}
	if n < 1 || n > s.Max {
		return nil, nil, s.Refuse("n", n, "must be 1 or more, and not above the sequence's last number")
	}
	return append(filter, bson.E{Key: "last", Value: s.whole(n)}), bson.D{{
		Key: "$inc", Value: bson.D{{Key: "last", Value: n}},
	}}, nil
}

// keyed is a document under an owner's number.
func (s *Sequence) keyed(owner any, n int64, doc any) (bson.Raw, string, error) {
	key, err := s.Key(owner, n)
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

// insert stores a document under a number.
func (s *Sequence) insert(owner any, n int64, doc any) model.Write {
	raw, key, err := s.keyed(owner, n, doc)
	if err != nil {
		return model.Refused(s.Name(), err)
	}
	return model.Write{
		Collection: s.Name(), Index: model.IDIndex, Keyed: true, Model: &mongo.InsertOneModel{Document: raw},
		Reasons: []model.Reason{{If: bson.D{{Key: "_id", Value: key}}, Err: errNumberTaken}},
	}
}

// Append stores a document under the owner's next number.
func (s *Sequence) Append(owner, doc any) model.ChangeOf[int64] {
	id, err := s.counterID(owner)
	var raw any
	if err == nil {
		if raw, _, err = s.keyed(owner, 0, doc); err != nil {
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
		Decide:   func(n int64) (model.Plan, error) { return s.appended(owner, n, raw), nil },
		Attempts: 100, Tx: true,
	}
}

// appended is the plan of the document under a number that must be the counter's next.
func (s *Sequence) appended(owner any, n int64, doc any) model.Plan {
	id, err := s.counterID(owner)
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
	}, s.insert(owner, n, doc))
	p.Transactional = true
	p.Leaves = "a counted number without its document: a gap"
	return p
}

// Raise makes an owner's counter stand at a number at least.
func (s *Sequence) Raise(owner any, to int64) model.Write {
	id, err := s.counterID(owner)
	if err == nil {
		err = s.checkNumber(to)
	}
	if err != nil {
		return model.Refused(s.counters.Name(), err)
	}
	upsert := true
	raised := mql.Op("$cond", s.isWhole("$last"), mql.Op("$max", mql.Op("$toLong", "$last"), to), to)
	return model.Write{
		Collection: s.counters.Name(), Index: model.IDIndex, Keyed: true, Idempotent: true,
		Model: &mongo.UpdateOneModel{
			Filter: id,
			Update: mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: "last", Value: raised}}}}},
			Upsert: &upsert,
		},
	}
}

// whole is the condition of a number of the sequence that leaves room for more.
func (s *Sequence) whole(room int64) bson.D {
	return bson.D{
		{Key: "$type", Value: bson.A{"int", "long"}}, {Key: "$gte", Value: int64(0)}, {Key: "$lte", Value: s.Max - room},
	}
}

// isWhole is the expression of the same.
func (s *Sequence) isWhole(field string) bson.D {
	return mql.Op("$and", mql.Op("$in", mql.Op("$type", field), bson.A{"int", "long"}), mql.Op("$gte", field, int64(0)),
		mql.Op("$lte", field, s.Max))
}

// Pack adds an owner's document to its day's bucket, or takes it off.
func (s *Sequence) Pack(owner any, n int64, at time.Time, operator string) model.Write {
	key, err := s.Key(owner, n)
	var id string
	if err == nil {
		id, err = s.DayKey(owner, at.In(s.location).Format(time.DateOnly))
	}
	if err == nil {
		err = s.NoDays()
	}
	if err != nil {
		return model.Refused(s.days, err)
	}
	m := &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: id}},
		Update: bson.D{{Key: operator, Value: bson.D{{Key: "keys", Value: key}}}},
	}
	w := model.Write{Collection: s.days, Index: model.IDIndex, Keyed: true, Model: m}
	if operator == "$addToSet" {
		upsert := true
		m.Upsert = &upsert
	}
	return w
}
