package model

import (
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// update adds the fields of every write to an update. For an upsert it also adds the
// fields of new documents.
func (s *scope) update(collection string, update any, upsert bool) (any, error) {
	if stages, ok := update.(mongo.Pipeline); ok {
		for _, stage := range stages {
			if err := nothingHidden(collection, stage); err != nil {
				return nil, err
			}
		}
	}
	set, onInsert := s.set, bson.D(nil)
	if upsert {
		onInsert = s.onInsert()
	}
	if len(set)+len(s.insert) == 0 {
		return update, nil
	}
	if raw, ok := update.(bson.Raw); ok {
		update, _ = bsondoc.Operators(raw)
	}
	switch u := update.(type) {
	case bson.D:
		m := merger{collection: collection}
		for _, op := range u {
			if err := m.addOperator(op); err != nil {
				return nil, err
			}
		}
		if err := m.keeps(s.insert); err != nil {
			return nil, err
		}
		for _, op := range []bson.E{{Key: "$set", Value: set}, {Key: "$setOnInsert", Value: onInsert}} {
			if err := m.addOperator(op); err != nil {
				return nil, err
			}
		}
		return m.update, nil
	case mongo.Pipeline:
		if len(onInsert) > 0 {
			return nil, &ConflictError{
				Collection: collection,
				Reason:     "a scope with Insert fields can't add them to an upsert by a pipeline",
			}
		}
		// a pipeline isn't analyzed, so it must not move the document to another tenant
		fields := slices.Concat(s.tenant, s.set)
		if len(fields) == 0 {
			return u, nil
		}
		stage := setStage(fields)
		if n := len(u); n > 0 && bsondoc.SameValue(u[n-1], stage) {
			return u, nil
		}
		return append(slices.Clone(u), stage), nil
	}
	return nil, &ConflictError{Collection: collection, Reason: "a scope needs updates that are bson.D or mongo.Pipeline"}
}

// keeps refuses an update that changes a field that the scope gives to new documents.
// Such an update could move the document to another tenant.
func (m *merger) keeps(fields bson.D) error {
	for _, f := range fields {
		for _, q := range m.paths {
			same := q.path == f.Key && (q.op == "$set" || q.op == "$setOnInsert") &&
				(shell(q.value) == shell(f.Value) || isTenant(q.value, f.Value))
			if clash(q.path, f.Key) && !same {
				return m.conflict("the scope gives this field its value", q.op+" "+q.path, "scope "+f.Key)
			}
		}
	}
	return nil
}

// onInsert returns the fields of new documents, without the fields that the server takes
// from an upsert's filter.
func (s *scope) onInsert() bson.D {
	return slices.DeleteFunc(slices.Clone(s.insert), func(e bson.E) bool {
		v, ok := bsondoc.Field(s.filter, e.Key)
		return ok && bsondoc.IsEquality(v)
	})
}

// setStage returns a pipeline stage that sets fields.
func setStage(fields bson.D) bson.D {
	out := make(bson.D, len(fields))
	for i, e := range fields {
		out[i] = bson.E{Key: e.Key, Value: bson.D{{Key: "$literal", Value: e.Value}}}
	}
	return bson.D{{Key: "$set", Value: out}}
}

// document adds the fields of Insert and Set to a document. A Set field replaces the
// document's value. An Insert field must equal the document's value. But a replacement
// keeps its own value, for example of createdAt, unless the scope's filter contains the
// field. A final write gets only the tenant.
func (s *scope) document(w Write, doc any, replaces bool) (any, error) {
	add := s.additions(w.Collection)
	if w.Final {
		add = core.Additions{Insert: s.tenant}
	}
	if len(add.Insert)+len(add.Set) == 0 {
		return doc, nil
	}
	raw, ok := doc.(bson.Raw)
	if !ok {
		var err error
		if raw, err = (*core.Codec)(nil).Document(doc); err != nil {
			return nil, err
		}
	}
	elems, err := raw.Elements()
	if err != nil {
		return nil, err
	}
	for _, f := range add.Insert {
		if n := timesIn(elems, f.Key); n > 1 {
			return nil, &ValueError{
				Collection: w.Collection, Field: f.Key,
				Reason: "is in the document more than once, but a scope gives it its value: give it once",
			}
		}
		kept := replaces && bsondoc.Value(s.filter, f.Key) == nil
		if old := raw.Lookup(f.Key); old.Type != 0 && !kept && !bsondoc.SameValue(old, f.Value) && !isTenant(old, f.Value) {
			return nil, &ConflictError{
				Collection: w.Collection,
				Paths:      [2]string{"document " + f.Key, "scope " + f.Key},
				Reason:     "the document already has another value",
			}
		}
	}
	return add.AddTo(raw)
}

// timesIn counts the elements with a name.
func timesIn(elems []bson.RawElement, name string) (n int) {
	for _, e := range elems {
		if e.Key() == name {
			n++
		}
	}
	return n
}

// additions returns the fields that the scope adds to a collection's documents.
func (s *scope) additions(collection string) core.Additions {
	if !s.holds(collection) {
		return core.Additions{}
	}
	return core.Additions{Insert: s.insert, Set: s.set}
}

// placing adds the scope's fields where a write contains documents of its plan.
func (s *scope) placing(w Write) Write {
	if done, ok := core.WithAdditions(w.Done, s.additions); ok {
		w.Done = done.(bson.D)
	}
	model := w.Model
	switch m := w.Model.(type) {
	case *mongo.UpdateOneModel:
		if filter, update, ok := s.placed(m.Filter, m.Update); ok {
			c := *m
			c.Filter, c.Update, model = filter, update, &c
		}
	case *mongo.UpdateManyModel:
		if filter, update, ok := s.placed(m.Filter, m.Update); ok {
			c := *m
			c.Filter, c.Update, model = filter, update, &c
		}
	case *mongo.ReplaceOneModel:
		if filter, _, ok := s.placed(m.Filter, nil); ok {
			c := *m
			c.Filter, model = filter, &c
		}
	case *mongo.DeleteOneModel:
		if filter, _, ok := s.placed(m.Filter, nil); ok {
			c := *m
			c.Filter, model = filter, &c
		}
	}
	if model != w.Model {
		under := w.scoping()
		under.plain, under.covered = w.unscoped(), model
		w.Model, w.under = model, &under
	}
	return w
}

// placed is placing for a filter and an update. If neither contains such a document, ok
// is false.
func (s *scope) placed(filter, update any) (_, _ any, ok bool) {
	f, inFilter := core.WithAdditions(filter, s.additions)
	if inFilter {
		filter = f
	}
	u, inUpdate := core.WithAdditions(update, s.additions)
	if inUpdate {
		update = u
	}
	return filter, update, inFilter || inUpdate
}
