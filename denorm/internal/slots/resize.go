package slots

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// pause is the mean pause before the second attempt: most are only for the read that the first left out.
const pause = 200 * time.Microsecond

// mostRounds is how many plans a resize runs at most.
const mostRounds = 500

// Resize divides a key into as many slots.
func (s *Slots) Resize(k any, slots int) model.Change[any] {
	of, err := s.key(k)
	if err == nil && !IsNumber(slots) {
		err = s.docs.Refuse("slots", slots, "must be a power of two from 1 to 1024")
	}
	if err != nil {
		return commands.RefuseChange[any](s.docs.Name(), err)
	}
	return s.round(of, int32(slots), 1).Change()
}

// round is one plan of a resize, and those after it.
func (s *Slots) round(k key, of int32, n int) model.Change[State] {
	c := commands.MarkChangeKeyed(model.Change[State]{
		Name: "slots " + s.docs.Name() + " resize",
		Read: func(ctx context.Context, db model.DB) (State, error) {
			return s.collect(ctx, db, k.text, bson.NilObjectID)
		},
		Decide: func(st State) (model.Plan, error) {
			p := model.NewPlan(s.next(k, st, of)...)
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
	c.Then = func(st State) *model.Change[State] {
		if len(s.next(k, st, of)) == 0 {
			return nil
		}
		next := s.round(k, of, n+1)
		return &next
	}
	return c
}

// next are the next steps of a resize; none when it is done.
func (s *Slots) next(k key, st State, of int32) []model.Step {
	steps := s.finish(k, st)
	now := st.settled()
	for i := range now.Slots {
		if now.Slots[i].In != nil {
			steps = append(steps, s.merge(k, now, &now.Slots[i])...)
		}
	}
	if len(steps) > 0 {
		return steps
	}
	if list := now.missing(); len(list) > 0 {
		return s.complete(k, list, now.most())
	}
	most := now.most()
	for i := range now.Slots {
		slot := &now.Slots[i]
		switch {
		case slot.Of == 0 && slot.Free > 0:
			if to := now.leaf(slot.N); to != nil {
				t := Transfer{Seq: slot.Seq + 1, To: to.N, Free: slot.Free}
				begin := s.begin(k, slot, t)
				begin.Expect = model.Any // one that is stale is begun by the next round
				steps = append(steps, begin)
			}
		case slot.Of > 0 && slot.Of < of:
			steps = append(steps, s.split(k, slot)...)
		case slot.Of > of && slot.Of == most && slot.N >= slot.Of/2:
			if lower := now.slot(slot.N - slot.Of/2); lower != nil && lower.Of == slot.Of {
				steps = append(steps, s.await(k, lower, slot))
			}
		}
	}
	return steps
}
