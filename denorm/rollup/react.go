package rollup

import (
	"fmt"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// makeReactions returns what a store does with events: a new event waits for the next
// run. The counted fields of an event can't change, and an event that waits can't be
// deleted.
func (r *untypedRollup) makeReactions() []model.Reaction {
	return []model.Reaction{
		{
			Collection: r.docs.Name(), On: model.OnInsert, Paths: r.listCountedPaths(), Amend: r.markEvent,
			Transient: []string{r.mark},
		},
		{
			Collection: r.docs.Name(), On: model.OnUpdate | model.OnDelete, Paths: r.listCountedPaths(),
			React: r.refuseEventChange,
		},
	}
}

// listCountedPaths returns the fields of an event that decide about bins.
func (r *untypedRollup) listCountedPaths() []string {
	out := append([]string{r.time}, r.by...)
	for _, s := range r.sources {
		out = append(out, s.path)
	}
	return out
}

// markEvent returns the mark of a new event. It checks the event too, so that no stored
// event is refused later.
func (r *untypedRollup) markEvent(w model.StoreWrite) (bson.D, error) {
	if _, err := r.readEvent(w.After); err != nil {
		return nil, err
	}
	return bson.D{mql.E(r.mark, bson.D{mql.E("batch", waiting)})}, nil
}

// refuseEventChange refuses changes after which the bins would be wrong.
func (r *untypedRollup) refuseEventChange(w model.StoreWrite) (a model.Answer, _ error) {
	switch {
	case w.After == nil && w.Before.Lookup(r.mark).Type != 0:
		return a,
			core.Final(fmt.Errorf("%w (the event %s of %s isn't in the bins yet: run Rollup.Roll before the deletion)",
				model.ErrStale, model.Shell(w.Before.Lookup("_id")), r.docs.Name()))
	case w.After != nil:
		for _, path := range r.listCountedPaths() {
			was, err := stored.ValueAt(r.docs, w.Before, path)
			if err != nil {
				return a, err
			}
			now, err := stored.ValueAt(r.docs, w.After, path)
			if err != nil {
				return a, err
			}
			if !was.Equal(now) {
				return a, r.docs.Refuse(path, now, "can't change: a roll-up counts the event with the old value")
			}
		}
	}
	return a, nil
}
