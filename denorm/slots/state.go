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

// A keyState is what an operation has read: the slots of its key, ordered by number, with
// only the operation's own token. The zero value means that nothing was read: the
// operation then assumes the declared number of slots. The checks read a key's slots too.
type keyState struct {
	Read bool
	// two reads gave the same slots
	Steady bool
	Slots  []storedSlot
}

// sumSlots returns the key's number.
func (st keyState) sumSlots() (sum int64) {
	for _, s := range st.Slots {
		sum += s.Sum
	}
	return sum
}

// findToken returns the operation's token in any slot, also in a transfer.
func (st keyState) findToken(op bson.ObjectID) (usedToken, bool) {
	for _, s := range st.Slots {
		lists := [][]usedToken{s.Ops}
		if s.Out != nil {
			lists = append(lists, s.Out.Ops)
		}
		for _, list := range lists {
			if i := slices.IndexFunc(list, func(t usedToken) bool { return t.Op == op }); i >= 0 {
				return list[i], true
			}
		}
	}
	return usedToken{}, false
}

// findTaking returns the token of a take that a transfer carries.
func (st keyState) findTaking(op bson.ObjectID) (usedToken, bool) {
	for _, s := range st.Slots {
		if s.Out != nil && s.Out.For != nil && s.Out.For.Token.Op == op {
			return s.Out.For.Token, true
		}
	}
	return usedToken{}, false
}

// findSlot returns the slot with a number, or nil.
func (st keyState) findSlot(n int32) *storedSlot {
	i, ok := slices.BinarySearchFunc(st.Slots, n, func(s storedSlot, n int32) int { return cmp.Compare(s.N, n) })
	if !ok {
		return nil
	}
	return &st.Slots[i]
}

// findOwner returns the slot that counts a hash, or nil.
func (st keyState) findOwner(h int32) *storedSlot {
	i := slices.IndexFunc(st.Slots, func(s storedSlot) bool { return s.Of > 0 && h%s.Of == s.N })
	if i < 0 {
		return nil
	}
	return &st.Slots[i]
}

// maxDivisor returns the greatest of.
func (st keyState) maxDivisor() (of int32) {
	for _, s := range st.Slots {
		of = max(of, s.Of)
	}
	return of
}

// listMissing returns the numbers of slots that were never stored, because the client
// that creates them has crashed or isn't done.
func (st keyState) listMissing() (list []int32) {
	for n := range st.maxDivisor() {
		if st.findOwner(n) == nil && st.findSlot(n) == nil {
			list = append(list, n)
		}
	}
	return list
}

// gotField is the name of a sending slot in got. A field name that is a number would be
// an array index in some paths.
func gotField(n int32) string { return fmt.Sprintf("s%d", n) }

// hasReceived reports whether the transfer of a slot has arrived.
func (st keyState) hasReceived(from *storedSlot) bool {
	to := st.findSlot(from.Out.To)
	return to != nil && to.Got[gotField(from.N)] >= from.Out.Seq
}

// applyTransfers returns the state after all its transfers are finished.
func (st keyState) applyTransfers() keyState {
	out := keyState{Slots: slices.Clone(st.Slots)}
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
			if f := from.Out.For; f != nil && to.Of == f.Of && to.Free >= -f.Token.N {
				to.Free, to.Sum = to.Free+f.Token.N, to.Sum+f.Token.N
			}
		}
		from.Out = nil
	}
	return out
}

// errMoved says that the slots were read during a resize or a transfer. The change reads
// again.
var errMoved = fmt.Errorf("docmodel: the slots changed while they were read: %w", model.ErrStale)

// projectSlot is the projection of a slot: without tokens, except the token of op.
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

// readKey reads the slots of a key.
func (s *untypedSlots) readKey(ctx context.Context, db model.DB, text string, op bson.ObjectID) (keyState, error) {
	list, err := (&model.Find[storedSlot]{Query: model.Query{
		Collection: s.docs.Name(), Filter: keytext.MatchRange(text+"#", text+"$"), Sort: bson.D{{Key: "_id", Value: 1}},
		Projection: projectSlot(op), Index: model.IDIndex, Keyed: true,
	}}).All(ctx, db)
	return keyState{Read: true, Slots: list}, err
}

// readState reads the slots of an operation's key, or nothing in the first attempt. A
// stock that seems too small must be read twice with the same result: a query isn't a
// snapshot, and stock may move from a slot that is read later to one that was read
// earlier.
func (s *untypedSlots) readState(ctx context.Context, db model.DB, o operation) (keyState, error) {
	if runctx.HopeFirst(ctx) {
		return keyState{}, nil
	}
	st, err := s.readKey(ctx, db, o.key.text, o.op)
	for range mostCollects {
		if err != nil || !o.take || st.sumSlots() >= -o.n {
			break
		}
		// A take that is counted, or on its way, needs no stock any more.
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

// mostCollects is how often slots are read until two reads are equal.
const mostCollects = 8

// A move is stock that a slot sends to another.
type move struct {
	from *storedSlot
	n    int64
}

// gatherStock chooses the slots that send what a slot lacks to take n, fullest first.
// Slots above the average that remains send more, so that the stock becomes even.
func (st keyState) gatherStock(to *storedSlot, n int64) (moves []move, enough bool) {
	var total, live int64
	var others []*storedSlot
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
	slices.SortStableFunc(others, func(a, b *storedSlot) int { return cmp.Compare(b.Free, a.Free) })
	level, need := (total-n)/live, n-to.Free // to is one of the live slots, so live isn't 0
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
