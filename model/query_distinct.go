package model

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Distinct stores the different values at a path in into, which points to a slice. An array
// at the path counts as its elements. Documents without the path add nothing. The order
// isn't defined. Options.Let, Skip, Limit and a projection give a [*ValueError], and so
// does _id under a Tenant that is part of the _ids.
//
// Cost: one command, which reads every match, or only index keys if an index begins with
// the path. All values together can have 16 MB. For more, group the values by
// [Collection.Aggregate]. In a transaction, MongoDB has no distinct for sharded
// collections. Source: https://www.mongodb.com/docs/manual/reference/command/distinct/
func (q *Query) Distinct(ctx context.Context, db DB, path string, into any) error {
	ctx, op := begin(ctx, db, "distinct", "", q.Collection, 0)
	defer op.end()
	op.reads(q.Index)
	err := q.distinct(ctx, db, path, into)
	op.settle(err)
	return err
}

func (q *Query) distinct(ctx context.Context, db DB, path string, into any) error {
	own, target := *q, reflect.ValueOf(into)
	switch {
	case target.Kind() != reflect.Pointer || target.IsNil() || target.Elem().Kind() != reflect.Slice:
		refuse(&own, "into", reflect.TypeOf(into), "must be a pointer to a slice")
	case path == "" || strings.HasPrefix(path, "$"):
		refuse(&own, "path", path, "must be the path of a field")
	case q.Skip != 0 || q.Limit != 0 || len(q.Projection) > 0 || len(q.Options.Let) > 0:
		refuse(&own, path, nil, "Distinct takes no Skip, Limit, Projection and Let")
	case own.Err == nil:
		own.Err = q.known().CheckSort(bson.D{{Key: path, Value: 1}})
	}
	own.Sort = nil // values have no order
	scoped := scopedQuery(db, &own)
	if len(scoped.keys) > 0 && core.Overlap(path, "_id") {
		refuse(scoped, path, nil, "carries the tenant in each _id: read the documents by All")
	}
	if err := cmp.Or(checkQuery(scoped), core.CheckRun(ctx, db)); err != nil {
		return err
	}
	ctx, cancel := q.Options.context(ctx)
	defer cancel()
	o := withOptions(options.Distinct(), q.Options.shared())
	if err := checkCollations(ctx, db, scoped.used); err != nil {
		return err
	}
	coll := collectionOf(ctx, db, q.codec, q.Collection, q.Options.collectionOptions())
	found := coll.Distinct(ctx, path, orEmpty(routed(ctx, db, q.Collection, scoped.Filter)), o)
	if err := found.Err(); err != nil {
		return err
	}
	if err := found.Decode(into); err != nil {
		return fmt.Errorf("docmodel: the values of %s.%s: %w", q.Collection, path, err)
	}
	return nil
}
