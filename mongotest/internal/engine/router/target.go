package router

// This file says where reads and writes are sent, and which changes of a shard key are refused.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// A Route is where a statement is sent: shards by their numbers, and why there are so many or so few.
type Route struct {
	Shards    []int
	Broadcast bool // the filter says nothing of the key
	Whole     bool // the filter gives the whole key by equality
	Strict    bool // documents on other shards aren't found, though the filter matches them
}

// A Filter is what a statement looks for.
type Filter struct {
	Query    bson.D
	Collated bool // it compares texts by a collation
	Foreign  bool // the collation isn't that of the collection
}

// Find says where a read is sent.
func (c *Collection) Find(f Filter) Route {
	if key, ok := c.Key.readWhole(f.Query); ok {
		if !f.Collated || !slices.ContainsFunc(key, hasText) {
			return Route{Shards: []int{c.ShardOf(key)}, Whole: true}
		}
	}
	list, ok := c.bounds(f.Query, f.Collated)
	if !ok {
		return Route{Shards: c.owners(), Broadcast: true}
	}
	// An impossible condition, such as {$in: []}.
	if slices.ContainsFunc(list, isNone) {
		return Route{Shards: []int{c.chunks[0].shard}} // nothing matches, but some shard must answer
	}
	var shards []int
	for _, r := range c.flatten(list) {
		c.addShardsWithin(r.min, r.max, func(shard int) { shards = append(shards, shard) })
	}
	slices.Sort(shards)
	return Route{Shards: slices.Compact(shards)}
}

// keyRange is a range of keys. Both ends belong to it.
type keyRange struct{ min, max []any }

// flatten makes ranges of keys from intervals of fields. The first field with other than one
// value makes a range for each of its intervals, and the fields behind it only widen these.
func (c *Collection) flatten(list [][]query.Interval) []keyRange {
	out := []keyRange{{}}
	single := true
	for _, intervals := range list {
		if intervals == nil {
			intervals = []query.Interval{{Lo: bson.MinKey{}, Hi: bson.MaxKey{}}}
		}
		// Intervals are sorted by where they begin, not by where they end.
		lo, hi := intervals[0].Lo, intervals[0].Hi
		for _, x := range intervals {
			if bsonval.Compare(x.Hi, hi) > 0 {
				hi = x.Hi
			}
		}
		if !single || len(intervals) == 1 {
			single = single && intervals[0].IsPoint()
			for i := range out {
				out[i] = keyRange{append(out[i].min, lo), append(out[i].max, hi)}
			}
			continue
		}
		single = false
		prefix := out[0] // there is one
		out = nil
		for _, x := range intervals {
			out = append(out, keyRange{append(slices.Clip(prefix.min), x.Lo), append(slices.Clip(prefix.max), x.Hi)})
		}
	}
	return out
}

// A Change is an update or a delete, with what decides where it is sent.
type Change struct {
	Filter
	Command     string // update, delete or findAndModify
	Replacement bson.D // nil for operators, a pipeline and a delete
	Multi       bool
	Upsert      bool
	InTxn       bool
}

// Write says where an update or a delete is sent, or why it is refused.
func (c *Collection) Write(w Change) (Route, error) {
	_, whole := c.Key.readWhole(w.Query)
	r := c.Find(w.Filter)
	switch {
	case w.Upsert && (!whole || !r.Whole):
		return Route{}, mongoerr.New(mongoerr.ShardKeyNotFound,
			"Failed to target upsert by query :: could not extract exact shard key")
	case w.Command == "findAndModify":
		if c.before71 && !r.Whole {
			return Route{}, mongoerr.New(mongoerr.ShardKeyNotFound, "Query for sharded findAndModify must contain "+
				"the shard key")
		}
		return r, nil
	case len(r.Shards) == 1:
		return r, nil
	}
	if w.Multi {
		// An update of many documents goes to all shards of the cluster, even to those without a chunk.
		if !w.InTxn { // a shard may get chunks meanwhile
			r.Shards = c.All()
		}
		return r, nil
	}
	return c.routeSingle(w, r)
}

