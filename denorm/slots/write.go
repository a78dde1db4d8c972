package slots

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An operation adds n to a key, or takes -n from it.
type operation struct {
	key  key
	n    int64
	op   bson.ObjectID
	take bool
}

func (o operation) hashToken() int32 { return hashToken(o.op) }

func (o operation) makeToken() usedToken { return usedToken{o.op, o.n, o.hashToken()} }

// addNumber adds n to a key.
func (s *untypedSlots) addNumber(k any, n int64, op bson.ObjectID) model.Change {
	switch {
	case n == 0:
		return commands.RefuseChange(s.docs.Name(),
			s.docs.Refuse("n", n, "is 0, which adds nothing: give another number"))
	case n < 0 && s.spec.Stock:
		return commands.RefuseChange(s.docs.Name(), s.docs.Refuse("n", n, "is negative: use Take"))
	}
	return s.makeChange(k, operation{n: n, op: op})
}

// takeStock takes n from a key's stock.
func (s *untypedSlots) takeStock(k any, n int64, op bson.ObjectID) model.Change {
	switch {
	case n <= 0:
		return commands.RefuseChange(s.docs.Name(), s.docs.Refuse("n", n, "must be above 0"))
	case !s.spec.Stock:
		return commands.RefuseChange(s.docs.Name(),
			s.docs.Refuse("n", nil, "the slots have no stock: declare them with Stock, or use Add"))
	}
	return s.makeChange(k, operation{n: -n, op: op, take: true})
}

// makeChange makes the change of an operation.
func (s *untypedSlots) makeChange(k any, o operation) model.Change {
	var err error
	if o.key, err = s.encodeKey(k); err == nil && o.op.IsZero() {
		err = s.docs.Refuse("token", nil, commands.NoToken)
	}
	if err != nil {
		return commands.RefuseChange(s.docs.Name(), err)
	}
	return commands.MarkChangeKeyed(model.ChangeOf[keyState]{
		Name:     "slots " + s.docs.Name(),
		Read:     func(ctx context.Context, db model.DB) (keyState, error) { return s.readState(ctx, db, o) },
		Decide:   func(st keyState) (model.Plan, error) { return s.planOperation(o, st) },
		Attempts: 100,
		Pause:    pause,
	}, s.docs.Name()).Change()
}

// A ShortError says that a stock has less than the amount that [Slots.Take] asks for. It
// wraps model.ErrFull.
type ShortError struct {
	Collection string
	Asked      int64 // the amount to take
	Left       int64 // the stock of the whole key
}

func (e *ShortError) Error() string {
	return fmt.Sprintf("docmodel: %s: can't take %d: the stock has %d", e.Collection, e.Asked, e.Left)
}

func (e *ShortError) Unwrap() error { return model.ErrFull }

// refuseReused is the error for a token that was used with another amount.
func (s *untypedSlots) refuseReused(t usedToken, n int64) error {
	return fmt.Errorf("docmodel: %s: the token %s counts %d already, so it can't count %d: %w",
		s.docs.Name(), t.Op.Hex(),
		t.N, n, stored.ErrToken)
}

// planOperation finishes what other clients left, and counts the operation in its slot.
func (s *untypedSlots) planOperation(o operation, st keyState) (model.Plan, error) {
	if !st.Read {
		of := int32(s.spec.Slots)
		w := s.countOperation(o, o.hashToken()%of, of)
		w.Reasons = []model.Reason{{Err: errSlotChanged}}
		return model.NewPlan(w), nil
	}
	t, counted := st.findToken(o.op)
	sent, onWay := st.findTaking(o.op)
	switch short := o.take && !onWay && st.sumSlots() < -o.n; {
	case counted && t.N != o.n:
		return model.Plan{}, s.refuseReused(t, o.n)
	case counted:
		return model.Plan{Applied: true}, nil
	case onWay && sent.N != o.n:
		return model.Plan{}, s.refuseReused(sent, o.n)
	case short && !st.Steady:
		return model.Plan{}, errMoved
	case short:
		return model.Plan{}, &ShortError{s.docs.Name(), -o.n, st.sumSlots()}
	}
	// From here on the plan decides from the state that its first steps leave.
	steps, now := s.finishTransfers(o.key, st), st.applyTransfers()
	if len(st.Slots) == 0 {
		steps, now = s.createSlots(o.key), s.createdState()
	} else if list := now.listMissing(); len(list) > 0 {
		steps = append(steps, s.completeSlots(o.key, list, now.maxDivisor())...)
		now = now.addMissing(list)
	}
	// Without an owner, the slots were read in the middle of a resize.
	leaf := now.findOwner(o.hashToken())
	if leaf == nil {
		return model.Plan{}, errMoved
	}
	last, after := s.countInSlot(o, leaf), []model.Step(nil)
	if o.take && leaf.Free < -o.n && !onWay {
		moves, enough := now.gatherStock(leaf, -o.n)
		switch {
		case enough:
			var before []model.Step
			before, last, after = s.sendStock(o, leaf, moves)
			steps = append(steps, before...)
		case len(steps) == 0:
			return model.Plan{}, errMoved
		} // else the last step finds too little, and all is read again
	}
	p := model.NewPlan(append(append(steps, last), after...)...)
	if len(p.Steps) > 1 {
		p.Leaves = "only some of the slots, or an open transfer; the next operation finishes it"
	}
	return p, nil
}

