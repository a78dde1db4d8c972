package keys

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/stored"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// SampleSpec contains the options of [Shard.Distribution].
type SampleSpec struct {
	Shards    int   // number of shards; 0 means 3
	Range     int64 // maximum bytes of a chunk; 0 means 128 MiB, MongoDB's default
	Documents int64 // documents in the whole collection; 0 means as many as in the sample
	Hot       int   // how many of the most frequent keys to return; 0 means 5
}

// A Distribution estimates how a [Shard] divides documents among shards, after the
// balancer has finished. A key is a document's value of the shard key. Sizes are
// uncompressed.
type Distribution struct {
	Documents int // number of documents in the sample
	Keys      int // number of different keys in the sample
	Missing   int // number of sampled documents that lack a key field
	Chunks    int
	Shards    []ShardLoad
	Jumbo     int      // number of keys whose documents don't fit in one chunk
	Hot       []HotKey // the most frequent keys, most frequent first

	// Rising is a fraction of the sample's later half: documents with keys above all
	// earlier-half keys.
	Rising float64

	// Warnings are disadvantages of the shard key. Each warning begins with a subject:
	//
	//	monotonic        keys increase with time, and one shard gets all new documents
	//	few keys         there are fewer than ten keys per shard
	//	jumbo chunk      the documents of one key don't fit in a chunk
	//	frequent key     one key has more documents than an average shard
	//	hot shard        one shard gets over 1.5 times the average writes
	//	missing fields   documents without a field of the key are stored together
	//	hashed doubles   doubles are truncated to integers before hashing
	Warnings []string
}

// A ShardLoad is one shard's data and writes, estimated from a sample of documents.
type ShardLoad struct {
	Documents int64   // number of documents, estimated from a sample
	Bytes     int64   // bytes of the documents, estimated from a sample
	Share     float64 // share of all bytes
	Writes    float64 // share of the next inserts, if they resemble the sample's later half
}

// A HotKey is a frequent key.
type HotKey struct {
	Key   bson.D
	Share float64 // share of all documents
	Bytes int64   // bytes of the key's documents, estimated from a sample
	Jumbo bool    // the key's documents don't fit in one chunk
}

// sample is the data read from the documents.
type sample struct {
	docs    []sampled
	missing int
	doubles int
	timed   int // documents with a key that begins with a time or an ObjectID
}

type sampled struct {
	raw  []bson.RawValue // values of the key
	key  []bson.RawValue // the same, with the hash of a hashed field
	size int64
}

// group is the documents of one key.
type group struct {
	sampled
	n     int
	bytes int64
}

func (s *shard) distribution(n int, doc func(int) any, spec SampleSpec) (d Distribution, err error) {
	if spec.Shards < 0 || spec.Range < 0 || spec.Documents < 0 || spec.Hot < 0 {
		return d, s.Refuse("spec", nil, "has a negative number")
	}
	if spec.Shards > maxShards {
		return d, s.Refuse("spec", spec.Shards, fmt.Sprintf("is above %d, the largest number of shards", maxShards))
	}
	spec = spec.orDefaults()
	all, err := s.gather(n, doc)
	if err != nil || len(all.docs) == 0 {
		return d, err
	}
	scale := 1.0
	if spec.Documents > 0 {
		scale = float64(spec.Documents) / float64(len(all.docs))
	}
	groups := groupsOf(all.docs)
	d = Distribution{Documents: len(all.docs), Keys: len(groups), Missing: all.missing}
	s.divide(&d, groups, spec, scale)
	s.writes(&d, all.docs)
	s.warn(&d, all, s.hot(&d, groups, spec, scale), spec)
	return d, nil
}

// maxShards is the most shards that a sample is divided among.
const maxShards = 100_000

func (p SampleSpec) orDefaults() SampleSpec {
	if p.Shards == 0 {
		p.Shards = 3
	}
	if p.Range == 0 {
		p.Range = 128 << 20
	}
	if p.Hot == 0 {
		p.Hot = 5
	}
	return p
}

