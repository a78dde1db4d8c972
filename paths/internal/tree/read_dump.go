package tree

// Reading a whole forest in preorder.

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A streamer is a representation with an index in whose order all nodes are in preorder.
type streamer interface{ streamPreorder() Source }

// stream is the query of all nodes, in preorder.
func (t *nestedSet) streamPreorder() Source {
	return Match(t.nameLeftIndex(), bson.D{matchBetween(t.left, 1, end)}, sortByField(t.left, 1))
}

// DumpNodes calls each for all whole nodes in preorder, until it returns false. Without a
// stream, the links of all nodes are in memory, and documents are read in batches of 500.
func (t *Tree) DumpNodes(ctx context.Context, db model.DB, each func(n Node, depth int) (bool, error)) error {
	if s, ok := t.Rep.(streamer); ok {
		return t.dumpStream(ctx, db, s.streamPreorder(), each)
	}
	f, err := t.ReadSkeleton(ctx, db, nil, nil)
	if err != nil {
		return err
	}
	var ids []bson.RawValue
	depths := map[string]int{}
	// left is the depth of a node that was deleted meanwhile: its descendants are
	// skipped.
	more, left := true, math.MaxInt
	flush := func() error {
		found, err := t.readProjected(ctx, db, t.FindByID(ids...), nil)
		if err != nil {
			return err
		}
		byKey := make(map[string]Node, len(found))
		for _, n := range found {
			byKey[n.Key()] = n
		}
		for _, id := range ids {
			n, ok := byKey[bsonval.Key(id)]
			depth := depths[bsonval.Key(id)]
			switch {
			case depth > left || !more:
				continue
			case !ok:
				left = depth
				continue
			}
			left = math.MaxInt
			if more, err = each(n, depth); err != nil {
				return err
			}
		}
		ids = ids[:0]
		clear(depths)
		return nil
	}
	for key, depth := range f.Forest.WalkAll() {
		ids, depths[key] = append(ids, f.Nodes[key].ID), depth
		if len(ids) == 500 {
			if err := flush(); err != nil || !more {
				return err
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return flush()
}

// DumpIDs is DumpNodes for callers that need only _ids and depths: it reads only the
// links.
func (t *Tree) DumpIDs(ctx context.Context, db model.DB, each func(n Node, depth int) (bool, error)) error {
	if s, ok := t.Rep.(streamer); ok {
		links := s.streamPreorder()
		links.Pipeline = append(links.Pipeline, mql.Op("$project", bson.D{{Key: t.Links.Parent, Value: 1}}))
		return t.dumpStream(ctx, db, links, each)
	}
	f, err := t.ReadSkeleton(ctx, db, nil, nil)
	if err != nil {
		return err
	}
	for key, depth := range f.Forest.WalkAll() {
		if more, err := each(f.Nodes[key], depth); err != nil || !more {
			return err
		}
	}
	return nil
}

// dumpStream goes through nodes that come in preorder. above has the keys of the
// ancestors of the last node. A node whose parent isn't among them shows a half-written
// or damaged tree.
func (t *Tree) dumpStream(
	ctx context.Context, db model.DB, s Source, each func(n Node, depth int) (bool, error),
) error {
	var above []string
	for doc, err := range t.Aggregate(s).Each(ctx, db) {
		if err != nil {
			return err
		}
		n, err := t.ReadNode(doc)
		if err != nil {
			return err
		}
		depth := 0
		if !n.IsRoot() {
			parent := bsonval.Key(n.Parent)
			for depth = len(above); depth > 0 && above[depth-1] != parent; {
				depth--
			}
			if depth == 0 {
				return fmt.Errorf(
					"%w: %s of %s isn't below its parent", forest.ErrDamaged, model.Shell(n.ID), t.Collection,
				)
			}
		}
		above = append(above[:depth], n.Key())
		if more, err := each(n, depth); err != nil || !more {
			return err
		}
	}
	return nil
}

// ReadSkeleton reads the links of nodes, nil for all, and the named fields. While it
// reads, a change can move nodes, so that a parent seems to be missing. It therefore
// reads up to five times before it returns [forest.ErrDamaged].
func (t *Tree) ReadSkeleton(ctx context.Context, db model.DB, of mongo.Pipeline, fields []string) (family, error) {
	project := bson.D{{Key: t.Links.Parent, Value: 1}, {Key: t.Links.Order, Value: 1}}
	for _, f := range fields {
		project = append(project, mql.E(f, 1))
	}
	for n := 1; ; n++ {
		all, err := t.readProjected(ctx, db, Source{Pipeline: of}, project)
		if err != nil {
			return family{}, err
		}
		f := BuildFamily(all, "")
		if len(f.Lost) == 0 {
			return f, nil
		}
		if n == 5 {
			return family{}, fmt.Errorf(
				"%w: %d nodes of %s have a missing parent or are in a cycle", forest.ErrDamaged, len(f.Lost),
				t.Collection,
			)
		}
		if err := waitBeforeRetry(ctx, n); err != nil {
			return family{}, err
		}
	}
}

// waitBeforeRetry waits 2, 8, 18, 32 milliseconds before the next reading.
func waitBeforeRetry(ctx context.Context, n int) error {
	timer := time.NewTimer(time.Duration(n*n) * 2 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
