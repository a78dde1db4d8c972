package model

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Indexes returns set's indexes, adapted to the scope. On a database of [Scope.On],
// [IndexSet.Ensure] creates these indexes. The fields of Scope.Tenant come first, so a
// unique key is unique per tenant. TTL and wildcard indexes don't get the tenant fields.
// If Scope.Delete is set, unique indexes ignore soft-deleted documents. Only
// [IndexSet.Ensure] on a database of [Model.On] knows in which collections a part of the
// _id is stored elsewhere: see [Write].Keyed.
func (s Scope) Indexes(set IndexSet) (IndexSet, error) {
	own, err := s.compiled()
	if err != nil {
		return IndexSet{}, err
	}
	return own.indexes(set), nil
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
			x.Partial = bsondoc.JoinFilters(x.Partial, bson.D{{Key: e.Key, Value: nil}})
		}
	}
	leads := make(bson.D, len(s.tenant))
	for i, e := range s.tenant {
		leads[i] = bson.E{Key: e.Key, Value: 1}
	}
	switch {
	case len(leads) == 0, x.ExpireAfter != 0, len(x.Keys) > 0 && strings.Contains(x.Keys[0].Key, "$**"):
		return x
	case len(x.Keys) >= len(leads) &&
		slices.EqualFunc(leads, x.Keys[:len(leads)], func(a, b bson.E) bool { return a.Key == b.Key }):
		return x
	}
	leads = slices.DeleteFunc(leads, func(e bson.E) bool { return bsondoc.HasKey(x.Keys, e.Key) })
	x.Name = strings.Trim(indexName(leads)+"_"+x.Name, "_")
	x.Keys = slices.Concat(leads, x.Keys)
	return x
}
