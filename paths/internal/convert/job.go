// Package convert brings trees into other collections and documents.
package convert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// errStirred says that others wrote while a conversion ran.
var errStirred = fmt.Errorf("docmodel: a tree was changed during the conversion: %w", model.ErrStale)

// Job is the job that brings the nodes of an origin into a tree: below a node of the tree, or as roots where under has no type.
// With remove, nodes that the origin doesn't have are deleted.
func Job(from Origin, to *tree.Tree, under bson.RawValue, remove bool, err error) model.Job {
	c := &conversion{from: from, to: to, under: under, remove: remove}
	name := "convert " + from.name + " to " + to.Collection
	return model.Job{Name: name, Err: err, Stages: []model.Stage{{Name: name, Do: c.do}}}
}

// do runs a conversion to its end.
func (c *conversion) do(ctx context.Context, b *model.Batch) error {
	err := c.attempt(ctx, b)
	switch {
	case c.crossed(err):
		err = errors.Join(errStirred, err)
	case model.DuplicateIndex(err) == model.IDIndex:
		err = fmt.Errorf("%w: a document of %s that isn't a node of this tree has the _id of a new node: %w", model.ErrTaken, c.to.Collection, err)
	}
	b.Done = err == nil
	return err
}

// crossed reports whether a write met a value of the representation's unique index that another writer stored meanwhile.
func (c *conversion) crossed(err error) bool {
	name := model.DuplicateIndex(err)
	return slices.ContainsFunc(c.to.Indexes, func(x model.Index) bool {
		return x.Unique && (name == x.Name || strings.HasSuffix(name, "_"+x.Name)) // under a scope the tenant leads its name too
	})
}

