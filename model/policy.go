package model

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Policy is what an application adds to everything it reads and writes: a tenant, soft deletion, an updatedAt. A
// repository states it once and puts its queries and plans under it:
//
//	policy := model.Policy{
//		Filter: bson.D{{Key: "tenant", Value: tenant}, {Key: "deletedAt", Value: nil}},
//		Insert: bson.D{{Key: "tenant", Value: tenant}},
//		Set:    bson.D{{Key: "updatedAt", Value: now}},
//		Delete: bson.D{{Key: "deletedAt", Value: now}},
//	}
//	parts.Find(f).Under(policy).All(ctx, db)
//
// A context carries it to everything that runs, the reads of changes, jobs, trees and joins among it:
//
//	tree.Move("shoes", paths.Under("clothes")).Run(policy.Context(ctx), db)
//
// Values are given, not computed: a policy is as pure as what it is applied to. Fields are top-level ones; a dotted path is refused
// where a whole document is inserted or replaced. A write that itself gives one of Insert or Set another value is refused with a
// [*ConflictError], but for an update by a pipeline, which is given them by a last stage, and for a replacement, which keeps what it
// has of an Insert field (createdAt) unless Filter asks for that field too. The zero Policy adds nothing.
type Policy struct {
	Filter bson.D // ANDed to every filter; in a pipeline, to every collection that it reads
	Insert bson.D // fields of every document that is inserted or replaced
	Set    bson.D // fields that every update, replacement and insert sets

	// Delete turns deletes into updates that set these fields, but for those that are
	// [Write.Final]. Nil deletes. A document that is marked keeps its _id, which can't be
	// inserted again, and takes part in unique indexes: make those partial, on what Filter
	// says of the fields of Delete. Let the tenant's field be the first of their keys.
	Delete bson.D

	Collections []string // the collections it holds for; nil means all
}

// frozen is the policy with values of its own, so that nothing that is put under it changes with the caller's. A value that
// BSON can't hold is left, and refused when it is sent. A Delete without fields would mark nothing: it is none.
func (p Policy) frozen() Policy {
	for _, d := range []*bson.D{&p.Filter, &p.Insert, &p.Set, &p.Delete} {
		if c, err := (*core.Codec)(nil).CopyD(*d); err == nil {
			*d = c
		}
	}
	if len(p.Delete) == 0 {
		p.Delete = nil
	}
	return p
}

func (p Policy) holds(collection string) bool {
	return p.Collections == nil || slices.Contains(p.Collections, collection)
}

// Under returns the plan with the policy applied to each step.
func (pl Plan) Under(p Policy) Plan {
	pl.Steps, pl.IfStale = p.steps(pl.Steps), p.steps(pl.IfStale)
	return pl
}

func (p Policy) steps(steps []Step) []Step {
	out := make([]Step, len(steps))
	for i, s := range steps {
		switch s := s.(type) {
		case Write:
			out[i] = s.Under(p)
		case MergeInto:
			out[i] = s.Under(p)
		}
	}
	return out
}

// Under returns the write with the policy's filter and fields, and as an update if it deletes and the policy marks deletions. To it a
// document that the filter hides is not there: running the write gives [ErrStale], and not the error that says what is wrong with it.
func (w Write) Under(p Policy) Write {
	if w.Err != nil {
		return w
	}
	p = p.frozen()
	var err error
	if p.holds(w.Collection) {
		if p.Filter, err = p.reachedBy(w); err != nil {
			return Refused(w.Collection, err)
		}
	}
	w.Reasons = p.reasons(w)
	if !p.holds(w.Collection) {
		return w
	}
	out := w
	if w.Done != nil {
		out.Done = And(w.Done, p.Filter)
	}
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		c := *m
		c.Document, err = p.document(w.Collection, m.Document, false)
		out.Model = &c
	case *mongo.ReplaceOneModel:
		c := *m
		if c.Filter, err = p.filter(w.Collection, m.Filter); err == nil {
			c.Replacement, err = p.document(w.Collection, m.Replacement, true)
		}
		out.Model = &c
	case *mongo.UpdateOneModel:
		c := *m
		if c.Filter, err = p.filter(w.Collection, m.Filter); err == nil {
			c.Update, err = p.update(w.Collection, m.Update, m.Upsert != nil && *m.Upsert)
		}
		out.Model = &c
	case *mongo.UpdateManyModel:
		c := *m
		if c.Filter, err = p.filter(w.Collection, m.Filter); err == nil {
			c.Update, err = p.update(w.Collection, m.Update, m.Upsert != nil && *m.Upsert)
		}
		out.Model = &c
	case *mongo.DeleteOneModel:
		c := *m
		c.Filter, err = p.filter(w.Collection, m.Filter)
		out.Model = &c
		if p.Delete != nil && !w.Final {
			mark := &mongo.UpdateOneModel{Filter: c.Filter, Hint: m.Hint, Collation: m.Collation}
			if err == nil {
				mark.Update, err = p.mark(w)
			}
			out.Model = mark
		}
	case *mongo.DeleteManyModel:
		c := *m
		c.Filter, err = p.filter(w.Collection, m.Filter)
		out.Model = &c
		if p.Delete != nil && !w.Final {
			mark := &mongo.UpdateManyModel{Filter: c.Filter, Hint: m.Hint, Collation: m.Collation}
			if err == nil {
				mark.Update, err = p.mark(w)
			}
			out.Model = mark
		}
	}
	if err != nil {
		return Refused(w.Collection, err)
	}
	out.plain, out.covered = w.unscoped(), out.Model
	if inserts(w.Model) {
		out.tenant = And(w.tenant, p.tenant())
	}
	return out
}

