// Package convert copies trees between collections and documents. The shells are
// ConvertInto and Extract (a job that writes into a tree of documents), and Absorb and
// ConvertDocument (a change of the list within one document), in paths/convert.go and
// convert_document.go.
//
// # Stored form
//
// A conversion stores nothing of its own. It reads an [Origin] (a tree, a subtree, or a
// list within a document), and writes the documents that the caller's function makes of
// its nodes, with the fields of the target tree:
//
//	source  {_id: "boots", parent: "shoes", order: "a0", change: 4, name: "Boots"}
//	target  {_id: "boots", title: "Boots", parent: "shoes", order: "a0", change: 9,
//	          path: "men/shoes/boots/"}
//
// # Protocol of a job
//
//  1. Read both trees, without a lease (read.go, read_survey.go). Of each document only a hash
//     of its content and its tree fields are kept.
//  2. Compute the forest that the target shall have, and compare (read_compare.go).
//  3. If nodes to be deleted have unique values that others need, delete first.
//  4. Park values of a unique index that two nodes exchange (see tree.ParkFields).
//  5. Insert missing nodes, then write nodes that differ, parents before children, in batches.
//     Each batch reads its source nodes again, and runs under the target's lease.
//  6. Delete nodes that the source doesn't have, if the caller wants it, children first.
//  7. Check the target. If others wrote meanwhile, return [model.ErrStale].
//
// # What a crash leaves
//
// A part of the batches. The job keeps no checkpoint: a second run compares again and
// writes what still differs. Before the end, queries by path or number can miss target
// nodes.
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

// errStirred says that another client wrote to a tree during the conversion.
var errStirred = fmt.Errorf("docmodel: a tree was changed during the conversion: %w", model.ErrStale)

// MakeJob is the job that copies the nodes of an origin into a tree: below the node
// under, or as roots if under has type 0. With remove, it deletes nodes that the origin
// doesn't have. The shell sets the job's Err if an argument is invalid. Then the job reads
// nothing.
func MakeJob(from Origin, to *tree.Tree, under bson.RawValue, remove bool) model.Job {
	c := &conversion{from: from, to: to, under: under, remove: remove}
	name := "convert " + from.name + " to " + to.Collection
	return model.Job{Name: name, Stages: []model.Stage{{Name: name, Do: c.runJob}}}
}

// runJob runs the whole conversion as one stage, and explains duplicate keys.
func (c *conversion) runJob(ctx context.Context, b *model.Batch) error {
	err := c.convertOnce(ctx, b)
	switch {
	case c.isUniqueConflict(err):
		err = errors.Join(errStirred, err)
	// A document of the collection that isn't a node of this tree, or that a scope hides.
	case model.DuplicateIndex(err) == model.IDIndex:
		err = fmt.Errorf(
			"%w: a document of %s that isn't a node of this tree has the _id of a new node: %w", model.ErrTaken,
			c.to.Collection, err,
		)
	}
	b.Done = err == nil
	return err
}

// isUniqueConflict reports whether a write met a value in the representation's unique
// index: another client stored it since the survey.
func (c *conversion) isUniqueConflict(err error) bool {
	name := model.DuplicateIndex(err)
	return slices.ContainsFunc(c.to.Indexes, func(x model.Index) bool {
		// Under a scope, the index's name begins with the tenant's field.
		return x.Unique && (name == x.Name || strings.HasSuffix(name, "_"+x.Name))
	})
}

