package model

import "slices"

// A Need is what a technique needs of the server beyond reads, writes and indexes.
type Need struct {
	Feature   string // "transactions", "change streams" or "TTL indexes"
	Technique string // whose need it is: denorm.Counter
	Why       string // what can't do without the feature: a method, or an index
}

// String is the need on one line: transactions: denorm.Counter: each operation on songs without Tokens.
func (n Need) String() string { return n.Feature + ": " + n.Technique + ": " + n.Why }

// Needs returns what the techniques need of the server, in the order of the techniques. A server that lacks a feature refuses what Why
// names, or doesn't do it, and does all else. Transactions and change streams are there in a replica set and in a sharded cluster.
//
// What plans and changes of your own need is theirs to say: see [Plan.Guarantee].
func (m *Model) Needs() (out []Need) {
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
