package tree

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

// A streamer is a representation by one of whose indexes all nodes come in preorder.
type streamer interface{ stream() Source }

// stream is the query of all nodes, in preorder.
func (t *nestedSet) stream() Source {
	return Match(t.byLeft(), bson.D{between(t.left, 1, end)}, sortBy(t.left, 1))
}

// Dump goes through all nodes in preorder, until each says that it is enough.
func (t *Tree) Dump(ctx context.Context, db model.DB, each func(n Node, depth int) (bool, error)) error {
	if s, ok := t.Rep.(streamer); ok {
		return t.dumpStream(ctx, db, s.stream(), each)
	}
	f, err := t.Skeleton(ctx, db, nil, nil)
	if err != nil {
		return err
	}
	var ids []bson.RawValue
	depths := map[string]int{}
	more, left := true, math.MaxInt // the depth of a node that has vanished
	flush := func() error {
		found, err := t.readAs(ctx, db, t.ByID(ids...), nil)
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
	for key, depth := range f.Forest.All() {
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

// DumpIDs goes through the _ids of all nodes in preorder, until each says that it is enough. It reads only the links.
func (t *Tree) DumpIDs(ctx context.Context, db model.DB, each func(n Node, depth int) (bool, error)) error {
	if s, ok := t.Rep.(streamer); ok {
		links := s.stream()
		links.Pipeline = append(links.Pipeline, mql.Op("$project", bson.D{{Key: t.Links.Parent, Value: 1}}))
		return t.dumpStream(ctx, db, links, each)
	}
	f, err := t.Skeleton(ctx, db, nil, nil)
	if err != nil {
		return err
	}
	for key, depth := range f.Forest.All() {
		if more, err := each(f.Nodes[key], depth); err != nil || !more {
			return err
		}
	}
	return nil
}

// dumpStream goes through nodes that come in preorder.
func (t *Tree) dumpStream(ctx context.Context, db model.DB, s Source, each func(n Node, depth int) (bool, error)) error {
	var above []string
	for doc, err := range t.Aggregate(s).Each(ctx, db) {
		if err != nil {
			return err
		}
		n, err := t.Read(doc)
		if err != nil {
			return err
		}
		depth := 0
		if !n.Root() {
			parent := bsonval.Key(n.Parent)
			for depth = len(above); depth > 0 && above[depth-1] != parent; {
				depth--
			}
			if depth == 0 {
				return fmt.Errorf("%w: %s of %s isn't below its parent", forest.ErrDamaged, model.Shell(n.ID), t.Collection)
			}
		}
		above = append(above[:depth], n.Key())
		if more, err := each(n, depth); err != nil || !more {
			return err
		}
	}
	return nil
}

// Skeleton reads the links of nodes, nil for all, and some fields. What has no place in five readings is [ErrDamaged].
func (t *Tree) Skeleton(ctx context.Context, db model.DB, of mongo.Pipeline, fields []string) (family, error) {
	project := bson.D{{Key: t.Links.Parent, Value: 1}, {Key: t.Links.Order, Value: 1}}
	for _, f := range fields {
		project = append(project, mql.E(f, 1))
	}
	for n := 1; ; n++ {
		all, err := t.readAs(ctx, db, Source{Pipeline: of}, project)
		if err != nil {
			return family{}, err
		}
		f := FamilyOf(all, "")
		if len(f.Lost) == 0 {
			return f, nil
		}
		if n == 5 {
			return family{}, fmt.Errorf("%w: %d nodes of %s have a missing parent or are in a cycle", forest.ErrDamaged, len(f.Lost), t.Collection)
		}
		if err := pause(ctx, n); err != nil {
			return family{}, err
		}
	}
}

// pause waits before the next reading.
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
