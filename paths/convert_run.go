package paths

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// errStirred says that others wrote while a conversion ran.
var errStirred = fmt.Errorf("docmodel: the trees were changed while one was converted: %w", model.ErrStale)

// run runs a conversion, and again where others wrote meanwhile.
func (c *conversion) run(ctx context.Context, db *mongo.Database) (done Converted, err error) {
	for done.Attempts = 1; ; done.Attempts++ {
		err = c.attempt(ctx, db, &done)
		if !errors.Is(err, model.ErrStale) && !c.crossed(err) || done.Attempts == c.attempts {
			break
		}
		if err := pause(ctx, done.Attempts); err != nil {
			return done, err
		}
	}
	if c.crossed(err) {
		err = errors.Join(errStirred, err)
	}
	return done, err
}

// crossed reports whether a write met a key that another writer stored meanwhile: an _id, or what the representation keeps unique.
func (c *conversion) crossed(err error) bool {
	name := model.DuplicateIndex(err)
	return name == model.IDIndex || name != "" && slices.ContainsFunc(c.to.indexes, func(x model.Index) bool { return x.Unique && x.Name == name })
}

// pause waits before the next attempt.
func pause(ctx context.Context, n int) error {
	timer := time.NewTimer(time.Duration(n*n) * 2 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// attempt reads both trees, and writes what differs.
func (c *conversion) attempt(ctx context.Context, db *mongo.Database, done *Converted) error {
	s, err := c.survey(ctx, db)
	if err != nil {
		return err
	}
	done.Nodes, done.Kept = len(s.wanted), s.kept
	missing, differ := s.work()
	if len(missing)+len(differ)+len(s.gone) == 0 {
		return nil
	}
	if s.early {
		if err := s.delete(ctx, db, done); err != nil {
			return err
		}
	}
	if err := s.parkAll(ctx, db); err != nil {
		return err
	}
	stirred := false
	for _, keys := range [][]string{missing, differ} { // what is moved below a new node finds it there
		for batch := range slices.Chunk(keys, c.size) {
			vanished, err := s.batch(ctx, db, batch, done)
			if err != nil {
				return err
			}
			stirred = stirred || vanished
		}
	}
	if !s.early {
		if err := s.delete(ctx, db, done); err != nil {
			return err
		}
	}
	report, err := c.to.check(ctx, db, 0)
	switch {
	case err != nil:
		return err
	case stirred:
		return errStirred
	case len(report.Problems) > 0:
		return fmt.Errorf("%w: %v", errStirred, report.Problems[0])
	}
	return nil
}

// work are the nodes to be written, parents before their children: those that are missing, and those that differ.
func (s *survey) work() (missing, differ []string) {
	for key := range s.target.All() {
		switch content, none := s.differs(key); {
		case none:
			missing = append(missing, key)
		case content || len(s.want[key]) > 0:
			differ = append(differ, key)
		}
	}
	return missing, differ
}

// write runs steps under the target's lease.
func (c *conversion) write(ctx context.Context, db *mongo.Database, steps func(ctx context.Context, change int64) ([]model.Step, error)) error {
	change := c.to.changing(c.lease, func(ctx context.Context, db *mongo.Database, s *State) error {
		out, err := steps(ctx, s.Change)
		s.Repair = model.NewPlan(out...)
		return err
	}, func(s *State) (model.Plan, error) { return s.Repair, nil })
	change.Mends = true
	_, _, err := change.Run(ctx, db)
	return err
}

// delete deletes what is gone, children before their parents.
func (s *survey) delete(ctx context.Context, db *mongo.Database, done *Converted) error {
	for batch := range slices.Chunk(s.gone, s.size) {
		err := s.write(ctx, db, func(_ context.Context, change int64) ([]model.Step, error) {
			ids := make([]bson.RawValue, len(batch))
			for i, n := range batch {
				ids[i] = n.id
			}
			return s.to.deleteAll(ids, change), nil
		})
		if err != nil {
			return err
		}
		done.Deleted += len(batch)
	}
	return nil
}

// parkAll takes values of a unique index from nodes that will get others.
func (s *survey) parkAll(ctx context.Context, db *mongo.Database) error {
	at := make([]int, len(s.park))
	for i := range at {
		at[i] = i
	}
	for batch := range slices.Chunk(at, s.size) {
		err := s.write(ctx, db, func(_ context.Context, change int64) (steps []model.Step, _ error) {
			for _, i := range batch {
				steps = append(steps, s.update(s.park[i].id, s.parked[i], change))
			}
			return steps, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// batch writes some nodes. It reports whether the source hasn't some of them any more.
func (s *survey) batch(ctx context.Context, db *mongo.Database, keys []string, done *Converted) (vanished bool, err error) {
	var inserted, updated int
	err = s.write(ctx, db, func(ctx context.Context, change int64) ([]model.Step, error) {
		inserted, updated, vanished = 0, 0, false
		made, err := s.fetch(ctx, db, keys)
		if err != nil {
			return nil, err
		}
		var steps []model.Step
		for _, key := range keys {
			content, missing := s.differs(key)
			doc := made[key]
			switch {
			case content && doc == nil:
				vanished = true
				continue
			case content:
				step, err := s.store(key, doc, missing, change)
				if err != nil {
					return nil, err
				}
				steps = append(steps, step)
			default:
				steps = append(steps, s.update(s.idOf(key), s.want[key], change))
			}
			if missing {
				inserted++
			} else {
				updated++
			}
		}
		return steps, nil
	})
	if err == nil {
		done.Inserted, done.Updated = done.Inserted+inserted, done.Updated+updated
	}
	return vanished, err
}

// fetch reads what is made of nodes whose content is to be written.
func (s *survey) fetch(ctx context.Context, db *mongo.Database, keys []string) (map[string]bson.Raw, error) {
	made := map[string]bson.Raw{}
	var ids []bson.RawValue
	for _, key := range keys {
		if content, _ := s.differs(key); content {
			ids = append(ids, s.wanted[key].from)
		}
	}
	if len(ids) == 0 {
		return made, nil
	}
	pieces, err := s.from.fetch(ctx, db, ids)
	for _, p := range pieces {
		if key := s.names[p.link.ID]; key == bsonval.Key(p.made.Lookup("_id")) {
			made[key] = p.made
		}
	}
	return made, err
}

// store is the write of a document that is missing, or whose content differs.
func (s *survey) store(key string, doc bson.Raw, missing bool, change int64) (model.Step, error) {
	stored := s.stored[key]
	var set bson.D
	for _, path := range s.to.tied() { // what is right as it is
		if v, _ := model.ValueAt(stored.raw, path); v.Type != 0 {
			set = append(set, bson.E{Key: path, Value: v})
		}
	}
	doc, err := model.SetFields(doc, slices.Concat(set, s.want[key], bson.D{{Key: s.to.links.Change, Value: change}}))
	if err != nil {
		return nil, err
	}
	if missing {
		return model.Write{Collection: s.to.docs, Index: model.IDIndex, Model: &mongo.InsertOneModel{Document: doc}}, nil
	}
	return model.Write{Collection: s.to.docs, Index: model.IDIndex, Model: &mongo.ReplaceOneModel{
		Filter: bson.D{{Key: "_id", Value: model.Eq(stored.id)}}, Replacement: doc,
	}}, nil
}

// update sets fields of the tree in a node.
func (s *survey) update(id bson.RawValue, set bson.D, change int64) model.Write {
	return model.Write{Collection: s.to.docs, Index: model.IDIndex, Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: model.Eq(id)}},
		Update: bson.D{{Key: "$set", Value: append(slices.Clone(set), bson.E{Key: s.to.links.Change, Value: change})}},
	}}
}