// routeSingle is Write for a change of one document whose filter is for several shards. MongoDB before 7.1 wanted _id
// or the shard key there; later ones look for the document on all shards in question.
func (c *Collection) routeSingle(w Change, r Route) (Route, error) {
	id, byID := Key{{name: "_id"}}.readWhole(w.Query)
	byID = byID && !(w.Foreign && hasText(id[0]))
	switch {
	case w.Replacement != nil && (byID || c.before71):
		doc := w.Replacement
		if byID && bsonval.Index(doc, "_id") < 0 {
			doc = append(bson.D{{Key: "_id", Value: id[0]}}, doc...)
		}
		key, ok := c.Key.Values(doc)
		if !ok {
			return Route{}, mongoerr.New(mongoerr.ShardKeyNotFound,
				"Failed to target update by replacement document :: could not extract exact shard key")
		}
		return Route{Shards: []int{c.ShardOf(key)}, Strict: true}, nil
	case c.before71 && !byID && w.Command == "delete":
		return Route{}, mongoerr.New(mongoerr.ShardKeyNotFound,
			"A single delete on a sharded collection must contain an exact match on _id "+
				"(and have the collection default collation) or contain the shard key (and have the simple "+
				"collation). Delete request: %s, "+
				"shard key pattern: %s", bsonval.Show(w.Query), bsonval.Show(c.Key.Document()))
	case c.before71 && !byID:
		return Route{}, mongoerr.New(mongoerr.InvalidOptions,
			"A {multi:false} update on a sharded collection must contain an exact match on "+
				"_id (and have the collection default collation) or target a single shard (and have the simple "+
				"collation), but this update "+
				"targeted %d shards. Update request: %s, shard key pattern: %s", len(r.Shards), bsonval.Show(w.Query),
			bsonval.Show(c.Key.Document()))
	case c.before71 && !w.InTxn:
		r.Shards = c.All()
	}
	return r, nil
}

// Insert says on which shard a document is stored. A missing field of the key counts as null; an array is refused.
func (c *Collection) Insert(doc bson.D) (int, error) {
	key, ok := c.Key.Values(doc)
	if !ok {
		return 0, mongoerr.New(mongoerr.ShardKeyNotFound, "Shard key cannot contain array values or array descendants.")
	}
	return c.ShardOf(key), nil
}

// A Move is a change of a document's shard key.
type Move struct {
	Whole  bool // the filter gives the whole key
	Multi  bool
	Number bool // in a transaction, or as a retryable write
	Batch  int  // how many statements the command has
}

// Update refuses a change of a stored document that MongoDB doesn't allow for its shard key. A change that leaves the
// key as it is, is always allowed.
func (c *Collection) Update(old, next bson.D, m Move) error {
	before, was := c.Key.Values(old)
	after, is := c.Key.Values(next)
	if was && is && bsonval.Equal(bson.A(before), bson.A(after)) {
		return nil
	}
	if !is {
		return mongoerr.New(mongoerr.NotSingleValueField,
			"After applying the update to the document, a field of the shard key %s "+
				"was found to be an array or array descendant.", bsonval.Show(c.Key.Document()))
	}
	switch {
	case m.Multi:
		return mongoerr.New(mongoerr.InvalidOptions,
			"Multi-update operations are not allowed when updating the shard key field.")
	case !m.Whole:
		return mongoerr.New(31025, "Shard key update is not allowed without specifying the full shard key in the query")
	case !m.Number:
		return mongoerr.New(mongoerr.IllegalOperation,
			"Must run update to shard key field in a multi-statement transaction or with retryWrites: true.")
	case m.Batch > 1 && c.ShardOf(before) != c.ShardOf(after):
		return mongoerr.New(mongoerr.InvalidOptions,
			"Document shard key value updates that cause the doc to move shards must be sent with write batch of "+
				"size 1")
	}
	return nil
}

// Upsert refuses a document that an upsert made on another shard than its filter names, outside
// of transactions and retryable writes.
func (c *Collection) Upsert(doc bson.D, on []int, m Move) error {
	shard, err := c.Insert(doc)
	if err == nil && !m.Number && !slices.Contains(on, shard) {
		return mongoerr.New(mongoerr.IllegalOperation,
			"The upserted document could not be inserted onto the shard targeted by the query, since its "+
				"shard key belongs on a different shard. Cross-shard upserts are only allowed when running in a "+
				"transaction or with retryWrites: true.")
	}
	return err
}
