package slots

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A State is what an operation decides from: the slots of its key in the order of their numbers. Of their tokens it has
// those of the operation. Of the zero value nothing was read: it is hoped that the key has as many slots as were
// declared.
type State struct {
	Read   bool
	Steady bool // two reads found the same
	Slots  []Slot
}

// sumSlots is what the key counts.
func (st State) sumSlots() (sum int64) {
	for _, s := range st.Slots {
		sum += s.Sum
	}
	return sum
}

// findToken is the operation's token, wherever it is.
func (st State) findToken(op bson.ObjectID) (Token, bool) {
	for _, s := range st.Slots {
		lists := [][]Token{s.Ops}
		if s.Out != nil {
			lists = append(lists, s.Out.Ops)
		}
		for _, list := range lists {
			if i := slices.IndexFunc(list, func(t Token) bool { return t.Op == op }); i >= 0 {
				return list[i], true
			}
		}
	}
	return Token{}, false
}

// findTaking is the operation's token on its way.
func (st State) findTaking(op bson.ObjectID) (Token, bool) {
	for _, s := range st.Slots {
		if s.Out != nil && s.Out.For != nil && s.Out.For.Op == op {
			return s.Out.For.Token, true
		}
	}
	return Token{}, false
}

// findSlot is the slot of a number, or nil.
func (st State) findSlot(n int32) *Slot {
	i, ok := slices.BinarySearchFunc(st.Slots, n, func(s Slot, n int32) int { return cmp.Compare(s.N, n) })
	if !ok {
		return nil
	}
	return &st.Slots[i]
}

// findOwner is the slot that a hash belongs to, or nil.
func (st State) findOwner(h int32) *Slot {
	i := slices.IndexFunc(st.Slots, func(s Slot) bool { return s.Of > 0 && h%s.Of == s.N })
	if i < 0 {
		return nil
	}
	return &st.Slots[i]
}

// maxDivisor is the greatest number that slots are divided by.
func (st State) maxDivisor() (of int32) {
	for _, s := range st.Slots {
		of = max(of, s.Of)
	}
	return of
}

// listMissing are the slots that were never stored: whoever was to store them was cut.
func (st State) listMissing() (list []int32) {
	for n := range st.maxDivisor() {
		if st.findOwner(n) == nil && st.findSlot(n) == nil {
			list = append(list, n)
		}
	}
	return list
}

func gotField(n int32) string { return fmt.Sprintf("s%d", n) }

// hasReceived reports whether the transfer of a slot has come.
func (st State) hasReceived(from *Slot) bool {
	to := st.findSlot(from.Out.To)
	return to != nil && to.Got[gotField(from.N)] >= from.Out.Seq
}

// applyTransfers is the state once all transfers are finished.
func (st State) applyTransfers() State {
	out := State{Slots: slices.Clone(st.Slots)}
	for i := range st.Slots {
		from := &out.Slots[i]
		if from.Out == nil {
			continue
		}
		if to := out.findSlot(from.Out.To); to != nil && !st.hasReceived(&st.Slots[i]) {
			to.Free += from.Out.Free
			if from.Out.Of > 0 {
				to.Of, to.In = from.Out.Of, nil
			}
			if f := from.Out.For; f != nil && to.Of == f.Of && to.Free >= -f.N {
				to.Free, to.Sum = to.Free+f.N, to.Sum+f.N
			}
		}
		from.Out = nil
	}
	return out
}

// errMoved says that the slots were read while they were divided anew.
var errMoved = fmt.Errorf("docmodel: the slots changed while they were read: %w", model.ErrStale)

// projectSlot are what is read of a slot.
func projectSlot(op bson.ObjectID) bson.D {
	d := bson.D{
		mql.E("n", 1), mql.E("of", 1), mql.E("sum", 1), mql.E("free", 1), mql.E("seq", 1),
		mql.E("out", 1), mql.E("in", 1),
		mql.E("got", 1),
	}
	if !op.IsZero() {
		d = append(d, mql.E("ops", mql.Op("$elemMatch", bson.D{{Key: "op", Value: op}})))
	}
	return d
}

func (s *Slots) readKey(ctx context.Context, db model.DB, text string, op bson.ObjectID) (State, error) {
	list, err := (&model.Find[Slot]{Query: model.Query{
		Collection: s.docs.Name(), Filter: keytext.MatchRange(text+"#", text+"$"), Sort: bson.D{{Key: "_id", Value: 1}},
		Projection: projectSlot(op), Index: model.IDIndex, Keyed: true,
	}}).All(ctx, db)
	return State{Read: true, Slots: list}, err
}

// readState reads the slots of an operation's key, or hopes for the declared number. That a stock has too little must be
// found twice: slots are read one after the other, while others write.
func (s *Slots) readState(ctx context.Context, db model.DB, o operation) (State, error) {
	if runctx.HopeFirst(ctx) {
		return State{}, nil
	}
	st, err := s.readKey(ctx, db, o.key.text, o.op)
	for range mostCollects {
		if err != nil || !o.take || st.sumSlots() >= -o.n {
			break
		}
		_, counted := st.findToken(o.op)
		if _, onWay := st.findTaking(o.op); counted || onWay {
			break
		}
		before := st
		if st, err = s.readKey(ctx, db, o.key.text, o.op); reflect.DeepEqual(before.Slots, st.Slots) {
			st.Steady = true
			break
		}
	}
	return st, err
}

// mostCollects is how often slots are read in a row to find them alike.
const mostCollects = 8

// move is stock that a slot hands to another.
type move struct {
	from *Slot
	n    int64
}

// gatherStock says which slots hand over what a slot lacks to take n, the fullest first. Those that have more than will be
// left on average hand over more, so that they become even.
func (st State) gatherStock(to *Slot, n int64) (moves []move, enough bool) {
	var total, live int64
	var others []*Slot
	for i := range st.Slots {
		s := &st.Slots[i]
		total += s.Free
		if s.Of > 0 {
			live++
		}
		if s.N != to.N && s.Free > 0 {
			others = append(others, s)
		}
	}
	slices.SortStableFunc(others, func(a, b *Slot) int { return cmp.Compare(b.Free, a.Free) })
	level, need := (total-n)/live, n-to.Free
	want := need + level
	for _, s := range others {
		if need <= 0 {
			break
		}
		m := max(min(s.Free, need), min(s.Free-level, want))
		if m >= need { // the last: if it is all that is taken, nobody can take a part before
			m = max(m, min(s.Free, n))
		}
		moves = append(moves, move{s, m})
		need, want = need-m, want-m
	}
	return moves, need <= 0
}
