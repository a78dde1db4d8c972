package model

import (
	"fmt"
)

// shardKeys returns the shard keys of the model's collections.
func (m *Model) shardKeys() (out []ShardKey) {
	m.mustExist("Model.ShardKeys")
	for _, t := range m.techniques {
		if isSharded(t) {
			out = append(out, t.(interface{ ShardKey() ShardKey }).ShardKey())
		}
	}
	return out
}

// compareShardKeys refuses a collection with two keys.
func (m *Model) compareShardKeys() {
	seen := map[string]bool{}
	for _, k := range m.shardKeys() {
		if seen[k.Collection] {
			m.fail(fmt.Sprintf("collection %q has two shard keys", k.Collection), "declare one keys.Shard for each collection")
		}
		seen[k.Collection] = true
	}
}
