package keys

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A ShardCandidate is a possible shard key of a collection, and the key's effect on the
// model's indexes.
type ShardCandidate struct {
	Key       bson.D                    // the shard key, for [NewShard]
	Targeted  []model.Index             // indexes that begin with Key's first field: queries go to few shards
	Scattered []model.Index             // indexes whose queries go to all shards
	Broken    []*model.DeclarationError // unique indexes that Key makes impossible: see [Shard.Check]
}

// String returns one line, such as "{shop: 1}: 2 of 3 indexes targeted, 1 broken". See
// the fields Targeted and Broken.
func (c ShardCandidate) String() string {
	s := fmt.Sprintf("%s: %d of %d indexes targeted", model.Shell(c.Key), len(c.Targeted),
		len(c.Targeted)+len(c.Scattered))
	if len(c.Broken) > 0 {
		s += fmt.Sprintf(", %d broken", len(c.Broken))
	}
	return s
}

// ShardCandidates returns possible shard keys for a collection of the model. One is the
// hashed _id. Each ascending or descending index gives two shard keys: its first field,
// and all its fields. The best candidate comes first. The order is by fewest Broken
// indexes, most Targeted indexes, most fields.
func ShardCandidates(m *model.Model, collection string) []ShardCandidate {
	if m == nil {
		core.Fail("the model is nil", "ShardCandidates of "+collection, "give a result of model.New")
	}
	var own []model.Index
	for _, x := range m.Indexes().Needed {
		if x.Collection == collection && len(x.Keys) > 0 {
			own = append(own, x)
		}
	}
	out := []ShardCandidate{candidate(collection, []shardField{{path: "_id", hashed: true}}, own)}
	for _, x := range own {
		var all []shardField
		for _, e := range x.Keys {
			all = append(all, shardField{path: e.Key})
		}
		for _, key := range [][]shardField{all, all[:1]} {
			c := candidate(collection, key, own)
			same := func(o ShardCandidate) bool { return model.Shell(o.Key) == model.Shell(c.Key) }
			if rangesOnly(x) && !slices.ContainsFunc(out, same) {
				out = append(out, c)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b ShardCandidate) int {
		return cmp.Or(cmp.Compare(len(a.Broken), len(b.Broken)), cmp.Compare(len(b.Targeted), len(a.Targeted)),
			cmp.Compare(len(b.Key), len(a.Key)))
	})
	return out
}

// rangesOnly reports whether an index orders values, as the index of a shard key must.
// 2dsphere, text and wildcard indexes don't.
func rangesOnly(x model.Index) bool {
	return !slices.ContainsFunc(x.Keys, func(e bson.E) bool {
		_, text := e.Value.(string)
		return text || strings.Contains(e.Key, "$**")
	})
}

func candidate(collection string, key []shardField, own []model.Index) ShardCandidate {
	c := ShardCandidate{Key: patternOf(key), Broken: brokenIndexes(collection, key, own)}
	for _, x := range own {
		if x.Keys[0].Key == key[0].path {
			c.Targeted = append(c.Targeted, x)
		} else {
			c.Scattered = append(c.Scattered, x)
		}
	}
	return c
}
