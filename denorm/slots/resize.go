package slots

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// pause is the mean pause before the second attempt, which in most cases only makes the
// read that the first attempt left out.
const pause = 200 * time.Microsecond

// mostRounds is the maximum number of plans of a resize. Only another resize that runs to
// a different number at the same time can need more.
const mostRounds = 500

// resizeKey changes the number of slots of a key.
func (s *untypedSlots) resizeKey(k any, slots int) model.Change {
	of, err := s.encodeKey(k)
	if err == nil && !isSlotCount(slots) {
		err = s.docs.Refuse("slots", slots, "must be a power of two from 1 to 1024")
	}
	if err != nil {
		return commands.RefuseChange(s.docs.Name(), err)
	}
	return s.planRound(of, int32(slots), 1).Change()
}

// planRound is one plan of a resize, and the plans that follow it. Each reads all slots
// again.
func (s *untypedSlots) planRound(k key, of int32, n int) model.ChangeOf[keyState] {
	c := commands.MarkChangeKeyed(model.ChangeOf[keyState]{
		Name: "slots " + s.docs.Name() + " resize",
		Read: func(ctx context.Context, db model.DB) (keyState, error) {
			return s.readKey(ctx, db, k.text, bson.NilObjectID)
		},
		Decide: func(st keyState) (model.Plan, error) {
			p := model.NewPlan(s.planResize(k, st, of)...)
			switch {
			case len(st.Slots) == 0:
				return p, model.ErrNotFound
			case len(p.Steps) > 0 && n > mostRounds:
				return model.Plan{},
					fmt.Errorf("docmodel: %s: another Resize of %s to a different number is running", s.docs.Name(),
						k.text)
			case len(p.Steps) > 0:
				p.Leaves = "slots of which only some are divided; run Resize again"
			}
			return p, nil
		},
		Attempts: 100, Pause: pause,
	}, s.docs.Name())
	c.Then = func(st keyState) *model.Change {
		if len(s.planResize(k, st, of)) == 0 {
			return nil
		}
		next := s.planRound(k, of, n+1).Change()
		return &next
	}
	return c
}

// planResize returns the next steps of a resize, or none when it is done. The order
// matters: transfers, then awaited merges, then missing slots, and only then new splits
// and merges.
func (s *untypedSlots) planResize(k key, st keyState, of int32) []model.Step {
	steps := s.finishTransfers(k, st)
	now := st.applyTransfers()
	for i := range now.Slots {
		if now.Slots[i].In != nil {
			steps = append(steps, s.continueMerge(k, now, &now.Slots[i])...)
		}
	}
	if len(steps) > 0 {
		return steps
	}
	if list := now.listMissing(); len(list) > 0 {
		return s.completeSlots(k, list, now.maxDivisor())
	}
	most := now.maxDivisor()
	for i := range now.Slots {
		slot := &now.Slots[i]
		switch {
		case slot.Of == 0 && slot.Free > 0:
			if to := now.findOwner(slot.N); to != nil {
				t := transfer{Seq: slot.Seq + 1, To: to.N, Free: slot.Free}
				begin := s.beginTransfer(k, slot, t)
				begin.Expect = model.Any // one that is stale is begun by the next round
				steps = append(steps, begin)
			}
		case slot.Of > 0 && slot.Of < of:
			steps = append(steps, s.splitSlot(k, slot)...)
		case slot.Of > of && slot.Of == most && slot.N >= slot.Of/2:
			if lower := now.findSlot(slot.N - slot.Of/2); lower != nil && lower.Of == slot.Of {
				steps = append(steps, s.awaitMerge(k, lower, slot))
			}
		}
	}
	return steps
}