// unscoped is the write's model as it was before policies were applied to it. They change nothing of what the write
// promises: their filters ask whether the document is there, and what they set is the same each time.
func (w Write) unscoped() mongo.WriteModel {
	if w.plain != nil && w.covered == w.Model {
		return w.plain
	}
	return w.Model
}

// stamped are the fields that policies added to the document of an insert.
func (w Write) stamped() map[string]bool {
	m, ok := w.unscoped().(*mongo.InsertOneModel)
	if !ok || w.plain == nil || w.covered != w.Model {
		return nil
	}
	own, err := (*core.Codec)(nil).Document(m.Document)
	all, isRaw := w.Model.(*mongo.InsertOneModel).Document.(bson.Raw)
	if err != nil || !isRaw {
		return nil
	}
	out := map[string]bool{}
	elems, _ := all.Elements()
	for _, e := range elems {
		if v := own.Lookup(e.Key()); v.Type == 0 || !v.Equal(e.Value()) {
			out[e.Key()] = true
		}
	}
	return out
}

// reasons are a write's, asked of the documents that the policy shows; but what is in the way of an insert may be any of the tenant's.
func (p Policy) reasons(w Write) []Reason {
	out := slices.Clone(w.Reasons)
	for i := range out {
		if p.holds(w.Collection) {
			out[i].If = And(out[i].If, pick(inserts(w.Model), p.tenant(), p.Filter))
		}
		if out[i].Instead != nil {
			out[i].Instead = p.steps(out[i].Instead)
		}
	}
	return out
}

// inserts reports whether a write may store a new document.
func inserts(model mongo.WriteModel) bool {
	var upsert *bool
	switch m := model.(type) {
	case *mongo.InsertOneModel:
		return true
	case *mongo.UpdateOneModel:
		upsert = m.Upsert
	case *mongo.UpdateManyModel:
		upsert = m.Upsert
	case *mongo.ReplaceOneModel:
		upsert = m.Upsert
	}
	return upsert != nil && *upsert
}

// mark is the update that stands for a delete.
func (p Policy) mark(w Write) (any, error) {
	return p.update(w.Collection, append(bson.D{{Key: "$set", Value: p.Delete}}, w.IfMarked...), false)
}

// reachedBy is the policy's filter of a write.
func (p Policy) reachedBy(w Write) (bson.D, error) {
	filter, err := p.reaching(w.Collection, w.Deleted || w.mixed)
	if err == nil && w.mixed && len(filter) < len(p.Filter) {
		err = &ConflictError{Collection: w.Collection, Reason: "the write was merged of two, of which one reaches documents that the policy marks as deleted, " +
			"and the other doesn't: put each under the policy before they are merged"}
	}
	return filter, err
}

// reaching is the policy's filter. Where marked documents are to be reached, the
// conditions on the fields that Delete sets are left out.
func (p Policy) reaching(collection string, deleted bool) (out bson.D, _ error) {
	if !deleted || len(p.Delete) == 0 {
		return p.Filter, nil
	}
	for _, e := range p.Filter {
		mark := slices.ContainsFunc(p.Delete, func(d bson.E) bool {
			return core.Overlap(e.Key, d.Key) || strings.HasPrefix(e.Key, "$") && strings.Contains(shell(e.Value), d.Key)
		})
		switch {
		case !mark:
			out = append(out, e)
		case strings.HasPrefix(e.Key, "$"):
			return nil, &ConflictError{Collection: collection, Reason: "the policy's filter has its condition on deleted documents within " + e.Key +
				", where it can't be told from the others, and this reaches deleted documents: name that field at the top of the filter"}
		}
	}
	return out, nil
}

func (p Policy) filter(collection string, filter any) (any, error) {
	if len(p.Filter) == 0 {
		return filter, nil
	}
	f, ok := filter.(bson.D)
	if !ok {
		raw, isRaw := filter.(bson.Raw)
		if !isRaw || bson.Unmarshal(raw, &f) != nil {
			return nil, &ConflictError{Collection: collection, Reason: "a policy needs filters that are bson.D or bson.Raw"}
		}
	}
	return And(f, p.Filter), nil
}

