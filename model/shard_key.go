package model

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A ShardKey is the shard key of a collection, made by keys.Shard.
//
// A database of [Model.On] adds the key's fields to a filter on _id. So mongos uses only
// the documents' shards. The values come from the _id, or from documents that the same
// [Change] or [Job] has read. If an upsert's filter lacks a field of the key, the upsert
// gives a [*ConflictError].
type ShardKey struct {
	Collection string
	Fields     []string // the paths of the key, in order

	// Moves allows documents to change their key. Without Moves, a write that can change
	// the key gives a [*ConflictError]. Updates by a pipeline aren't checked.
	//
	// With Moves, a key that was read can be old. Only writes with Expect [One] put it
	// into their filter.
	Moves bool
}

// complete adds the missing fields of the key to the filter. known returns the key of a
// document that was read, or nil. The filter of an upsert doesn't get fields that are
// part of the _id: the server would find the field twice, and mongos takes it from the
// _id.
func (k ShardKey) complete(filter bson.D, upsert bool, known func(id bson.RawValue) bson.D) bson.D {
	ids, said := askedIDs(filter)
	if !said {
		return filter
	}
	var more bson.D
	for _, path := range k.Fields {
		if mentions(filter, path) || upsert && strings.HasPrefix(path, "_id.") {
			continue
		}
		if value, ok := k.valueOf(path, ids, known); ok {
			more = append(more, bson.E{Key: path, Value: value})
		}
	}
	if len(more) == 0 {
		return filter
	}
	return bsondoc.JoinFilters(filter, more)
}

// valueOf returns the condition on one field of the key for the selected documents.
func (k ShardKey) valueOf(path string, ids []bson.RawValue, known func(bson.RawValue) bson.D) (any, bool) {
	var values bson.A
	for _, id := range ids {
		value, ok := withinID(id, path)
		if !ok && known != nil {
			value, ok = bsondoc.Field(known(id), path)
		}
		if !ok {
			return nil, false
		}
		if !slices.ContainsFunc(values, func(v any) bool { return bsondoc.SameValue(v, value) }) {
			values = append(values, value)
		}
	}
	switch len(values) {
	case 0:
		return nil, false
	case 1:
		return mql.Eq(values[0]), true
	}
	return bson.D{{Key: "$in", Value: values}}, true
}

// whole reports whether a filter has one value for each field of the key.
func (k ShardKey) whole(filter bson.D) bool {
	for _, path := range k.Fields {
		value, ok := conditionOn(filter, path)
		if !ok {
			if id, said := askedIDs(filter); said && len(id) == 1 {
				_, ok = withinID(id[0], path)
			}
		}
		if !ok || value != nil && !bsondoc.IsEquality(value) {
			return false
		}
	}
	return true
}

// write returns the write with the key in its filter.
func (k ShardKey) write(w Write, known func(bson.RawValue) bson.D) Write {
	if w.Err != nil || core.IsNilModel(w.Model) {
		return w
	}
	if k.Moves && (w.Expect != One || inserts(w.Model)) {
		known = nil
	}
	if w.filter() == nil {
		return w
	}
	filter, ok := bsondoc.Document(w.filter())
	if !ok {
		return w
	}
	full := k.complete(filter, inserts(w.Model), known)
	if inserts(w.Model) && !k.whole(full) {
		return Refused(w.Collection, k.refusedUpsert())
	}
	if err := k.keeps(w, full); err != nil {
		return Refused(w.Collection, err)
	}
	if len(full) == len(filter) {
		return w
	}
	return w.withFilter(full)
}

func (k ShardKey) refusedUpsert() error {
	return &ConflictError{
		Collection: k.Collection,
		Reason: "an upsert under the shard key {" + strings.Join(k.Fields, ", ") +
			"} needs every field of the key in its filter: add the fields, or shard the collection by _id",
	}
}

// keeps refuses a write that may change a document's key.
func (k ShardKey) keeps(w Write, filter bson.D) error {
	if k.Moves {
		return nil
	}
	switch m := w.Model.(type) {
	case *mongo.UpdateOneModel:
		return k.keepsUpdate(m.Update, filter)
	case *mongo.UpdateManyModel:
		return k.keepsUpdate(m.Update, filter)
	case *mongo.ReplaceOneModel:
		doc, err := (*core.Codec)(nil).Document(m.Replacement)
		if err != nil {
			return nil // refused when it is encoded
		}
		for _, path := range k.Fields {
			asked, said := conditionOn(filter, path)
			v, _ := core.ValueAt(doc, path)
			if said && !strings.HasPrefix(path, "_id") && bsondoc.IsEquality(asked) &&
				!bsondoc.SameValue(bsondoc.EqualTo(asked), v) {
				return k.refusedMove(path)
			}
		}
	}
	return nil
}

// keepsUpdate refuses operators that write a field of the key, unless they set the
// filter's value. It doesn't check pipelines.
func (k ShardKey) keepsUpdate(update any, filter bson.D) error {
	operators, ok := bsondoc.Document(update)
	if _, stages := update.(mongo.Pipeline); stages || !ok {
		return nil
	}
	for _, op := range operators {
		if op.Key == "$setOnInsert" {
			continue
		}
		fields, _ := bsondoc.Document(op.Value)
		for _, e := range fields {
			for _, path := range k.Fields {
				asked, said := conditionOn(filter, path)
				same := op.Key == "$set" && e.Key == path && said && bsondoc.IsEquality(asked) &&
					bsondoc.SameValue(bsondoc.EqualTo(asked), e.Value)
				if core.Overlap(e.Key, path) && !same {
					return k.refusedMove(path)
				}
			}
		}
	}
	return nil
}

func (k ShardKey) refusedMove(path string) error {
	return &ConflictError{Collection: k.Collection, Paths: [2]string{"update " + path, "shard key " + path},
		Reason: "the write may change a document's shard key: put the same value into the filter, or declare ShardSpec.Moves and use Shard.ChangeKey"}
}