// errSlotChanged ends a first attempt whose assumption was wrong. The second attempt
// reads.
var errSlotChanged = fmt.Errorf("docmodel: the operation's slot has changed: %w", model.ErrStale)

// countOperation is the write that counts an operation in a slot.
func (s *untypedSlots) countOperation(o operation, n, of int32) model.Write {
	filter := bson.D{
		{Key: "_id", Value: o.key.slotID(n)}, {Key: "of", Value: of}, {Key: "ops.op", Value: mql.Op("$ne", o.op)},
	}
	inc := bson.D{{Key: "sum", Value: o.n}}
	if s.spec.Stock {
		inc = append(inc, bson.E{Key: "free", Value: o.n})
	}
	if o.take {
		filter = append(filter, bson.E{Key: "free", Value: mql.Op("$gte", -o.n)})
	}
	w := commands.UpdateIf(s.docs.Name(), filter, bson.D{
		{Key: "$inc", Value: inc},
		{Key: "$push", Value: bson.D{{Key: "ops", Value: s.pushTokens([]usedToken{o.makeToken()})}}},
	})
	w.Expect = model.One
	return w
}

// countInSlot is [Slots.countOperation] in a slot that was read, with Done.
func (s *untypedSlots) countInSlot(o operation, leaf *storedSlot) model.Write {
	w := s.countOperation(o, leaf.N, leaf.Of)
	w.Done = s.matchCounted(o, leaf.N)
	return w
}

// matchCounted matches a slot that has counted an operation.
func (s *untypedSlots) matchCounted(o operation, n int32) bson.D {
	token := bson.D{{Key: "op", Value: o.op}, {Key: "n", Value: o.n}}
	return bson.D{{Key: "_id", Value: o.key.slotID(n)}, {Key: "ops", Value: mql.Op("$elemMatch", token)}}
}

// pushTokens appends tokens, and keeps the latest ones.
func (s *untypedSlots) pushTokens(list []usedToken) bson.D {
	return bson.D{{Key: "$each", Value: encodeTokens(list)}, {Key: "$slice", Value: -s.spec.Keep}}
}

func encodeTokens(list []usedToken) bson.A {
	out := make(bson.A, len(list))
	for i, t := range list {
		out[i] = t.encodeToken()
	}
	return out
}

func (t usedToken) encodeToken() bson.D {
	return bson.D{{Key: "op", Value: t.Op}, {Key: "n", Value: t.N}, {Key: "h", Value: t.H}}
}

// newSlotFields returns the fields of a new slot.
func (s *untypedSlots) newSlotFields(k key, n int32, more ...bson.E) bson.D {
	d := append(bson.D{{Key: "key", Value: k.stored}, {Key: "n", Value: n}}, more...)
	d = append(d, bson.E{Key: "sum", Value: int64(0)}, bson.E{Key: "seq", Value: int64(0)})
	if s.spec.Stock {
		d = append(d, bson.E{Key: "free", Value: int64(0)})
	}
	return d
}

// createSlots stores the slots of a new key, slot 0 first. If two clients create
// different numbers of slots, one of them finds slot 0 taken, and its plan is stale.
func (s *untypedSlots) createSlots(k key) []model.Step {
	of := int32(s.spec.Slots)
	id := bson.D{{Key: "_id", Value: k.slotID(0)}}
	mine := append(id[:1:1], bson.E{Key: "of", Value: of})
	first := commands.UpsertOne(s.docs.Name(), mine, bson.D{{Key: "$setOnInsert", Value: s.newSlotFields(k, 0)}})
	first.Expect, first.Done, first.Reasons = model.One, mine, []model.Reason{{If: id, Err: model.ErrStale}}
	var rest []int32
	for n := int32(1); n < of; n++ {
		rest = append(rest, n)
	}
	return append([]model.Step{first}, s.completeSlots(k, rest, of)...)
}

// createdState is the state of a key whose slots were just created.
func (s *untypedSlots) createdState() (st keyState) {
	for n := range int32(s.spec.Slots) {
		st.Slots = append(st.Slots, storedSlot{N: n, Of: int32(s.spec.Slots)})
	}
	return st
}

// completeSlots stores slots that are missing.
func (s *untypedSlots) completeSlots(k key, list []int32, of int32) (steps []model.Step) {
	for _, n := range list {
		steps = append(steps, s.ensureSlot(k, n, of))
	}
	return steps
}

// ensureSlot stores a slot unless it exists.
func (s *untypedSlots) ensureSlot(k key, n, of int32) model.Write {
	id := bson.D{{Key: "_id", Value: k.slotID(n)}}
	w := commands.UpsertOne(s.docs.Name(), id, bson.D{{
		Key:   "$setOnInsert",
		Value: s.newSlotFields(k, n, bson.E{Key: "of", Value: of}),
	}})
	w.Done = id
	return w
}
