package model

import (
	"slices"
)

// Needs returns the server features that the techniques need. Need.Why is the method or
// index that fails, or has no effect, on a server without the feature. Transactions and
// change streams need a replica set or a sharded cluster.
func (m *Model) Needs() (out []Need) {
	m.mustExist("Model.Needs")
	for _, t := range m.techniques {
		var all []Need
		if p, ok := t.(interface{ needed() []Need }); ok {
			all = p.needed()
		}
		for _, x := range t.Indexes() {
			if x.ExpireAfter != 0 {
				all = append(all, Need{Feature: "TTL indexes", Why: x.Collection + "." + x.Name + " deletes documents"})
			}
		}
		for _, n := range all {
			if n.Technique = techniqueName(t); !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}
