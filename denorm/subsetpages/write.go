package subsetpages

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/bucket"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	reads   func(context.Context, model.DB) (state, error)
	decides func(state) (model.Plan, error)
)

// makeChange returns a change that is followed by the change that then returns. A nil
// change ends it. err refuses the change.
func (s *untypedSubset) makeChange(
	err error, read reads, decide decides, then func(state) *model.Change,
) model.ChangeOf[state] {
	if err != nil {
		return commands.RefuseChangeOf[state](s.docs.Name(), err)
	}
	return model.ChangeOf[state]{
		Name: "subset in pages " + s.docs.Name() + "." + s.path, Read: read, Decide: decide, Attempts: 100, Then: then,
	}
}

// appendElement adds an element to the newest page, and to the parent's array.
func (s *untypedSubset) appendElement(parent, element any) model.Change {
	id, err := s.docs.RawID("_id", parent)
	var e bucket.Element
	if err == nil {
		e, err = s.in.EncodeElement(parent, element)
	}
	if err == nil {
		err = s.checkOrder(e.Item)
	}
	read := func(ctx context.Context, db model.DB) (st state, err error) {
		// A page of a missing parent would be an orphan.
		if _, err = commands.ReadOne(ctx, db, s.docs.Name(), commands.MatchID(id),
			commands.ProjectFields()); err == nil {
			st.End, err = s.in.ReadEnd(ctx, db, e)
		}
		return st, err
	}
	decide := func(st state) (model.Plan, error) {
		p, err := s.in.PlanAppend(e, st.End)
		if err != nil || p.Applied {
			return p, err // refreshParent completes what a crash left
		}
		p.Steps = append(p.Steps, s.pushElement(id, e))
		p.Leaves = "an element that is in its page, but not yet in the parent's array; the check finds it"
		return p, nil
	}
	refreshRepeated := func(st state) *model.Change {
		if st.End.Holds == "" {
			return nil
		}
		return s.refreshArray(id)
	}
	return s.makeChange(err, read, decide, refreshRepeated).Change()
}

// pushElement pushes an element into the array, unless the array has its key. Then the
// array was filled from the pages meanwhile.
func (s *untypedSubset) pushElement(id bson.RawValue, e bucket.Element) model.Write {
	w := commands.UpdateIf(s.docs.Name(), append(commands.MatchID(id), mql.E(s.keyPath(), stored.MatchOther(e.ID))),
		mql.Op("$push", bson.D{{Key: s.path, Value: bson.D{
			{Key: "$each", Value: bson.A{e.Item}}, {Key: "$sort", Value: s.copyOrder()}, {Key: "$slice", Value: s.max},
		}}}))
	w.Expect, w.Done = model.One, commands.MatchID(id)
	return w
}

// encodeKey encodes the _id of a parent and the key of an element.
func (s *untypedSubset) encodeKey(parent, key any) (id bson.RawValue, e bucket.Element, err error) {
	if id, err = s.docs.RawID("_id", parent); err == nil {
		e, err = s.in.EncodeElementKey(parent, key)
	}
	return id, e, err
}

// setElement changes fields of an element in its page, and then in the parent's array.
func (s *untypedSubset) setElement(parent, key any, fields bson.D) model.Change {
	id, e, err := s.encodeKey(parent, key)
	var set bson.D
	if err == nil {
		set, err = s.encodeFields(fields)
	}
	moves := s.changesOrder(set)
	read := func(ctx context.Context, db model.DB) (state, error) { return s.readItem(ctx, db, e) }
	decide := func(st state) (p model.Plan, _ error) {
		if st.Item.Type == 0 {
			return p, fmt.Errorf("docmodel: no page holds the element %s: %w", model.Shell(e.ID), model.ErrNotFound)
		}
		doc, err := core.SetFields(st.Item.Document(), set)
		if err != nil {
			return p, err
		}
		now := core.MustRawValue(doc)
		if err := s.checkOrder(now); err != nil || now.Equal(st.Item) {
			return p, err
		}
		w := replaceElement(s.in.Docs.Name(), bson.D{{Key: "_id", Value: st.Holder}}, "items", st.Item, now,
			mql.Set(s.in.CountAgain()...))
		return model.NewPlan(s.in.MarkKeyed(w)), nil
	}
	updateArray := func(state) *model.Change {
		if moves { // another element may belong into the array now
			return s.refreshArray(id)
		}
		return s.repeatElement(id, e)
	}
	return s.makeChange(err, read, decide, updateArray).Change()
}

// repeatElement writes an element's page value into the parent's array. It reads the
// array after the page was written: a later fillArray reads the page after that too.
func (s *untypedSubset) repeatElement(id bson.RawValue, e bucket.Element) *model.Change {
	read := func(ctx context.Context, db model.DB) (st state, err error) {
		held, err := s.readRepeated(ctx, db, id, e)
		if err == nil && held.Type != 0 {
			st, err = s.readItem(ctx, db, e)
		}
		st.Held = held
		return st, err
	}
	decide := func(st state) (p model.Plan, _ error) {
		if st.Item.Type != 0 && !st.Item.Equal(st.Held) {
			p = model.NewPlan(replaceElement(s.docs.Name(), commands.MatchID(id), s.path, st.Held, st.Item))
		}
		return p, nil
	}
	c := s.makeChange(nil, read, decide, nil).Change()
	return &c
}

// replaceElement replaces an element of an array, if it is as it was read. The other
// elements stay, also those that were added since.
func replaceElement(collection string, id bson.D, path string, was, now bson.RawValue, then ...bson.D) model.Write {
	other := mql.Map("$"+path, "item", mql.Cond(mql.Op("$eq", "$$item", mql.Literal(was)), mql.Literal(now), "$$item"))
	holds := func(v bson.RawValue) bson.D { return append(slices.Clone(id), mql.E(path, mql.Op("$eq", v))) }
	w := commands.UpdateIf(collection, holds(was), append(mongo.Pipeline{mql.Set(mql.E(path, other))}, then...))
	w.Expect, w.Done = model.One, holds(now)
	return w
}