// attempt reads both trees, and writes what differs.
func (c *conversion) attempt(ctx context.Context, b *model.Batch) error {
	s, err := c.survey(ctx, b.DB)
	if err != nil {
		return err
	}
	missing, differ := s.work()
	b.Documents, b.Writes = int64(len(s.wanted)), int64(len(missing)+len(differ)+len(s.gone))
	if b.Writes == 0 || b.DryRun {
		return nil
	}
	if s.b, s.size = b, b.Size; s.size == 0 {
		s.size = 500
	}
	if s.early {
		if err := s.delete(ctx); err != nil {
			return err
		}
	}
	if err := s.parkAll(ctx); err != nil {
		return err
	}
	for _, keys := range [][]string{missing, differ} { // what is moved below a new node finds it there
		for batch := range slices.Chunk(keys, s.size) {
			if err := s.batch(ctx, batch); err != nil {
				return err
			}
		}
	}
	if !s.early {
		if err := s.delete(ctx); err != nil {
			return err
		}
	}
	report, err := c.to.Check(ctx, b.DB, 0)
	switch {
	case err != nil:
		return err
	case s.stirred:
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
func (s *survey) write(ctx context.Context, steps func(ctx context.Context, change int64) ([]model.Step, error)) error {
	change := s.to.Changing(func(ctx context.Context, _ model.DB, state *tree.State) error {
		out, err := steps(ctx, state.Change)
		state.Repair = model.NewPlan(out...)
		return err
	}, func(state tree.State) (model.Plan, error) { return state.Repair, nil })
	change.Mends = true
	_, _, err := change.Run(ctx, s.b.DB)
	return err
}

// delete deletes what is gone, children before their parents.
func (s *survey) delete(ctx context.Context) error {
	for batch := range slices.Chunk(s.gone, s.size) {
		err := s.write(ctx, func(_ context.Context, change int64) ([]model.Step, error) {
			ids := make([]bson.RawValue, len(batch))
			for i, n := range batch {
				ids[i] = n.ID
			}
			return s.to.DeleteAll(ids, change), nil
		})
		if err != nil {
			return err
		}
		s.b.Modified += int64(len(batch))
	}
	return nil
}

// parkAll takes values of a unique index from nodes that will get others.
func (s *survey) parkAll(ctx context.Context) error {
	at := make([]int, len(s.park))
	for i := range at {
		at[i] = i
	}
	for batch := range slices.Chunk(at, s.size) {
		err := s.write(ctx, func(_ context.Context, change int64) (steps []model.Step, _ error) {
			for _, i := range batch {
				steps = append(steps, s.update(s.park[i].ID, s.parked[i], change))
			}
			return steps, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// batch writes some nodes, and notes when the source hasn't some of them any more.
func (s *survey) batch(ctx context.Context, keys []string) error {
	written := 0
	err := s.write(ctx, func(ctx context.Context, change int64) (steps []model.Step, err error) {
		made, err := s.fetch(ctx, keys)
		if err != nil {
			return nil, err
		}
		hidden, err := s.findHidden(ctx, keys)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			content, missing := s.differs(key)
			doc := made[key]
			switch {
			case content && doc == nil:
				s.stirred = true
			case content:
				if doc, err = s.complete(key, doc, change); err != nil {
					return nil, err
				}
				switch {
				case hidden[key]:
					steps = append(steps, s.revive(doc))
				case missing:
					steps = append(steps, s.insert(doc))
				default:
					steps = append(steps, s.replace(doc))
				}
			default:
				steps = append(steps, s.update(s.idOf(key), s.want[key], change))
			}
		}
		written = len(steps)
		return steps, nil
	})
	if err == nil {
		s.b.Modified += int64(written)
	}
	return err
}

// fetch reads what is made of nodes whose content is to be written.
func (s *survey) fetch(ctx context.Context, keys []string) (map[string]bson.Raw, error) {
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
	pieces, err := s.from.fetch(ctx, s.b.DB, ids)
	for _, p := range pieces {
		if key := s.names[p.link.ID]; key == bsonval.Key(p.made.Lookup("_id")) {
			made[key] = p.made
		}
	}
	return made, err
}

// findHidden returns the missing nodes whose documents a scope has marked as deleted. Only such a scope costs a read.
func (s *survey) findHidden(ctx context.Context, keys []string) (map[string]bool, error) {
	var ids bson.A
	for _, key := range keys {
		if _, missing := s.differs(key); missing && len(s.scoping.Mark) > 0 {
			ids = append(ids, s.idOf(key))
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	all := model.Find[bson.Raw]{Query: model.Query{
		Collection: s.to.Collection, Filter: bson.D{{Key: "_id", Value: mql.Op("$in", ids)}}, Projection: bson.D{{Key: "_id", Value: 1}}, Index: model.IDIndex,
	}}
	shown := all
	all.Deleted = true
	hidden := map[string]bool{}
	for doc, err := range all.Each(ctx, s.b.DB) {
		if err != nil {
			return nil, err
		}
		hidden[bsonval.Key(doc.Lookup("_id"))] = true
	}
	if len(hidden) == 0 {
		return nil, nil
	}
	for doc, err := range shown.Each(ctx, s.b.DB) { // stored since the survey
		if err != nil {
			return nil, err
		}
		delete(hidden, bsonval.Key(doc.Lookup("_id")))
	}
	return hidden, nil
}

// complete returns a document with the tree's fields.
func (s *survey) complete(key string, doc bson.Raw, change int64) (bson.Raw, error) {
	stored := s.stored[key]
	var set bson.D
	for _, path := range s.to.Tied() { // what is right as it is
		if v, _ := core.ValueAt(stored.Raw, path); v.Type != 0 {
			set = append(set, mql.E(path, v))
		}
	}
	return core.SetFields(doc, slices.Concat(set, s.want[key], bson.D{{Key: s.to.Links.Change, Value: change}}))
}

// insert stores a missing document. If the scope shows a document with its _id by then, the conversion is stale.
func (s *survey) insert(doc bson.Raw) model.Write {
	return model.Write{
		Collection: s.to.Collection, Index: model.IDIndex, Model: &mongo.InsertOneModel{Document: doc},
		Reasons: []model.Reason{{If: byID(doc), Err: errStirred}},
	}
}

// revive stores a document in the place of one that a scope has marked as deleted.
func (s *survey) revive(doc bson.Raw) model.Write {
	upsert := true // the marked document may be removed meanwhile
	return model.Write{
		Collection: s.to.Collection, Index: model.IDIndex, Deleted: true,
		Model: &mongo.ReplaceOneModel{Filter: byID(doc), Replacement: doc, Upsert: &upsert},
	}
}

// replace stores a document whose content differs.
func (s *survey) replace(doc bson.Raw) model.Write {
	return model.Write{Collection: s.to.Collection, Index: model.IDIndex, Model: &mongo.ReplaceOneModel{Filter: byID(doc), Replacement: doc}}
}

// byID returns the filter for the document with a document's _id.
func byID(doc bson.Raw) bson.D { return bson.D{{Key: "_id", Value: model.Eq(doc.Lookup("_id"))}} }

// update sets fields of the tree in a node.
func (s *survey) update(id bson.RawValue, set bson.D, change int64) model.Write {
	return model.Write{Collection: s.to.Collection, Index: model.IDIndex, Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: model.Eq(id)}},
		Update: mql.Op("$set", append(slices.Clone(set), mql.E(s.to.Links.Change, change))),
	}}
}
