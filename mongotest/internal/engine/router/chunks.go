package router

// This file has the chunks of a collection: how they begin, are split, moved and found.

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Collection is how a collection is sharded. It never changes: Split and Move return another.
type Collection struct {
	Key    Key
	Unique bool

	shards   int
	before71 bool    // it answers as MongoDB 7.0: see Router.Before71
	chunks   []chunk // by min; the first begins with the least of all keys
}

// chunk is a range of keys, to the next chunk's min.
type chunk struct {
	min   []any
	shard int
}

// Shard returns a collection whose documents are all in one chunk, on the first shard. That is
// where shardCollection leaves them. Of an empty collection with a hashed first field, each shard
// gets a chunk.
func (r *Router) Shard(key Key, unique, empty bool) *Collection {
	c := &Collection{Key: key, Unique: unique, shards: r.Shards, before71: r.Before71}
	c.chunks = []chunk{{min: c.repeatValue(bson.MinKey{})}}
	if !empty || !key[0].hashed {
		return c
	}
	// Hashes are spread evenly over 64 bits, and so are the chunks.
	width := math.MaxUint64 / uint64(r.Shards)
	for i := 1; i < r.Shards; i++ {
		first := c.repeatValue(bson.MinKey{})
		first[0] = math.MinInt64 + int64(uint64(i)*width)
		c.chunks = append(c.chunks, chunk{min: first, shard: i})
	}
	return c
}

// Spread is Shard, with the documents divided evenly among the shards, as reshardCollection does.
func (r *Router) Spread(key Key, unique bool, values [][]any) *Collection {
	c := r.Shard(key, unique, len(values) == 0)
	places := make([][]any, len(values))
	for i, v := range values {
		places[i] = key.placeOf(v)
	}
	slices.SortFunc(places, compareKeys)
	places = slices.CompactFunc(places, func(a, b []any) bool { return compareKeys(a, b) == 0 })
	for i := 1; i < r.Shards && len(places) > 0; i++ {
		p := places[i*len(places)/r.Shards]
		// Equal keys can't be divided: a shard goes without a chunk then.
		if compareKeys(p, c.chunks[len(c.chunks)-1].min) > 0 {
			c.chunks = append(c.chunks, chunk{min: p, shard: i})
		}
	}
	return c
}

// repeatValue returns a key that has one value in all fields, such as MinKey.
func (c *Collection) repeatValue(v any) []any {
	out := make([]any, len(c.Key))
	for i := range out {
		out[i] = v
	}
	return out
}

// readBound reads the key of a chunk's end, or of a document, as split and moveChunk have it: hashed fields are
// hashed if stored is set. It must have all fields of the key and no others.
func (c *Collection) readBound(d bson.D, stored bool) ([]any, error) {
	values := make([]any, len(c.Key))
	for i, f := range c.Key {
		v, ok := bsonval.Get(d, f.name)
		if !ok || len(d) != len(c.Key) {
			return nil, mongoerr.New(mongoerr.BadValue, "no shard key found in chunk query %s", bsonval.Show(d))
		}
		values[i] = v
	}
	if stored {
		return c.Key.placeOf(values), nil
	}
	return values, nil
}

// Split ends a chunk at a key, where another begins on the same shard.
func (c *Collection) Split(middle bson.D) (*Collection, error) {
	key, err := c.readBound(middle, false)
	if err != nil {
		return nil, err
	}
	i := c.findChunk(key)
	if compareKeys(c.chunks[i].min, key) == 0 {
		return nil, mongoerr.New(mongoerr.BadValue,
			"new split key %s is a boundary key of existing chunk", bsonval.Show(middle))
	}
	next := *c
	next.chunks = slices.Insert(slices.Clone(c.chunks), i+1, chunk{min: key, shard: c.chunks[i].shard})
	return &next, nil
}

// MoveFound moves the chunk that has the documents of a key.
func (c *Collection) MoveFound(find bson.D, shard int) (*Collection, error) {
	key, err := c.readBound(find, true)
	if err != nil {
		return nil, err
	}
	return c.moveChunk(c.findChunk(key), shard), nil
}

// MoveBounds moves the chunk between two keys.
func (c *Collection) MoveBounds(min, max bson.D, shard int) (*Collection, error) {
	from, err := c.readBound(min, false)
	if err != nil {
		return nil, err
	}
	to, err := c.readBound(max, false)
	if err != nil {
		return nil, err
	}
	i := c.findChunk(from)
	if compareKeys(c.chunks[i].min, from) != 0 || compareKeys(c.endOf(i), to) != 0 {
		return nil, mongoerr.New(mongoerr.BadValue, "no chunk found with the shard key bounds [%s, %s)",
			bsonval.Show(min), bsonval.Show(max))
	}
	return c.moveChunk(i, shard), nil
}

// moveChunk returns a collection whose i-th chunk is on another shard.
func (c *Collection) moveChunk(i, shard int) *Collection {
	next := *c
	next.chunks = slices.Clone(c.chunks)
	next.chunks[i].shard = shard
	return &next
}

// endOf is the key that a chunk ends before.
func (c *Collection) endOf(i int) []any {
	if i+1 < len(c.chunks) {
		return c.chunks[i+1].min
	}
	return c.repeatValue(bson.MaxKey{})
}

// findChunk is the index of the chunk of a key. Chunks are searched by halves, since they are in order.
func (c *Collection) findChunk(key []any) int {
	i, found := slices.BinarySearchFunc(c.chunks, key, func(x chunk, key []any) int { return compareKeys(x.min, key) })
	if found {
		return i
	}
	return i - 1
}

// ShardOf is the shard of a document's key.
func (c *Collection) ShardOf(values []any) int {
	return c.chunks[c.findChunk(c.Key.placeOf(values))].shard
}

// addShardsWithin adds the shards of a range of keys, whose ends belong to it.
func (c *Collection) addShardsWithin(min, max []any, add func(shard int)) {
	for i := c.findChunk(min); i < len(c.chunks) && compareKeys(c.chunks[i].min, max) <= 0; i++ {
		add(c.chunks[i].shard)
	}
}

// owners are the shards that have a chunk.
func (c *Collection) owners() []int {
	var out []int
	for _, x := range c.chunks {
		out = append(out, x.shard)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// All are the shards of the cluster, whether or not they have a chunk. owners are only those that have.
func (c *Collection) All() []int {
	out := make([]int, c.shards)
	for i := range out {
		out[i] = i
	}
	return out
}
