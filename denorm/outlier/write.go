package outlier

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/denorm/internal/bucket"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A state is what an append or a removal has read before it decides.
type state struct {
	N        int64      `bson:"n"`       // how many elements the array holds
	Bytes    int64      `bson:"bytes"`   // of those, in BSON; 0 without MaxBytes
	Flagged  bool       `bson:"flagged"` // there is overflow, or there may be
	Holds    bool       `bson:"holds"`   // the array holds the element
	Type     string     `bson:"type"`    // of what is stored in the array's place: "array", or "missing" for nothing
	Overflow bucket.End `bson:"-"`       // the newest overflow document; not read while the array has room
	Tx       bool       `bson:"-"`       // it was read in a transaction
}

// makeChange returns a change of an owner's elements. err refuses it.
func (o *untypedOutlier) makeChange(
	err error, read func(context.Context, model.DB) (state, error), decide func(state) (model.Plan, error),
	then func(state) *model.Change,
) model.Change {
	if err != nil {
		return commands.RefuseChange(o.docs.Name(), err)
	}
	return model.ChangeOf[state]{
		Name: "outlier " + o.docs.Name() + "." + o.path, Read: read, Decide: decide, Attempts: 100, Then: then,
	}.Change()
}

// appendElement adds an element after all others.
func (o *untypedOutlier) appendElement(owner, element any) model.Change {
	id, err := o.docs.RawID("_id", owner)
	var e bucket.Element
	if err == nil {
		e, err = o.in.EncodeElement(owner, element)
	}
	return o.makeChange(err,
		func(ctx context.Context, db model.DB) (state, error) {
			return o.readState(ctx, db, id, e, func(s state) bool {
				return !s.Holds && (s.Flagged || !o.hasRoom(e, s))
			})
		},
		func(s state) (model.Plan, error) { return o.planAppend(id, e, s) },
		func(s state) *model.Change {
			if page := o.openedPage(e, s); page != "" && !s.Tx {
				return o.confirmOwner(id, e, page)
			}
			return nil
		},
	)
}

// openedPage returns the _id of the overflow document that an append opens, or "" for
// none.
func (o *untypedOutlier) openedPage(e bucket.Element, s state) string {
	if s.Holds || !s.Flagged && o.hasRoom(e, s) {
		return ""
	}
	return o.in.OpenedID(e, s.Overflow)
}

// confirmOwner reads the owner again after an append opened an overflow document. If the
// owner was deleted meanwhile, its overflow was deleted with it, perhaps before this
// document was stored, so the document is deleted. An owner that was inserted since has
// no flag yet. An append to an existing overflow document doesn't need this: it opens
// none.
func (o *untypedOutlier) confirmOwner(id bson.RawValue, e bucket.Element, page string) *model.Change {
	c := model.ChangeOf[state]{
		Name: "outlier " + o.docs.Name() + "." + o.path, Attempts: 100,
		Read: func(ctx context.Context, db model.DB) (state, error) {
			s, err := o.readOwner(ctx, db, id, e)
			if errors.Is(err, model.ErrNotFound) {
				err = nil
			}
			return s, err
		},
		Decide: func(s state) (model.Plan, error) {
			if s.Flagged {
				return model.Plan{}, nil
			}
			opened := bson.D{mql.E("_id", page), mql.E("items", mql.Op("$eq", bson.A{e.Item}))}
			w := o.in.MarkKeyed(commands.DeleteOne(o.in.Docs.Name(), opened))
			w.Final = true
			return model.NewPlan(w), nil
		},
	}.Change()
	return &c
}

// hasRoom reports whether the array can take an element.
func (o *untypedOutlier) hasRoom(e bucket.Element, s state) bool {
	return s.N < int64(o.spec.Max) && (o.spec.MaxBytes == 0 || s.Bytes+int64(len(e.Item.Value)) <= o.spec.MaxBytes)
}

// readState reads the owner, and then its overflow if overflow says that it is needed. In
// this order, elements that a split moves between the two reads are seen in the overflow.
func (o *untypedOutlier) readState(
	ctx context.Context, db model.DB, id bson.RawValue, e bucket.Element, overflow func(state) bool,
) (state, error) {
	s, err := o.readOwner(ctx, db, id, e)
	if err != nil || !overflow(s) || s.N > int64(o.spec.Max) && !s.Flagged {
		return s, err
	}
	if s.Overflow, err = o.in.ReadEnd(ctx, db, e); err != nil || s.Flagged || s.Overflow.ID == "" {
		return s, err
	}
	now, err := o.readOwner(ctx, db, id, e) // was it flagged meanwhile, or is the flag missing?
	if err == nil && now.Flagged {
		err = model.ErrStale
	}
	return s, err
}