// convertOnce reads both trees, and writes what differs.
func (c *conversion) convertOnce(ctx context.Context, b *model.Batch) error {
	s, err := c.surveyTrees(ctx, b.DB)
	if err != nil {
		return err
	}
	missing, differ := s.listWork()
	b.Documents, b.Writes = int64(len(s.wanted)), int64(len(missing)+len(differ)+len(s.gone))
	if b.Writes == 0 || b.DryRun {
		return nil
	}
	// 500 nodes are one batch of a job elsewhere too, and hold the lease for a short
	// time.
	if s.b, s.size = b, b.Size; s.size == 0 {
		s.size = 500
	}
	if s.early {
		if err := s.deleteGone(ctx); err != nil {
			return err
		}
	}
	if err := s.parkNodes(ctx); err != nil {
		return err
	}
	// Missing nodes first: a moved node can get a new node as its parent.
	for _, keys := range [][]string{missing, differ} {
		for batch := range slices.Chunk(keys, s.size) {
			if err := s.writeBatch(ctx, batch); err != nil {
				return err
			}
		}
	}
	if !s.early {
		if err := s.deleteGone(ctx); err != nil {
			return err
		}
	}
	// The survey didn't hold the lease. Only this check shows that no other client has
	// written into the target meanwhile.
	report, err := c.to.CheckTree(ctx, b.DB, 0)
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

// listWork returns the nodes to be written, parents before their children: those that are
// missing, and those that differ.
func (s *survey) listWork() (missing, differ []string) {
	for key := range s.target.WalkAll() {
		switch content, none := s.compareContent(key); {
		case none:
			missing = append(missing, key)
		case content || len(s.want[key]) > 0:
			differ = append(differ, key)
		}
	}
	return missing, differ
}

// writeUnderLease runs steps as a change of the target. The change mends, so no plan is
// stored in the lock document: after a crash, the job's next run compares again.
func (s *survey) writeUnderLease(
	ctx context.Context, steps func(ctx context.Context, change int64) ([]model.Step, error),
) error {
	change := s.to.MakeChange(func(ctx context.Context, _ model.DB, state *tree.State) error {
		out, err := steps(ctx, state.Change)
		state.Repair = model.NewPlan(out...)
		return err
	}, func(state tree.State) (model.Plan, error) { return state.Repair, nil })
	change.Mends = true
	_, err := change.Run(ctx, s.b.DB)
	return err
}

// deleteGone deletes the nodes that shall not stay, children before their parents.
func (s *survey) deleteGone(ctx context.Context) error {
	// gone has children first, so that a cut between two batches leaves a tree.
	for batch := range slices.Chunk(s.gone, s.size) {
		err := s.writeUnderLease(ctx, func(_ context.Context, change int64) ([]model.Step, error) {
			ids := make([]bson.RawValue, len(batch))
			for i, n := range batch {
				ids[i] = n.ID
			}
			return s.to.DeleteByIDs(ids, change), nil
		})
		if err != nil {
			return err
		}
		s.b.Modified += int64(len(batch))
	}
	return nil
}

// parkNodes gives nodes temporary values of a unique index, before any node gets its new
// value.
func (s *survey) parkNodes(ctx context.Context) error {
	at := make([]int, len(s.park))
	for i := range at {
		at[i] = i
	}
	for batch := range slices.Chunk(at, s.size) {
		err := s.writeUnderLease(ctx, func(_ context.Context, change int64) (steps []model.Step, _ error) {
			for _, i := range batch {
				steps = append(steps, s.updateNode(s.park[i].ID, s.parked[i], change))
			}
			return steps, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeBatch writes some nodes. If the source no longer has one of them, stirred is set.
func (s *survey) writeBatch(ctx context.Context, keys []string) error {
	written := 0
	write := func(ctx context.Context, change int64) (steps []model.Step, err error) {
		made, err := s.fetchMade(ctx, keys)
		if err != nil {
			return nil, err
		}
		hidden, err := s.findHidden(ctx, keys)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			content, missing := s.compareContent(key)
			doc := made[key]
			switch {
			// The source's node was deleted since the survey, or the function made
			// another _id.
			case content && doc == nil:
				s.stirred = true
			case content:
				if doc, err = s.completeDocument(key, doc, change); err != nil {
					return nil, err
				}
				switch {
				case hidden[key]:
					steps = append(steps, s.reviveNode(doc))
				case missing:
					steps = append(steps, s.insertNode(doc))
				default:
					steps = append(steps, s.replaceNode(doc))
				}
			default:
				steps = append(steps, s.updateNode(s.findID(key), s.want[key], change))
			}
		}
		written = len(steps)
		return steps, nil
	}
	err := s.writeUnderLease(ctx, write)
	if err == nil {
		s.b.Modified += int64(written)
	}
	return err
}

// fetchMade reads the source nodes whose content is to be written, and makes their
// documents.
func (s *survey) fetchMade(ctx context.Context, keys []string) (map[string]bson.Raw, error) {
	made := map[string]bson.Raw{}
	var ids []bson.RawValue
	for _, key := range keys {
		if content, _ := s.compareContent(key); content {
			ids = append(ids, s.wanted[key].from)
		}
	}
	if len(ids) == 0 {
		return made, nil
	}
	pieces, err := s.from.fetch(ctx, s.b.DB, ids)
	for _, p := range pieces {
		// A document whose _id changed since the survey belongs to no node of this batch.
		if key := s.names[p.link.ID]; key == bsonval.Key(p.made.Lookup("_id")) {
			made[key] = p.made
		}
	}
	return made, err
}

// findHidden returns the missing nodes whose documents a scope has marked as deleted.
// Only under such a scope it costs a read.
func (s *survey) findHidden(ctx context.Context, keys []string) (map[string]bool, error) {
	var ids bson.A
	for _, key := range keys {
		if _, missing := s.compareContent(key); missing && len(s.scoping.Mark) > 0 {
			ids = append(ids, s.findID(key))
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	all := model.Find[bson.Raw]{Query: model.Query{
		Collection: s.to.Collection, Filter: bson.D{{Key: "_id", Value: mql.Op("$in", ids)}},
		Projection: bson.D{{Key: "_id", Value: 1}}, Index: model.IDIndex,
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
	// Documents that were stored since the survey aren't marked.
	for doc, err := range shown.Each(ctx, s.b.DB) {
		if err != nil {
			return nil, err
		}
		delete(hidden, bsonval.Key(doc.Lookup("_id")))
	}
	return hidden, nil
}

// completeDocument adds the tree's fields to a document: the stored ones that are right,
// then those that differ.
func (s *survey) completeDocument(key string, doc bson.Raw, change int64) (bson.Raw, error) {
	stored := s.stored[key]
	var set bson.D
	for _, path := range s.to.ListTreePaths() {
		if v, _ := core.ValueAt(stored.Raw, path); v.Type != 0 {
			set = append(set, mql.E(path, v))
		}
	}
	return core.SetFields(doc, slices.Concat(set, s.want[key], bson.D{{Key: s.to.Links.Change, Value: change}}))
}

// insertNode stores a missing document. If another document has the _id by then, the
// conversion is stale.
func (s *survey) insertNode(doc bson.Raw) model.Write {
	return model.Write{
		Collection: s.to.Collection, Index: model.IDIndex, Model: &mongo.InsertOneModel{Document: doc},
		Reasons: []model.Reason{{If: matchID(doc), Err: errStirred}},
	}
}

// reviveNode replaces a document that a scope has marked as deleted.
func (s *survey) reviveNode(doc bson.Raw) model.Write {
	// The marked document can be removed since it was found.
	upsert := true
	return model.Write{
		Collection: s.to.Collection, Index: model.IDIndex, Deleted: true,
		Model: &mongo.ReplaceOneModel{Filter: matchID(doc), Replacement: doc, Upsert: &upsert},
	}
}

// replaceNode replaces a document whose content differs.
func (s *survey) replaceNode(doc bson.Raw) model.Write {
	return model.Write{
		Collection: s.to.Collection, Index: model.IDIndex,
		Model: &mongo.ReplaceOneModel{Filter: matchID(doc), Replacement: doc},
	}
}

// matchID matches the document with the _id of another.
func matchID(doc bson.Raw) bson.D { return bson.D{{Key: "_id", Value: mql.Eq(doc.Lookup("_id"))}} }

// updateNode sets tree fields of a node, and the change number.
func (s *survey) updateNode(id bson.RawValue, set bson.D, change int64) model.Write {
	return model.Write{Collection: s.to.Collection, Index: model.IDIndex, Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: mql.Eq(id)}},
		Update: mql.Op("$set", append(slices.Clone(set), mql.E(s.to.Links.Change, change))),
	}}
}
