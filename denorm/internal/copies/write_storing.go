package copies

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// storing is the state of a change that stores copies of a source.
type storing struct {
	Source any  // points at it
	State  any  // of the change that stores
	Held   bool // the plan holds the source as it was read, until the transaction ends
}

// Storing is the change that reads a source, and runs what stores copies of it in some documents. In a transaction it holds the source,
// if there is a Lock; else the copies are brought up to date afterwards.
func (c *Copying) Storing(
	from any, docs []any, read func(context.Context, model.DB) (any, error), store func(source any) model.Action,
) model.Change[any] {
	refresh := c.Refresh(from, docs).Change()
	is := func(v any) (storing, error) {
		s, ok := v.(storing)
		if !ok {
			return s, &model.ValueError{Field: "state", Reason: fmt.Sprintf("is a %T: pass the result of the change's Read", v)}
		}
		return s, nil
	}
	return model.Change[any]{
		Name: refresh.Name, Err: refresh.Err, Attempts: 100,
		Read: func(ctx context.Context, db model.DB) (any, error) {
			s := storing{Held: c.spec.Lock != "" && runctx.InTransaction(ctx)}
			var err error
			if s.Source, err = read(ctx, db); err != nil {
				return nil, err
			}
			stores, err := storable(store(s.Source))
			if err != nil {
				return nil, err
			}
			if stores.Tx && !runctx.InTransaction(ctx) {
				return nil, fmt.Errorf("%w (the change that store returned has Tx: set Tx in this change too, or use WithTransactions)", model.ErrTransactional)
			}
			if s.State, err = stores.Read(ctx, db); err != nil {
				return nil, err
			}
			return s, nil
		},
		Decide: func(v any) (model.Plan, error) {
			s, err := is(v)
			if err != nil {
				return model.Plan{}, err
			}
			p, err := store(s.Source).Change().Decide(s.State)
			if err != nil || !s.Held || len(p.Steps) == 0 || p.Applied { // what was applied before holds no source again
				return p, err
			}
			p.Steps, p.Transactional = append(slices.Clone(p.Steps), c.hold(s.Source)), true
			return p, nil
		},
		Then: func(v any) *model.Change[any] {
			s, err := is(v)
			if err != nil {
				return &model.Change[any]{Err: err}
			}
			var next *model.Change[any]
			if then := store(s.Source).Change().Then; then != nil {
				next = then(s.State)
			}
			if s.Held {
				return next
			}
			return inTurn(next, &refresh)
		},
	}
}

// storable refuses an action that can't be run as a part of another.
func storable(a model.Action) (c model.Change[any], err error) {
	if a == nil {
		return c, &model.ValueError{Field: "store", Reason: "returned nil: return a Change, a Plan or a Write"}
	}
	switch c = a.Change(); {
	case c.Err != nil:
		return c, c.Err
	case c.Lease != nil:
		return c, &model.ValueError{Field: "store", Reason: "returned a change under a lease, which can't be part of another change"}
	case c.Read == nil || c.Decide == nil:
		return c, &model.ValueError{Field: "store", Reason: "returned a change without Read or Decide"}
	}
	return c, nil
}

// inTurn is one change with all that follows it, and then another.
func inTurn(first, second *model.Change[any]) *model.Change[any] {
	if first == nil {
		return second
	}
	out := *first
	out.Then = func(v any) *model.Change[any] {
		if first.Then == nil {
			return second
		}
		return inTurn(first.Then(v), second)
	}
	return &out
}

// hold is the write to a source, in a transaction, that meets every other transaction that changes it.
func (c *Copying) hold(doc any) model.Step {
	s, err := c.read(doc)
	if err != nil {
		return model.Refused(c.docs.Name(), err)
	}
	filter := commands.ByID(s.id)
	if c.version != "" {
		filter = append(filter, c.guard(s))
	}
	return model.Write{
		Collection: c.docs.Name(), Expect: model.One, Index: model.IDIndex,
		Model: &mongo.UpdateOneModel{Filter: filter, Update: bson.D{{Key: "$inc", Value: bson.D{{Key: c.spec.Lock, Value: int64(1)}}}}},
	}
}

// declareLock checks the number of a source that is counted up to hold it.
func (c *Copying) declareLock(f core.Field) {
	c.declareCounted(fmt.Sprintf("Lock %q", f.Path), f, "declare a field of type int64 that nothing else writes")
	for _, path := range append(c.sourcePaths(), "_id") {
		if core.Overlap(f.Path, path) {
			c.place.Fail(fmt.Sprintf("paths %q and %q overlap", path, f.Path), "name a lock field that nothing else writes")
		}
	}
}
