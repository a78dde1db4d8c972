package slots

import (
	"cmp"
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// addMissing returns the state after missing slots are created.
func (st keyState) addMissing(list []int32) keyState {
	of := st.maxDivisor()
	for _, n := range list {
		st.Slots = append(st.Slots, storedSlot{N: n, Of: of})
	}
	slices.SortFunc(st.Slots, func(a, b storedSlot) int { return cmp.Compare(a.N, b.N) })
	return st
}

// finishTransfers returns the steps that finish all transfers that were read.
func (s *untypedSlots) finishTransfers(k key, st keyState) (steps []model.Step) {
	for i := range st.Slots {
		from := &st.Slots[i]
		if from.Out == nil {
			continue
		}
		if st.findSlot(from.Out.To) == nil { // other code deleted it
			steps = append(steps, s.ensureSlot(k, from.Out.To, 0))
		}
		steps = append(steps, s.finishTransfer(k, from.N, *from.Out)...)
	}
	return steps
}

// finishTransfer returns the steps that finish a transfer. Its take is counted, unless it
// was counted before or lacks stock. Then the second step adds the transfer without the
// take.
func (s *untypedSlots) finishTransfer(k key, from int32, t transfer) (steps []model.Step) {
	if t.For != nil {
		steps = append(steps, s.receiveAndTake(k, from, t))
	}
	return append(steps, s.receiveTransfer(k, from, t), s.clearTransfer(k, from, t.Seq))
}

// matchReceiver matches the receiver of a transfer that hasn't arrived.
func (s *untypedSlots) matchReceiver(k key, from int32, t transfer) bson.D {
	return bson.D{
		{Key: "_id", Value: k.slotID(t.To)},
		{Key: "got." + gotField(from), Value: mql.Op("$not", mql.Op("$gte", t.Seq))},
	}
}

// receiveAndTake adds a transfer to its receiver and counts the take that it carries.
func (s *untypedSlots) receiveAndTake(k key, from int32, t transfer) model.Write {
	filter := append(s.matchReceiver(k, from, t), bson.E{Key: "of", Value: t.For.Of}, bson.E{
		Key: "ops.op", Value: mql.Op("$ne", t.For.Token.Op),
	})
	if lacks := -t.For.Token.N - t.Free; lacks > 0 {
		filter = append(filter, bson.E{Key: "free", Value: mql.Op("$gte", lacks)})
	}
	return commands.UpdateIf(s.docs.Name(), filter, bson.D{
		{Key: "$set", Value: bson.D{{Key: "got." + gotField(from), Value: t.Seq}}},
		{Key: "$inc", Value: bson.D{{Key: "sum", Value: t.For.Token.N}, {Key: "free", Value: t.Free + t.For.Token.N}}},
		{Key: "$push", Value: bson.D{{Key: "ops", Value: s.pushTokens([]usedToken{t.For.Token})}}},
	})
}

// receiveTransfer adds a transfer to its receiver, once.
func (s *untypedSlots) receiveTransfer(k key, from int32, t transfer) model.Write {
	got := bson.E{Key: "got." + gotField(from), Value: t.Seq}
	var update any
	switch {
	case t.Of == 0:
		update = bson.D{{Key: "$set", Value: bson.D{got}}, {Key: "$inc", Value: bson.D{{Key: "free", Value: t.Free}}}}
	case from < t.To: // a split: the other slot is closed, and has no tokens
		u := bson.D{{
			Key:   "$set",
			Value: bson.D{got, {Key: "of", Value: t.Of}, {Key: "ops", Value: encodeTokens(t.Ops)}},
		}}
		if s.spec.Stock {
			u = append(u, bson.E{Key: "$inc", Value: bson.D{{Key: "free", Value: t.Free}}})
		}
		update = u
	default:
		set := bson.D{got, {Key: "of", Value: t.Of}, {Key: "ops", Value: s.joinTokens(t.Ops)}}
		if s.spec.Stock {
			set = append(set, bson.E{Key: "free", Value: mql.Op("$add", "$free", t.Free)})
		}
		update = mongo.Pipeline{mql.Set(set...), mql.Op("$unset", "in")}
	}
	return commands.UpdateIf(s.docs.Name(), s.matchReceiver(k, from, t), update)
}

// joinTokens is the expression of the tokens of two slots that become one. Their order in
// time is unknown, so it takes them alternately from both ends, and keeps the latest of
// each.
func (s *untypedSlots) joinTokens(list []usedToken) any {
	latest := encodeTokens(list)
	slices.Reverse(latest)
	pairs := mql.Op("$zip", bson.D{
		{Key: "inputs", Value: bson.A{mql.Op("$reverseArray", mql.List("ops")), mql.Literal(latest)}},
		{Key: "useLongestLength", Value: true},
	})
	flat := mql.Op("$reduce", bson.D{
		{Key: "input", Value: pairs}, {Key: "initialValue", Value: bson.A{}},
		{Key: "in", Value: mql.Op("$concatArrays", "$$value", "$$this")},
	})
	there := mql.Op("$filter", bson.D{
		{Key: "input", Value: flat}, {Key: "as", Value: "t"}, {Key: "cond", Value: mql.Op("$ne", "$$t", nil)},
	})
	return mql.Op("$reverseArray", mql.Op("$slice", there, s.spec.Keep))
}

// clearTransfer removes a transfer that has arrived.
func (s *untypedSlots) clearTransfer(k key, n int32, seq int64) model.Write {
	return commands.UpdateIf(s.docs.Name(), bson.D{{Key: "_id", Value: k.slotID(n)}, {Key: "out.seq", Value: seq}},
		mql.Op("$unset", bson.D{{Key: "out", Value: ""}}))
}

// beginTransfer takes a transfer of stock out of a slot. Done recognizes the same
// transfer if the write is sent twice.
func (s *untypedSlots) beginTransfer(k key, from *storedSlot, t transfer) model.Write {
	out := bson.D{
		{Key: "seq", Value: t.Seq}, {Key: "to", Value: t.To}, {Key: "of", Value: t.Of}, {Key: "free", Value: t.Free},
	}
	done := bson.D{
		{Key: "_id", Value: k.slotID(from.N)}, {Key: "out.seq", Value: t.Seq}, {Key: "out.to", Value: t.To},
		{Key: "out.of", Value: t.Of}, {Key: "out.free", Value: t.Free},
	}
	if t.For != nil {
		token := t.For.Token.encodeToken()
		out = append(out, bson.E{Key: "for", Value: append(token, bson.E{Key: "of", Value: t.For.Of})})
		done = append(done, bson.E{Key: "out.for.op", Value: t.For.Token.Op},
			bson.E{Key: "out.for.n", Value: t.For.Token.N},
			bson.E{Key: "out.for.of", Value: t.For.Of})
	} else {
		done = append(done, bson.E{Key: "out.for", Value: mql.Exists(false)})
	}
	filter := append(s.matchAtRest(k, from), bson.E{Key: "free", Value: mql.Op("$gte", t.Free)})
	w := commands.UpdateIf(s.docs.Name(), filter, bson.D{
		{Key: "$set", Value: bson.D{{Key: "seq", Value: t.Seq}, {Key: "out", Value: out}}},
		{Key: "$inc", Value: bson.D{{Key: "free", Value: -t.Free}}},
	})
	w.Expect, w.Done = model.One, done
	return w
}

// sendStock moves stock to the slot of a take. The last transfer carries the take.
func (s *untypedSlots) sendStock(
	o operation, to *storedSlot, moves []move,
) (before []model.Step, last model.Write, after []model.Step) {
	var finish []model.Step
	for i, m := range moves {
		t := transfer{Seq: m.from.Seq + 1, To: to.N, Free: m.n}
		if i == len(moves)-1 {
			t.For = &taking{o.makeToken(), to.Of}
			last = s.receiveAndTake(o.key, m.from.N, t)
			last.Expect, last.Done = model.One, s.matchCounted(o, to.N)
			after = []model.Step{s.clearTransfer(o.key, m.from.N, t.Seq)}
		} else {
			finish = append(finish, s.finishTransfer(o.key, m.from.N, t)...)
		}
		before = append(before, s.beginTransfer(o.key, m.from, t))
	}
	return append(before, finish...), last, after
}

// matchAtRest matches a slot that has begun no transfer since it was read.
func (s *untypedSlots) matchAtRest(k key, slot *storedSlot) bson.D {
	return bson.D{
		{Key: "_id", Value: k.slotID(slot.N)}, {Key: "seq", Value: slot.Seq}, {Key: "out", Value: mql.Exists(false)},
	}
}

// matchUnchanged matches a slot at rest that has the same divisor and awaits no merge.
func (s *untypedSlots) matchUnchanged(k key, slot *storedSlot) bson.D {
	return append(s.matchAtRest(k, slot), bson.E{Key: "of", Value: slot.Of},
		bson.E{Key: "in", Value: mql.Exists(false)})
}

// splitSlot begins the transfer of the upper half of a slot's tokens, and of half of its
// stock, to a slot that is stored closed.
func (s *untypedSlots) splitSlot(k key, slot *storedSlot) []model.Step {
	of, to := 2*slot.Of, slot.N+slot.Of
	list := mql.List("ops")
	those := func(operator string) bson.D {
		return mql.Op("$filter", bson.D{
			{Key: "input", Value: list}, {Key: "as", Value: "t"},
			{Key: "cond", Value: mql.Op(operator, mql.Op("$mod", "$$t.h", of), to)},
		})
	}
	out := bson.D{
		{Key: "seq", Value: slot.Seq + 1}, {Key: "to", Value: to}, {Key: "of", Value: of},
		{Key: "ops", Value: those("$eq")},
	}
	set := bson.D{{Key: "of", Value: of}, {Key: "seq", Value: slot.Seq + 1}, {Key: "ops", Value: those("$ne")}}
	if s.spec.Stock {
		half := mql.Op("$max", int64(0), mql.Op("$min", slot.Free/2, "$free"))
		out = append(out, bson.E{Key: "free", Value: half})
		set = append(set, bson.E{Key: "free", Value: mql.Op("$subtract", "$free", half)})
	}
	set = append(set, bson.E{Key: "out", Value: out})
	return []model.Step{
		s.ensureSlot(k, to, 0),
		commands.UpdateIf(s.docs.Name(), s.matchUnchanged(k, slot), mongo.Pipeline{mql.Set(set...)}),
	}
}

// awaitMerge notes in the lower of two slots that the next transfer of the upper one
// merges them.
func (s *untypedSlots) awaitMerge(k key, lower, upper *storedSlot) model.Write {
	return commands.UpdateIf(s.docs.Name(), s.matchUnchanged(k, lower), mql.Op("$set", bson.D{
		{Key: "in", Value: bson.D{{Key: "from", Value: upper.N}, {Key: "seq", Value: upper.Seq + 1}}},
	}))
}

// continueMerge closes the upper slot and begins its transfer. If the upper slot has sent
// another transfer meanwhile, the merge can't be done: the lower slot stops waiting.
func (s *untypedSlots) continueMerge(k key, st keyState, lower *storedSlot) (steps []model.Step) {
	upper := st.findSlot(lower.In.From)
	switch {
	case upper != nil && upper.Seq == lower.In.Seq-1 && upper.Of == lower.Of:
		out := bson.D{
			{Key: "seq", Value: lower.In.Seq}, {Key: "to", Value: lower.N}, {Key: "of", Value: lower.Of / 2},
			{Key: "ops", Value: mql.List("ops")},
		}
		set := bson.D{{Key: "of", Value: int32(0)}, {Key: "seq", Value: lower.In.Seq}, {Key: "ops", Value: bson.A{}}}
		if s.spec.Stock {
			out, set = append(out, bson.E{Key: "free", Value: "$free"}),
				append(set, bson.E{Key: "free", Value: int64(0)})
		}
		set = append(set, bson.E{Key: "out", Value: out})
		return []model.Step{
			commands.UpdateIf(s.docs.Name(), s.matchUnchanged(k, upper), mongo.Pipeline{mql.Set(set...)}),
		}
	case upper != nil && upper.Seq == lower.In.Seq-1: // its next transfer must be another
		return []model.Step{
			commands.UpdateIf(s.docs.Name(), s.matchAtRest(k, upper),
				mql.Op("$set", bson.D{{Key: "seq", Value: lower.In.Seq}})),
		}
	case upper == nil || upper.Out == nil || upper.Out.Seq != lower.In.Seq:
		return []model.Step{
			commands.UpdateIf(s.docs.Name(),
				bson.D{{Key: "_id", Value: k.slotID(lower.N)}, {Key: "in.seq", Value: lower.In.Seq}},
				mql.Op("$unset", bson.D{{Key: "in", Value: ""}})),
		}
	}
	return nil
}
