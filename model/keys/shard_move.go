package keys

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (s *shard) changeKey(id any, from, to bson.D) model.Write {
	if !s.spec.Moves {
		return model.Refused(s.Name(),
			s.Refuse("newKey", model.Shell(to), "needs ShardSpec.Moves: other commands rely on keys that don't change"))
	}
	filter, err := s.ByID(id)
	if err == nil {
		from, err = s.Codec().CopyD(from)
	}
	if err == nil {
		to, err = s.Codec().CopyD(to)
	}
	if err == nil {
		err = s.checkMove(from, to)
	}
	if err != nil {
		return model.Refused(s.Name(), err)
	}
	done := bsondoc.JoinFilters(filter, equals(s.merged(from, to)))
	return model.Write{
		Collection: s.Name(), Expect: model.One, Done: done, Idempotent: true, Index: "_id_",
		Model: mongo.NewUpdateOneModel().SetFilter(bsondoc.JoinFilters(filter, equals(from))).
			SetUpdate(bson.D{{Key: "$set", Value: to}}),
	}
}

// checkMove refuses keys that a document can't have, and an empty move.
func (s *shard) checkMove(from, to bson.D) error {
	for _, f := range s.key {
		v, ok := bsonval.Get(from, f.path)
		if !ok {
			return s.Refuse("oldKey."+f.path, nil,
				"is missing: give every field of the shard key "+s.String()+" with the values that were read")
		}
		if err := s.checkKeyValue("oldKey."+f.path, v); err != nil {
			return err
		}
	}
	if len(to) == 0 {
		return s.Refuse("newKey", nil, "is empty: give the fields of the shard key "+s.String()+" that change")
	}
	for _, e := range to {
		if name, _, _ := strings.Cut(e.Key, "."); name == "_id" || !slices.Contains(s.paths(), e.Key) {
			return s.Refuse("newKey."+e.Key, e.Value, "isn't a field of the shard key "+s.String()+" that can change")
		}
		if err := s.checkKeyValue("newKey."+e.Key, e.Value); err != nil {
			return err
		}
	}
	return s.CheckUpdate(bson.D{{Key: "$set", Value: to}})
}

func (s *shard) checkKeyValue(place string, v any) error {
	raw, err := (*core.Codec)(nil).Document(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return s.Refuse(place, v, err.Error())
	}
	switch raw.Lookup("v").Type {
	case bson.TypeArray, bson.TypeRegex:
		return s.Refuse(place, v, "is an array or a pattern: a document has one value for each field of its shard key")
	}
	return nil
}

// merged returns the fields of the key after the move.
func (s *shard) merged(from, to bson.D) bson.D {
	out := make(bson.D, 0, len(s.key))
	for _, f := range s.key {
		v, ok := bsonval.Get(to, f.path)
		if !ok {
			v, _ = bsonval.Get(from, f.path)
		}
		out = append(out, bson.E{Key: f.path, Value: v})
	}
	return out
}

// equals returns the filter of documents with these values.
func equals(values bson.D) bson.D {
	out := make(bson.D, len(values))
	for i, e := range values {
		out[i] = bson.E{Key: e.Key, Value: mql.Eq(e.Value)}
	}
	return out
}

// step returns where a step of a plan goes.
// targetOf returns the shards that a query, an aggregation, a findAndModify or a step of a plan is sent to.
func targetOf(m *model.Model, command any) Target {
	collection := ""
	var ask func(s *shard) Target
	switch c := command.(type) {
	case model.Query:
		collection, ask = c.Collection, func(s *shard) Target { return s.find(c) }
	case model.Aggregation:
		collection, ask = c.Collection, func(s *shard) Target { return s.aggregate(c) }
	case model.FindAndModify:
		collection, ask = c.Collection, func(s *shard) Target { return s.modify(c) }
	case model.Write:
		collection, ask = c.Collection, func(s *shard) Target { return s.write(c) }
	case model.MergeInto:
		reading := model.Aggregation{Collection: c.Collection, Pipeline: c.Pipeline, Err: c.Err}
		collection, ask = c.Collection, func(s *shard) Target { return s.aggregate(reading) }
	default:
		return refusedTarget("a step of an unknown type")
	}
	for _, t := range m.Techniques() {
		if x, ok := t.(interface{ sharding() *shard }); ok && x.sharding().Name() == collection {
			return ask(x.sharding())
		}
	}
	return Target{Scope: OneShard, Why: collection + " isn't sharded"}
}