func (s *shard) gather(n int, doc func(int) any) (all sample, err error) {
	for i := range n {
		raw, err := stored.Document(s.Docs, doc(i))
		if err != nil {
			return all, fmt.Errorf("docmodel: document %d: %w", i, s.Refuse("document", nil, err.Error()))
		}
		key, missing, err := s.keyOf(raw)
		if err != nil {
			return all, fmt.Errorf("docmodel: document %d: %w", i, err)
		}
		if len(missing) > 0 {
			all.missing++
		}
		one := sampled{raw: make([]bson.RawValue, len(key)), size: int64(len(raw))}
		for i, v := range key {
			one.raw[i] = bsonval.Clone(v) // don't retain the whole document
			if s.key[i].hashed && v.Type == bson.TypeDouble && v.Double() != float64(bsonval.HashedNumber(v)) {
				all.doubles++
			}
		}
		if t := key[0].Type; !s.key[0].hashed &&
			(t == bson.TypeObjectID || t == bson.TypeDateTime || t == bson.TypeTimestamp) {
			all.timed++
		}
		one.key = s.placed(one.raw)
		all.docs = append(all.docs, one)
	}
	return all, nil
}

// placed returns a key as the index stores it, with the hash of its hashed field.
func (s *shard) placed(key []bson.RawValue) []bson.RawValue {
	for i, f := range s.key {
		if f.hashed {
			out := slices.Clone(key)
			out[i] = bson.RawValue{
				Type:  bson.TypeInt64,
				Value: binary.LittleEndian.AppendUint64(nil, uint64(bsonval.Hash64(key[i]))),
			}
			return out
		}
	}
	return key
}

// groupsOf groups the documents by key, in the order of keys.
func groupsOf(docs []sampled) (out []group) {
	sorted := slices.Clone(docs)
	slices.SortStableFunc(sorted, func(a, b sampled) int { return compareKeys(a.key, b.key) })
	for i, d := range sorted {
		if i == 0 || compareKeys(d.key, sorted[i-1].key) != 0 {
			out = append(out, group{sampled: d})
		}
		out[len(out)-1].n++
		out[len(out)-1].bytes += d.size
	}
	return out
}

// chunk is a range of keys.
type chunk struct{ n, bytes float64 }

// divide splits the documents into chunks and assigns these to shards.
func (s *shard) divide(d *Distribution, groups []group, spec SampleSpec, scale float64) {
	d.Shards = make([]ShardLoad, spec.Shards)
	total := 0.0
	loads := make([]chunk, spec.Shards)
	var chunks []chunk
	last := -1
	for _, g := range groups {
		n, bytes := float64(g.n)*scale, float64(g.bytes)*scale
		total += bytes
		home := s.home(g.key, spec.Shards)
		if len(chunks) == 0 || chunks[len(chunks)-1].bytes+bytes > float64(spec.Range) || home != last {
			chunks = append(chunks, chunk{})
		}
		last = home
		at := &chunks[len(chunks)-1]
		at.n, at.bytes = at.n+n, at.bytes+bytes
		if home >= 0 {
			loads[home].n, loads[home].bytes = loads[home].n+n, loads[home].bytes+bytes
		}
	}
	d.Chunks = len(chunks)
	if !s.key[0].hashed {
		slices.SortStableFunc(chunks, func(a, b chunk) int { return -compareFloats(a.bytes, b.bytes) })
		for _, c := range chunks {
			least := 0
			for i := range loads {
				if loads[i].bytes < loads[least].bytes {
					least = i
				}
			}
			loads[least].n, loads[least].bytes = loads[least].n+c.n, loads[least].bytes+c.bytes
		}
	}
	for i, l := range loads {
		d.Shards[i] = ShardLoad{Documents: int64(l.n + 0.5), Bytes: int64(l.bytes + 0.5), Share: l.bytes / total}
	}
}

func compareKeys(a, b []bson.RawValue) int { return slices.CompareFunc(a, b, bsonval.CompareRaw) }

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// home returns the first shard of a key's hash, out of n; -1 if the key doesn't begin
// with a hash.
func (s *shard) home(key []bson.RawValue, n int) int {
	if !s.key[0].hashed {
		return -1
	}
	width := ^uint64(0)/uint64(n) + 1
	if n == 1 {
		return 0
	}
	return int((uint64(key[0].AsInt64()) ^ 1<<63) / width)
}