// readOwner reads an owner without its elements: the server counts them.
func (o *untypedOutlier) readOwner(
	ctx context.Context, db model.DB, id bson.RawValue, e bucket.Element,
) (s state, err error) {
	defer func() { s.Tx = runctx.InTransaction(ctx) }()
	fields := bson.D{
		{Key: "_id", Value: 0}, {Key: "n", Value: mql.Op("$toLong", mql.Op("$size", o.listKept()))},
		{Key: "flagged", Value: o.hasFlag()}, {Key: "type", Value: mql.Op("$type", "$"+o.path)},
	}
	if o.spec.MaxBytes > 0 {
		fields = append(fields, bson.E{Key: "bytes", Value: bucket.SumSizes(o.listKept())})
	}
	if o.in.Spec.ElementKey != "" {
		fields = append(fields, bson.E{Key: "holds", Value: mql.Op("$in", mql.Literal(e.ID), o.listKeys())})
	}
	return (&model.Aggregate[state]{Aggregation: model.Aggregation{
		Collection: o.docs.Name(), Index: model.IDIndex,
		Pipeline: mongo.Pipeline{mql.Match(commands.MatchID(id)...), mql.Project(fields...)},
	}}).One(ctx, db)
}

// checkSound says why the elements of an owner can't be changed.
func (o *untypedOutlier) checkSound(s state) error {
	switch {
	case s.Type != "" && s.Type != "array" && s.Type != "missing":
		return o.docs.Refuse(o.path, nil, "is stored as "+s.Type+", but must be an array")
	case s.Flagged:
		return nil
	case s.N > int64(o.spec.Max):
		return errUnsplit
	case s.Overflow.ID != "":
		return errUnflagged
	}
	return nil
}

// planAppend pushes into the array, or sets the flag and appends to the overflow.
func (o *untypedOutlier) planAppend(id bson.RawValue, e bucket.Element, s state) (model.Plan, error) {
	if err := o.checkSound(s); err != nil {
		return model.Plan{}, err
	}
	switch {
	case s.Holds:
		return model.Plan{Applied: true}, nil
	case s.Flagged:
		p, err := o.in.PlanAppend(e, s.Overflow)
		if s.Tx && err == nil && o.openedPage(e, s) != "" {
			p.Steps = append(o.touchOwner(id), p.Steps...)
		}
		return p, err
	case o.hasRoom(e, s):
		return model.NewPlan(o.pushElement(id, e)), nil
	}
	p, err := o.in.PlanAppend(e, s.Overflow)
	p.Steps = append([]model.Step{o.setFlag(id, e, s)}, p.Steps...)
	// half of it is whole; only what was written can't be recognized
	p.Options.AllowPartial = o.in.Spec.ElementKey == ""
	p.Leaves = "a flag without overflow; the next append writes the overflow"
	return p, err
}

// pushElement is the write of an element into the array. The filter asks for room again.
func (o *untypedOutlier) pushElement(id bson.RawValue, e bucket.Element) model.Write {
	filter := append(commands.MatchID(id), o.isUnflagged(), mql.E(o.elementPath(o.spec.Max-1), mql.Exists(false)))
	w := model.Write{Collection: o.docs.Name(), Index: model.IDIndex, Expect: model.One}
	if o.in.Spec.ElementKey != "" {
		filter = append(filter, bson.E{Key: o.keyPath(), Value: stored.MatchOther(e.ID)})
		w.Done, w.Idempotent = append(commands.MatchID(id), mql.E(o.keyPath(), mql.Eq(e.ID))), true
	}
	if o.spec.MaxBytes > 0 {
		room := o.spec.MaxBytes - int64(len(e.Item.Value))
		filter = append(filter, bson.E{Key: "$expr", Value: mql.Op("$lte", bucket.SumSizes(o.listKept()), room)})
	}
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: mql.Op("$push", bson.D{{Key: o.path, Value: e.Item}})}
	return w
}

// touchOwner returns the writes that make a transaction conflict with a deletion of the
// owner. It unsets the flag and sets it again, because a write without a change doesn't
// conflict.
func (o *untypedOutlier) touchOwner(id bson.RawValue) []model.Step {
	flagged := append(commands.MatchID(id), mql.E(o.spec.Flag, true))
	off := commands.UpdateIf(o.docs.Name(), flagged, mql.Op("$unset", bson.D{mql.E(o.spec.Flag, "")}))
	off.Expect = model.One
	return []model.Step{off, commands.UpdateIf(o.docs.Name(), commands.MatchID(id), mql.Set(mql.E(o.spec.Flag, true)))}
}