// update adds Set, and for an upsert Insert, to an update.
func (p Policy) update(collection string, update any, upsert bool) (any, error) {
	set, onInsert := p.Set, bson.D(nil)
	if upsert {
		onInsert = p.onInsert()
	}
	if len(set)+len(p.Insert) == 0 {
		return update, nil
	}
	if raw, ok := update.(bson.Raw); ok {
		update, _ = operators(raw)
	}
	switch u := update.(type) {
	case bson.D:
		m := merger{collection: collection}
		for _, op := range u {
			if err := m.addOperator(op); err != nil {
				return nil, err
			}
		}
		if err := m.keeps(p.Insert); err != nil {
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
			return nil, &ConflictError{Collection: collection, Reason: "a policy with Insert fields can't add them to an upsert by a pipeline"}
		}
		fields := slices.Concat(p.tenant(), p.Set) // a pipeline can't be looked into: it must not hand the document to another tenant
		if len(fields) == 0 {
			return u, nil
		}
		stage := Policy{Set: fields}.setStage()
		if n := len(u); n > 0 && sameValue(u[n-1], stage) {
			return u, nil
		}
		return append(slices.Clone(u), stage), nil
	}
	return nil, &ConflictError{Collection: collection, Reason: "a policy needs updates that are bson.D or mongo.Pipeline"}
}

// keeps refuses an update that gives another value to a field that the policy gives to new documents: it would hand the
// document to another tenant.
func (m *merger) keeps(fields bson.D) error {
	for _, f := range fields {
		for _, q := range m.paths {
			same := q.path == f.Key && (q.op == "$set" || q.op == "$setOnInsert") && shell(q.value) == shell(f.Value)
			if clash(q.path, f.Key) && !same {
				return m.conflict("the policy gives this field its value", q.op+" "+q.path, "policy "+f.Key)
			}
		}
	}
	return nil
}

// onInsert is Insert less what Set sets anyway, and what the server takes from the filter.
func (p Policy) onInsert() bson.D {
	return slices.DeleteFunc(slices.Clone(p.Insert), func(e bson.E) bool {
		return slices.ContainsFunc(p.Set, func(s bson.E) bool { return s.Key == e.Key }) ||
			slices.ContainsFunc(p.Filter, func(s bson.E) bool { return s.Key == e.Key && isEquality(s.Value) }) // the upsert takes it from the filter
	})
}

func (p Policy) setStage() bson.D {
	fields := make(bson.D, len(p.Set))
	for i, e := range p.Set {
		fields[i] = bson.E{Key: e.Key, Value: bson.D{{Key: "$literal", Value: e.Value}}}
	}
	return bson.D{{Key: "$set", Value: fields}}
}

// document gives a whole document the fields of Insert and Set. A field of Set takes the place of one that it has. A field of
// Insert that it has must be equal; but a replacement keeps what Insert once gave it (createdAt), unless the policy's filter asks
// for that field (tenant).
func (p Policy) document(collection string, doc any, replaces bool) (any, error) {
	fields := slices.Concat(p.onInsertDocument(), p.Set)
	if len(fields) == 0 {
		return doc, nil
	}
	raw, ok := doc.(bson.Raw)
	if !ok {
		var err error
		if raw, err = (*core.Codec)(nil).Document(doc); err != nil {
			return nil, err
		}
	}
	var out []byte
	elems, err := raw.Elements()
	if err != nil {
		return nil, err
	}
	for _, e := range elems {
		if !slices.ContainsFunc(p.Set, func(s bson.E) bool { return s.Key == e.Key() }) {
			out = append(out, e...)
		}
	}
	for _, f := range fields {
		if err := core.CheckKey(f.Key); err != nil {
			return nil, &ConflictError{Collection: collection, Paths: [2]string{"Insert " + f.Key, "document"}, Reason: "a policy sets top-level fields of whole documents only"}
		}
		one, err := bson.Marshal(bson.D{f})
		if err != nil {
			return nil, err
		}
		if old := raw.Lookup(f.Key); old.Type != 0 && !hasKey(p.Set, f.Key) {
			kept := replaces && valueOf(p.Filter, f.Key) == nil
			if !kept && !old.Equal(bson.Raw(one).Lookup(f.Key)) {
				return nil, &ConflictError{Collection: collection, Paths: [2]string{"document " + f.Key, "policy " + f.Key}, Reason: "the document already holds another value"}
			}
			continue
		}
		out = append(out, one[4:len(one)-1]...)
	}
	n := len(out) + 5
	head := []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}
	return bson.Raw(slices.Concat(head, out, []byte{0})), nil
}

// onInsertDocument is Insert less what Set sets anyway.
func (p Policy) onInsertDocument() bson.D {
	return slices.DeleteFunc(slices.Clone(p.Insert), func(e bson.E) bool {
		return slices.ContainsFunc(p.Set, func(s bson.E) bool { return s.Key == e.Key })
	})
}
