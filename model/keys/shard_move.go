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
func (s *shard) step(step model.Step) Target {
	switch step := step.(type) {
	case model.Write:
		return s.write(step)
	case model.MergeInto:
		return s.aggregate(model.Aggregation{Collection: step.Collection, Pipeline: step.Pipeline, Err: step.Err})
	}
	return refusedTarget("a step of an unknown type")
}

func targets(m *model.Model, p model.Plan) []Target {
	keys := map[string]*shard{}
	for _, t := range m.Techniques() {
		if x, ok := t.(interface{ sharding() *shard }); ok {
			keys[x.sharding().Name()] = x.sharding()
		}
	}
	out := make([]Target, 0, len(p.Steps))
	for _, step := range p.Steps {
		collection := ""
		switch step := step.(type) {
		case model.Write:
			collection = step.Collection
		case model.MergeInto:
			collection = step.Collection
		}
		if s := keys[collection]; s != nil {
			out = append(out, s.step(step))
			continue
		}
		out = append(out, Target{Scope: OneShard, Why: collection + " isn't sharded"})
	}
	return out
}