// writes sends the later half of the sample to ranges that divide the earlier half.
func (s *shard) writes(d *Distribution, docs []sampled) {
	earlier, later := docs[:(len(docs)+1)/2], docs[(len(docs)+1)/2:]
	if len(later) == 0 {
		return
	}
	one := 1 / float64(len(later))
	sorted := slices.Clone(earlier)
	slices.SortStableFunc(sorted, func(a, b sampled) int { return compareKeys(a.key, b.key) })
	for _, doc := range later {
		at := s.home(doc.key, len(d.Shards))
		if at < 0 {
			for at = 0; at < len(d.Shards)-1; at++ { // the first range that ends above the key
				end := sorted[min((at+1)*len(sorted)/len(d.Shards), len(sorted)-1)]
				if compareKeys(doc.key, end.key) < 0 {
					break
				}
			}
			if compareKeys(doc.key, sorted[len(sorted)-1].key) > 0 {
				d.Rising += one
			}
		}
		d.Shards[at].Writes += one
	}
}

// hot stores the most frequent keys in d, and returns the keys larger than a chunk,
// largest first.
func (s *shard) hot(d *Distribution, groups []group, spec SampleSpec, scale float64) (jumbo []HotKey) {
	told := func(g group) HotKey {
		h := HotKey{Share: float64(g.n) / float64(d.Documents), Bytes: int64(float64(g.bytes)*scale + 0.5)}
		h.Jumbo = g.n > 1 && float64(g.bytes)*scale > float64(spec.Range)
		for i, f := range s.key {
			h.Key = append(h.Key, bson.E{Key: f.path, Value: g.raw[i]})
		}
		return h
	}
	for _, g := range groups {
		if h := told(g); h.Jumbo {
			jumbo = append(jumbo, h)
		}
	}
	d.Jumbo = len(jumbo)
	slices.SortStableFunc(jumbo, func(a, b HotKey) int { return cmp.Compare(b.Bytes, a.Bytes) })
	groups = slices.Clone(groups)
	slices.SortStableFunc(groups, func(a, b group) int { return b.n - a.n })
	for _, g := range groups[:min(spec.Hot, len(groups))] {
		d.Hot = append(d.Hot, told(g))
	}
	return jumbo
}

func (s *shard) warn(d *Distribution, all sample, jumbo []HotKey, spec SampleSpec) {
	add := func(format string, args ...any) { d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...)) }
	percent := func(n int) string { return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(d.Documents)) }
	switch {
	case d.Rising > 0.5 && d.Documents >= 10:
		add("monotonic: %.0f %% of the later documents have keys above all earlier keys: all new documents go to the shard of the last range; hash %s, or begin the key with a field of many values",
			100*d.Rising, s.key[0].path)
	case all.timed*2 > d.Documents:
		add("monotonic: %s of the keys begin with a time or an ObjectID: if these are made when documents are stored, all new documents go to the shard of the last range; hash %s, or begin the key with a field of many values",
			percent(all.timed), s.key[0].path)
	}
	if d.Documents > d.Keys && d.Keys < 10*spec.Shards {
		add("few keys: %d keys in %d documents: there are never more chunks than keys; add a field to the key", d.Keys,
			d.Documents)
	}
	if len(jumbo) > 0 {
		var named []string
		for _, h := range jumbo[:min(3, len(jumbo))] {
			named = append(named, fmt.Sprintf("%s has %d MiB", model.Shell(h.Key), h.Bytes>>20))
		}
		if len(jumbo) > len(named) {
			named = append(named, fmt.Sprintf("and %d more", len(jumbo)-len(named)))
		}
		add("jumbo chunk: %d of %d keys: documents with the same key can't be split, and a chunk has %d MiB: %s; add a field to the key",
			len(jumbo), d.Keys, spec.Range>>20, strings.Join(named, ", "))
	}
	if h := d.Hot[0]; d.Documents > d.Keys && h.Share > 1/float64(spec.Shards) {
		add("frequent key: %s has %.0f %% of the documents, more than one shard of %d: the balancer can't reduce that",
			model.Shell(h.Key), 100*h.Share, spec.Shards)
	}
	if w := slices.MaxFunc(d.Shards, func(a, b ShardLoad) int {
		return compareFloats(a.Writes, b.Writes)
	}).Writes; d.Rising <= 0.5 && d.Documents >= 100 &&
		w*float64(spec.Shards) > 1.5 && spec.Shards > 1 {
		add("hot shard: %.0f %% of the later documents go to one shard of %d", 100*w, spec.Shards)
	}
	if d.Missing > 0 {
		add("missing fields: %s of the documents lack a field of the key (%s), and are stored together, as for null",
			percent(d.Missing), strings.Join(s.paths(), ", "))
	}
	if all.doubles > 0 {
		add("hashed doubles: %d doubles aren't integers: 2.3 and 2.9 have the hash of 2, and are stored together",
			all.doubles)
	}
}
