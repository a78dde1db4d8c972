package keys

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Check returns the pipeline that finds the owners whose counter stands behind their documents, is damaged or is missing, so that
// the next numbers it gives are taken: restored from a backup, deleted, or documents stored by other means. In the order of
// owners' keys. Numbers that are under way at that time can make a counter stand ahead, which is right.
//
// Cost: one command that reads every key, not the documents, and the counter of each owner by _id.
func (s *Sequence[D, K]) Check() model.Aggregate[SequenceDrift[K]] {
	return model.AggregateAs[SequenceDrift[K]](s.docs, s.in.behind())
}

// Damaged returns the query of the counters that hold no whole number from 0 to the greatest one, whether their owner has documents
// or not. As they may be of any shape they come as they are.
//
// Cost: one command that reads every counter.
func (s *Sequence[D, K]) Damaged() model.Find[bson.Raw] {
	return model.Find[bson.Raw]{Query: model.Query{
		Collection: s.in.counters, Filter: bson.D{{Key: "$nor", Value: bson.A{bson.D{{Key: "last", Value: s.in.whole(0)}}}}},
		Sort: bson.D{{Key: "_id", Value: 1}},
	}}
}

// Raise returns the write that makes an owner's counter stand at a number at least; it never lowers one. A missing counter is
// created, a damaged one is set.
//
// Cost: one command, one document by _id. It can be run again, beside writers who take numbers.
func (s *Sequence[D, K]) Raise(owner K, to int64) model.Write { return s.in.raise(owner, to) }

// Repair returns the plan that raises the counters that [Sequence.Check] found, each to the greatest number that its owner's
// documents had. Numbers given meanwhile aren't given again, for a counter is only raised; and what was stored after the check, under
// a number that the counter didn't give, the next check finds.
//
// Cost: one command for up to 25,000 owners, one document each. A cut leaves some counters behind, as they were; it can be run again.
func (s *Sequence[D, K]) Repair(found []SequenceDrift[K]) model.Plan {
	var p model.Plan
	for _, d := range found {
		p.Steps = append(p.Steps, s.Raise(d.Owner, d.Newest))
	}
	return p
}

// Gaps returns the pipeline that finds the owners who have fewer documents than numbers from 1 to their newest: numbers that were
// lost, are under way, or whose documents were deleted. In the order of owners' keys. Where all documents are stored by
// [Sequence.Append] and none is deleted, it returns nothing.
//
// Cost: one command that reads every key, not the documents.
func (s *Sequence[D, K]) Gaps() model.Aggregate[SequenceGap[K]] {
	return model.AggregateAs[SequenceGap[K]](s.docs, s.in.gaps())
}

// Foreign returns the query of the documents whose _id is no key of the sequence: stored by other means, or with another number of
// digits. No query by owner and number returns them. As they may be of any shape they come as they are.
//
// Cost: one command that reads every key.
func (s *Sequence[D, K]) Foreign() model.Find[bson.Raw] {
	return model.Find[bson.Raw]{Query: model.Query{
		Collection: s.in.docs, Filter: bson.D{{Key: "_id", Value: bson.D{{Key: "$not", Value: s.in.pattern()}}}}, Sort: bson.D{{Key: "_id", Value: 1}},
	}}
}

func seqOp(name string, args ...any) bson.D {
	if len(args) == 1 {
		return bson.D{{Key: name, Value: args[0]}}
	}
	return bson.D{{Key: name, Value: bson.A(args)}}
}

// whole is the condition of a number of the sequence that leaves room for more.
func (s *sequence) whole(room int64) bson.D {
	return bson.D{
		{Key: "$type", Value: bson.A{"int", "long"}}, {Key: "$gte", Value: int64(0)}, {Key: "$lte", Value: s.max - room},
	}
}

// isWhole is the expression of the same.
func (s *sequence) isWhole(field string) bson.D {
	return seqOp("$and", seqOp("$in", seqOp("$type", field), bson.A{"int", "long"}), seqOp("$gte", field, int64(0)), seqOp("$lte", field, s.max))
}

// perOwner groups the keys by owner, in the order of keys.
func (s *sequence) perOwner(more ...bson.E) mongo.Pipeline {
	parts := seqOp("$split", "$_id", "_")
	group := bson.D{
		{Key: "_id", Value: seqOp("$arrayElemAt", parts, 0)}, {Key: "newest", Value: seqOp("$max", seqOp("$arrayElemAt", parts, 1))},
	}
	fields := bson.D{{Key: "owner", Value: s.ownerOf("$_id")}, {Key: "newest", Value: seqOp("$toLong", "$newest")}}
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

func (s *sequence) gaps() mongo.Pipeline {
	first := s.numbered("", 0)[1:] // which no counter gives
	counted := seqOp("$cond", seqOp("$ne", seqOp("$arrayElemAt", seqOp("$split", "$_id", "_"), 1), first), int64(1), int64(0))
	return append(s.perOwner(bson.E{Key: "n", Value: seqOp("$sum", counted)}),
		bson.D{{Key: "$match", Value: seqOp("$expr", seqOp("$lt", "$n", "$newest"))}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}}}})
}

func (s *sequence) behind() mongo.Pipeline {
	return append(s.perOwner(),
		bson.D{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: s.counters}, {Key: "localField", Value: "owner"}, {Key: "foreignField", Value: "_id"}, {Key: "as", Value: "counter"},
		}}},
		bson.D{{Key: "$project", Value: bson.D{
			{Key: "owner", Value: 1}, {Key: "newest", Value: 1}, {Key: "last", Value: seqOp("$arrayElemAt", "$counter.last", 0)},
		}}},
		bson.D{{Key: "$match", Value: seqOp("$expr", seqOp("$not", bson.A{seqOp("$and", s.isWhole("$last"), seqOp("$gte", "$last", "$newest"))}))}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}}}})
}

func (s *sequence) raise(owner any, to int64) model.Write {
	id, err := s.counterID(owner)
	if err == nil {
		err = s.checkNumber(to)
	}
	if err != nil {
		return model.Refused(s.counters, err)
	}
	upsert := true
	raised := seqOp("$cond", s.isWhole("$last"), seqOp("$max", seqOp("$toLong", "$last"), to), to)
	return model.Write{
		Collection: s.counters, Index: model.IDIndex, Once: true,
		Model: &mongo.UpdateOneModel{Filter: id, Update: mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: "last", Value: raised}}}}}, Upsert: &upsert},
	}
}
