package keys

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Checks returns the checks of the documents and their counters:
//
//   - counters behind: an owner's counter is missing or damaged, or its number is less than the number of the owner's newest
//     document, so that the next numbers it gives are taken. It was restored from a backup or deleted, or documents were stored
//     by other means. Mending raises it, and never lowers it, so numbers that are given meanwhile aren't given again. A counter
//     that is ahead is right.
//   - damaged counters: a counter holds something else than a whole number, whether its owner has documents or not. The first
//     check mends those of owners who have documents. No write mends the others: [Sequence.Raise] sets one.
//   - foreign keys: the _id of a document isn't a key of the sequence. It was stored by other means, or with another number of
//     digits, and no query by owner and number returns it. No write mends it.
//
// Cost: the first check is one command that reads every key, not the documents, and the counter of each owner by _id; the second
// reads every counter; the third reads every key. Mending writes one counter for each owner, by _id.
func (s *Sequence[D, K]) Checks() []model.Check {
	return s.in.checks(func(key string) (any, int64, error) { return s.Parse(key) })
}

func (s *sequence) checks(parse func(key string) (owner any, n int64, err error)) []model.Check {
	behind := fmt.Sprintf("%s: counters behind", s.docs)
	key := fmt.Sprintf("an owner and a number of %d digits", s.digits)
	return []model.Check{{
		Name: behind, Collection: s.docs, Rule: "each owner's counter is not less than the number of the owner's newest document",
		Pipeline: s.behind(), Tell: core.Tells[counterBehind](),
		Mend: core.Mends(behind, s.docs, func(rows []counterBehind) (p model.Plan) {
			for _, r := range rows {
				owner, n, err := parse(r.ID)
				if err != nil {
					return model.RefusedPlan(s.docs, err)
				}
				p.Steps = append(p.Steps, s.raise(owner, n))
			}
			return p
		}),
	}, {
		Name: fmt.Sprintf("%s.last: damaged counters of %s", s.counters, s.docs), Collection: s.counters,
		Rule: fmt.Sprintf("last is a whole number from 0 to %d", s.max), Tell: core.Tells[damagedCounter](),
		Pipeline: mongo.Pipeline{
			{{Key: "$match", Value: bson.D{{Key: "$nor", Value: bson.A{bson.D{{Key: "last", Value: s.whole(0)}}}}}}},
			{{Key: "$project", Value: bson.D{{Key: "last", Value: 1}}}},
		},
	}, {
		Name: fmt.Sprintf("%s._id: foreign keys", s.docs), Collection: s.docs, Rule: "each _id is " + key,
		Pipeline: mongo.Pipeline{
			{{Key: "$match", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$not", Value: s.pattern()}}}}}}, {{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}},
		},
		Tell: func(f *model.Finding) error {
			f.ID, f.Problem = f.Detail.Lookup("_id"), "the _id isn't "+key
			return nil
		},
	}}
}

// A counterBehind is an owner whose counter is behind the documents, missing or damaged.
type counterBehind struct {
	ID     string        `bson:"id"` // of the owner's newest document
	Last   bson.RawValue `bson:"last"`
	Newest int64         `bson:"newest"`
}

// Tell fills in the finding.
func (r counterBehind) Tell(f *model.Finding) {
	f.ID, f.Problem = f.Detail.Lookup("id"), fmt.Sprintf("the owner's newest document has number %d, and the counter holds %s", r.Newest, seqShow(r.Last))
}

// A damagedCounter is a counter that gives no numbers.
type damagedCounter struct {
	ID   bson.RawValue `bson:"_id"`
	Last bson.RawValue `bson:"last"`
}

// Tell fills in the finding.
func (r damagedCounter) Tell(f *model.Finding) { f.ID, f.Problem = r.ID, "last is "+seqShow(r.Last) }

// Raise returns the write that makes an owner's counter stand at a number at least; it never lowers one. A missing counter is
// created, a damaged one is set.
//
// Cost: one command, one document by _id. It can be run again, beside writers who take numbers.
func (s *Sequence[D, K]) Raise(owner K, to int64) model.Write { return s.in.raise(owner, to) }

// Gaps returns the pipeline that finds the owners who have fewer documents than numbers from 1 to their newest: numbers that were
// lost, are under way, or whose documents were deleted. In the order of owners' keys. Where all documents are stored by
// [Sequence.Append] and none is deleted, it returns nothing.
//
// Cost: one command that reads every key, not the documents.
func (s *Sequence[D, K]) Gaps() model.Aggregate[SequenceGap[K]] {
	return model.AggregateAs[SequenceGap[K]](s.docs, s.in.gaps())
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
	return append(s.perOwner(bson.E{Key: "id", Value: seqOp("$max", "$_id")}),
		bson.D{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: s.counters}, {Key: "localField", Value: "owner"}, {Key: "foreignField", Value: "_id"}, {Key: "as", Value: "counter"},
		}}},
		bson.D{{Key: "$project", Value: bson.D{
			{Key: "id", Value: 1}, {Key: "owner", Value: 1}, {Key: "newest", Value: 1}, {Key: "last", Value: seqOp("$arrayElemAt", "$counter.last", 0)},
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