// encodeFields checks and encodes fields of an element. The element's key and time decide
// where it is stored, so they can't be set.
func (s *untypedSubset) encodeFields(fields bson.D) (bson.D, error) {
	if len(fields) == 0 {
		return nil, s.in.Docs.Refuse("fields", nil, "no field was given: give at least one")
	}
	out := make(bson.D, len(fields))
	for i, e := range fields {
		f, err := s.in.Docs.Field("items." + e.Key)
		if err != nil {
			return nil, err
		}
		at := "items[]." + e.Key
		switch {
		case core.Overlap(e.Key, s.in.Spec.ElementKey):
			return nil, s.in.Docs.Refuse(at, nil, "identifies the element and can't be set")
		case s.in.Spec.At != "" && core.Overlap(e.Key, s.in.Spec.At):
			return nil, s.in.Docs.Refuse(at, nil, "decides in which page the element is and can't be set")
		case f.Arrays > 2 || f.Arrays == 2 && !f.IsArray():
			return nil, s.in.Docs.Refuse(at, nil, "is in an array: set the whole array")
		case slices.ContainsFunc(fields[:i], func(o bson.E) bool { return core.Overlap(o.Key, e.Key) }):
			return nil, s.in.Docs.Refuse(at, nil, "is set twice: give each field once")
		}
		v, err := s.in.Docs.FieldValue(f, e.Value, false)
		if err != nil {
			return nil, err
		}
		out[i] = bson.E{Key: e.Key, Value: v}
	}
	return out, nil
}

// removeElement removes an element from its page. If the parent's array has it too, the
// array is filled from the pages.
func (s *untypedSubset) removeElement(parent, key any) model.Change {
	id, e, err := s.encodeKey(parent, key)
	return s.makeChange(err,
		func(ctx context.Context, db model.DB) (state, error) { return s.readItem(ctx, db, e) },
		func(st state) (p model.Plan, _ error) {
			if st.Holder != "" {
				p = model.NewPlan(s.in.RemoveElement(st.Holder, e))
			}
			return p, nil
		},
		func(state) *model.Change {
			return s.fillArray(id, func(ctx context.Context, db model.DB) (bool, error) {
				held, err := s.readRepeated(ctx, db, id, e)
				return held.Type != 0, err
			})
		},
	).Change()
}

// deletePages deletes the pages that a filter by _id finds.
func (s *untypedSubset) deletePages(filter bson.D) model.Write {
	return s.in.MarkKeyed(model.Write{
		Collection: s.in.Docs.Name(), Index: model.IDIndex, Model: &mongo.DeleteManyModel{Filter: filter},
	})
}

// refreshParent makes a parent's array from its pages.
func (s *untypedSubset) refreshParent(parent any) model.Change {
	id, err := s.docs.RawID("_id", parent)
	if err != nil {
		return commands.RefuseChange(s.docs.Name(), err)
	}
	return s.refreshArray(id).Change()
}

// refreshArray is [Subset.fillArray] without a condition.
func (s *untypedSubset) refreshArray(id bson.RawValue) *model.Change {
	return s.fillArray(id, func(context.Context, model.DB) (bool, error) { return true, nil })
}

// fillArray makes a parent's array from its pages, if must says so. It reads again after
// each write: while the array was full, a push may have dropped an element that belongs
// into it.
func (s *untypedSubset) fillArray(id bson.RawValue, must func(context.Context, model.DB) (bool, error)) *model.Change {
	differs := func(st state) bool {
		return st.Drift != nil && !isSameArray(st.Drift.Found, core.Elements(st.Drift.Want))
	}
	read := func(ctx context.Context, db model.DB) (st state, err error) {
		needed, err := must(ctx, db)
		if err == nil && needed {
			st.Drift, err = s.readDrift(ctx, db, id)
		}
		return st, err
	}
	decide := func(st state) (p model.Plan, _ error) {
		if differs(st) {
			p = model.NewPlan(s.setArray(*st.Drift, core.Elements(st.Drift.Want), true))
		}
		return p, nil
	}
	refreshAgain := func(st state) *model.Change {
		if !differs(st) {
			return nil
		}
		return s.refreshArray(id)
	}
	c := s.makeChange(nil, read, decide, refreshAgain).Change()
	return &c
}

// isSameArray reports whether an array has exactly these elements. A missing array is the
// same as an empty one.
func isSameArray(found bson.RawValue, want []bson.RawValue) bool {
	if found.Type != bson.TypeArray && (found.Type != 0 || len(want) > 0) {
		return false
	}
	return slices.EqualFunc(core.Elements(found), want, bsonval.EqualRaw)
}

// setArray sets a parent's array, if it is as it was found. With expect, an array that
// has changed makes the plan stale. Without, the write changes nothing.
func (s *untypedSubset) setArray(d drift, want []bson.RawValue, expect bool) model.Write {
	list := make(bson.A, len(want))
	for i, v := range want {
		list[i] = bsonval.Clone(v)
	}
	id := bsonval.Clone(d.ID)
	asFound := append(commands.MatchID(id), stored.MatchValueAt(s.path, bsonval.Clone(d.Found)))
	w := commands.UpdateIf(s.docs.Name(), asFound, mql.Op("$set", bson.D{{Key: s.path, Value: list}}))
	if expect {
		w.Expect, w.Done = model.One, append(commands.MatchID(id), mql.E(s.path, mql.Op("$eq", list)))
	}
	return w
}
