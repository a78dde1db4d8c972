package model

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// writesOnce returns writes that are applied exactly once: the updated document remembers
// the token. Updates of one document become one, if they can. Otherwise the last one has
// the token, and those before it have tokens derived from it.
func (s *store) writesOnce(writes []Write, token bson.ObjectID) (out []Write, err error) {
	for _, w := range writes {
		out = mergeInto(out, w)
	}
	for i, w := range out {
		own := token
		for _, later := range out[i+1:] {
			if w.updatesSame(later) {
				own = runctx.DeriveToken(own, "before another update")
			}
		}
		if out[i], err = writeOnce(s.fieldOf(w.Collection), w, own); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// mergeInto merges an update into the first update of its document that stays in order: no
// later one conflicts with it. If there is none, it appends the update.
func mergeInto(list []Write, w Write) []Write {
	at, merged := -1, Write{}
	for i, x := range list {
		if !w.updatesSame(x) {
			continue
		}
		if m := Merge(x, w); m.Err != nil {
			at = -1
		} else if at < 0 {
			at, merged = i, m
		}
	}
	if at < 0 {
		return append(list, w)
	}
	list[at] = merged
	return list
}

// updatesSame reports whether two writes update one document.
func (w Write) updatesSame(x Write) bool {
	return w.Collection == x.Collection && bsondoc.SameValue(idFilter(w.filter()), idFilter(x.filter()))
}

// writeOnce returns the update of one document that the document remembers.
func writeOnce(field core.StoreField, w Write, token bson.ObjectID) (Write, error) {
	m, ok := w.Model.(*mongo.UpdateOneModel)
	if !ok || w.Err != nil {
		return w, cmp.Or(w.Err, fmt.Errorf("docmodel: Answer.Once has the write %s, which isn't an updateOne", w))
	}
	filter, ok := m.Filter.(bson.D)
	id := idFilter(filter)
	if !ok || id == nil {
		return w, fmt.Errorf("docmodel: Answer.Once has the write %s, which doesn't select one document by its _id", w)
	}
	tokens := field.Tokens()
	own, unless := *m, bson.E{Key: tokens, Value: bson.D{{Key: "$ne", Value: token}}}
	if bsonval.Index(filter, tokens) >= 0 { // the technique compares the tokens as they were read
		unless = bson.E{Key: "$nor", Value: bson.A{bson.D{{Key: tokens, Value: token}}}}
	}
	own.Filter = append(slices.Clip(filter), unless)
	switch u := m.Update.(type) {
	case bson.D:
		push := pushedToken(field, token)
		if i := bsonval.Index(u, "$push"); i < 0 {
			own.Update = append(slices.Clip(u), bson.E{Key: "$push", Value: push})
		} else if others, ok := u[i].Value.(bson.D); ok {
			all := slices.Clone(u)
			all[i].Value = append(slices.Clip(others), push...)
			own.Update = all
		}
	case mongo.Pipeline:
		last := bson.D{{Key: "$ifNull", Value: bson.A{"$" + tokens, bson.A{}}}}
		both := bson.D{{Key: "$concatArrays", Value: bson.A{last, bson.A{token}}}}
		own.Update = append(slices.Clip(u), bson.D{{Key: "$set", Value: bson.D{
			{Key: tokens, Value: bson.D{{Key: "$slice", Value: bson.A{both, -keptTokens}}}},
		}}})
	default:
		return w, fmt.Errorf("docmodel: Answer.Once has an update of the type %T", m.Update)
	}
	w.Model, w.Idempotent, w.Token = &own, true, token
	w.Done = bson.D{{Key: "_id", Value: mql.Eq(id)}, {Key: tokens, Value: token}}
	if w.Expect == One {
		w.Reasons = append(slices.Clip(w.Reasons), staleAlone)
	}
	return w, nil
}

// idFilter returns the _id of a filter that selects it by equality, or nil.
func idFilter(filter any) any {
	d, ok := filter.(bson.D)
	if !ok || !bsondoc.PinsID(d) {
		return nil
	}
	v := d[bsonval.Index(d, "_id")].Value
	if eq, ok := v.(bson.D); ok && len(eq) == 1 && eq[0].Key == "$eq" {
		v = eq[0].Value
	}
	return v
}
