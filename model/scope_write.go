package model

import (
	"errors"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// plan applies the scope to each step of a plan.
func (s *scope) plan(p Plan) Plan {
	p.Steps, p.IfStale = s.steps(p.Steps), s.steps(undoing(p.IfStale))
	if p.leaner() {
		p.InTx = s.steps(p.InTx)
	}
	return p
}

// undoing returns the steps as final deletes. A delete that undoes an insert must not
// leave a marked document.
func undoing(steps []Step) []Step {
	steps = slices.Clone(steps)
	for i, step := range steps {
		if w, ok := step.(Write); ok {
			w.Final = true
			steps[i] = w
		}
	}
	return steps
}

func (s *scope) steps(steps []Step) []Step {
	out := make([]Step, len(steps))
	for i, step := range steps {
		switch step := step.(type) {
		case Write:
			out[i] = s.write(step)
		case MergeInto:
			out[i] = s.merge(step)
		}
	}
	return out
}

// write applies the scope's filter and fields. A delete becomes an update if the scope
// marks deletions. For a hidden document the write returns [ErrNotFound], and no other
// reason.
func (s *scope) write(w Write) Write {
	if w.Err != nil || core.IsNilModel(w.Model) { // refused when it is run
		return w
	}
	err := s.knows(w.Collection)
	if err == nil && w.plain {
		err = s.passing(w.Collection, w.unscoped())
	}
	if err == nil && !w.stored && !s.alone { // the run of a plan of Scope.Plan asks again
		err = s.admits(w.Collection, w.Keyed)
	}
	if err != nil {
		return Refused(w.Collection, err)
	}
	if w, err = s.keying(s.placing(w)); err != nil {
		return Refused(w.Collection, err)
	}
	if w.Reasons = s.reasons(w); !s.holds(w.Collection) {
		return w
	}
	filter, err := s.reachedBy(w)
	if err != nil {
		return Refused(w.Collection, err)
	}
	out, under := w, w.scoping()
	under.within = bsondoc.JoinFilters(under.within, filter)
	if w.Done != nil {
		out.Done = bsondoc.JoinFilters(w.Done, filter)
	}
	var marks bool
	if out.Model, marks, err = s.scoped(w, filter); err != nil {
		return Refused(w.Collection, err)
	}
	under.marks = under.marks || marks
	under.plain, under.covered = w.unscoped(), out.Model
	if inserts(w.Model) {
		under.tenant = bsondoc.JoinFilters(under.tenant, s.tenant)
	}
	if under.text == "" && s.compares(w.Collection) {
		under.text = s.text
	}
	out.under = &under
	return out
}

// scoped applies the scope to a write's model. marks reports whether a delete became an
// update.
func (s *scope) scoped(w Write, filter bson.D) (out mongo.WriteModel, marks bool, err error) {
	out = w.Model
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		c := *m
		c.Document, err = s.document(w, m.Document, false)
		out = &c
	case *mongo.ReplaceOneModel:
		c := *m
		if c.Filter, err = s.filtered(w, m.Filter, s.exactly(m.Collation, filter)); err == nil {
			c.Replacement, err = s.document(w, m.Replacement, true)
		}
		out = &c
	case *mongo.UpdateOneModel:
		c := *m
		if c.Filter, err = s.filtered(w, m.Filter, s.exactly(m.Collation, filter)); err == nil {
			c.Update, err = s.update(w.Collection, s.markedToo(w, m.Update), m.Upsert != nil && *m.Upsert)
		}
		out = &c
	case *mongo.UpdateManyModel:
		c := *m
		if c.Filter, err = s.filtered(w, m.Filter, s.exactly(m.Collation, filter)); err == nil {
			c.Update, err = s.update(w.Collection, s.markedToo(w, m.Update), m.Upsert != nil && *m.Upsert)
		}
		out = &c
	case *mongo.DeleteOneModel:
		c := *m
		c.Filter, err = s.filtered(w, m.Filter, s.exactly(m.Collation, filter))
		out = &c
		if s.mark != nil && !w.Final {
			mark := &mongo.UpdateOneModel{Filter: c.Filter, Hint: m.Hint, Collation: m.Collation}
			if err == nil {
				mark.Update, err = s.marking(w)
			}
			out, marks = mark, true
		}
	case *mongo.DeleteManyModel:
		c := *m
		c.Filter, err = s.filtered(w, m.Filter, s.exactly(m.Collation, filter))
		out = &c
		if s.mark != nil && !w.Final {
			mark := &mongo.UpdateManyModel{Filter: c.Filter, Hint: m.Hint, Collation: m.Collation}
			if err == nil {
				mark.Update, err = s.marking(w)
			}
			out, marks = mark, true
		}
	}
	return out, marks, err
}

// reasons restricts the write's reasons to documents that the scope shows. For an insert
// they may match any document of the tenant, unless the reason wraps ErrStale: a hidden
// document can't be read again.
func (s *scope) reasons(w Write) []Reason {
	out := slices.Clone(w.Reasons)
	for i := range out {
		if out[i].If != nil && s.holds(w.Collection) {
			own := pick(inserts(w.Model) && !errors.Is(out[i].Err, ErrStale), s.tenant, s.filter)
			out[i].If = bsondoc.JoinFilters(out[i].If, own)
		}
		if out[i].Instead != nil {
			out[i].Instead = s.steps(out[i].Instead)
		}
	}
	return out
}

// marking returns the update that replaces a delete.
func (s *scope) marking(w Write) (any, error) {
	return s.update(w.Collection, append(bson.D{{Key: "$set", Value: s.mark}}, w.IfMarked...), false)
}

// markedToo adds the scope's mark to an update that an outer scope made from a delete, so
// that each scope hides the document. It keeps the outer scope's fields.
func (s *scope) markedToo(w Write, update any) any {
	u, ok := update.(bson.D)
	if !ok || !w.scoping().marks {
		return update
	}
	u = slices.Clone(u)
	i := slices.IndexFunc(u, func(op bson.E) bool { return op.Key == "$set" }) // each marking update has a $set
	set, _ := u[i].Value.(bson.D)
	for _, e := range s.mark {
		if !bsondoc.HasKey(set, e.Key) {
			set = append(slices.Clip(set), e)
		}
	}
	u[i].Value = set
	return u
}

// reachedBy returns the scope's filter for a write.
func (s *scope) reachedBy(w Write) (bson.D, error) {
	if w.mixed && s.mark != nil {
		return nil, &ConflictError{
			Collection: w.Collection,
			Reason: "the write was merged from two writes, of which only one may write documents that the scope marks as deleted: " +
				"run the two separately",
		}
	}
	return s.shown(w.Deleted), nil
}

// shown returns the filter for a query or write.
func (s *scope) shown(deleted bool) bson.D {
	if deleted {
		return s.reaching
	}
	return s.filter
}

// filtered returns a write's filter combined with the scope's filter.
func (s *scope) filtered(w Write, filter any, with bson.D) (any, error) {
	collection := w.Collection
	switch filter.(type) {
	case bson.D, bson.Raw:
	default:
		return nil, &ConflictError{Collection: collection, Reason: "a scope needs filters that are bson.D or bson.Raw"}
	}
	if core.IsNilDocument(filter) {
		return filter, nil // refused when it is encoded
	}
	f, _ := bsondoc.Document(filter)
	if err := s.allows(collection, f); err != nil {
		return nil, err
	}
	if len(with) == 0 {
		return filter, nil
	}
	return bsondoc.JoinFilters(f, with), nil
}
