package model

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Indexes returns the set as [IndexSet.Ensure] creates it on a database under the scope: the fields of Tenant lead the keys of each index,
// so that it serves the queries that the scope adds them to, and a key is unique among one tenant's documents. Under a scope with Delete a
// unique index is partial: a document that is marked as deleted doesn't keep its key. A TTL index has one field, and stays as it is; so
// does an index that begins with the tenant's fields, and a wildcard index.
func (s Scope) Indexes(set IndexSet) (IndexSet, error) {
	own, err := s.compiled()
	if err != nil {
		return IndexSet{}, err
	}
	return own.indexes(set), nil
}

// indexesUnder is the set under the scopes of a database, of which the outermost leads. The scope that tests set everywhere is left out:
// they lead the keys of all indexes with its tenant, also of those that are made without this library.
func indexesUnder(set IndexSet, db DB) IndexSet {
	if !core.Scoped(db) {
		return set
	}
	list := scopesOf(db)
	for _, s := range slices.Backward(list) {
		if !s.tests {
			set = s.indexes(set)
		}
	}
	return set
}

func (s *scope) indexes(set IndexSet) IndexSet {
	set.Needed = slices.Clone(set.Needed)
	for i := range set.Needed {
		if s.holds(set.Needed[i].Collection) {
			set.Needed[i] = s.index(set.Needed[i])
		}
	}
	return set
}

func (s *scope) index(x Index) Index {
	if x.Unique {
		for _, e := range s.mark {
			x.Partial = And(x.Partial, bson.D{{Key: e.Key, Value: nil}})
		}
	}
	leads := make(bson.D, len(s.tenant))
	for i, e := range s.tenant {
		leads[i] = bson.E{Key: e.Key, Value: 1}
	}
	switch {
	case len(leads) == 0, x.ExpireAfter != 0, len(x.Keys) > 0 && strings.Contains(x.Keys[0].Key, "$**"):
		return x
	case len(x.Keys) >= len(leads) && slices.EqualFunc(leads, x.Keys[:len(leads)], func(a, b bson.E) bool { return a.Key == b.Key }):
		return x
	}
	leads = slices.DeleteFunc(leads, func(e bson.E) bool { return hasKey(x.Keys, e.Key) })
	x.Name = strings.Trim(indexName(leads)+"_"+x.Name, "_")
	x.Keys = slices.Concat(leads, x.Keys)
	return x
}
