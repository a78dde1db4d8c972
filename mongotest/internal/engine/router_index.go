package engine

// This file checks indexes of sharded collections. Each shard has its own part of an index, and so a unique index must
// begin with the shard key: equal keys are then on one shard.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/router"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// allowsUnique reports whether a collection may have a unique index of that key. One that isn't sharded always may.
func (r *request) allowsUnique(coll *store.Collection, key bson.D) bool {
	c := r.findSharding(coll)
	return c == nil || c.Key.Allows(key)
}

// newUniqueKeyError returns the error of a unique index that shards can't keep.
func (r *request) newUniqueKeyError(coll *store.Collection, key bson.D) error {
	return mongoerr.New(mongoerr.CannotCreateIndex, "cannot create unique index over %s with shard key pattern %s",
		store.Show(key), store.Show(r.findSharding(coll).Key.Document()))
}

// checkSharded refuses an index of createIndexes that is unique, or prepared to become unique, if shards can't keep it.
func (r *request) checkSharded(coll *store.Collection, s *store.IndexSpec) error {
	if s.Guards() && !r.allowsUnique(coll, s.Key) {
		return r.newUniqueKeyError(coll, s.Key)
	}
	return nil
}

// checkKeyIndex refuses to drop all indexes that serve a ranged shard key: MongoDB needs one to move chunks.
func (r *request) checkKeyIndex(coll *store.Collection, names []string) error {
	c := r.findSharding(coll)
	if c == nil || c.Key.HasHashed() {
		return nil
	}
	serves := func(x *store.Index) bool { return servesKey(c.Key, x) }
	goes := func(x *store.Index) bool { return slices.Contains(names, x.Spec.Name) }
	if slices.ContainsFunc(coll.Indexes, func(x *store.Index) bool { return serves(x) && goes(x) }) &&
		!slices.ContainsFunc(coll.Indexes, func(x *store.Index) bool { return serves(x) && !goes(x) }) {
		return mongoerr.New(mongoerr.CannotDropShardKeyIndex,
			"Cannot drop the only compatible index for this collection's shard key")
	}
	return nil
}

// servesKey reports whether an index can serve a shard key: it begins with the key, and has one entry for each
// document.
func servesKey(key router.Key, x *store.Index) bool {
	return key.Serves(x.Spec.Key) && !x.IsMultikey() && !x.Spec.Sparse && x.Spec.Partial == nil &&
		collation.IsSame(x.Spec.Collation, nil)
}