// setFlag is the write of the flag, if the array is still full. From then on the array
// takes no element, so an element that the array lacks now can only come into the
// overflow.
func (o *untypedOutlier) setFlag(id bson.RawValue, e bucket.Element, s state) model.Write {
	filter := append(commands.MatchID(id), o.isUnflagged(), mql.E(o.elementPath(o.spec.Max), mql.Exists(false)))
	if s.N >= int64(o.spec.Max) {
		filter = append(filter, mql.E(o.elementPath(o.spec.Max-1), mql.Exists(true)))
	} else {
		room := o.spec.MaxBytes - int64(len(e.Item.Value))
		filter = append(filter, mql.E("$expr", mql.Op("$gt", bucket.SumSizes(o.listKept()), room)))
	}
	flag := mql.E(o.spec.Flag, true)
	done := append(commands.MatchID(id), flag)
	if o.in.Spec.ElementKey != "" {
		absent := bson.E{Key: o.keyPath(), Value: stored.MatchOther(e.ID)}
		filter, done = append(filter, absent), append(done, absent)
	}
	w := commands.UpdateIf(o.docs.Name(), filter, mql.Set(flag))
	w.Expect, w.Done = model.One, done
	return w
}

// removeElement removes an element by its key.
func (o *untypedOutlier) removeElement(owner, key any) model.Change {
	id, err := o.docs.RawID("_id", owner)
	var e bucket.Element
	if err == nil {
		e, err = o.in.EncodeElementKey(owner, key)
	}
	read := func(ctx context.Context, db model.DB) (state, error) {
		return o.readState(ctx, db, id, e, func(s state) bool { return !s.Holds })
	}
	decide := func(s state) (model.Plan, error) {
		if err := o.checkSound(s); err != nil {
			return model.Plan{}, err
		}
		switch {
		case s.Holds:
			return model.NewPlan(o.pullElement(id, e)), nil
		case s.Overflow.Holds != "":
			return model.NewPlan(o.in.RemoveElement(s.Overflow.Holds, e)), nil
		}
		return model.Plan{}, nil
	}
	return o.makeChange(err, read, decide, nil)
}

// pullElement removes an element from the array. If it matches nothing the plan is stale:
// a split may have moved the element into the overflow.
func (o *untypedOutlier) pullElement(id bson.RawValue, e bucket.Element) model.Write {
	pull := bson.D{{Key: o.path, Value: bson.D{{Key: o.in.Spec.ElementKey, Value: mql.Eq(e.ID)}}}}
	w := commands.UpdateIf(o.docs.Name(),
		append(commands.MatchID(id), mql.E(o.keyPath(), mql.Eq(e.ID))), mql.Op("$pull", pull))
	w.Expect = model.One
	return w
}

// deleteOwner deletes an owner, and then its overflow. In the other order, a crash would
// lose elements of an owner that exists.
func (o *untypedOutlier) deleteOwner(owner model.Write, key any) model.Plan {
	overflow, err := o.in.MatchKey(key)
	if owner.Err == nil {
		owner.Err = err
	}
	if owner.Err != nil {
		return model.NewPlan(model.Refused(o.docs.Name(), owner.Err))
	}
	p := model.NewPlan(owner,
		o.in.MarkKeyed(model.Write{
			Collection: o.in.Docs.Name(), Index: model.IDIndex, Model: &mongo.DeleteManyModel{Filter: overflow},
		}))
	p.Leaves = "overflow without an owner; the checks find it"
	return p
}

// ErrUnsound is an error of [Outlier.Append] and [Outlier.Remove]. The owner's flag
// (Spec.Flag) isn't set, but one of these is true:
//   - The array has over Spec.Max elements. Run [Outlier.Split].
//   - The call found overflow documents. Run the job of the first check in
//     [Outlier].Checks.
var ErrUnsound = errors.New("docmodel: the array and its overflow don't fit together")

var (
	errUnsplit = fmt.Errorf("%w: the array holds more than Max elements and has no overflow yet: run "+
		"Outlier.Split first", ErrUnsound)
	errUnflagged = fmt.Errorf("%w: there is overflow without the flag: run the Job of the first check of "+
		"Outlier.Checks",
		ErrUnsound)
	errLeftover = fmt.Errorf("docmodel: stored overflow isn't the end of the array: %w", model.ErrStale)
)
